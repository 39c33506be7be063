"""Warnings from many repetitions: none is lost, and each is told once."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock, local
from typing import Any

from typicality.exceptions import warn

Heard = tuple[type[Warning], str]

_DETAIL = re.compile(r"'[^']*'|[-+]?\b\d+([.,]\d+)*(e[-+]?\d+)?", re.IGNORECASE)
_LISTED = re.compile(r"(\w* ?#)((,| and) \1)*( and # more)?")

# How warnings are shown belongs to the whole process. Repetitions may run in threads side by side,
# and would restore each other's ways of showing: so the first to listen changes it for all, the
# last restores it, and what is heard goes to the thread that it comes from.
_changing = Lock()
_usual_way = ExitStack()
_n_listening = 0
_in_this_thread = local()


@contextmanager
def hearing() -> Iterator[list[Heard]]:
    """A list of the warnings that this thread gives in the meantime, whatever the filters say."""
    outer = getattr(_in_this_thread, "heard", None)
    heard: list[Heard] = []
    _in_this_thread.heard = heard
    _listen()
    try:
        yield heard
    finally:
        _listen_no_more()
        _in_this_thread.heard = outer


def _listen() -> None:
    global _n_listening
    with _changing:
        if _n_listening == 0:
            _usual_way.enter_context(warnings.catch_warnings())
            warnings.simplefilter("always")
            warnings.showwarning = _keep_or_show(warnings.showwarning)
        _n_listening += 1


def _listen_no_more() -> None:
    global _n_listening
    with _changing:
        _n_listening -= 1
        if _n_listening == 0:
            _usual_way.close()


def _keep_or_show(show: Any) -> Any:
    def showwarning(message: Warning, category: type[Warning], *place: Any, **more: Any) -> None:
        heard = getattr(_in_this_thread, "heard", None)
        if heard is None:
            show(message, category, *place, **more)
        else:
            heard.append((category, str(message)))

    return showwarning


def tell_once(
    heard_in_each: Iterable[Iterable[Heard]], n_repeats: int, *, among: str = "repetitions"
) -> None:
    """Give each warning once, with the number of repetitions (or of others) it came from.

    Warnings that differ in numbers and names alone are one, and told in the words of the first.
    """
    first: dict[Heard, str] = {}
    times: Counter[Heard] = Counter()
    for heard in heard_in_each:
        kinds = {(category, _pattern(text)): text for category, text in reversed([*heard])}
        times.update(kinds.keys())
        first = kinds | first
    for (category, pattern), count in times.items():
        warn(f"{first[category, pattern]} (In {count:,} of {n_repeats:,} {among}.)", category)


def _pattern(text: str) -> str:
    """The words alone: "Constant: feature 3, feature 5." is "Constant: feature #."."""
    return _LISTED.sub(r"\1", _DETAIL.sub("#", text))
