"""What went wrong, in one sentence, and the exit code that says so to a script."""

import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

# Exit codes; click has 0 for success and 2 for wrong use.
_DEFECT, _UNUSABLE, _EXISTS, _INTERRUPT = 1, 3, 4, 130
_INTERRUPTED = "Interrupted; nothing was written."
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


@contextmanager
def explained(*, debug: bool) -> Iterator[None]:
    """A context in which errors become one sentence on stderr and an exit code.

    With `debug` they come as they are, with their traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escapes for names that it cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        with _ended_like_interrupted():
            yield
        sys.stdout.flush()  # a pipe that is gone shows here, not while Python ends
    except BrokenPipeError:  # nobody reads on, as with `| head`: that is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (click.ClickException, click.exceptions.Exit):
        raise
    except WrongUseError as error:
        raise click.UsageError(str(error)) from error
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        sentence, code = _in_words(error)
        failure = click.ClickException(sentence)
        failure.exit_code = code  # type: ignore[misc]
        raise failure from error


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


def _in_words(error: BaseException) -> tuple[str, int]:
    """The sentence, and the exit code."""
    from typicality.exceptions import ModelFileError, TableError

    match error:
        case KeyboardInterrupt():
            return str(error) or _INTERRUPTED, _INTERRUPT
        case TableError():
            return with_options(str(error)), _UNUSABLE
        case UnusableError() | ModelFileError():
            return str(error), _UNUSABLE
        case OSError():
            return _text_of(error), _EXISTS if isinstance(error, FileExistsError) else _UNUSABLE
        case MemoryError():
            return _NO_MEMORY, _UNUSABLE
    return _BUG.format(kind=type(error).__name__, text=str(error).rstrip(".")), _DEFECT


def with_options(message: str) -> str:
    """A message of :mod:`typicality.tables` that names options instead of parameters."""
    names = "(format|columns|memory|encoding|decimal|comment)"
    message = re.sub(rf"(with|say|e\.g\.) {names}='([^']+)'", r"\1 --\2 \3", message)
    return re.sub(rf"(with|say|e\.g\.) {names}=", r"\1 --\2", message)


def _text_of(error: OSError) -> str:
    """The sentence of an error of the operating system, or one made of what it carries."""
    if error.strerror is None:  # put into words where it was raised
        return str(error)
    reason = error.strerror[:1].lower() + error.strerror[1:]
    if error.filename is None:
        return f"The results could not be written: {reason}."
    path = Path(os.fsdecode(error.filename))
    if path.name.startswith(".typicality-"):  # a temporary name says nothing to anybody
        return f"Cannot write to the folder {path.parent}: {reason}. Choose another with --output."
    return f"Cannot read or write {path}: {reason}."
