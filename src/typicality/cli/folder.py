"""The folder of a run: what it is called, what is in it, how it is opened again."""

import platform
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from glob import has_magic
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from typicality import __version__
from typicality._files import atomic_folder
from typicality._record import MODEL, MODEL_FILES, RECORD, RECORD_FORMAT, read_json
from typicality._words import shown_path
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, note_written
from typicality.cli.main import TYPED
from typicality.cli.options import FORMAT, Options
from typicality.exceptions import ModelFileError

if TYPE_CHECKING:
    from typicality.run_folder import Run
    from typicality.tables import TableFile

REPORT, SUMMARY = "report.html", "summary.txt"
# All that commands write to a folder of results: nothing else is replaced by --force.
_WRITTEN = {MODEL, RECORD, REPORT, SUMMARY} | {
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
def new_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """A folder that takes its name when all files are written; it is removed if anything fails.

    An existing folder is an error before any work, or is replaced only if the record in it says
    that typicality wrote it, and it holds no files of the user.
    """
    require_free(path, force=force)
    with atomic_folder(path, overwrite=force, is_ours=_is_ours) as folder:
        yield folder
    note_written(path)


def _is_ours(folder: Path) -> bool:
    """Whether a record in a folder says that typicality wrote it, and nothing else is in it."""
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
        return str(read_json(folder / RECORD).get("made_by")).startswith("typicality ")
    return False


@contextmanager
def opened_run(
    folder: str, options: Options, terminal: Terminal
) -> Iterator[tuple["Run", "TableFile"]]:
    """The run in a folder, and the file to judge, or that of the run where none was named.

    The file of the run is read as the run did (run.json), where the options leave that open. Others
    may be written in another way, but where the run read decimal commas, 1.234 must not become a
    fraction without a word. A file with commas between its cells may have decimal points, as the
    results of a run have.

    Raises
    ------
    ModelFileError
        There is no run in it.
    """
    from typicality.cli.rows import open_file

    if options.file and options.file != "-" and not Path(options.file).exists():
        with open_file(options):  # before anything else is loaded; a pattern stands for files
            pass
    path = Path(folder)
    with terminal.doing(f"Loading {folder}"):
        if not (path / RECORD).is_file():
            holds = "holds no run" if path.exists() else "does not exist"
            if all((path / name).is_file() for name in MODEL_FILES):
                holds = "holds only a saved model, not a run"
            raise ModelFileError(
                f"{shown_path(path)} {holds}; give the folder that `typicality cluster` or "
                "`typicality outliers` wrote."
            )
        from typicality.model import load

        run: Run = load(path)
    data = run.record["data"]
    file = options.file or _file_of(data["path"])
    known: dict[str, Any] = {}
    if data["decimal"] == "," and not _has_commas_between_cells(options, file):
        known = {"decimal": ","}
    if data["path"] == str(Path(file).resolve()):
        known = {name: data[name] for name in FORMAT}
    known = {name: value for name, value in known.items() if getattr(options, name) is None}
    with open_file(replace(options, file=file, **known)) as table:
        if data.get("totals") and table.fingerprint == data["fingerprint"]:
            table.leave_out_totals(*data["totals"])
        yield run, table


def _has_commas_between_cells(options: Options, file: str) -> bool:
    """Whether a file is csv with commas; standard input can be opened only once."""
    from typicality.cli.rows import open_file

    if file == "-":
        return False
    with open_file(replace(options, file=file)) as table:
        return table.format == "csv" and table.settings()["delimiter"] == ","


def _file_of(path: str | None) -> str:
    """The file of a run, if it is still there."""
    if path is None or not (Path(path).exists() or has_magic(path)):
        what = "standard input" if path is None else f"{shown_path(path)}, which does not exist"
        raise UnusableError(
            f"The rows of this run came from {what}; name a file with the same rows: typicality "
            "report MODEL FILE."
        )
    return path


def results_name(record: Any) -> str:
    """The file in the folder of a run that has all rows: parquet if the rows were parquet."""
    name = "outliers" if record["method"] == "outliers" else "labels"
    return f"{name}.{'parquet' if record['data']['format'] == 'parquet' else 'csv'}"


def about_run() -> dict[str, Any]:
    """How every record begins: the format, and the command as it could be typed."""
    arguments = ["typicality", *click.get_current_context().meta[TYPED]]
    return {
        "format": RECORD_FORMAT,
        "made_by": f"typicality {__version__}",
        "command": shlex.join(arguments),
        "arguments": arguments,
    }


def versions() -> dict[str, str]:
    """The versions of Python, typicality and the packages that results depend on."""
    found = {"python": platform.python_version(), "typicality": __version__}
    return found | {package: version(package) for package in _PACKAGES}


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
