"""Categories in rows of numbers: which columns they are, and how usual a category is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality.spaces.nearest import NearestRows

_N_COMPARED = 30  # rows: a share of fewer says little
_N_LOOKED_AT = 100  # rows that are as near as these count, too, up to so many
_ROWS_AT_ONCE = 1000
_TIED = 1e-9  # squared distances that differ by less are equal
_COMMON = 0.1  # a category that so many similar rows have is no reason


class CategoryColumns(NamedTuple):
    """Where the columns of categories are, behind those of numbers.

    Parameters
    ----------
    n_numeric : int
        How many columns of numbers come first.
    names : tuple of str
        The columns of categories.
    values : tuple of tuple of str
        The categories of each: as many columns of the rows.
    """

    n_numeric: int
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    @property
    def blocks(self) -> list[slice]:
        """The columns of the rows that stand for each column of categories."""
        ends = self.n_numeric + np.cumsum([0, *map(len, self.values)])
        return [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def codes(self, rows: Floats) -> NDArray[np.intp]:
        """The category of each row and column; -1 for those that were not there in fit."""
        codes = np.full((len(rows), len(self.names)), -1, dtype=np.intp)
        for j, block in enumerate(self.blocks):
            known = rows[:, block].max(axis=1, initial=0.0) > 0
            codes[known, j] = rows[known, block].argmax(axis=1)
        return codes

    def shares(self, typical: Floats, asking: Floats) -> Doubles:
        """How many of the typical rows that are most alike have the category of a row, as a share.

        For each column of categories, rows are compared in all other columns, so that a category is
        judged by what else is known of the row. The 30 nearest rows count, and those that are as
        near, up to 100; a row does not count for itself. Costs a search for neighbours for each
        column. Shape (len(asking), n_columns).
        """
        known, own = self.codes(typical), self.codes(asking)
        shares = np.ones(own.shape)
        for j, block in enumerate(self.blocks):
            others = np.delete(np.arange(asking.shape[1]), np.r_[block])
            if not len(others):
                totals = np.bincount(known[:, 0] + 1, minlength=len(self.values[0]) + 1)
                shares[:, j] = totals[own[:, 0] + 1] / len(typical)
                continue
            search = NearestRows(np.ascontiguousarray(typical[:, others]))
            for first in range(0, len(asking), _ROWS_AT_ONCE):
                some = slice(first, first + _ROWS_AT_ONCE)
                rows = asking[some][:, others]
                near = search.of(rows, _N_LOOKED_AT + 1)
                sqdist = search.sqdist(rows, near)
                counts = sqdist <= sqdist[:, [min(_N_COMPARED, near.shape[1] - 1)]] + _TIED
                same = counts & (known[near, j] == own[some, j][:, None])
                itself = (same & (sqdist <= _TIED)).any(axis=1)
                n_same, n_all = same.sum(axis=1) - itself, counts.sum(axis=1) - itself
                shares[some, j] = n_same / np.maximum(n_all, 1)
        return shares

    def shares_in(self, rows: Floats, labels: NDArray[Any], asking: Floats, of: Any) -> Doubles:
        """How many rows of the cluster `of` a row have the category of the row, as a share."""
        codes, own = self.codes(rows), self.codes(asking)
        shares = np.ones(own.shape)
        for label in np.unique(of):
            mine, members = of == label, labels == label
            for j in range(len(self.names)):
                counts = np.bincount(codes[members, j] + 1, minlength=len(self.values[j]) + 1)
                shares[mine, j] = counts[own[mine, j] + 1] / max(counts.sum(), 1)
        return shares


def surprise(shares: Doubles) -> Doubles:
    """The deviation of a number that is as rare: sqrt(-2 ln share), at most that of 1 in 60.

    Zero for common categories, which explain nothing.
    """
    rare = np.sqrt(-2.0 * np.log(np.maximum(shares, 0.5 / _N_COMPARED)))
    return np.asarray(np.where(shares < _COMMON, rare, 0.0))
