"""The rows of a file that a model is fitted on: which columns and rows, and why not others."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places
from typicality._words import counted, listed, share
from typicality.cli.console import shown
from typicality.cli.errors import UnusableError, option_of
from typicality.cli.options import FORMAT, Options
from typicality.cli.parameters import near_name
from typicality.exceptions import Remedy
from typicality.tables import (
    CategoryColumn,
    LeftOut,
    NumericTable,
    TableFile,
    open_table,
    read_rows,
)
from typicality.tables.base import Assumption
from typicality.tables.columns import ALL_MISSING
from typicality.tables.measured import find_places

if TYPE_CHECKING:  # scikit-learn is loaded when rows are fitted: errors before that come at once
    from typicality.run_folder import Part

_MISMATCH = 0.5  # how alike rows are that differ in one category
_LOGS = {
    None: "none",
    "none": "none",
    "auto": "auto",
    "log": "all",
}  # --transform as ColumnScaler takes it


@dataclass(eq=False)
class FileRows:
    """The rows of a file that take part in a fit.

    Parameters
    ----------
    options : Options
        What was asked for.
    table : TableFile
        The file.
    numeric : NumericTable
        Its columns, and the numbers of all rows unless the file is too large for memory.
    kept : array of shape (n,), bool
        Which rows take part; rows with missing values may have been left out.
    X : array of shape (n_kept, d)
        The numbers of those that take part.
    categories : tuple of CategoryColumn
        The categories of those that take part.
    n_rows, n_left_out : int
        How many rows the file has, and how many of them do not take part.
    """

    options: Options
    table: TableFile
    numeric: NumericTable
    kept: NDArray[np.bool_]
    X: Doubles
    categories: tuple[CategoryColumn, ...]
    n_rows: int
    n_left_out: int

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
        from typicality.preprocessing import ColumnScaler, MixedColumns, PlaceScaler

        options = self.options
        settings: dict[str, Any] = {
            "scale": options.scale,
            "missing": "median" if options.missing == "median" else "error",
            "log": _LOGS[options.transform],
        }
        if self.places is not None:
            at = tuple(map(self.numeric.names.index, self.places))
            return PlaceScaler(at, **settings)
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
        """The rows as the step is fitted on them: an array, or a table with categories."""
        if not self.is_mixed:
            return self.X
        from typicality.preprocessing.table_rows import arrow_table

        columns = dict(zip(self.numeric.names, self.X.T, strict=True))
        texts: Any = {
            name: [cell or None for cell in cells] for name, cells in self._texts().items()
        }
        return arrow_table(columns, texts)

    def part(self, scaler: Any) -> "Part":
        """The rows as a run with this step takes them."""
        from typicality.preprocessing.table_rows import ModelRows
        from typicality.run_folder import Part

        layout = scaler._layout if self.is_mixed else None
        return Part(self.kept, ModelRows(list(self.numeric.names), self.X, self._texts(), layout))

    def _texts(self) -> dict[str, list[str]]:
        """The cells of ranks and categories; empty where they are missing."""
        columns = dict(zip(self.numeric.names, self.X.T, strict=True))
        texts = {
            name: ["" if np.isnan(rank) else order[int(rank)] for rank in columns[name].tolist()]
            for name, order in self.options.orders.items()
        }
        for column in self.categories:
            values = [*column.values, ""]
            texts[column.name] = [values[code] for code in column.codes.tolist()]
        return texts

    @property
    def assumed(self) -> list[Assumption]:
        """What was assumed about the file and its values, and may be wrong."""
        return [*self.table.assumed, *self._about_places(), *self._about_filled()]

    @property
    def places(self) -> tuple[str, str] | None:
        """The columns of latitude and longitude that are compared on the sphere, if any."""
        if self.is_mixed:
            return None
        geo = self.options.geo
        if geo:
            return None if geo == ("none",) else (geo[0], geo[1])
        return find_places(self.numeric.ranges)

    def _about_places(self) -> list[Assumption]:
        found = None if self.options.geo else find_places(self.numeric.ranges)
        if found is None:
            return []
        pair = f"{shown(found[0])} and {shown(found[1])} are places on the globe"
        if self.is_mixed:
            return [Assumption(f"{pair}, compared as plain numbers because of the categories")]
        plain = Remedy("geo", "none", "{} compares them as plain numbers")
        return [Assumption(f"{pair}, compared on the sphere", plain)]

    @property
    def share_filled(self) -> float:
        """The share of the numbers that are missing and replaced by medians."""
        n_kept = self.n_rows - self.n_left_out
        n_filled = self._n_filled().sum()
        return float(n_filled / max(1, n_kept * len(self.numeric.names)))

    def _n_filled(self) -> Places:
        """How many numbers of each column are replaced by the median."""
        n_missing = self.numeric.n_missing
        if self.options.missing != "median":
            return np.zeros_like(n_missing)
        return n_missing - self.n_left_out  # rows that are left out miss all of their values

    def _about_filled(self) -> list[Assumption]:
        counts, n_kept = self._n_filled(), self.n_rows - self.n_left_out
        if not counts.any():
            return []
        n_filled, worst = int(counts.sum()), int(np.argmax(counts))
        what = (
            f"{counted(n_filled, 'missing value')} became the median of the column, "
            f"{share(n_filled, n_kept * len(counts))} of all and "
            f"{share(int(counts[worst]), n_kept)} of {shown(self.numeric.names[worst])}"
        )
        return [Assumption(what, Remedy("missing", "drop", "{} leaves such rows out"))]

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
            "assumed": [each.sentence(option_of) for each in self.assumed],
            "signs": numeric.signs,
            "fingerprint": numeric.fingerprint,
            "n_rows": self.n_rows,
            "n_rows_left_out": self.n_left_out,
            "columns": list(numeric.names),
            "columns_left_out": [
                {"name": column.name, "reason": column.what} for column in numeric.left_out
            ],
            "missing": options.missing,
            "n_missing": numeric.missing_by_column,
            "share_filled": self.share_filled,
            "places": self.places,
            "categories": {column.name: list(column.values) for column in self.categories},
            "ordered": {name: list(order) for name, order in options.orders.items()},
        }


def open_file(options: Options) -> TableFile:
    """The file that was chosen, opened as it was asked for."""
    return open_table(options.file, **{name: getattr(options, name) for name in FORMAT})


def require_file(options: Options) -> None:
    """Refuse a file that is not there before anything else is loaded."""
    if options.file and options.file != "-" and not Path(options.file).exists():
        with open_file(options):  # a pattern stands for files; of others it says what is wrong
            pass


def check_name(table: TableFile, wanted: str | None) -> None:
    """Refuse a name of rows that is no column."""
    if wanted is not None and wanted not in table.names:
        raise UnusableError(
            f"{table.name} has no column {wanted!r}; {near_name(wanted, table.names)}"
        )


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
    missing = np.column_stack(
        [np.isnan(numeric.X), *(column.codes < 0 for column in numeric.categories)]
    )
    if options.missing == "error" and missing.any():
        n_rows = int(missing.any(axis=1).sum())
        share_of = f"{n_rows:,} of {len(missing):,} rows have missing values"
        raise UnusableError(_about_missing(table, numeric, share_of))
    from typicality.preprocessing.table_rows import take_part

    kept = take_part(missing, str(options.missing))
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
    n_left_out = int(np.sum(~kept))
    return FileRows(options, table, numeric, kept, X, categories, len(kept), n_left_out)


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
    _check_places(numeric, options)
    if not numeric.names and not numeric.categories:
        reasons = (f"{shown(c.name)}: {c.sentence(option_of)}" for c in numeric.left_out)
        raise UnusableError(
            f"{table.name} has no usable column ({listed(reasons, separator='; ')}). Add "
            "columns of numbers."
        )
    return numeric


def _check_places(numeric: NumericTable, options: Options) -> None:
    """Refuse --geo with names of no columns of numbers, or with categories."""
    if options.geo in ((), ("none",)):
        return
    if numeric.categories or options.orders:
        raise UnusableError(
            "--geo does not work with categories (--categorical, --ordered). Leave out one of them."
        )
    for name in options.geo:
        if name not in numeric.names:
            raise UnusableError(
                f"--geo: {name!r} is not one of the columns that are used "
                f"({listed(map(shown, numeric.names))})."
            )


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
            "or fill gaps with --missing median"
        )
    raise UnusableError(
        f"{table.name}: {n_kept} of {table.n_rows:,} rows can be used, but at least "
        f"{'two are' if at_least == 2 else 'one is'} needed{remedy}."
    )


def _without_unfit_categories(numeric: NumericTable, options: Options) -> NumericTable:
    """The table without columns of too many categories, or with nothing but missing ones."""
    if not numeric.categories:
        return numeric
    from typicality.preprocessing.mixed import reason_to_leave_out

    kept, left_out = [], []
    at_most = sys.maxsize if options.exact else "auto"
    for column in numeric.categories:
        n_rows, n_missing = len(column.codes), column.n_missing
        n_values = len(column.values) + (options.missing == "median" and n_missing > 0)
        reason = ALL_MISSING if n_missing == n_rows else None
        reason = reason or reason_to_leave_out(n_values, n_rows, at_most)
        if reason is None:
            kept.append(column)
        else:
            left_out.append(LeftOut(column.name, reason))
    told = sorted([*numeric.left_out, *left_out], key=lambda column: not column.has_digits)
    return numeric._replace(categories=tuple(kept), left_out=tuple(told))


def _about_missing(table: TableFile, numeric: NumericTable, words: str) -> str:
    worst = sorted(numeric.missing_by_column.items(), key=lambda pair: -pair[1])
    phrases = [f"{name!r} ({count:,})" for name, count in worst if count]
    columns = "column" if len(phrases) == 1 else "the columns"
    return (
        f"{table.name}: {words}, in {columns} {listed(phrases, at_most=3)}, first in "
        f"{numeric.first_missing}; leave those rows out with --missing drop, fill in medians with "
        "--missing median, or leave columns out with --ignore."
    )
