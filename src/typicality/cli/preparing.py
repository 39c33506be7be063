"""From a file to the rows of a fit: which columns, which rows, and why not the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.cli.errors import UnusableError
from typicality.cli.options import TableChoice
from typicality.tables import NumericTable, TableFile, read_rows

__all__ = ["PreparedRows", "prepare_rows"]


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
    """

    table: TableFile
    numeric: NumericTable
    kept: NDArray[np.bool_]

    @property
    def X(self) -> NDArray[np.float64]:
        """The rows that take part."""
        return self.numeric.X if self.kept.all() else self.numeric.X[self.kept]

    @property
    def n_rows(self) -> int:
        """The number of rows of the file."""
        return len(self.kept)

    @property
    def n_dropped(self) -> int:
        """How many rows were left out."""
        return int(np.sum(~self.kept))
