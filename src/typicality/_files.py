"""Files and folders that appear whole or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, overwrite: bool = False, binary: bool = False
) -> Iterator[IO[Any]]:
    """A file to write to that takes its name only when it is complete.

    It is written under a hidden temporary name beside `path`, brought to the disk and renamed when
    the block ends. Any exception inside the block, an interrupt included, removes it and leaves an
    older file as it was. Text is UTF-8 and line ends are written as given. A link is followed.

    Raises
    ------
    FileExistsError
        `path` exists and `overwrite` is False, or it is no plain file.
    FileNotFoundError
        The folder for it does not exist.
    """
    path = _followed(path)
    _require_room(path, overwrite=overwrite)
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is not a file and is not replaced; choose another name.")
    temporary = _hidden_sibling(path)
    text: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
    try:
        # Opened by name and not through tempfile: it keeps the permissions new files have here.
        with open(temporary, "xb" if binary else "x", **text) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _name_file(temporary, path, overwrite=overwrite)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(
    path: str | os.PathLike[str], *, overwrite: bool = False, ours: Collection[str] = ()
) -> Iterator[Path]:
    """A folder to fill that takes its name only when it is complete.

    The block gets a hidden temporary folder beside `path`. When the block ends it is brought to the
    disk and renamed; any exception inside the block, an interrupt included, removes it and leaves
    an older folder as it was. A link is followed.

    Parameters
    ----------
    path : path
        The name the folder gets.
    overwrite : bool, default=False
        Whether a folder that is there may be replaced: it is moved aside, the new one takes its
        place, the old one is deleted.
    ours : collection of str
        Files that may be deleted with an old folder, with slashes for those in folders inside
        (``"model/model.json"``). A folder with any other file is not replaced: nobody's data is
        lost.

    Raises
    ------
    FileExistsError
        `path` exists and may not be replaced; the message says why.
    FileNotFoundError
        The folder in which it is to stand does not exist.
    """
    path = _followed(path)
    _require_room(path, overwrite=overwrite)
    _require_only(ours, path)
    temporary = _hidden_sibling(path)
    try:
        temporary.mkdir()
        yield temporary
        for file in _files_in(temporary):
            with open(temporary / file, "rb+") as stream:
                os.fsync(stream.fileno())
        _name_folder(temporary, path, overwrite=overwrite, ours=ours)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _followed(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).resolve()
    except RuntimeError as error:  # what Python raises for links that go round
        raise FileExistsError(f"{path} is a link to itself; choose another name.") from error


def _require_room(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise _exists(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; make it first.")


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(
        f"{path} exists already; choose another name, or replace it with overwrite=True."
    )


def _require_only(ours: Collection[str], path: Path) -> None:
    """Refuse to replace what is no folder, or a folder that holds more than our files."""
    if not path.exists():
        return
    if not path.is_dir():
        raise FileExistsError(f"{path} is not a folder and is not replaced; choose another name.")
    try:
        foreign = next((file for file in _files_in(path) if file not in ours), None)
    except FileNotFoundError:  # another writer is just replacing it
        return
    if foreign is not None:
        raise FileExistsError(
            f"{path} holds {foreign!r}, which was not written by typicality, and is not replaced; "
            "move that file away, or choose another name."
        )


def _files_in(folder: Path) -> Iterator[str]:
    """Files in a folder and the folders inside it, in order; a link counts as a file."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            yield from (f"{entry.name}/{file}" for file in _files_in(entry))
        else:
            yield entry.name


def _hidden_sibling(path: Path) -> Path:
    # In the same folder, so that renaming never has to copy from one disk to another.
    return path.with_name(f".typicality-{secrets.token_hex(8)}.tmp")


def _name_file(temporary: Path, path: Path, *, overwrite: bool) -> None:
    if overwrite:
        os.replace(temporary, path)
        return
    # A new hard link, unlike a rename, never replaces a file that has appeared since we looked.
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # a file system without hard links
        _require_room(path, overwrite=False)
        os.rename(temporary, path)


def _name_folder(temporary: Path, path: Path, *, overwrite: bool, ours: Collection[str]) -> None:
    aside = _hidden_sibling(path)
    _require_room(path, overwrite=overwrite)
    _require_only(ours, path)
    try:
        if overwrite:
            with suppress(FileNotFoundError):  # nothing there, or another writer has just moved it
                os.rename(path, aside)
        os.rename(temporary, path)
    except BaseException as error:
        _put_back(aside, path)
        if _is_occupied(error):
            raise FileExistsError(
                f"{path} was written by somebody else in the meantime; choose another name."
            ) from error
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _put_back(aside: Path, path: Path) -> None:
    try:
        os.rename(aside, path)
    except OSError as error:  # also where nothing had been moved aside
        if _is_occupied(error):  # another writer has replaced the old folder for us
            shutil.rmtree(aside, ignore_errors=True)


def _is_occupied(error: BaseException) -> bool:
    """Whether a folder could not be renamed because one with files in it has that name."""
    return isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST)
