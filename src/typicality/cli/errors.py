"""What went wrong, in one sentence, and the exit code that says so to a script."""

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from typicality._words import one_line, shown_path

# Exit codes; click has 0 for success and 2 for wrong use.
_DEFECT, _UNUSABLE, _EXISTS, _INTERRUPT = 1, 3, 4, 130
_WRITTEN = "typicality.written"  # a key of the context of click
_NO_MEMORY = (
    "There is not enough memory for this; choose fewer columns with --columns, or fit on a file of "
    "fewer rows and let `typicality score` read the rest."
)
_BUG = (
    "This is a bug in typicality: {kind}: {text}. Please run it again with --debug, and report "
    "what that prints."
)


class WrongUseError(ValueError):
    """The command line asks for what makes no sense; one sentence says what, and the remedy."""


class UnusableError(ValueError):
    """A file, its rows or a model cannot be used; one sentence says why, and the remedy."""


def note_written(path: str | Path) -> None:
    """Remember that results have their name now: what goes wrong later is said accordingly."""
    click.get_current_context().meta[_WRITTEN] = shown_path(path)


@contextmanager
def explained(*, debug: bool) -> Iterator[None]:
    """A context in which errors become one sentence on stderr and an exit code.

    With `debug` they come as they are, with their traceback.
    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escapes for names that it cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        with _ended_like_interrupted():
            yield
        sys.stdout.flush()  # a pipe that is gone shows here, not while Python ends
    except BrokenPipeError:  # nobody reads on, as with `| head`: that is no error
        _discard_output()
    except (click.ClickException, click.exceptions.Exit):
        raise
    except WrongUseError as error:
        raise click.UsageError(str(error)) from error
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        sentence, code = in_words(error)
        if isinstance(error, OSError) and error.filename is None:
            _discard_output()  # or Python would try again when it ends
        raise failure(sentence, code) from error


def failure(sentence: str, code: int) -> click.ClickException:
    """An error that click prints, on one line, before it ends with a code."""
    made = click.ClickException(one_line(sentence))
    made.exit_code = code  # type: ignore[misc]
    return made


def _open_closed_streams() -> None:
    """Discard output where streams are closed, as in services and with ``>&-``."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _discard_output() -> None:
    with suppress(OSError, ValueError):  # a stream in memory has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """A context in which a request to end the process raises, so that nothing half-done stays."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second request would end the clean-up
    raise SystemExit(128 + number)


def in_words(error: BaseException) -> tuple[str, int]:
    """The sentence, and the exit code."""
    from typicality.exceptions import ModelFileError, TableError

    match error:
        case KeyboardInterrupt():
            sentence = "Interrupted; nothing was written."
            if _written():
                sentence = f"Interrupted; {_written()} was written and is complete."
            return str(error) or sentence, _INTERRUPT
        case TableError():
            if error.remedy is not None and not _has_option(error.remedy.parameter):
                error.remedy = None
            return error.sentence(option_of), _UNUSABLE
        case UnusableError() | ModelFileError():
            return str(error), _UNUSABLE
        case OSError():
            return _text_of(error), _EXISTS if isinstance(error, FileExistsError) else _UNUSABLE
        case MemoryError():
            return _NO_MEMORY, _UNUSABLE
    return _BUG.format(kind=type(error).__name__, text=str(error).rstrip(".")), _DEFECT


def _written() -> str | None:
    """The results that have their name already."""
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get(_WRITTEN)


def _has_option(parameter: str) -> bool:
    """Whether the command that runs has an option of this name."""
    ctx = click.get_current_context(silent=True)
    return ctx is None or any(each.name == parameter for each in ctx.command.params)


def option_of(parameter: str, value: Any) -> str:
    """A parameter of :func:`typicality.open_rows` and its value, as options are typed."""
    if value is None or value is True:
        return f"--{parameter}"
    if value is False:
        return f"--no-{parameter}"
    return f"--{parameter} {value if str(value).isalnum() else repr(value)}"


def _text_of(error: OSError) -> str:
    """The sentence of an error of the operating system, or one made of what it carries."""
    if error.strerror is None:  # put into words where it was raised
        return str(error)
    reason = error.strerror[:1].lower() + error.strerror[1:]
    if error.filename is None and _written():
        return f"{_written()} was written and is complete, but not all could be printed: {reason}."
    if error.filename is None:
        return f"The results could not be written: {reason}."
    path = Path(os.fsdecode(error.filename))
    if path.name.startswith(".typicality-"):  # a temporary name says nothing to anybody
        folder = shown_path(path.parent)
        return (
            f"Cannot write to the folder {folder}: {reason}. Choose another folder with --output."
        )
    remedy = " Choose a shorter name with --output." if error.errno == errno.ENAMETOOLONG else ""
    return f"Cannot read or write {shown_path(path)}: {reason}.{remedy}"
