"""The rows of a file that a model is fitted on: which columns and rows, and why not others."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Places
from typicality._words import counted, listed, share
from typicality.cli.console import shown
from typicality.cli.errors import UnusableError, WrongUseError, option_of
from typicality.cli.options import FORMAT, Options
from typicality.cli.parameters import near_name
from typicality.exceptions import Remedy, TableError
from typicality.tables import LeftOut, NumericTable, TableFile, open_table, read_rows
from typicality.tables.base import Assumption
from typicality.tables.columns import ALL_MISSING, TooLargeError
from typicality.tables.measured import find_places
from typicality.tables.opening import JOINED_FORMATS

if TYPE_CHECKING:  # scikit-learn is loaded when rows are fitted: errors before that come at once
    from typicality.preprocessing.table_rows import ModelRows

_MISMATCH = 0.5  # how alike rows are that differ in one category
_LOGS = {"auto": "auto", "log": "all"}  # --transform as ColumnScaler takes it


@dataclass(eq=False)
class FitRows:
    """The rows of a file that take part in a fit.

    Parameters
    ----------
    options : Options
        What was asked for.
    table : TableFile
        The file.
    numeric : NumericTable
        What is known of its columns.
    n_rows, n_used : int
        How many rows the file has, and how many of them take part.
    held : ModelRows, optional
        The rows that take part, if they are held in memory.
    opened : Rows, optional
        Else these rows, which are read block by block.
    """

    options: Options
    table: TableFile
    numeric: NumericTable
    n_rows: int
    n_used: int
    held: "ModelRows | None" = None
    opened: Any = None

    @property
    def n_left_out(self) -> int:
        """How many rows do not take part."""
        return self.n_rows - self.n_used

    @property
    def is_held(self) -> bool:
        """Whether the rows are held in memory."""
        return self.held is not None

    @property
    def to_fit(self) -> Any:
        """The rows as the step of columns is fitted on them."""
        return self.opened if self.held is None else self.held.for_scaler()

    @cached_property
    def categories(self) -> dict[str, list[str]]:
        """The categories of each column of them, in order of appearance."""
        columns = {} if self.held is None else self.held.categories
        return {name: [v for v in dict.fromkeys(cells) if v] for name, cells in columns.items()}

    @property
    def column_names(self) -> list[str]:
        """All columns that take part: numbers, ranks, then categories."""
        return [*self.numeric.names, *self.categories]

    @property
    def is_mixed(self) -> bool:
        """Whether categories take part, ordered ones included."""
        return bool(self.numeric.texts)

    def scaler(self, *, balanced: bool = False) -> Any:
        """A step that makes rows for a model as the options ask for, not fitted.

        `balanced` says that the model has no kernel, so that a mismatch cannot be worth a factor.
        """
        from typicality.preprocessing import ColumnScaler, MixedColumns, PlaceScaler

        options = self.options
        settings: dict[str, Any] = {
            "scale": options.scale,
            "missing": "median" if options.missing == "median" else "error",
            "log": _LOGS.get(str(options.transform), "none"),
        }
        if self.places is not None:
            at = tuple(map(self.numeric.names.index, self.places))
            return PlaceScaler(at, **settings)
        if not self.is_mixed:
            return ColumnScaler(**settings)
        return MixedColumns(
            categorical=[*self.categories],
            ordered={name: list(order) for name, order in options.ordered.items()},
            mismatch="balanced" if balanced else _MISMATCH,
            max_categories=max([2, *(len(values) + 1 for values in self.categories.values())]),
            **settings,
        )

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
    def _n_filled(self) -> Places:
        """How many numbers of each column are replaced by the median."""
        n_missing = self.numeric.n_missing
        # Rows that are left out miss all of their values.
        return (n_missing - self.n_left_out) * (self.options.missing == "median")

    def _about_filled(self) -> list[Assumption]:
        counts = self._n_filled
        if not counts.any():
            return []
        n_filled, worst = int(counts.sum()), int(np.argmax(counts))
        what = (
            f"{counted(n_filled, 'missing value')} became the median of the column, "
            f"{share(n_filled, self.n_used * len(counts))} of all and "
            f"{share(int(counts[worst]), self.n_used)} of {shown(self.numeric.names[worst])}"
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
            "totals": self.table.totals,
            "fingerprint": numeric.fingerprint,
            "n_rows": self.n_rows,
            "n_rows_left_out": self.n_left_out,
            "columns": list(numeric.names),
            "columns_left_out": [
                {"name": column.name, "reason": column.what} for column in numeric.left_out
            ],
            "missing": options.missing,
            "n_missing": numeric.missing_by_column,
            "share_filled": float(self._n_filled.sum() / max(1, self.n_used * len(numeric.names))),
            "places": self.places,
            "categories": self.categories,
            "ordered": {name: list(order) for name, order in options.ordered.items()},
        }


def open_file(options: Options) -> TableFile:
    """The file that was chosen, opened as it was asked for."""
    return open_table(options.file, **{name: getattr(options, name) for name in FORMAT})


def check_name(table: TableFile, wanted: str | None) -> None:
    """Refuse a name of rows that is no column."""
    if wanted is not None and wanted not in table.names:
        raise UnusableError(
            f"{table.name} has no column {wanted!r}; {near_name(wanted, table.names)}"
        )


def read_file(
    table: TableFile, options: Options, *, at_least: int = 2, in_memory: str = ""
) -> FitRows:
    """Choose columns, and decide about rows with missing values.

    A file with too many numbers for memory is read in blocks, as all files are with --workers.

    Raises
    ------
    UnusableError
        There are missing values that are refused, or too few rows are left, or too many rows to
        hold them in memory. `in_memory` says why they must be, if they must.
    TableError
        The file cannot be used.
    """
    held = options.workers is None
    try:
        numeric = read_columns(table, options, hold=held)
    except TooLargeError as error:
        held = False
        _refuse_blocks(table, options, in_memory, error.sentence(option_of))
        numeric = read_columns(table, options, hold=held)
    if options.workers is not None:
        _refuse_blocks(table, options, in_memory, f"{table.name} cannot be read in blocks.")
    if options.missing == "error":
        _refuse_missing(table, numeric)
    if held:
        from typicality.preprocessing.table_rows import ModelRows

        every = np.ones(len(numeric.X), dtype=bool)
        rows = ModelRows(list(numeric.names), numeric.X, numeric.texts, every)
        rows = rows.taking_part(str(options.missing))
        found = FitRows(options, table, numeric, len(every), len(rows.X), rows)
    else:
        opened = _open(table, numeric, options)
        found = FitRows(options, table, numeric, table.n_rows or 0, opened.n_rows, opened=opened)
    _require_enough(found, at_least)
    return found


def _open(table: TableFile, numeric: NumericTable, options: Options) -> Any:
    """The rows that take part, read by this process or by workers of Dask."""
    from typicality.rows.file import FileRows, pieces_of

    how: dict[str, Any] = {"signs": numeric.signs, "missing": options.missing}
    if options.workers is None:
        rows = FileRows(table, numeric.names, **how)
        rows.names = list(numeric.names)  # those of npy files, which have none, are made up
        return rows
    from typicality.rows.dask import rows_of_pieces

    return rows_of_pieces(pieces_of(table, numeric.names, **how))


def _refuse_blocks(table: TableFile, options: Options, why: str, what: str) -> None:
    """An error where rows must be in memory; it says why, and what to do instead."""
    if table.format not in JOINED_FORMATS:
        why = f"a {table.format} file must be unpacked completely. Write it as parquet or csv"
    elif options.categorical or options.ordered:
        why = "categories (--categorical, --ordered) need all rows. Leave them out"
    if why:
        raise UnusableError(f"{what} It is not read in blocks, because {why}.")


def read_columns(table: TableFile, options: Options, *, hold: bool = True) -> NumericTable:
    """Choose columns, with a reason for each that is left out; `hold` as in :func:`read_rows`.

    Raises
    ------
    UnusableError
        No column can be used.
    """
    both = {*options.ignore} & {*options.categorical, *options.ordered}
    if both:
        raise UnusableError(
            f"{listed(map(repr, sorted(both)))}: --ignore leaves this column out, but "
            "--categorical or --ordered uses it; give only one of them."
        )
    try:
        numeric = read_rows(
            table,
            columns=options.columns if options.exact else options.columns or None,
            ignore=options.ignore,
            categorical="auto" if options.categorical == ("auto",) else options.categorical,
            ordered=options.ordered,
            hold=hold,
        )
    except TableError as error:
        if error.remedy is not None and error.remedy.parameter == "categorical":
            # This raises the better error if --categorical auto would not help: too many values.
            read_columns(table, replace(options, categorical=("auto",)), hold=hold)
        raise
    numeric = _without_unfit_categories(numeric, options)
    _check_places(numeric, options)
    if not numeric.names and not numeric.categories:
        reasons = (f"{shown(c.name)}: {c.sentence(option_of)}" for c in numeric.left_out)
        raise UnusableError(
            f"{table.name} has no usable column ({listed(reasons, separator='; ')}). Add "
            "columns of numbers, or of text with few values."
        )
    return numeric


def _check_places(numeric: NumericTable, options: Options) -> None:
    """Refuse --geo with names of no columns of numbers, or with categories."""
    if options.geo in ((), ("none",)):
        return
    if len({*options.geo}) != 2 or len(options.geo) != 2:
        raise WrongUseError(
            f"--geo {','.join(options.geo)!r} does not name two columns; write, for example, "
            "lat,lon, or none."
        )
    if numeric.texts:
        raise UnusableError(
            "--geo does not work with categories (--categorical, --ordered). Leave out one of them."
        )
    for name in options.geo:
        if name not in numeric.names:
            raise UnusableError(
                f"--geo: {name!r} is not one of the columns that are used "
                f"({listed(map(shown, numeric.names))})."
            )


def _require_enough(rows: FitRows, at_least: int) -> None:
    """An error where too few rows are left without those that miss values."""
    if rows.n_used >= at_least:
        return
    remedy, numeric = "", rows.numeric
    if rows.options.missing == "drop" and numeric.n_missing.any():
        worst = numeric.names[int(np.argmax(numeric.n_missing))]
        remedy = (
            f"; the column {worst!r} has the most missing values: leave it out with --ignore, "
            "or fill gaps with --missing median"
        )
    raise UnusableError(
        f"{rows.table.name}: {rows.n_used} of {rows.n_rows:,} rows can be used, but at least "
        f"{'two are' if at_least == 2 else 'one is'} needed{remedy}."
    )


def _without_unfit_categories(numeric: NumericTable, options: Options) -> NumericTable:
    """The table without columns of too many categories, or with nothing but missing ones."""
    if not numeric.categories:
        return numeric
    from typicality.preprocessing.mixed import reason_to_leave_out

    left_out = []
    for name, cells in numeric.categories.items():
        values = {*cells} if options.missing == "median" else {*cells} - {""}
        reason = ALL_MISSING if {*cells} == {""} else None
        at_most = sys.maxsize if options.exact else "auto"
        reason = reason or reason_to_leave_out(len(values), len(cells), at_most)
        left_out += [LeftOut(name, reason)] if reason else []
    unfit = {column.name for column in left_out}
    told = sorted([*numeric.left_out, *left_out], key=lambda column: not column.has_digits)
    texts = {name: cells for name, cells in numeric.texts.items() if name not in unfit}
    return numeric._replace(texts=texts, left_out=tuple(told))


def _refuse_missing(table: TableFile, numeric: NumericTable) -> None:
    """An error where values are missing, which says where."""
    counts = {name: count for name, count in numeric.missing_by_column.items() if count}
    if not counts:
        return
    worst = sorted(counts.items(), key=lambda pair: -pair[1])
    phrases = [f"{name!r} ({count:,})" for name, count in worst]
    values = counted(sum(counts.values()), "value")
    raise UnusableError(
        f"{table.name}: {values} missing in {table.n_rows:,} rows, in "
        f"{'column' if len(counts) == 1 else 'the columns'} {listed(phrases, at_most=3)}, first in "
        f"{numeric.first_missing}; leave those rows out with --missing drop, fill in medians with "
        "--missing median, or leave columns out with --ignore."
    )
