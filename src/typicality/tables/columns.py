"""Which columns of a table are numbers to work with, and why the others are not."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from pyarrow.types import is_string

from typicality._cached import cached_property
from typicality._threads import stream_in_threads
from typicality._typing import Doubles, Places
from typicality._words import as_known, listed, shown
from typicality.exceptions import ClusteringWarning, OptionOf, Remedy, TableError, warn
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import (
    TRUTH,
    ParsedColumn,
    is_missing,
    is_mostly_digits,
    look_of,
)
from typicality.tables.measured import Doubt, doubt_about, is_called_id, is_coded
from typicality.tables.totals import are_totals, find_total

MOST_NUMBERS = 2**27  # rows times columns of numbers that are held in memory
_PADDED = re.compile(r"\s*0\d+\s*")
_BY_NAME = Remedy("columns", None, "{} uses such columns")
_FEWEST_COLUMNS = 2  # a column is left out by its name or look only if so many remain
ALL_MISSING = "all values are missing"
_FEWEST_ABOVE = 2  # rows: the totals of fewer are these rows
_FEWEST_TO_NUMBER = 10  # rows: fewer whole numbers in a row may well be measurements
_NEARLY = 0.05  # of the cells may be no numbers in a column that is nearly numeric
_N_LOOKED_AT = 100
_N_JUDGED = 10_000  # numbers at the beginning, which show whether a column holds measurements
_N_PIECES = 100  # blocks in which these are looked for
_N_HEAD = 2**20  # rows that are judged where not all are kept
_ADVICE = {
    "dates or times": ": write them as numbers to use them, e.g. as days since the first date",
}
_REMEDIES = {
    "numbers with a decimal comma": Remedy("decimal", ",", "use {} to use them"),
    "numbers with a decimal point": Remedy("decimal", ".", "use {}, as others have commas"),
}
_CLUSTER_TEXT = Remedy("categorical", "auto", "To cluster rows by their text, use {}.")


class TooLargeError(TableError):
    """The table has too many numbers to hold them in memory."""


class LeftOut(NamedTuple):
    """A column that is left out, and why; `reason` is the whole sentence in Python's words.

    Parameters
    ----------
    name : str
        The name of the column.
    what : str
        What is wrong with it.
    remedy : Remedy, optional
        A parameter that helps.
    has_digits : bool, default=False
        Whether it has numbers, or text of digits that may have been meant as numbers.
    """

    name: str
    what: str
    remedy: Remedy | None = None
    has_digits: bool = False

    @property
    def reason(self) -> str:
        """The whole reason in the words of Python."""
        return self.sentence()

    def sentence(self, option_of: OptionOf | None = None) -> str:
        """The whole reason, with the parameter of the remedy as `option_of` writes it."""
        return self.what + (f": {self.remedy.sentence(option_of)}" if self.remedy else "")


class NumericTable(NamedTuple):
    """The numbers of a table and, if requested, its categories.

    Parameters
    ----------
    X : array of shape (n, d)
        The numbers; NaN if they are missing. Ordered categories are ranks, in the last columns.
    names : tuple of str
        The names of the columns.
    left_out : tuple of LeftOut
        The columns that are left out, and why. Columns with mostly digits come first.
    n_missing : array of shape (d,)
        The number of missing values of each column.
    first_missing : str or None
        The position of the first missing value, row by row.
    fingerprint : str
        "sha256:" and the hash of the bytes of the file.
    signs : dict of str to str
        The sign of each column with numbers like $7,440 or 60%. The sign is empty for columns that
        have only separators of thousands.
    texts : dict of str to list of str
        The cells of ranks and of categories, row by row; empty if they are missing.
    doubts : dict of str to str
        Columns that are used and may be no measurements, and why.
    ranges : dict of str to pair of float
        The smallest and the largest number of each column of numbers, ranks not included.
    """

    X: Doubles
    names: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    n_missing: Places
    first_missing: str | None
    fingerprint: str
    signs: dict[str, str]
    texts: dict[str, list[str]] = {}  # noqa: RUF012 (a default of a tuple)
    doubts: dict[str, str] = {}  # noqa: RUF012
    ranges: dict[str, tuple[float, float]] = {}  # noqa: RUF012

    @property
    def categories(self) -> dict[str, list[str]]:
        """The cells of the columns of categories, without ranks."""
        return {name: cells for name, cells in self.texts.items() if name not in self.names}

    @property
    def missing_by_column(self) -> dict[str, int]:
        """How many values each column misses, numbers first."""
        counts = dict(zip(self.names, self.n_missing.tolist(), strict=True))
        return counts | {name: cells.count("") for name, cells in self.categories.items()}


# ---- for fitted models ---------------------------------------------------------------------------


def categories_of(
    block: Block, name: str, order: Sequence[str] | None = None, *, known: Sequence[str] = ()
) -> list[str]:
    """The categories of the rows of a block as text; empty if a category is missing.

    If `order` is given, other categories raise an error that names the line and the column. If a
    cell is not in `known`, it becomes the category with the same value, if there is one. For
    example, 1.0 and true in a dataframe become 1 and True of a csv file.
    """
    _refuse_absent([name], block.names, block.source)
    texts = ["" if is_missing(cell) else cell.strip() for cell in block.cells(name)]
    known = known or order or ()
    texts = as_known(texts, known)
    for row, text in enumerate(texts if order is not None else ()):
        if text and text not in known:
            what = f"is not one of its ordered categories ({listed(map(shown, known))}). Add it to "
            raise block.bad_cell(row, name, f"{what}them, or correct it.")
    return texts


def rows_of(
    block: Block, names: Sequence[str], *, signs: Mapping[str, str] | None = None
) -> Doubles:
    """Some columns of a block as numbers, for a fitted model.

    Parameters
    ----------
    block : Block
        Rows of a table.
    names : sequence of str
        The columns, in the order of the model.
    signs : mapping of str to str, optional
        The signs of columns with numbers like $7,440, from :func:`read_rows`.

    Returns
    -------
    array of shape (n_rows, d)
        The numbers; NaN if they are missing. Text and infinite numbers raise an error that names
        the line and the column.
    """
    _refuse_absent(names, block.names, block.source)
    parsed = block.parse(names)
    for j, name in enumerate(names):
        if signs is not None and name in signs:
            parsed[j], found = block.strip_signs(name, parsed[j])
            _refuse_mixed_signs(name, found | {signs[name]}, block.source)
        numbers, strangers = parsed[j]
        if len(strangers):
            raise block.not_a_number(strangers, name)
        if np.isinf(numbers).any():
            raise block.not_finite(int(np.isinf(numbers).argmax()), name)
    return np.stack([column.numbers for column in parsed], axis=1)


def _refuse_mixed_signs(name: str, signs: set[str], source: str) -> None:
    """Numbers with different signs are not to be compared."""
    if mixed := _mixed_signs(signs):
        raise TableError(
            f"{mixed}. Write all of them with the same sign.", source=source, column=name
        )


def _mixed_signs(signs: set[str]) -> str | None:
    """What is wrong with these signs in one column; an amount may be without its sign."""
    if len(signs - {""}) < 2 and not any(signs >= {sign, ""} for sign in ("%", TRUTH)):
        return None
    found = listed(shown(sign) if sign else "none" for sign in sorted(signs))
    return f"numbers have different currency or percent signs ({found})"


def _refuse_absent(wanted: Sequence[str], names: Sequence[str], source: str) -> None:
    known = set(names)
    absent = [name for name in wanted if name not in known]
    if absent:
        folded = [name for name in names if name.casefold() == absent[0].casefold()]
        near = folded or get_close_matches(absent[0], names, 1)
        hint = f"Did you mean {shown(near[0])}? " if near else ""
        raise TableError(
            f"{source} has no column {listed(map(shown, absent))}. {hint}Its columns are "
            f"{listed(map(shown, names))}.",
            column=absent[0],
        )


# ---- for a fit -----------------------------------------------------------------------------------


def read_rows(
    table: TableFile,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    ordered: Mapping[str, Sequence[str]] | None = None,
    hold: bool = True,
) -> NumericTable:
    """Read the columns of numbers of a table into memory.

    Currency signs, percent signs and separators of thousands are removed: $7,440 is 7440. True is
    1, and false is 0. Columns that are no measurements are left out, with a reason, as docs/cli.md
    lists them; the first 10,000 numbers of a column decide.

    A last row with totals is left out: one of its cells is a word such as total, and its numbers
    are the sums or the means of the columns above. If the numbers differ, or were not held, the row
    is used, with a warning.

    A table of more than 2**27 numbers raises an error as soon as its size is known; read such a
    table with :func:`typicality.open_rows`.

    Parameters
    ----------
    table : TableFile
        The table.
    columns : sequence of str, optional
        The columns to read, in this order. None of them is left out, and text in them raises an
        error.
    ignore : sequence of str, default=()
        Columns to leave out.
    categorical : "auto" or sequence of str, default=()
        Columns of categories, which are read in one more pass. "auto" takes all columns of text and
        booleans.
    ordered : mapping of str to sequence of str, optional
        Columns of ordered categories, with the categories from the lowest to the highest. They
        become ranks 0, 1, ...
    hold : bool, default=True
        Whether to keep the numbers in memory. If False, X has no rows, and there are no categories.

    Returns
    -------
    NumericTable
        The numbers, the columns that were left out, and the positions of missing numbers.
    """
    orders, is_auto = dict(ordered or {}), categorical == "auto"
    named = [name for name in ([] if is_auto else categorical) if name not in {*orders, *ignore}]
    wanted = _wanted(table, columns, ignore, [*named, *orders])
    is_chosen = columns is not None
    judged = [Column(name, is_chosen, truth_is_text=is_auto, is_kept=hold) for name in wanted]
    n_rows, last = _see_all(table, judged, refuse_text=is_chosen and not is_auto)
    total = find_total(last) if table.totals is None and n_rows > _FEWEST_ABOVE else None
    if total is not None and _are_sums(judged, last, hold=hold):
        table.leave_out_totals(total.row, total.place)
        how: dict[str, Any] = {"columns": columns, "ignore": ignore, "categorical": categorical}
        return read_rows(table, ordered=ordered, hold=hold, **how)
    if total is not None:
        warn(*total.doubt, ClusteringWarning, "totals")
    text = [column.name for column in judged if is_auto and column.holds_categories]
    numeric = [column for column in judged if column.name not in text]
    left_out: list[LeftOut] = []
    if is_chosen:
        for column in numeric:
            if column.text is not None:
                raise column.text
    else:
        left_out = [found for column in numeric if (found := column.left_out())]
        left_out.sort(key=lambda column: not column.has_digits)
    unused = {column.name for column in left_out}
    chosen = [column for column in numeric if column.name not in unused]
    doubts: dict[str, Doubt] = {}
    if not is_chosen:
        doubts = {c.name: doubt for c in chosen if (doubt := c.doubt())}
        doubts |= _class_without_name(table.names, chosen)
    certain = [c for c in chosen if c.name in doubts and doubts[c.name].is_certain]
    n_others = len({*orders, *named, *text})
    if len(chosen) - len(certain) + n_others >= _FEWEST_COLUMNS:
        chosen = [column for column in chosen if column not in certain]
        left_out[:0] = [
            LeftOut(c.name, doubts.pop(c.name).what, _BY_NAME, has_digits=True) for c in certain
        ]
    for column in chosen:
        if column.endless is not None:
            raise column.endless
        _refuse_mixed_signs(column.name, column.signs | column.bare, table.name)
    texts, missing = _read_texts(table, [*orders, *named, *text], orders)
    if not chosen and not texts:
        has_text = any(column.holds_categories for column in judged)
        raise _nothing_left(table, left_out, has_text=has_text)
    X = _stacked(chosen, n_rows if hold else 0)
    if orders:
        X = np.column_stack([X, *(_ranks(texts[name], order) for name, order in orders.items())])
    missing += [column.first_missing for column in chosen if column.first_missing]
    n_missing = [c.n_missing for c in chosen] + [texts[name].count("") for name in orders]
    return NumericTable(
        X=X,
        names=(*(column.name for column in chosen), *orders),
        left_out=(*left_out, *(LeftOut(name, "you asked to ignore it") for name in ignore)),
        n_missing=np.array(n_missing, dtype=np.intp),
        first_missing=min(missing)[1] if missing else None,
        fingerprint=table.fingerprint,
        signs={column.name: max(column.signs) for column in chosen if column.signs},
        texts=texts,
        doubts={name: doubt.what for name, doubt in doubts.items()},
        ranges={column.name: (column.low, column.high) for column in chosen},
    )


def _wanted(
    table: TableFile, columns: Sequence[str] | None, ignore: Sequence[str], as_text: Sequence[str]
) -> list[str]:
    """Which columns may be numbers."""
    _refuse_absent([*(columns or ()), *ignore, *as_text], table.names, table.name)
    candidates = dict.fromkeys(table.names if columns is None else columns)
    wanted = [name for name in candidates if name not in {*ignore, *as_text}]
    if not wanted and not as_text:
        raise TableError(
            f"{table.name}: no column was chosen. Choose some columns, or ignore fewer."
        )
    return wanted


class Column:
    """What is known of a column after some blocks.

    Attributes
    ----------
    pieces : list of array
        Its numbers, block by block, if they are kept; none where it is no column of numbers.
    n_seen, n_missing, n_strangers : int
        How many cells it has, how many of them are missing, and how many are text.
    first_missing : tuple of int and str, or None
        The row of the first missing number, and its position as text.
    text, endless : TableError or None
        An error about the first cell of text, and about the first infinity.
    signs : set of str
        The signs of its numbers, where cells are more than digits.
    bare : set of str
        "" where other cells are digits only.
    """

    def __init__(self, name: str, is_chosen: bool, *, truth_is_text: bool, is_kept: bool) -> None:
        self.name = name
        self._is_chosen, self._truth_is_text, self._is_kept = is_chosen, truth_is_text, is_kept
        self.signs: set[str] = set()
        self.bare: set[str] = set()
        self.pieces: list[Doubles] = []
        self.n_seen = self.n_missing = self.n_strangers = 0
        self.first_missing: tuple[int, str] | None = None
        self.text: TableError | None = None
        self.endless: TableError | None = None
        self.low, self.high = np.inf, -np.inf
        self._look = self._first_stranger = ""
        self._is_in_digits = self._is_padded = False

    @property
    def is_candidate(self) -> bool:
        """Nearly all cells so far are numbers: further blocks are used, or text is counted."""
        return self.n_strangers <= _NEARLY * self.n_seen

    @property
    def holds_categories(self) -> bool:
        """Whether it has text that is no number, date or time."""
        return self.n_strangers > 0 and not self.is_candidate and self._look in ("text", TRUTH)

    def see(self, block: Block, parsed: ParsedColumn) -> None:
        """Take in one more block."""
        if len(parsed.strangers):
            stripped, signs = block.strip_signs(self.name, parsed, also_plain=self._is_chosen)
            if not (self._truth_is_text and TRUTH in signs):
                parsed = stripped
                self.signs |= signs
        elif not self.bare and np.isfinite(parsed.numbers).any():
            self.bare = {""}
        column = block.columns([self.name])[0]
        if not self.n_seen and is_string(column.type):  # the zeros can be seen
            some = column.slice(0, _N_LOOKED_AT).drop_null().to_pylist()
            self._is_padded = any(map(_PADDED.fullmatch, some))
        numbers, strangers = parsed
        if len(strangers) and self.text is None:
            self._see_text(block, strangers)
        self.n_strangers += len(strangers)
        missing, endless = np.isnan(numbers), np.isinf(numbers)
        if self.first_missing is None and missing.any():
            self.first_missing = block.position(int(missing.argmax()))
        if self.endless is None and endless.any():
            self.endless = block.not_finite(int(endless.argmax()), self.name)
        self.low = float(np.fmin.reduce(numbers, initial=self.low))
        self.high = float(np.fmax.reduce(numbers, initial=self.high))
        if not self.n_strangers and (self._is_kept or self.n_seen < _N_HEAD):
            self.pieces.append(numbers)
        self.n_missing += int(np.count_nonzero(missing))
        self.n_seen += len(numbers)

    def _see_text(self, block: Block, strangers: Places) -> None:
        """Keep the first text, and what the first texts look like."""
        cells, first = block.cells(self.name), int(strangers[0])
        self.text = block.not_a_number(strangers, self.name)
        self._first_stranger = f"{shown(cells[first])} in {block.place(first)}"
        some = [cells[i] for i in strangers[:_N_LOOKED_AT]]
        self._look = look_of(some, block.table.decimal)
        self._is_in_digits = 2 * sum(map(is_mostly_digits, some)) > len(some)
        self.pieces.clear()

    def left_out(self) -> LeftOut | None:
        """Why the column is not one to work with; None if it is."""
        if self.n_strangers and self.is_candidate:
            what = (
                f"{self.n_strangers:,} of {self.n_seen:,} cells are not numbers (first "
                f"{self._first_stranger}): correct them or leave them empty to use it"
            )
            return LeftOut(self.name, what, has_digits=True)
        if self.n_strangers:
            what = f"{self._look} (first {self._first_stranger}){_ADVICE.get(self._look, '')}"
            remedy, has_digits = _REMEDIES.get(self._look), self._is_in_digits
            return LeftOut(self.name, what, remedy, has_digits)
        mixed = _mixed_signs(self.signs | self.bare) if self.signs else None
        if mixed is not None:
            return LeftOut(self.name, mixed)
        if self.n_missing == self.n_seen:
            return LeftOut(self.name, ALL_MISSING)
        if self.low == self.high:
            return LeftOut(self.name, f"constant (always {self.low:g})")
        if self._numbers_the_rows():
            what = f"an identifier: it numbers the rows from {self.low:.0f} to {self.high:.0f}"
            return LeftOut(self.name, what)
        if self.name.startswith("__index_level_"):
            return LeftOut(self.name, "the index of a pandas data frame", _BY_NAME)
        if self._are_whole and is_called_id(self.name):
            what = "whole numbers in a column called id"
            return LeftOut(self.name, what, _BY_NAME, has_digits=True)
        return None

    def doubt(self) -> Doubt | None:
        """Why its numbers may be no measurements; None if nothing says so."""
        if self.signs - {"", TRUTH} or not self._are_whole:
            return None
        if self._is_padded:
            return Doubt("codes with zeros in front", is_certain=True)
        return doubt_about(self.name, self._first, self.low, self.high)

    @property
    def is_coded(self) -> bool:
        """Whether its numbers may be those of a few classes."""
        return self._are_whole and is_coded(self._first, self.low, self.high)

    @cached_property
    def _first(self) -> Doubles:
        """The numbers at the beginning."""
        numbers = np.concatenate(self.pieces[:_N_PIECES])
        return numbers[~np.isnan(numbers)][:_N_JUDGED]

    @cached_property
    def _are_whole(self) -> bool:
        return all(bool((np.isnan(some) | (some == np.rint(some))).all()) for some in self.pieces)

    def _numbers_the_rows(self) -> bool:
        """Whether these are the whole numbers of a range, each of them once."""
        if self.n_seen < _FEWEST_TO_NUMBER or self.high - self.low != self.n_seen - 1:
            return False
        return self._are_whole and len(np.unique(np.concatenate(self.pieces))) == self.n_seen


def _class_without_name(names: Sequence[str], chosen: Sequence[Column]) -> dict[str, Doubt]:
    """The first and the last column of a file without names, if they number a few classes.

    Where most columns are such numbers, as answers from 1 to 5, nothing sets these apart.
    """
    coded = [column.name for column in chosen if column.is_coded]
    ends = {names[0], names[-1]} & {"column 1", f"column {len(names)}"}
    found = ends.intersection(coded) if 2 * len(coded) < len(chosen) else ()
    what = "whole numbers like those of classes, in the first or last column"
    return {name: Doubt(what, is_certain=True) for name in found}


def _see_all(table: TableFile, judged: Sequence[Column], *, refuse_text: bool) -> tuple[int, Block]:
    """Show all blocks to columns, and return the number of rows, and the last block."""
    n_rows = 0
    blocks = ((block, [c for c in judged if c.is_candidate]) for block in table.blocks())
    for block, found in stream_in_threads(_parsed, blocks):
        for column, parsed in found:
            if column.is_candidate:  # still: blocks are parsed ahead
                column.see(block, parsed)
            if refuse_text and column.text is not None:
                raise column.text
        n_rows += block.n_rows
        expected = int(n_rows / block.fraction_read)
        n_held = sum(column._is_kept and column.n_strangers == 0 for column in judged)
        if expected * n_held > MOST_NUMBERS:
            raise TooLargeError(
                f"{table.name} is too large for memory: about {expected:,} rows of {n_held:,} "
                f"columns of numbers are more than {MOST_NUMBERS:,} numbers. Make a smaller file, "
                "with fewer rows or columns."
            )
    for column in judged:
        if column._is_chosen and column.text is None and column.n_missing == column.n_seen:
            raise TableError(
                f"{ALL_MISSING}. Choose other columns.", source=table.name, column=column.name
            )
    return n_rows, block


def _are_sums(judged: Sequence[Column], last: Block, *, hold: bool) -> bool:
    """Whether the last row has the totals of all columns whose numbers are held."""
    held = [column for column in judged if column.pieces]
    return hold and are_totals(last, ((c.name, np.concatenate(c.pieces)) for c in held))


def _parsed(
    item: tuple[Block, list[Column]],
) -> tuple[Block, list[tuple[Column, ParsedColumn]]]:
    block, columns = item
    parsed = block.parse([column.name for column in columns]) if columns else []
    return block, list(zip(columns, parsed, strict=True))


def _stacked(columns: Sequence[Column], n_rows: int) -> Doubles:
    """The numbers of columns side by side; the columns give theirs away."""
    X = np.empty((n_rows, len(columns)))
    end = n_rows if columns else 0
    while end:  # from the last block to the first, each freed: there is never a second copy of all
        block_rows = np.stack([column.pieces.pop() for column in columns], axis=1)
        X[end - len(block_rows) : end] = block_rows
        end -= len(block_rows)
    return X


def _read_texts(
    table: TableFile, names: Sequence[str], orders: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[tuple[int, str]]]:
    """Columns of text in one more pass, and where the first cell of each is missing."""
    texts: dict[str, list[str]] = {name: [] for name in names}
    first: dict[str, tuple[int, str]] = {}
    for block in table.blocks() if names else ():
        for name, cells in texts.items():
            some = categories_of(block, name, orders.get(name))
            if name not in first and "" in some:
                first[name] = block.position(some.index(""))
            cells += some
    return texts, list(first.values())


def _ranks(cells: Sequence[str], order: Sequence[str]) -> Doubles:
    """The ranks of ordered categories; NaN where one is missing."""
    rank = {value: float(k) for k, value in enumerate(order)}
    return np.array([rank.get(cell, np.nan) for cell in cells])


def _nothing_left(table: TableFile, left_out: Sequence[LeftOut], *, has_text: bool) -> TableError:
    reasons = listed((f"{shown(c.name)}: {c.what}" for c in left_out), separator="; ")
    if table.n_rows == 1:
        return TableError(
            f"{table.name} has only one row, so no column can be used ({reasons}). Add rows."
        )
    remedies = [
        column.remedy._replace(words=f"For {shown(column.name)}, {column.remedy.words}.")
        for column in left_out
        if column.remedy
    ]
    remedies += [_CLUSTER_TEXT] if has_text else []
    return TableError(
        f"{table.name} has no column of numbers ({reasons}). Add columns of numbers, or correct "
        "cells that should be numbers.",
        column=left_out[0].name if len(left_out) == 1 else None,
        remedy=remedies[0] if remedies else None,
    )
