"""Pages: text from anybody, and rows of any size, in every kind of report."""

import json
import re
import warnings
from functools import cache

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fuzz.contract import Target, check_message
from report.test_page import Elements
from typicality import AlphaCutClustering, AutoClustering, FuzzyCMeans, OneClusterPCM, SequentialPCM
from typicality.report import Report

_RNG = np.random.default_rng(3)
_ROWS = np.repeat([[0.0, 0.0], [8.0, 8.0]], 15, axis=0) + _RNG.normal(size=(30, 2))
_KINDS = {
    "tree": AlphaCutClustering(),
    "memberships": FuzzyCMeans(2, random_state=0),
    "typicality": OneClusterPCM(),
    "sequential": SequentialPCM(),
    "auto": AutoClustering(random_state=0),
}
_HOSTILE = [
    *("</script><img src=x onerror=alert(1)>", "<!--<script>", "<!--payload-->", "/*js*/", "]]>"),
    *("\ud800", "\x00\x07\x1b[2J", "\u2028\u202e", "&lt;", "\\u003c", "__proto__", "constructor"),
    *("=1+1", "a\nb\r\n", "", " ", "x" * 3000, "{{}}", "${alert(1)}", "javascript:alert(1)"),
]
TEXTS = st.sampled_from(_HOSTILE) | st.text(max_size=20)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # marks of direction are text on a page
_NUMBERS = st.floats(width=64) | st.sampled_from([0.0, 1e300, -1e300, 5e-324, 1e16])


@cache
def _fitted(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _KINDS[kind].fit(_ROWS)


@st.composite
def page_arguments(draw):
    """A kind of model, rows to show, and everything that can be said about them."""
    kind = draw(st.sampled_from(sorted(_KINDS)))
    rows = _ROWS.copy()
    if kind not in ("tree", "auto"):  # which are drawn for the rows of the fit only
        rows = rows[: draw(st.integers(1, len(rows)))]
        rows.flat[draw(st.integers(0, rows.size - 1))] = draw(_NUMBERS)
    n = len(rows)
    display = draw(st.none() | arrays(float, (n, 2), elements=_NUMBERS, fill=st.just(1.0)))
    names = st.dictionaries(TEXTS, st.lists(TEXTS | st.none(), min_size=n, max_size=n), max_size=2)
    return kind, {
        "X": rows,
        "title": draw(st.none() | TEXTS),
        "display": display,
        "cells": draw(st.none() | names),
        "row_numbers": draw(st.none() | st.tuples(TEXTS, st.just(np.arange(n)[::-1]))),
        "notes": draw(st.lists(st.tuples(TEXTS, TEXTS), max_size=2)),
        "warnings": draw(st.lists(TEXTS, max_size=2)),
        "max_rows": draw(st.sampled_from([10, 25, 100_000])),
    }


@cache
def _plain(kind):
    """The elements of a page with nothing strange in it."""
    return Elements(Report.from_estimator(_fitted(kind), _ROWS).html)


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key in value for text in strings_in(key))
        yield from (text for entry in value.values() for text in strings_in(entry))
    elif isinstance(value, list):
        yield from (text for entry in value for text in strings_in(entry))


def page_of(value):
    kind, arguments = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Report.from_estimator(_fitted(kind), **arguments)


def _build(value, folder):
    """Build a page: its elements are those of any page, and its data are JSON of clean text."""
    try:
        page = page_of(value)
    except (ValueError, TypeError) as error:
        check_message(str(error))
        raise
    found = Elements(page.html)
    assert found.starts == _plain(value[0]).starts
    assert found.comments == []
    assert found.texts.get("title", "") == page.title
    page.html.encode("utf-8")
    text = found.texts["payload"]
    assert text.isascii()
    assert not set("<>&") & set(text)
    payload = json.loads(text, parse_constant=lambda name: 1 / 0)
    for said in strings_in(payload):
        assert not _CONTROL.search(said), repr(said)
        said.encode("utf-8")
    page.save(folder / "page.html", overwrite=True)


TARGETS = {"page": Target(page_arguments(), _build, (ValueError, TypeError))}
