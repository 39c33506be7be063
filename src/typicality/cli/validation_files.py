"""The files of `typicality validate`: the record, the figures, a picture."""

import csv
import json
import shlex
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from typicality import __version__
from typicality.cli.options import TableChoice
from typicality.cli.preparing import PreparedRows
from typicality.cli.run_record import RECORD_FORMAT, as_json, data_of, versions
from typicality.cli.validation import Validation
from typicality.cli.validation_picture import draw

RECORD, FIGURES, SCORES, PICTURE = FILES = (
    "validation.json",
    "validation.csv",
    "scores.csv",
    "stability.png",
)


def record_of(
    found: Validation,
    rows: PreparedRows,
    table: TableChoice,
    *,
    command: Sequence[str],
    next_command: Sequence[str],
) -> dict[str, Any]:
    """The result, and all it takes to repeat it."""
    advice = found.recommendation
    record: dict[str, Any] = as_json(
        {
            "format": RECORD_FORMAT,
            "made_by": f"typicality {__version__}",
            "command": shlex.join(command),
            "arguments": command,
            "data": data_of(rows, table),
            "scale": table.scale,
            "versions": versions(),
            "seed": found.seed,
            "n_rows": found.n_rows,
            "n_split": found.n_split,
            "n_repeats": found.n_repeats,
            "transfer": found.transfer,
            "settings": list(found.table),
            "recommendation": {
                "keeps_default": advice.keeps_default,
                "chosen": advice.chosen._asdict(),
                "default": advice.default._asdict(),
                "most_stable": advice.best._asdict(),
                "sentences": advice.sentences,
                "next_command": shlex.join(next_command),
            },
            "warnings": (*advice.warnings, *found.warnings),
            "seconds": round(found.seconds, 3),
        }
    )
    return record


def write_files(folder: Path, found: Validation, record: dict[str, Any]) -> tuple[str, ...]:
    """Write all files; the names of those that were written."""
    text = json.dumps(record, indent=2, ensure_ascii=False)
    # Names of files may hold bytes that are no text; they are kept as they are.
    (folder / RECORD).write_text(f"{text}\n", encoding="utf-8", errors="surrogateescape")
    _write_csv(folder / FIGURES, list(found.table))
    _write_csv(folder / SCORES, list(_scores(found)))
    if find_spec("matplotlib") is None:
        return tuple(name for name in FILES if name != PICTURE)
    draw(folder / PICTURE, found)
    return FILES


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    with open(path, "x", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _scores(found: Validation) -> Iterator[dict[str, Any]]:
    """A row for every single score."""
    for detector, named, result in found.results:
        for repeat, scores in enumerate(result.scores.tolist(), start=1):
            for rate, score in zip(found.rates, scores, strict=True):
                yield {
                    "detector": detector,
                    "sigma": named.sigma,
                    "rate": rate,
                    "repeat": repeat,
                    "jaccard": score,
                }
