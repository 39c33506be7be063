"""Which columns are numbers to work with, and why the others are not."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._threads import stream_in_threads
from typicality._typing import Doubles, Places
from typicality._words import listed, shown
from typicality.exceptions import Remedy, TableError
from typicality.tables.base import Block, Place, TableFile
from typicality.tables.cells import ParsedColumn, is_missing, value_of_text
from typicality.tables.columns import ALL_MISSING, Column, LeftOut, mixed_signs

MOST_NUMBERS = 2**27  # rows times columns of numbers that are held in memory
_UNSURE = (
    "its points may be decimal points or separators of thousands, and other columns have decimal "
    "commas"
)
_ARE_POINTS = Remedy(
    "decimal", ".", "use {} if they are decimal points, or remove the separators of thousands"
)


class TooLargeError(TableError):
    """The table has too many numbers to hold them in memory."""


class CategoryColumn(NamedTuple):
    """A column of categories.

    Parameters
    ----------
    name : str
        The name of the column.
    codes : array of shape (n,), int32
        The category of each row, as an index into `values`; -1 if it is missing.
    values : tuple of str
        The categories, in order of appearance.
    first_missing : Place or None
        The position of the first missing category.
    """

    name: str
    codes: NDArray[np.int32]
    values: tuple[str, ...]
    first_missing: Place | None

    @property
    def n_missing(self) -> int:
        """The number of rows with a missing category."""
        return int(np.count_nonzero(self.codes < 0))


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
    first_missing : Place or None
        The position of the first missing number, row by row.
    fingerprint : str
        "sha256:" and the hash of the bytes of the file.
    signs : dict of str to str
        The sign of each column with numbers like $7,440 or 60%. The sign is empty for columns that
        have only separators of thousands.
    n_with_digits : int
        The number of columns in `left_out` with mostly digits.
    categories : tuple of CategoryColumn
        The columns of categories.
    """

    X: Doubles
    names: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    n_missing: Places
    first_missing: Place | None
    fingerprint: str
    signs: dict[str, str]
    n_with_digits: int
    categories: tuple[CategoryColumn, ...] = ()

    @property
    def missing_by_column(self) -> dict[str, int]:
        """How many values each column misses, numbers first."""
        counts = dict(zip(self.names, self.n_missing.tolist(), strict=True))
        return counts | {column.name: column.n_missing for column in self.categories}


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
    if known:
        by_value = {value_of_text(category): category for category in known}
        meant = {text: text for text in known} | {"": ""}
        for text in {*texts} - {*meant}:
            meant[text] = by_value.get(value_of_text(text), text)
        texts = [meant[text] for text in texts]
    for row, text in enumerate(texts if order is not None else ()):
        if text and text not in known:
            raise block.bad_cell(
                row,
                name,
                f"is not one of its ordered categories ({listed(map(shown, known))}). Add it to "
                "them, or correct it.",
            )
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
            raise block.not_a_number(int(strangers[0]), name)
        if np.isinf(numbers).any():
            raise block.not_finite(int(np.isinf(numbers).argmax()), name)
    return np.stack([column.numbers for column in parsed], axis=1)


