"""Which rows and columns of a file are used, and why not the others, in words."""

import re
import shlex
from collections.abc import Sequence

import numpy as np

from typicality._typing import Doubles
from typicality._words import YEARS, counted, listed, share
from typicality.cli.console import shown
from typicality.cli.errors import option_of
from typicality.cli.options import quoted
from typicality.cli.rows import FileRows
from typicality.tables import TableFile

_CLASSES = ("class", "classes", "cluster", "group", "label", "labels", "target", "y")
_MOST_CLASSES = 50
_MOST_LEFT_OUT = 5  # columns explained one by one
_FEWEST_TO_ASK = 10  # values: fewer may well count up
_RUNNING = 2 / 3  # of the rows are one more than the row before, in a column that counts in groups
_CODES = frozenset(
    ["code", "id", "index", "key", "no", "nr", "number", "phone", "postcode", "zip", "zipcode"]
)


def about_rows(rows: FileRows, X: Doubles) -> str:
    """Which rows and columns were used, and why not the others; X are the numbers, or some rows."""
    names, left_out = rows.numeric.names, rows.numeric.left_out
    all_names = rows.column_names
    used = f"{counted(len(all_names), 'column')} ({listed(map(shown, all_names))})"
    sentences = [f"{rows.table.name}: {counted(rows.n_rows, 'row')}, {used}."]
    sentences += assumptions(rows.table)
    if rows.numeric.signs:
        marked = listed(map(shown, rows.numeric.signs))
        sentences.append(
            f"Currency signs, percent signs and separators of thousands were removed in {marked}."
        )
    sentences += _about_categories(rows)
    if left_out:
        reasons = [f"{shown(column.name)}, {column.sentence(option_of)}" for column in left_out]
        n_told = max(_MOST_LEFT_OUT, rows.numeric.n_with_digits)
        more = len(reasons) - n_told
        others = [f"and {more:,} more"] if more > 0 else []
        sentences.append(f"Left out: {'; '.join([*reasons[:n_told], *others])}.")
    for name, column in zip(names, X.T, strict=True):
        n_values = _count_codes(column) if name.strip().lower() in _CLASSES else np.inf
        if n_values <= _MOST_CLASSES:
            sentences.append(
                f"{shown(name)} is used, with {n_values:.0f} values: if it is a class, not a "
                f"measurement, leave it out with {_ignoring(name)}."
            )
    if not rows.options.columns:
        sentences += _questions(names, X)
    sentences += _about_dropped(rows) if rows.n_left_out else _about_filled(rows, X)
    return " ".join(sentences)


def _about_dropped(rows: FileRows) -> list[str]:
    """How many rows were left out; where these are more than half, which column costs most."""
    counts, n_rows = rows.numeric.missing_by_column, rows.n_rows
    dropped = counted(rows.n_left_out, "row")
    sentences = [f"Not used: {dropped} with missing values (--missing drop)."]
    if 2 * rows.n_left_out > n_rows:
        worst = max(counts, key=lambda name: counts[name])
        sentences.append(
            f"That is {share(rows.n_left_out, n_rows)} of the rows; {shown(worst)} alone "
            f"misses {share(counts[worst], n_rows)}. {_ignoring(worst)} keeps more "
            "rows."
        )
    return sentences


def _about_filled(rows: FileRows, X: Doubles) -> list[str]:
    """How many numbers were filled in, if any were."""
    counts, names, n_rows = rows.numeric.n_missing, rows.numeric.names, rows.n_rows
    n_missing = int(counts.sum())
    if rows.options.missing != "median" or not n_missing:
        return []
    filled = f"{counted(n_missing, 'missing value')} ({share(n_missing, n_rows * len(names))})"
    worst = int(np.argmax(counts))
    sentences = [
        f"{filled} became the median of the column; {shown(names[worst])} has the most "
        f"missing values, {share(int(counts[worst]), n_rows)}."
    ]
    n_empty = int(np.isnan(X).all(axis=1).sum())
    if n_empty and not rows.categories:
        sentences.append(
            f"Rows without any value: {n_empty:,}. The label of such a row means nothing."
        )
    return sentences


def _about_categories(rows: FileRows) -> list[str]:
    """Which columns are categories, and what became of missing ones."""
    if not rows.categories:
        nothing = rows.options.categorical and not rows.options.orders
        return ["No column of categories was found."] if nothing else []
    phrases = [f"{shown(each.name)} ({len(each.values)})" for each in rows.categories]
    sentences = [f"Categories: {listed(phrases)}."]
    n_missing = sum(each.n_missing for each in rows.categories)
    if n_missing:
        sentences.append(
            f"{counted(n_missing, 'missing category')} became a category of its own."
            if n_missing == 1
            else f"{n_missing:,} missing categories became a category of their own."
        )
    return sentences


def assumptions(table: TableFile) -> list[str]:
    """What was found out about how the file is written, in a sentence, if there is anything."""
    return [f"Assumed: {'; '.join(table.assumed)}."] if table.assumed else []


def _questions(names: Sequence[str], X: Doubles) -> list[str]:
    """A sentence about columns that take part and may be no measurements: numbers, codes, years."""
    kinds = {name: _kind_of(name, column) for name, column in zip(names, X.T, strict=True)}
    found = {name: kind for name, kind in kinds.items() if kind}
    if not found:
        return []
    are = "; ".join(f"{shown(name)}, {kind}" for name, kind in found.items())
    remedy = " ".join(map(_ignoring, found))
    return [f"Used, but perhaps not a measurement: {are}. Leave out with {remedy}."]


def _ignoring(name: str) -> str:
    """The option that leaves a column out, as a shell takes it."""
    return f"--ignore {shlex.quote(quoted(name))}" if name.isprintable() else "--ignore"


def _kind_of(name: str, column: Doubles) -> str:
    """What whole numbers may be instead of measurements: running numbers, codes or years."""
    present = column[~np.isnan(column)]
    if len(present) < _FEWEST_TO_ASK or (present != np.rint(present)).any():
        return ""
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    low, high = present.min(), present.max()
    oldest, latest = (1000, 3000) if YEARS & set(words) else (1900, 2050)
    if oldest <= low and high <= latest:
        return f"years from {low:.0f} to {high:.0f}"
    if np.mean(np.diff(present) == 1) >= _RUNNING and high - low >= 2:
        return f"whole numbers that count up from {low:.0f}"
    if _CODES & set(words[-1:]) and len(np.unique(present)) > _MOST_CLASSES:
        return "whole numbers in a column called number or code"
    return ""


def _count_codes(column: Doubles) -> float:
    """How many whole numbers there are in a column; infinity where it has others."""
    values = np.unique(column[~np.isnan(column)])
    return len(values) if (values == np.rint(values)).all() else np.inf
