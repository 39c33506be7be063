"""Files and folders that appear whole or not at all."""

import ctypes
import errno
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

# Locks of processes, where the system has them.
fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None

_HIDDEN = ".typicality-"  # how names begin that nobody chose
_ABANDONED = 60.0  # seconds after which a temporary name that nobody has locked is removed


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, overwrite: bool = False, binary: bool = False
) -> Iterator[IO[Any]]:
    """A file to write to that takes its name only when it is complete.

    It is written under a hidden temporary name beside `path`, brought to the disk and renamed when
    the block ends. Any exception inside the block, an interrupt included, removes it and leaves an
    older file as it was. Text is UTF-8 and line ends are written as given. A link is followed.
    What a killed process has left beside `path` is removed.

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
    _remove_abandoned(path.parent)
    temporary = _hidden_sibling(path, "tmp")
    text: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
    try:
        # Opened by name and not through tempfile: it keeps the permissions new files have here.
        with open(temporary, "xb" if binary else "x", **text) as stream:
            _lock(stream.fileno())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _name_file(temporary, path, overwrite=overwrite)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    recorded: Callable[[Path], Mapping[str, str | None]] = lambda _: {},
) -> Iterator[Path]:
    """A folder to fill that takes its name only when it is complete.

    The block gets a hidden temporary folder beside `path`. When the block ends it is brought to the
    disk and renamed; any exception inside the block, an interrupt included, removes it and leaves
    an older folder as it was. A link is followed. What a killed process has left beside `path` is
    removed.

    Parameters
    ----------
    path : path
        The name the folder gets.
    overwrite : bool, default=False
        Whether a folder that is there may be replaced: the two exchange their names in one step
        where the system can, and the old one is deleted.
    recorded : callable
        From an old folder to the files in it that may be deleted, with slashes for those in folders
        inside (``"model/model.json"``), and the hash that each must have; None for the file that
        says so. A folder with any other file or empty folder is not replaced: nobody's data is
        lost.

    Raises
    ------
    KeyboardInterrupt
        As it came; where the folder has its name already, the text says so.
    FileExistsError
        `path` exists and may not be replaced; the message says why.
    FileNotFoundError
        The folder in which it is to stand does not exist.
    """
    path = _followed(path)
    _require_room(path, overwrite=overwrite)
    _require_recorded(path, recorded)
    _remove_abandoned(path.parent)
    temporary = _hidden_sibling(path, "tmp")
    made = None
    try:
        try:
            temporary.mkdir()
            with _locked(temporary):
                made = temporary.stat()
                yield temporary
                _sync_all(temporary)
                _require_room(path, overwrite=overwrite)
                _require_recorded(path, recorded)
                # After an exchange, what is removed below is the old folder.
                if not (overwrite and _exchange(temporary, path)):
                    _name_folder(temporary, path, overwrite=overwrite)
                _sync(path.parent)
        finally:
            _remove(temporary)
    except KeyboardInterrupt as error:
        if made is not None and path.exists() and os.path.samestat(path.stat(), made):
            raise KeyboardInterrupt(f"Interrupted; {path} was written and is complete.") from error
        raise


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


def _require_recorded(path: Path, recorded: Callable[[Path], Mapping[str, str | None]]) -> None:
    """Refuse to replace what is no folder, or a folder that holds more than its record says."""
    if not path.exists():
        return
    if not path.is_dir():
        raise FileExistsError(f"{path} is not a folder and is not replaced; choose another name.")
    try:
        hashes = recorded(path)
        reasons = ((file, _why_foreign(path / file, file, hashes)) for file in files_in(path))
        foreign = next(((file, why) for file, why in reasons if why), None)
    except FileNotFoundError:  # another writer is just replacing it
        return
    if foreign is not None:
        file, why = foreign
        raise FileExistsError(
            f"{path} is not replaced, because it holds {file!r}, which {why}; move that "
            "file away, or choose another name."
        )


def _why_foreign(path: Path, file: str, hashes: Mapping[str, str | None]) -> str | None:
    if file not in hashes or path.is_symlink() or not path.is_file():
        return "was not written by typicality, according to the record in that folder"
    if hashes[file] not in (None, sha256_of(path)):
        return "has changed since typicality wrote it"
    return None


def files_in(folder: Path) -> Iterator[str]:
    """Files in a folder and the folders inside it, in order.

    A link counts as a file, and so does an empty folder, whose name ends in a slash.
    """
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            inside = list(files_in(entry))
            yield from (f"{entry.name}/{file}" for file in inside or [""])
        else:
            yield entry.name


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# ---- temporary names -----------------------------------------------------------------------------


def _hidden_sibling(path: Path, ending: str) -> Path:
    # In the same folder, so that renaming never has to copy from one disk to another.
    return path.with_name(f"{_HIDDEN}{secrets.token_hex(8)}.{ending}")


def _lock(descriptor: int) -> None:
    """Hold a file or folder as long as this process lives, where the file system can."""
    with suppress(OSError):
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files and folders of processes that were killed: nobody locks them."""
    if fcntl is None:
        return
    for entry in folder.glob(f"{_HIDDEN}*.tmp"):
        with suppress(OSError):  # locked, gone, or of somebody else
            descriptor = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # One that is new may be about to be locked.
                if time.time() - os.fstat(descriptor).st_mtime > _ABANDONED:
                    _remove(entry) if entry.is_dir() else entry.unlink()
            finally:
                os.close(descriptor)


def _remove(folder: Path) -> None:
    """Delete a folder; an interrupt waits until that is done."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _sync_all(folder: Path) -> None:
    """Bring the files of a folder to the disk, and the folders that name them."""
    for inside, _, files in os.walk(folder):
        for file in files:
            with open(os.path.join(inside, file), "rb+") as stream:
                os.fsync(stream.fileno())
        _sync(Path(inside))


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---- names ---------------------------------------------------------------------------------------


@cache
def _renameat2() -> Any:
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old one
        return None


def _exchange(one: Path, other: Path) -> bool:
    """Let two paths exchange their names in one step; False where that cannot be done."""
    rename, here, exchange = _renameat2(), -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if rename is None:
        return False
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


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


def _name_folder(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Rename a folder; an old one is moved aside first, and kept where the process is killed."""
    aside = _hidden_sibling(path, "old")
    try:
        if overwrite:
            with suppress(FileNotFoundError):  # nothing there, or another writer has just moved it
                os.rename(path, aside)
        os.rename(temporary, path)
    except BaseException as error:
        _put_back(aside, path)
        if _is_occupied(error):
            raise FileExistsError(
                f"Another process wrote {path} in the meantime; choose another name."
            ) from error
        raise
    _remove(aside)


def _put_back(aside: Path, path: Path) -> None:
    try:
        os.rename(aside, path)
    except OSError as error:  # also where nothing had been moved aside
        if _is_occupied(error):  # another writer has replaced the old folder for us
            shutil.rmtree(aside, ignore_errors=True)


def _is_occupied(error: BaseException) -> bool:
    """Whether a folder could not be renamed because one with files in it has that name."""
    return isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST)
