"""The folder of a run: what it is called, what is in it, how it is opened again."""

import csv
import json
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality import __version__
from typicality._files import atomic_folder
from typicality._words import shown_path
from typicality.cli.errors import note_written
from typicality.cli.options import command_line
from typicality.exceptions import ModelFileError

if TYPE_CHECKING:
    from typicality.cli.rows import FileRows

MODEL, RECORD, REPORT = "model", "run.json", "report.html"
RECORD_FORMAT = 1
_LARGEST_RECORD = 2**26  # bytes
_DEEPEST = 50  # levels of objects in a record
# What a record of a run must hold: a type, a range, a set of values, a list of equals, or keys and
# values; a question mark after a key says that it may be absent, or nothing.
_TEXT_OR_NONE = (str, type(None))
_RUN: dict[str, Any] = {
    "command": str,
    "seed": range(2**32),
    "warnings": [str],
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
        "assumed?": [str],
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
        "sample?": {"n_rows": int},
        "passes?": {"n_reads": int, "block_rows": int, "n_shown": int, "results": str},
    },
}
# All that commands write to a folder of results: nothing else is replaced by --force.
_WRITTEN = {MODEL, RECORD, REPORT, "comparison.json", "comparison.csv"} | {
    f"{name}.{kind}" for name in ("labels", "clusters", "outliers") for kind in ("csv", "parquet")
}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "finufft")


def require_free(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless that was asked for."""
    if path.exists() and not force:
        raise FileExistsError(
            f"{shown_path(path)} exists already; choose another name with --output, or replace it "
            "with --force."
        )


@contextmanager
def new_folder(path: str | Path | None, *, force: bool, record: str) -> Iterator[Any]:
    """A folder that takes its name when all files are written; it is removed if anything fails.

    None where `path` is None. An existing folder is an error before any work, or is
    replaced only if the file `record` in it says that typicality wrote it, and it holds no files of
    the user.
    """
    if path is None:
        yield None
        return
    require_free(Path(path), force=force)
    with atomic_folder(path, overwrite=force, is_ours=partial(_is_ours, record=record)) as folder:
        yield folder
    note_written(path)


def _is_ours(folder: Path, *, record: str) -> bool:
    """Whether a record in a folder says that typicality wrote it, and nothing else is in it."""
    from typicality.model import MODEL_FILES

    others = {path.name for path in folder.iterdir()} - _WRITTEN
    if (folder / MODEL).is_dir():
        inside = {path.name for path in (folder / MODEL).iterdir()} - {*MODEL_FILES}
        others |= {f"{MODEL}/{name}" for name in inside}
    if others:
        raise FileExistsError(
            f"{shown_path(folder)} is not replaced, because it holds {min(others)!r}, which "
            "typicality has not written; move it away, or choose another name."
        )
    with suppress(ModelFileError):
        return str(_read_json(folder / record).get("made_by")).startswith("typicality ")
    return False


def load_run(model: str) -> tuple[Any, dict[str, Any] | None, Path]:
    """A run by its folder, or by the folder of its model.

    Returns
    -------
    pipeline : Pipeline
        The steps "columns" and "model".
    record : dict or None
        What run.json says; None where there is no such file.
    folder : Path
        Where the model is.

    Raises
    ------
    ModelFileError
        There is no model in it, or one that was not made by the command line.
    """
    path = Path(model)
    folder = path / MODEL if (path / MODEL).is_dir() else path
    if not (folder / "model.json").is_file():
        holds = "holds no model" if path.exists() else "does not exist"
        raise ModelFileError(
            f"{shown_path(path)} {holds}; give the folder that `typicality cluster` or "
            "`typicality outliers` wrote, or the folder `model` in it."
        )
    record_path = folder.parent / RECORD
    belongs = folder.name == MODEL and record_path.is_file()
    record = read_record(record_path) if belongs else None
    from typicality.model import load

    pipeline = load(folder)
    steps = getattr(pipeline, "named_steps", {})
    if list(steps) != ["columns", "model"] or not hasattr(steps["columns"], "feature_names_in_"):
        raise ModelFileError(
            f"{shown_path(folder)} holds a model that was not made from a file, so it has "
            "no names of columns; use it from Python with typicality.load, or make a model "
            "with `typicality cluster`."
        )
    return pipeline, record, folder


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON."""
    text = f"{json.dumps(record, indent=2, ensure_ascii=False)}\n"
    # Names of files may hold bytes that are no text; they are kept as they are.
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def write_csv(path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write a line of csv for each entry; a list is one cell."""
    names = dict.fromkeys(name for entry in entries for name in entry)
    with open(path, "x", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names, lineterminator="\n")
        writer.writeheader()
        for entry in entries:
            lists = {n: "; ".join(map(str, v)) for n, v in entry.items() if isinstance(v, list)}
            writer.writerow({**entry, **lists})


def about_run() -> dict[str, Any]:
    """How every record begins: the format, and the command as it could be typed."""
    command = command_line()
    return {
        "format": RECORD_FORMAT,
        "made_by": f"typicality {__version__}",
        "command": shlex.join(command),
        "arguments": list(command),
    }


def versions() -> dict[str, str]:
    """The versions of Python, typicality and the packages that results depend on."""
    found = {"python": platform.python_version(), "typicality": __version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # at hand without being installed
            continue
    return found


def record_of_result(rows: "FileRows", result: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a result that keeps no model, and all it takes to repeat it."""
    return {
        **about_run(),
        "data": rows.record(),
        "scale": rows.options.scale,
        "versions": versions(),
        **result,
    }


def read_record(path: Path) -> dict[str, Any]:
    """The record of a run, of a format that is known.

    Raises
    ------
    ModelFileError
        The file is no such record.
    """
    record = _read_json(path)
    if record.get("format") != RECORD_FORMAT or not _fits(record, _RUN):
        raise ModelFileError(
            f"{shown_path(path)} is not a record that typicality {__version__} can read; "
            "write it again with the command that made it."
        )
    return record


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file of JSON that may come from anybody."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_RECORD:
            raise ValueError("it is not a regular file, or larger than any record")
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
        if not _is_flat(found):
            raise ValueError("it is nested too deeply")
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(
            f"{shown_path(path)} cannot be read ({reason}); run `typicality cluster` again to "
            "write it."
        ) from error
    return found


def _is_flat(found: Any) -> bool:
    """Whether no value is deeper than `_DEEPEST` levels."""
    level = [found]
    for _ in range(_DEEPEST):
        lists = (list(v.values()) if isinstance(v, dict) else v for v in level)
        level = [value for some in lists if isinstance(some, list) for value in some]
    return not level


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of JSON is of a kind, as `_RUN` describes kinds."""
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


def as_json(value: Any) -> Any:
    """A value as JSON has it: arrays as lists, numbers that are not finite and objects as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if np.isfinite(value) else str(value)
        case np.generic() | np.ndarray():
            return as_json(value.tolist())
        case Mapping():
            return {str(key): as_json(entry) for key, entry in value.items()}
        case list() | tuple():
            return [as_json(entry) for entry in value]
    return repr(value)
