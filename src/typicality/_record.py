"""The record of a run of the command line, run.json: how a model was made, and what was found."""

import json
from pathlib import Path
from typing import Any

from typicality.exceptions import ModelFileError

MODEL, RECORD = "model", "run.json"
RECORD_FORMAT = 1
_LARGEST = 2**26  # bytes
_TEXT_OR_NONE = (str, type(None))
# What a record must hold: a type, a range, a set of values, a list of equals, or keys and values;
# a question mark after a key means that it may be absent, or nothing.
_FIELDS: dict[str, Any] = {
    "command": str,
    "seed": range(2**32),
    "warnings": [{"seen": str, "remedy": str}],
    "versions": {str: str},
    "data": {
        **dict.fromkeys(("file", "fingerprint"), str),
        **dict.fromkeys(("path", "delimiter", "format"), _TEXT_OR_NONE),
        **dict.fromkeys(("n_rows", "n_rows_left_out"), int),
        "header": (bool, type(None)),
        "columns": [str],
        "columns_left_out": [{"name": str, "reason": str}],
        "missing": {"error", "drop", "median"},
        **dict.fromkeys(("encoding?", "decimal?"), str),
        "signs?": {str: str},
        "categories?": {str: [str]},
        "ordered?": {str: [str]},
    },
    "reference?": {"file": str, "fingerprint": str, "n_rows": int},
    "preparation": {
        "parameters": {"scale": {"robust", "standard", "none"}, "log?": {"none", "auto", "all"}}
    },
    "estimator": {"class": str, "parameters": {str: object}},
    "results": {
        "n_iter": int,
        "status": str,
        "sums": str,
        "explanation?": str,
        "fdr?": float,
        "named_by?": str,
        "sample?": {"n_rows": int},
        "passes?": {"n_reads": int, "block_rows": int},
    },
}


def read_record(path: Path) -> dict[str, Any]:
    """The record of a run, of a format that is known.

    Raises
    ------
    ModelFileError
        The file is no such record.
    """
    found = read_json(path)
    if found.get("format") != RECORD_FORMAT or not _fits(found, _FIELDS):
        raise ModelFileError(
            f"{path.name} is not a record that this version of typicality can read; make the run "
            "again"
        )
    return found


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file of JSON that may come from anybody."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise ValueError("it is not a regular file, or larger than any record")
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(f"{path.name} cannot be read ({reason})") from error
    return found


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of JSON is of a kind, as `_FIELDS` describes kinds."""
    if isinstance(kind, set | range):
        return isinstance(value, str if isinstance(kind, set) else int) and value in kind
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(entry, kind[0]) for entry in value)
    if not isinstance(kind, dict):
        return isinstance(value, kind)
    if not isinstance(value, dict):
        return False
    if str in kind:
        return all(_fits(entry, kind[str]) for entry in value.values())
    return all(
        (name[-1] == "?" and value.get(name[:-1]) is None)
        or (name.rstrip("?") in value and _fits(value[name.rstrip("?")], inner))
        for name, inner in kind.items()
    )