def _refuse_mixed_signs(name: str, signs: set[str], source: str) -> None:
    """Numbers with different signs are not to be compared."""
    mixed = mixed_signs(signs)
    if mixed:
        raise TableError(
            f"{mixed}. Write all of them with the same sign.", source=source, column=name
        )


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
    1, and false is 0. Columns with several signs, or with percentages and other numbers, are not
    used.

    These columns are left out, with a reason: text and dates; columns without values; constant
    columns; and identifiers. An identifier is a column of integers whose name ends with "id" (such
    as user_id), or a column that numbers the rows: in a file of ten rows or more, distinct integers
    that fill a range as long as the file.

    If some columns have decimal commas and others decimal points in the first lines, a column is
    left out if all its points there could separate thousands.

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
    wanted, named = _wanted(table, columns, ignore, () if is_auto else categorical, orders)
    is_chosen = columns is not None
    how: dict[str, Any] = {"is_chosen": is_chosen, "allow_text": is_auto, "hold": hold}
    judged, n_rows = _judge(table, wanted, **how)
    text = [column.name for column in judged if is_auto and column.holds_categories]
    chosen, left_out, with_digits = [], [], set()
    for column in judged:
        if column.name in text:
            continue
        reason = _why_not(table, column, is_chosen=is_chosen)
        if reason is None:
            chosen.append(column)
            continue
        left_out.append(reason)
        if column.has_digits or column.name in table.unsure:
            with_digits.add(column.name)
    left_out.sort(key=lambda column: column.name not in with_digits)
    _refuse_bad_numbers(table, chosen)
    as_text = [*orders, *named, *text]
    if not chosen and not as_text:
        raise _nothing_left(table, left_out)
    categories = _read_categories(table, as_text, orders)
    ranks, categories = categories[: len(orders)], categories[len(orders) :]
    used: list[Any] = [*chosen, *ranks]
    missing = [column.first_missing for column in used if column.first_missing]
    X = _stacked(chosen, n_rows if hold else 0)
    if ranks:
        X = np.column_stack([X, *(_ranks(column, orders[column.name]) for column in ranks)])
    return NumericTable(
        X=X,
        names=tuple(column.name for column in used),
        left_out=(*left_out, *(LeftOut(name, "you asked to ignore it") for name in ignore)),
        n_missing=np.array([column.n_missing for column in used], dtype=np.intp),
        first_missing=min(missing, key=lambda place: place.row, default=None),
        fingerprint=table.fingerprint,
        signs={column.name: max(column.signs) for column in chosen if column.signs},
        n_with_digits=len(with_digits),
        categories=tuple(categories),
    )


def _refuse_bad_numbers(table: TableFile, chosen: Sequence[Column]) -> None:
    """An error about the first infinity of a column, or about different signs in it."""
    for column in chosen:
        if column.endless is not None:
            raise column.endless
        if column.signs:
            _refuse_mixed_signs(column.name, column.signs | column.bare, table.name)


def _wanted(
    table: TableFile,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
    categorical: str | Sequence[str],
    orders: Mapping[str, Sequence[str]],
) -> tuple[list[str], list[str]]:
    """Which columns may be numbers, and which are categories by their names."""
    named = [name for name in categorical if name not in orders]
    as_text = {*named, *orders}
    _refuse_absent([*(columns or ()), *ignore, *as_text], table.names, table.name)
    candidates = table.names if columns is None else columns
    wanted = [name for name in candidates if name not in {*ignore, *as_text}]
    if not wanted and not as_text:
        raise TableError(
            f"{table.name}: no column was chosen. Choose some columns, or ignore fewer."
        )
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise TableError(
            f"{table.name}: column {shown(twice)} was chosen twice. Name it only once."
        )
    return wanted, [name for name in named if name not in set(ignore)]


def _why_not(table: TableFile, column: Column, *, is_chosen: bool) -> LeftOut | None:
    """Why a column is not used; None if it is, and an error if it was chosen by name."""
    if is_chosen and column.text is not None:
        raise column.text
    if column.name not in table.unsure or column.n_strangers:
        return None if is_chosen else column.left_out()
    if is_chosen:
        words = f"For decimal points, {_ARE_POINTS.words}."
        remedy = _ARE_POINTS._replace(words=words)
        raise TableError(f"{_UNSURE}.", source=table.name, column=column.name, remedy=remedy)
    return LeftOut(column.name, _UNSURE, _ARE_POINTS)


