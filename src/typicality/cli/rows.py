"""The rows of a file that take part: which columns, which rows, and why not the others."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places
from typicality._words import counted, listed
from typicality.cli.console import Terminal, place, shown
from typicality.cli.errors import UnusableError, with_options
from typicality.cli.options import FORMAT, Options, order_text
from typicality.tables import (
    Block,
    CategoryColumn,
    LeftOut,
    NumericTable,
    TableFile,
    open_table,
    read_rows,
)
from typicality.tables.columns import ALL_MISSING

_MOST_PERMUTED = 2**22  # rows: a sample of more is drawn without a number for each
MOST_CELLS = 2_000_000  # of text kept in memory for the report
_MOST_BYTES = 2**29  # of these texts
_MISMATCH = 0.5  # how alike rows are that differ in one category
LONGEST_CELL = 200  # letters kept of a text: a page shows no more


@dataclass(eq=False)
class FileRows:
    """The rows of a file that take part.

    Parameters
    ----------
    options : Options
        What was asked for.
    table : TableFile
        The file.
    numeric : NumericTable
        Its numbers, all rows.
    kept : array of shape (n,), bool
        Which rows take part; rows with missing values may have been left out.
    X : array of shape (n_kept, d)
        The numbers of those that take part.
    categories : tuple of CategoryColumn
        The categories of those that take part.
    texts : dict of str to list of str
        The text of other columns for the rows that take part, once :meth:`take_texts` has seen the
        file: of large files only the first columns, so that at most two million cells are held.
    lines : list of array
        The lines of these rows, block by block; empty where the format has none.
    places : array of shape (n_kept,), optional
        The numbers of these rows in the file, where they are a sample of a file that was read block
        by block.
    total : (int, int), optional
        Then the number of rows of the file, and of those that were left out.
    """

    options: Options
    table: TableFile
    numeric: NumericTable
    kept: NDArray[np.bool_]
    X: Doubles
    categories: tuple[CategoryColumn, ...] = ()
    texts: dict[str, list[str]] = field(default_factory=dict)
    lines: list[Places] = field(default_factory=list)
    places: Places | None = None
    total: tuple[int, int] | None = None

    def take_texts(self) -> Iterator[Block]:
        """Note lines and the text of other columns in one more pass; hands the blocks on."""
        names = other_columns(self.table, self.numeric, self.options)
        n_columns = MOST_CELLS // max(1, len(self.kept))
        self.lines, self.texts = [], {name: [] for name in names[:n_columns]}
        known: dict[str, dict[str, str]] = {name: {} for name in self.texts}  # each text once
        n_bytes = 0
        for block in self.table.blocks():
            yield block
            kept = np.flatnonzero(self.kept[block.first_row : block.first_row + block.n_rows])
            if block.lines is not None and not block.is_part:
                self.lines.append(block.lines[kept])
            for name, texts in self.texts.items():
                cells, once = block.cells(name), known[name]
                n_before = len(once)
                some = [cells[i][:LONGEST_CELL] for i in kept.tolist()]
                texts.extend(once.setdefault(cell, cell) for cell in some)
                new = sum(sys.getsizeof(text) for text in islice(once, n_before, None))
                n_bytes += 8 * len(some) + 100 * (len(once) - n_before) + new
            if n_bytes > _MOST_BYTES:  # the last column goes, so that the others stay whole
                known.popitem()
                self.texts.popitem()
                n_bytes = _MOST_BYTES * len(self.texts) // (len(self.texts) + 1)

    @property
    def numbers(self) -> tuple[str, Places]:
        """What the rows are called: their lines, or their numbers from 0."""
        if self.lines:
            return "line", np.concatenate(self.lines)
        return "row", self.row_numbers

    @property
    def row_numbers(self) -> Places:
        """Their numbers in the file, from 0."""
        return np.flatnonzero(self.kept) if self.places is None else self.places

    @property
    def n_rows(self) -> int:
        """The number of all rows of the file."""
        return len(self.kept) if self.total is None else self.total[0]

    def take(self, places: Places) -> "FileRows":
        """Some of the rows that take part, with their texts and lines."""
        kept = np.zeros_like(self.kept)
        kept[np.flatnonzero(self.kept)[places]] = True
        chosen = places.tolist()
        return replace(
            self,
            kept=kept,
            X=self.X[places],
            categories=tuple(c._replace(codes=c.codes[places]) for c in self.categories),
            texts={name: [texts[i] for i in chosen] for name, texts in self.texts.items()},
            lines=[np.concatenate(self.lines)[places]] if self.lines else [],
            places=None if self.places is None else self.places[places],
        )

    @property
    def n_dropped(self) -> int:
        """How many rows were left out."""
        return int(np.sum(~self.kept)) if self.total is None else self.total[1]

    @property
    def column_names(self) -> list[str]:
        """All columns that take part: numbers, ranks, then categories."""
        return [*self.numeric.names, *(column.name for column in self.categories)]

    @property
    def is_mixed(self) -> bool:
        """Whether categories take part, ordered ones included."""
        return bool(self.categories or self.options.orders)

    def scaler(self, *, balanced: bool = False) -> Any:
        """A step that makes rows for a model as the options ask for, not fitted.

        `balanced` says that the model has no kernel, so that a mismatch cannot be worth a factor.
        """
        from typicality.preprocessing import ColumnScaler, MixedColumns

        options = self.options
        settings = scaler_settings(options)
        if not self.is_mixed:
            return ColumnScaler(**settings)
        return MixedColumns(
            categorical=[column.name for column in self.categories],
            ordered={name: list(order) for name, order in options.orders.items()},
            mismatch="balanced" if balanced else _MISMATCH,
            max_categories=max([2, *(len(column.values) + 1 for column in self.categories)]),
            **settings,
        )

    def for_scaler(self) -> Any:
        """The rows as the step takes them: an array, or a table where categories take part."""
        if not self.is_mixed:
            return self.X
        from typicality.preprocessing.table_rows import arrow_table

        columns = dict(zip(self.numeric.names, self.X.T, strict=True))
        texts: dict[str, Any] = {
            name: [None if np.isnan(r) else order[int(r)] for r in columns[name].tolist()]
            for name, order in self.options.orders.items()
        }
        for column in self.categories:
            values = [*column.values, None]
            texts[column.name] = [values[code] for code in column.codes.tolist()]
        return arrow_table(columns, texts)

    def texts_of(self, column: CategoryColumn, positions: Places) -> list[str]:
        """The categories of some of the rows that take part; empty where missing."""
        values = [*column.values, ""]
        return [values[code] for code in column.codes[positions].tolist()]

    def value_words(self, name: str, value: float) -> str | None:
        """The category that a rank stands for; None for numbers, and where it is missing."""
        order = self.options.orders.get(name)
        return None if order is None or np.isnan(value) else order[round(value)]

    def record(self) -> dict[str, Any]:
        """The file, its columns and what became of missing values, for run.json."""
        options, numeric = self.options, self.numeric
        return {
            "file": self.table.name,
            "path": str(Path(options.file).resolve()) if options.file != "-" else None,
            "format": self.table.format,
            "delimiter": options.delimiter,
            "header": options.header,
            "encoding": self.table.encoding,
            "decimal": self.table.decimal,
            "assumed": list(self.table.assumed),
            "signs": numeric.signs,
            "fingerprint": numeric.fingerprint,
            "n_rows": self.n_rows,
            "n_rows_left_out": self.n_dropped,
            "columns": list(numeric.names),
            "columns_left_out": [
                {"name": column.name, "reason": with_options(column.reason)}
                for column in numeric.left_out
            ],
            "missing": options.missing,
            "n_missing": numeric.missing_by_column,
            "categories": {column.name: list(column.values) for column in self.categories},
            "ordered": {name: list(order) for name, order in options.orders.items()},
        }


def other_columns(table: TableFile, numeric: NumericTable, options: Options) -> list[str]:
    """The columns that are not numbers; the one that names rows comes first."""
    names = [name for name in table.names if name not in numeric.names]
    return sorted(names, key=lambda name: name != options.name)


def scaler_settings(options: Options) -> dict[str, str]:
    """How columns of numbers are scaled, as :class:`ColumnScaler` takes it."""
    return {
        "scale": options.scale,
        "missing": "median" if options.missing == "median" else "error",
        "log": {"none": "none", "auto": "auto", "log": "all"}[options.transform],
    }


def read_as_fitted(options: Options, scaler: Any, terminal: Terminal) -> FileRows:
    """The rows of a file with the columns that the step of a model knows, and their texts."""
    names = [str(name) for name in scaler.feature_names_in_]
    kinds = getattr(scaler, "kinds_", ["number"] * len(names))
    columns = {kind: [n for n, k in zip(names, kinds, strict=True) if k == kind] for kind in kinds}
    known = dict(zip(names, getattr(scaler, "categories_", [()] * len(names)), strict=True))
    options = replace(
        options,
        columns=tuple(columns.get("number", ())),
        ordered=tuple(order_text(name, known[name]) for name in columns.get("rank", ())),
        categorical=(*columns.get("category", ()), *columns.get("left out", ())),
        exact=True,
    )
    with open_file(options) as table, terminal.doing(f"Reading {table.name}"):
        rows = read_file(table, options)
        for _ in rows.take_texts():
            pass
    return rows


def draw_sample(n_rows: int, max_rows: int | None, *, seed: int) -> Places | None:
    """The places of rows drawn at random, in order; None where there are not more than that."""
    if max_rows is None or n_rows <= max_rows:
        return None
    if n_rows > _MOST_PERMUTED:
        drawn = np.random.default_rng(seed).choice(n_rows, max_rows, replace=False, shuffle=False)
    else:
        drawn = np.random.RandomState(seed).permutation(n_rows)[:max_rows]
    return np.asarray(np.sort(drawn), dtype=np.intp)


def sample_of(record: Mapping[str, Any], rows: FileRows) -> Places | None:
    """The places of the rows that a run was fitted on, where it was not all rows of its file."""
    sample = record["results"].get("sample")
    same = rows.numeric.fingerprint == record["data"]["fingerprint"]
    if sample is None or record.get("reference") is not None or not same:
        return None
    return draw_sample(len(rows.X), sample["n_rows"], seed=record["seed"])


def open_file(options: Options) -> TableFile:
    """The file that was chosen, opened as it was asked for."""
    return open_table(options.file, **{name: getattr(options, name) for name in FORMAT})


def require_file(options: Options) -> None:
    """Refuse a file that is not there before anything else is loaded."""
    if options.file and options.file != "-" and not Path(options.file).exists():
        with open_file(options):  # a pattern stands for files; of others it says what is wrong
            pass


def read_file(table: TableFile, options: Options, *, at_least: int = 2) -> FileRows:
    """Read the columns of numbers, and decide about rows with missing values.

    Raises
    ------
    UnusableError
        There are missing values and no choice was made about them, or too few rows are left.
    TableError
        The file cannot be used.
    """
    numeric = read_columns(table, options)
    missing = np.asarray(np.isnan(numeric.X).any(axis=1))
    for column in numeric.categories:
        missing |= column.codes < 0
    if options.missing == "error" and missing.any():
        share_of = f"{int(missing.sum()):,} of {len(missing):,} rows have missing values"
        raise UnusableError(_about_missing(table, numeric, share_of))
    kept = ~missing if options.missing == "drop" else np.full_like(missing, True)
    require_enough(int(kept.sum()), at_least, table, numeric, options)
    X, categories = numeric.X, numeric.categories
    if not kept.all():
        X = X[kept]
        categories = tuple(column._replace(codes=column.codes[kept]) for column in categories)
        alike = [column.name for column in categories if len(np.unique(column.codes)) == 1]
        if alike and len(alike) < len(numeric.names) + len(categories):
            reason = "all its values are equal in the rows that are used"
            told = (*numeric.left_out, *(LeftOut(name, reason) for name in alike))
            categories = tuple(column for column in categories if column.name not in alike)
            numeric = numeric._replace(left_out=told)
    return FileRows(options, table, numeric, kept, X, categories)


def read_columns(table: TableFile, options: Options, *, hold: bool = True) -> NumericTable:
    """Choose columns, with a reason for each that is left out; `hold` as in :func:`read_rows`.

    Raises
    ------
    UnusableError
        No column can be used.
    """
    both = {*options.ignore} & {*options.categorical, *options.orders}
    if both:
        raise UnusableError(
            f"{listed(map(repr, sorted(both)))}: --ignore leaves this column out, but "
            "--categorical or --ordered uses it; give only one of them."
        )
    numeric = read_rows(
        table,
        columns=options.columns if options.exact else options.columns or None,
        ignore=options.ignore,
        categorical="auto" if options.categorical == ("auto",) else options.categorical,
        ordered=options.orders,
        hold=hold,
    )
    numeric = _without_unfit_categories(numeric, options)
    if not numeric.names and not numeric.categories:
        reasons = (f"{shown(c.name)}: {with_options(c.reason)}" for c in numeric.left_out)
        raise UnusableError(
            f"{table.name} has no usable column ({listed(reasons, separator='; ')}). Add "
            "columns of numbers."
        )
    return numeric


def refuse_missing(table: TableFile, numeric: NumericTable) -> None:
    """An error where numbers are missing that were counted without holding them."""
    n_missing = int(numeric.n_missing.sum())
    if n_missing:
        words = f"{counted(n_missing, 'value')} missing in {table.n_rows:,} rows"
        raise UnusableError(_about_missing(table, numeric, words))


def require_enough(
    n_kept: int, at_least: int, table: TableFile, numeric: NumericTable, options: Options
) -> None:
    """An error where too few rows are left without those that miss values."""
    if n_kept >= at_least:
        return
    remedy = ""
    if options.missing == "drop" and numeric.n_missing.any():
        worst = numeric.names[int(np.argmax(numeric.n_missing))]
        remedy = (
            f"; the column {worst!r} has the most missing values: leave it out with --ignore, "
            "or fill them in with --missing median"
        )
    raise UnusableError(
        f"{table.name}: {n_kept} of {table.n_rows:,} rows can be used, but at least "
        f"{'two are' if at_least == 2 else 'one is'} needed{remedy}."
    )


def _without_unfit_categories(numeric: NumericTable, options: Options) -> NumericTable:
    """The table without columns of too many categories, or with nothing but missing ones."""
    kept, left_out = [], []
    at_most = sys.maxsize if options.exact else "auto"
    for column in numeric.categories:
        n_rows, n_missing = len(column.codes), column.n_missing
        n_values = len(column.values) + (options.missing == "median" and n_missing > 0)
        from typicality.preprocessing.mixed import reason_to_leave_out

        reason = ALL_MISSING if n_missing == n_rows else None
        reason = reason or reason_to_leave_out(n_values, n_rows, at_most)
        if reason is None:
            kept.append(column)
        else:
            left_out.append(LeftOut(column.name, reason))
    first = numeric.n_with_digits
    told = (*numeric.left_out[:first], *left_out, *numeric.left_out[first:])
    return numeric._replace(categories=tuple(kept), left_out=told)


def _about_missing(table: TableFile, numeric: NumericTable, words: str) -> str:
    worst = sorted(numeric.missing_by_column.items(), key=lambda pair: -pair[1])
    phrases = [f"{name!r} ({count:,})" for name, count in worst if count]
    columns = "column" if len(phrases) == 1 else "the columns"
    found = [numeric.first_missing, *(column.first_missing for column in numeric.categories)]
    earliest = min((at for at in found if at is not None), key=lambda at: at.row)
    first = earliest.source or place(earliest.row, earliest.line)
    return (
        f"{table.name}: {words}, in {columns} {listed(phrases, at_most=3)}, first in {first}; "
        "leave those rows out with --missing drop, fill in medians with --missing median, or leave "
        "columns out with --ignore."
    )
