"""What went wrong, in one sentence, and the exit code that says so to a script."""

import functools
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

import click

Result = TypeVar("Result")

_INTERRUPTED = "Interrupted; nothing was written."
_NO_MEMORY = (
    "There is not enough memory for this; choose fewer columns with --columns, or fit on a file of "
    "fewer rows and let `typicality score` read the rest."
)
_BUG = (
    "This is a bug in typicality: {kind}: {text}. Please run it again with --debug, and report "
    "what that prints."
)


class ExitCode(IntEnum):
    """The exit codes of the command line."""

    DONE = 0
    BUG = 1
    WRONG_USE = 2
    UNUSABLE = 3
    EXISTS = 4
    INTERRUPTED = 130


class WrongUseError(ValueError):
    """The command line asks for what makes no sense; one sentence says what, and the remedy."""


class UnusableError(ValueError):
    """A file, its rows or a model cannot be used; one sentence says why, and the remedy."""


class _OneSentence(click.ClickException):
    """An error as click prints it: ``Error:`` and the sentence."""

    def __init__(self, sentence: str, code: ExitCode) -> None:
        super().__init__(sentence)
        self.exit_code = code  # type: ignore[misc]


def explained(function: Callable[..., Result]) -> Callable[..., Result | None]:
    """A command whose errors are one sentence on stderr and an exit code.

    The option `debug` is taken from its keywords here: where it is true, errors come as they are,
    with their traceback.
    """

    @functools.wraps(function)
    def call(*args: Any, debug: bool, **options: Any) -> Result | None:
        _print_anything()
        try:
            with _ended_like_interrupted():
                result = function(*args, **options)
            sys.stdout.flush()  # a pipe that is gone shows here, not while Python ends
            return result
        except BrokenPipeError:
            _leave_stdout()
            return None
        except (click.ClickException, click.exceptions.Exit):
            raise
        except WrongUseError as error:
            raise click.UsageError(str(error)) from error
        except (Exception, KeyboardInterrupt) as error:
            if debug:
                raise
            raise _in_words(error) from error

    return call


def _print_anything() -> None:
    """Names that the terminal cannot show are printed with escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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


def _leave_stdout() -> None:
    """Nobody reads any more what is written, as with ``| head``: that is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_words(error: BaseException) -> click.ClickException:
    from typicality.exceptions import ModelFileError, TableError

    match error:
        case KeyboardInterrupt():
            return _OneSentence(str(error) or _INTERRUPTED, ExitCode.INTERRUPTED)
        case TableError():
            return _OneSentence(with_options(str(error)), ExitCode.UNUSABLE)
        case UnusableError() | ModelFileError():
            return _OneSentence(str(error), ExitCode.UNUSABLE)
        case FileExistsError():
            return _OneSentence(_text_of(error), ExitCode.EXISTS)
        case OSError():
            return _OneSentence(_text_of(error), ExitCode.UNUSABLE)
        case MemoryError():
            return _OneSentence(_NO_MEMORY, ExitCode.UNUSABLE)
    kind, text = type(error).__name__, str(error).rstrip(".")
    return _OneSentence(_BUG.format(kind=kind, text=text), ExitCode.BUG)


def with_options(message: str) -> str:
    """A message of :mod:`typicality.tables` that names options instead of parameters."""
    message = re.sub(r"(with|say|e\.g\.) (format|columns|memory)='(\w+)'", r"\1 --\2 \3", message)
    return re.sub(r"(with|say|e\.g\.) (format|columns|memory)=", r"\1 --\2", message)


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