def _read_categories(
    table: TableFile, names: Sequence[str], orders: Mapping[str, Sequence[str]]
) -> list[CategoryColumn]:
    """Columns of text in one more pass, as codes."""
    places: list[dict[str, int]] = [{"": -1} for _ in names]
    pieces: list[list[NDArray[np.int32]]] = [[] for _ in names]
    first: list[Place | None] = [None for _ in names]
    for block in table.blocks() if names else ():
        for j, name in enumerate(names):
            place = places[j]
            texts = categories_of(block, name, orders.get(name))
            codes = np.array([place.setdefault(t, len(place) - 1) for t in texts], dtype=np.int32)
            pieces[j].append(codes)
            if first[j] is None and (codes < 0).any():
                row = int((codes < 0).argmax())
                first[j] = block.cell(row, name)
    return [
        CategoryColumn(name, np.concatenate(pieces[j]), tuple(places[j])[1:], first[j])
        for j, name in enumerate(names)
    ]


def _ranks(column: CategoryColumn, order: Sequence[str]) -> Doubles:
    """The ranks of ordered categories; NaN where one is missing."""
    rank = [float(order.index(value)) for value in column.values]
    return np.array([*rank, np.nan])[column.codes]


def _judge(
    table: TableFile,
    names: Sequence[str],
    *,
    is_chosen: bool,
    allow_text: bool,
    hold: bool,
) -> tuple[list[Column], int]:
    """What is known of columns after one pass over the rows, and how many rows there are."""
    how = {"is_chosen": is_chosen, "truth_is_text": allow_text, "kept": hold}
    judged = [Column(name, **how) for name in names]
    n_rows = 0
    blocks = ((block, [c for c in judged if c.is_candidate]) for block in table.blocks())
    for block, found in stream_in_threads(_parsed, blocks):
        for column, parsed in found:
            if column.is_candidate:  # still: blocks are parsed ahead
                column.see(block, parsed)
            if is_chosen and not allow_text and column.text is not None:
                raise column.text
        n_rows += block.n_rows
        n_numeric = sum(column.n_strangers == 0 for column in judged)
        if hold:
            _refuse_beyond(table.name, int(n_rows / block.fraction_read), n_numeric)
    for column in judged:
        if is_chosen and column.text is None and column.n_missing == column.n_seen:
            raise TableError(
                f"{ALL_MISSING}. Choose other columns.", source=table.name, column=column.name
            )
    return judged, n_rows


def _stacked(columns: Sequence[Column], n_rows: int) -> Doubles:
    """The numbers of columns side by side; the columns give theirs away."""
    X = np.empty((n_rows, len(columns)))
    end = n_rows if columns else 0
    while end:  # from the last block to the first, each freed: there is never a second copy of all
        block_rows = np.stack([column.pieces.pop() for column in columns], axis=1)
        X[end - len(block_rows) : end] = block_rows
        end -= len(block_rows)
    return X


def _parsed(
    item: tuple[Block, list[Column]],
) -> tuple[Block, list[tuple[Column, ParsedColumn]]]:
    block, columns = item
    parsed = block.parse([column.name for column in columns]) if columns else []
    return block, list(zip(columns, parsed, strict=True))


def _refuse_beyond(name: str, n_rows: int, n_columns: int) -> None:
    """An error where there will be too many numbers; the number of rows may be an estimate."""
    if n_rows * n_columns > MOST_NUMBERS:
        raise TooLargeError(
            f"{name} is too large for memory: about {n_rows:,} rows of {n_columns:,} columns of "
            f"numbers are more than {MOST_NUMBERS:,} numbers. Make a smaller file, with fewer "
            "rows or columns."
        )


def _nothing_left(table: TableFile, left_out: Sequence[LeftOut]) -> TableError:
    reasons = listed(
        (f"{shown(column.name)}: {column.what}" for column in left_out), separator="; "
    )
    if table.n_rows == 1:
        return TableError(
            f"{table.name} has only one row, so no column can be used ({reasons}). Add rows."
        )
    remedies = [
        column.remedy._replace(words=f"For {shown(column.name)}, {column.remedy.words}.")
        for column in left_out
        if column.remedy
    ]
    return TableError(
        f"{table.name} has no column of numbers ({reasons}). Add columns of numbers, or correct "
        "cells that should be numbers.",
        column=left_out[0].name if len(left_out) == 1 else None,
        remedy=remedies[0] if remedies else None,
    )
