"""The folder of a run: what it is called, what is in it, how it is opened."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typicality._files import atomic_folder
from typicality.cli.run_record import read_record
from typicality.exceptions import ModelFileError

MODEL, RECORD, REPORT = "model", "run.json", "report.html"
_OURS = (
    "labels.csv",
    "outliers.csv",
    REPORT,
    RECORD,
    f"{MODEL}/model.json",
    f"{MODEL}/arrays.safetensors",
)


@dataclass(frozen=True)
class SavedRun:
    """A run that was written to a folder, or a model alone.

    Parameters
    ----------
    model_folder : Path
        Where the model is.
    record : dict or None
        What run.json says; None where there is no such file.
    """

    model_folder: Path
    record: dict[str, Any] | None

    @property
    def missing(self) -> str:
        """What the run does with missing values."""
        return "error" if self.record is None else str(self.record["data"]["missing"])


def folder_for(file: str, *, output: str | None, ending: str) -> Path:
    """The folder of the results: the one that was asked for, or one named after the file."""
    if output is not None:
        return Path(output)
    return Path(ending if file == "-" else f"{Path(file).stem}-{ending}")


def require_free(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless that was asked for."""
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists already; choose another name with --output, or replace it with --force."
        )


@contextmanager
def new_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """A folder that takes its name when all files are written; it is removed if anything fails."""
    require_free(path, force=force)
    with atomic_folder(path, overwrite=force, ours=_OURS) as folder:
        yield folder


@contextmanager
def folder_if_named(
    output: str | None, *, force: bool, ours: Collection[str]
) -> Iterator[Path | None]:
    """The same for a command that writes only where it is told to: None where it is not.

    Where something is there already, that is told before any work.
    """
    if output is None:
        yield None
        return
    require_free(Path(output), force=force)
    with atomic_folder(output, overwrite=force, ours=ours) as folder:
        yield folder


def open_run(path: Path) -> SavedRun:
    """A run by its folder, or by the folder of its model.

    Raises
    ------
    ModelFileError
        There is no model in it.
    """
    folder = path / MODEL if (path / MODEL).is_dir() else path
    if not (folder / "model.json").is_file():
        holds = "holds no model" if path.exists() else "does not exist"
        raise ModelFileError(
            f"{path} {holds}; give the folder that `typicality cluster` or `typicality outliers` "
            "has written, or the folder `model` in it."
        )
    record = folder.parent / RECORD
    belongs = folder.name == MODEL and record.is_file()
    return SavedRun(folder, read_record(record) if belongs else None)
