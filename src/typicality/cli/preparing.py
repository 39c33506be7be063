"""From a file to the rows of a fit: which columns, which rows, and why not the others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles
from typicality.cli.errors import UnusableError
from typicality.cli.options import TableChoice
from typicality.cli.words import place
from typicality.tables import NumericTable, TableFile, open_table, read_rows

_CLASSES = ("class", "classes", "cluster", "group", "label", "labels", "target", "y")
_MOST_CLASSES = 50


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """The rows a model is fitted on, and where they come from.

    Parameters
    ----------
    table : TableFile
        The file.
    numeric : NumericTable
        Its numbers, all rows.
    kept : array of shape (n,), bool
        Which rows take part; rows with missing values may have been left out.
    X : array of shape (n_kept, d)
        The numbers of those that take part.
    """

    table: TableFile
    numeric: NumericTable
    kept: NDArray[np.bool_]
    X: Doubles

    @property
    def n_rows(self) -> int:
        """The number of rows of the file."""
        return len(self.kept)

    @property
    def doubtful(self) -> dict[str, float]:
        """Columns that take part and look like classes, and how many values each has."""
        names = self.numeric.names
        like_classes = [j for j, name in enumerate(names) if name.strip().lower() in _CLASSES]
        n_values = {names[j]: _count_codes(self.X[:, j]) for j in like_classes}
        return {name: n for name, n in n_values.items() if n <= _MOST_CLASSES}

    @property
    def n_dropped(self) -> int:
        """How many rows were left out."""
        return int(np.sum(~self.kept))


def open_chosen(choice: TableChoice) -> TableFile:
    """The file that was chosen, opened as it was asked for."""
    return open_table(
        choice.file, format=choice.format, delimiter=choice.delimiter, header=choice.header
    )


def prepare_rows(
    table: TableFile, choice: TableChoice, *, memory: int | None = None
) -> PreparedRows:
    """Read the numeric columns, and decide about rows with missing values.

    Parameters
    ----------
    table : TableFile
        The file.
    choice : TableChoice
        Which columns, and what to do with missing values.
    memory : int, optional
        The most bytes of numbers; half of the memory of the machine when left out.

    Raises
    ------
    UnusableError
        There are missing values and no choice was made about them, or too few rows are left.
    TableError
        The file cannot be used.
    """
    columns = choice.columns or None
    numeric = read_rows(table, columns=columns, ignore=choice.ignore, memory=memory)
    missing = np.asarray(np.isnan(numeric.X).any(axis=1))
    if choice.missing == "error" and missing.any():
        raise UnusableError(_about_missing(table, numeric, int(missing.sum())))
    kept = ~missing if choice.missing == "drop" else np.full_like(missing, True)
    if kept.sum() < 2:
        raise UnusableError(
            f"{table.name}: {int(kept.sum())} of {len(kept):,} rows can be used, and at least two "
            f"are needed{_more_rows(choice, numeric)}."
        )
    return PreparedRows(table, numeric, kept, numeric.X if kept.all() else numeric.X[kept])


def _count_codes(column: Doubles) -> float:
    """How many whole numbers there are in a column; infinity where it has others."""
    values = np.unique(column[~np.isnan(column)])
    return len(values) if (values == np.rint(values)).all() else np.inf


def _about_missing(table: TableFile, numeric: NumericTable, n_rows: int) -> str:
    worst = sorted(zip(numeric.n_missing, numeric.names, strict=True), key=lambda pair: -pair[0])
    listed = ", ".join(f"{name!r} ({count:,})" for count, name in worst[:3] if count)
    more = sum(count > 0 for count, _ in worst) - 3
    others = f" and {more} more" if more > 0 else ""
    columns = "column" if np.count_nonzero(numeric.n_missing) == 1 else "the columns"
    return (
        f"{table.name}: {n_rows:,} of {len(numeric.X):,} rows have missing values, in "
        f"{columns} {listed}{others}, first in {_place(numeric)}; leave those rows out with "
        "--missing drop, fill in medians with --missing median, or leave columns out with --ignore."
    )


def _place(numeric: NumericTable) -> str:
    assert numeric.first_missing is not None
    row, line, _ = numeric.first_missing
    return place(row, line)


def _more_rows(choice: TableChoice, numeric: NumericTable) -> str:
    if choice.missing != "drop" or not sum(numeric.n_missing):
        return ""
    worst = numeric.names[int(np.argmax(numeric.n_missing))]
    return (
        f"; the column {worst!r} has the most missing values: leave it out with --ignore, or fill "
        "them in with --missing median"
    )
