"""What every input must keep to: success or a refusal in words, in bounded time and memory."""

import re
import resource
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MOST_SECONDS = 30.0  # of the processor; to compile a loop at its first use takes up to 12
MOST_MEMORY = 500e6  # bytes that an input may add to the peak of the process
# Characters that a terminal obeys: C0, delete, C1, marks of direction, separators of lines.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Target(NamedTuple):
    """Something that takes input from anybody.

    Parameters
    ----------
    inputs : strategy
        Where inputs come from.
    work : callable
        Uses an input, and a folder to write to; checks what comes out of it. It may return a word
        for the outcome.
    refusals : tuple of type
        The errors that are documented.
    """

    inputs: Any
    work: Callable[[Any, Path], str | None]
    refusals: tuple[type[Exception], ...]


def outcome_of(target, value, folder):
    """Use an input, and name what came of it; an AssertionError where the contract was broken."""
    seconds, memory = time.process_time(), _peak()
    try:
        outcome = target.work(value, folder) or "success"
    except target.refusals as error:
        check_message(str(error))
        outcome = f"{type(error).__name__} of {_place(error)}"
    seconds, memory = time.process_time() - seconds, _peak() - memory
    assert seconds < MOST_SECONDS, f"took {seconds:.1f} s"
    assert memory < MOST_MEMORY, f"took {memory / 1e6:.0f} MB"
    return outcome


def check_message(text):
    """One line that can be printed."""
    assert text.strip(), "an error without words"
    assert not CONTROL.search(text), f"control characters in {text!r}"


def _place(error):
    """The last line of the package on the way to an error, or to what caused it."""
    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/typicality/" in frame.filename]
    frame = (ours or frames)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
