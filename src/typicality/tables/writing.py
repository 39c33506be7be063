"""Rows back to csv, with columns appended."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from typicality.exceptions import TableError
from typicality.tables._words import shown
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import csv_lines, number_texts

_SUFFIX = "_new"


def free_names(taken: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Names for new columns that no column has: the wanted ones, or with a suffix.

    The suffix is ``_new``, and if that is taken too, a number after it from 2 on.

    Examples
    --------
    >>> free_names(["x", "label"], ["label", "typicality"])
    ['label_new', 'typicality']
    """
    used = set(taken)
    names = []
    for name in wanted:
        free, k = name, 1
        while free in used:
            free = f"{name}{_SUFFIX}" if k == 1 else f"{name}{_SUFFIX}_{k}"
            k += 1
        used.add(free)
        names.append(free)
    return names


def write_table(stream: TextIO, table: TableFile, extra: Mapping[str, Sequence[Any]]) -> None:
    """Read a table once more and write it as csv with columns appended.

    Parameters
    ----------
    stream : text stream
        Where to; open files with ``newline=""``.
    table : TableFile
        The file. An error is raised where it is not what it was when it was read first.
    extra : mapping of str to sequence
        The new columns, one entry a row; see :func:`append_columns`.
    """
    n_rows = 0
    for block in table.blocks():
        rows = slice(block.first_row, block.first_row + block.n_rows)
        some = {name: values[rows] for name, values in extra.items()}
        append_columns(stream, block, some, header=block.first_row == 0)
        n_rows += block.n_rows
    for name, values in extra.items():
        if len(values) != n_rows:
            raise TableError(
                f"{table.name} has {n_rows:,} rows, but column {shown(name)} has "
                f"{len(values):,} entries. Read the file anew."
            )


def append_columns(
    stream: TextIO, block: Block, extra: Mapping[str, Sequence[Any]], *, header: bool
) -> None:
    """Write rows of a block as csv: all cells as they were, then new columns.

    The delimiter is the comma, lines end in a line feed, and quotation marks stand where they are
    needed to read the same cells back. Numbers are written with the fewest digits that give the
    same number of the same precision (float32 or float64) when read; None, NaN and masked entries
    become empty cells.

    Parameters
    ----------
    stream : text stream
        Where to; open files with ``newline=""``.
    block : Block
        Rows of a file.
    extra : mapping of str to sequence
        The new columns, one entry a row. Where a name is taken, :func:`free_names` says what it
        becomes.
    header : bool
        Whether to write the names of the columns first.
    """
    columns = [_texts(values) for values in extra.values()]
    for name, column in zip(extra, columns, strict=True):
        if len(column) != block.n_rows:
            raise ValueError(
                f"Column {name!r} has {len(column)} entries for {block.n_rows} rows. Pass one "
                "for each row."
            )
    if header:
        names = [*block.names, *free_names(block.names, extra)]
        stream.writelines([f"{line}\n" for line in csv_lines([names])])
    nothing = [""] * block.n_rows
    # An empty cell before the new ones makes the delimiter between old and new.
    appended = csv_lines(zip(nothing, *columns, strict=True)) if columns else nothing
    lines = zip(block.csv_lines(), appended, strict=True)
    stream.writelines([f"{old}{new}\n" for old, new in lines])


def _texts(values: Any) -> list[str]:
    if np.ma.isMaskedArray(values):
        return _blank_where(np.ma.getmaskarray(values), _texts(values.data))
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return _blank_where(np.isnan(values), number_texts(values))
    return ["" if value is None or value != value else str(value) for value in values]


def _blank_where(absent: NDArray[np.bool_], texts: list[str]) -> list[str]:
    return ["" if gone else text for text, gone in zip(texts, absent.tolist(), strict=True)]
