"""Rows back to csv or to Arrow, with columns appended."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from typicality.tables.base import Block
from typicality.tables.cells import csv_rows_of, quoted, without_formulas

_SUFFIX = "_new"
_DIGITS = 9  # enough to tell numbers of single precision apart
_LARGEST_EXACT = 1e22  # of the powers of ten


def free_names(taken: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Unused names for new columns: the wanted names, with a suffix if they exist.

    The suffix is ``_new``; if such a column exists, too, ``_new_2``, ``_new_3`` and so on.

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


def masked_columns(
    columns: Mapping[str, NDArray[Any]], kept: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Extend columns of some rows to all rows, with masked entries for the other rows.

    Parameters
    ----------
    columns : mapping of str to array of shape (n_kept,)
        The values for the rows that were kept.
    kept : array of shape (n,), bool
        Which rows were kept.
    """
    if kept.all():
        return dict(columns)
    spread: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        everywhere = np.zeros(len(kept), dtype=values.dtype)
        everywhere[kept] = values
        spread[name] = np.ma.array(everywhere, mask=~kept)
    return spread


def csv_text(
    block: Block,
    extra: Mapping[str, NDArray[Any]],
    *,
    header: bool,
    rewritten: Collection[str] = (),
    safe: bool = False,
) -> bytes:
    """The rows of a block as csv: the cells of the file, then new columns.

    The text is UTF-8, with commas as delimiters and line feeds as line ends. Cells are quoted if
    necessary. New numbers have at most nine significant digits. NaN and masked entries become empty
    cells.

    Parameters
    ----------
    block : Block
        Rows of a table.
    extra : mapping of str to array
        The new columns, with one entry per row: arrays of numbers, object arrays of text, or masked
        arrays. If a name exists already, it is changed by :func:`free_names`.
    header : bool
        Whether to write the names of the columns first.
    rewritten : collection of str, default=()
        The columns of numbers whose cells get a decimal point and lose separators of thousands.
        Other cells stay as they are.
    safe : bool, default=False
        Whether to put an apostrophe before cells that a spreadsheet would treat as formulas.
    """
    new = _new_columns(block, extra)
    texts = [_cells_of(values) for values in new.values()]
    cells = block.texts(rewritten)
    rows = csv_rows_of(list(map(without_formulas, cells)) if safe else cells)
    if texts:
        rows = pc.binary_join_element_wise(
            rows, *texts, b",", null_handling="replace", null_replacement=b""
        )
    first, last = (rows.offset, rows.offset + len(rows))
    offsets = np.frombuffer(rows.buffers()[1], np.int32)[[first, last]]
    # Each row has a line feed before it: that of the first row goes, one after the last comes.
    body = memoryview(rows.buffers()[2])[offsets[0] + 1 : offsets[1]]
    names = [pa.array([name]) for name in (*block.names, *new)]
    names = list(map(without_formulas, names)) if safe else names
    head = csv_rows_of(names)[0].as_py()[1:] + b"\n"
    return b"".join([head if header else b"", body, b"\n"])


def arrow_rows(
    block: Block, extra: Mapping[str, NDArray[Any]], *, numeric: Sequence[str] = ()
) -> Any:
    """The rows of a block as an Arrow table with new columns, for parquet and dataframes.

    Parameters
    ----------
    block : Block
        Rows of a table.
    extra : mapping of str to array
        The new columns, as in :func:`csv_text`; NaN and masked entries become null.
    numeric : sequence of str
        The columns of a text file that are numbers. The others stay text. Columns of other formats
        keep their types.
    """
    table = block.to_arrow(numeric)
    for name, values in _new_columns(block, extra).items():
        data, absent = np.ma.getdata(values), np.ma.getmaskarray(values)
        if data.dtype.kind == "f":
            absent = absent | np.isnan(data)
        table = table.append_column(name, pa.array(data, mask=absent))
    return table


def _new_columns(block: Block, extra: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """New columns under names that are free; an error where one is not as long as the block."""
    for name, values in extra.items():
        if len(values) != block.n_rows:
            raise ValueError(
                f"Column {name!r} has {len(values)} entries for {block.n_rows} rows. Pass one "
                "for each row."
            )
    return dict(zip(free_names(block.names, extra), extra.values(), strict=True))


def _cells_of(values: NDArray[Any]) -> Any:
    """Numbers or texts as cells of a csv file; texts in quotation marks where they need them."""
    if values.dtype.kind != "O":
        return _number_texts(values)
    return quoted(pa.array(np.ma.filled(values, ""), pa.string())).cast("binary")


def _number_texts(values: NDArray[Any]) -> Any:
    """Numbers as an Arrow array of text, with nine significant digits; null for NaN and masked."""
    data, mask = np.ma.getdata(values), np.ma.getmaskarray(values)
    if data.dtype.kind != "f":
        return pa.array(data, mask=mask).cast("string").cast("binary")
    data = data.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponent = np.floor(np.log10(np.where(data == 0.0, 1.0, np.abs(data)))) - (_DIGITS - 1)
        unit = 10.0 ** np.abs(exponent)
        rounded = np.where(exponent < 0, np.rint(data * unit) / unit, np.rint(data / unit) * unit)
    # With an exact unit this is the number nearest to nine digits, and Arrow prints just these.
    others = ~(unit <= _LARGEST_EXACT)
    rounded[others] = [float(f"{value:.{_DIGITS}g}") for value in data[others].tolist()]
    return pa.array(rounded, mask=mask | np.isnan(data)).cast("string").cast("binary")
