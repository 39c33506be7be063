"""The folder of a run: what it is called, what is in it, how it is opened again."""

import json
import platform
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality import __version__
from typicality._files import atomic_folder
from typicality.cli.options import command_line
from typicality.exceptions import ModelFileError

if TYPE_CHECKING:
    from typicality.cli.rows import FileRows

MODEL, RECORD, REPORT = "model", "run.json", "report.html"
OURS = (
    *("labels.csv", "clusters.csv", "outliers.csv", REPORT, RECORD),
    *(f"{MODEL}/model.json", f"{MODEL}/arrays.safetensors"),
)
RECORD_FORMAT = 1
_REQUIRED = {
    *("command", "data", "estimator", "preparation", "results", "seed", "versions", "warnings"),
}
_REQUIRED_DATA = {
    *("columns", "columns_left_out", "delimiter", "file", "fingerprint", "format", "header"),
    *("missing", "n_rows", "n_rows_left_out", "path"),
}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "finufft")


def require_free(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless that was asked for."""
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists already; choose another name with --output, or replace it with --force."
        )


@contextmanager
def new_folder(path: str | Path | None, *, force: bool, ours: Collection[str]) -> Iterator[Any]:
    """A folder that takes its name when all files are written; it is removed if anything fails.

    None where `path` is None. Where something is there already, that is told before any work.
    """
    if path is None:
        yield None
        return
    require_free(Path(path), force=force)
    with atomic_folder(path, overwrite=force, ours=ours) as folder:
        yield folder


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
    from typicality.persistence import load

    path = Path(model)
    folder = path / MODEL if (path / MODEL).is_dir() else path
    if not (folder / "model.json").is_file():
        holds = "holds no model" if path.exists() else "does not exist"
        raise ModelFileError(
            f"{path} {holds}; give the folder that `typicality cluster` or `typicality outliers` "
            "has written, or the folder `model` in it."
        )
    record_path = folder.parent / RECORD
    belongs = folder.name == MODEL and record_path.is_file()
    record = read_record(record_path) if belongs else None
    pipeline = load(folder)
    steps = getattr(pipeline, "named_steps", {})
    if list(steps) != ["columns", "model"] or not hasattr(steps["columns"], "feature_names_in_"):
        raise ModelFileError(
            f"{folder} holds a model that does not know the columns of a file; use it "
            "from Python with typicality.load, or make one with `typicality cluster`."
        )
    return pipeline, record, folder


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON."""
    text = f"{json.dumps(record, indent=2, ensure_ascii=False)}\n"
    # Names of files may hold bytes that are no text; they are kept as they are.
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


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
    try:
        record: dict[str, Any] = json.loads(
            path.read_text(encoding="utf-8", errors="surrogateescape")
        )
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{path} cannot be read ({error}); run `typicality cluster` again to write it."
        ) from error
    data = record.get("data") if isinstance(record, dict) else None
    if (
        not isinstance(data, dict)
        or record.get("format") != RECORD_FORMAT
        or not record.keys() >= _REQUIRED
        or not data.keys() >= _REQUIRED_DATA
    ):
        raise ModelFileError(
            f"{path} is no record of a run that typicality {__version__} can read; write it again "
            "with the command that made it."
        )
    return record


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
