"""Files and folders that appear whole or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, overwrite: bool = False, binary: bool = False
) -> Iterator[IO[Any]]:
    """A file to write to that takes its name only when it is complete.

    It is written under a hidden temporary name beside `path`, and renamed when the block ends. Any
    exception inside the block, an interrupt included, removes it and leaves an older file as it
    was. Text is UTF-8 and line ends are written as given. A link is followed.

    Raises
    ------
    FileExistsError
        `path` exists and `overwrite` is False, or it is no plain file.
    FileNotFoundError
        The folder for it does not exist.
    """
    path = _with_room(path, overwrite=overwrite)
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is not a file and is not replaced; choose another name.")
    temporary = _hidden_sibling(path)
    text: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
    try:
        # Opened by name and not through tempfile: it keeps the permissions new files have here.
        with open(temporary, "xb" if binary else "x", **text) as stream:
            yield stream
        _with_room(path, overwrite=overwrite)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    is_ours: Callable[[Path], bool] = lambda _: False,
) -> Iterator[Path]:
    """A folder to fill that takes its name only when it is complete.

    The block gets a hidden temporary folder beside `path`, which is renamed when the block ends.
    Any exception inside the block, an interrupt included, removes it and leaves an older folder as
    it was. A link is followed.

    Parameters
    ----------
    path : path
        The name the folder gets.
    overwrite : bool, default=False
        Whether a folder that is there may be replaced, with all it holds, if it is ours.
    is_ours : callable
        Whether a folder that is there is one of ours. Others are replaced only if they are empty.

    Raises
    ------
    FileExistsError
        `path` exists and may not be replaced.
    FileNotFoundError
        The parent folder does not exist.
    OSError
        Another process has written the folder in the meantime.
    """
    path = _with_room(path, overwrite=overwrite)
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{path} is not a folder and is not replaced; choose another name.")
    if path.exists() and any(path.iterdir()) and not is_ours(path):
        raise FileExistsError(
            f"{path} is not replaced, because it holds what typicality has not written; choose "
            "another name."
        )
    temporary = _hidden_sibling(path)
    try:
        temporary.mkdir()
        yield temporary
        _rename_folder(temporary, path, overwrite=overwrite)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _with_room(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """A path without links, at which something may be written."""
    path = Path(path).resolve()
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already; choose another name, or replace it with overwrite=True."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; make it first.")
    return path


def _hidden_sibling(path: Path) -> Path:
    # In the same folder, so that renaming never has to copy from one disk to another.
    return path.with_name(f".typicality-{secrets.token_hex(8)}.tmp")


def _rename_folder(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Rename a folder; an old one is moved aside, and comes back where that fails.

    The system never replaces a folder with files in it, so two processes do not mix.
    """
    old = _hidden_sibling(path)
    try:
        if overwrite:
            with suppress(FileNotFoundError):  # nothing there, or another process has moved it
                os.rename(path, old)
        os.rename(temporary, path)
    except BaseException:
        try:
            os.rename(old, path)
        except OSError as error:  # nothing was moved, or another process has written the folder
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                shutil.rmtree(old, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)
