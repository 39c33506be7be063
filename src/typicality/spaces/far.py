"""The usual range of rows, and rows far from all others."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from typicality._sparse import is_sparse, sparse_distances, sparse_medians, sqdist_to_points
from typicality._typing import Doubles, Floats, Places
from typicality.rows import Block, DistinctRows, Rows, row_blocks
from typicality.rows.quantiles import unit_of_weight, weighted_quantile

_EXTREME = 5.0  # times the distance between the quartiles
_FAR = 4.0  # times the median distance to the centre
_FEW = 0.02  # of all rows: fewer together are no cluster
_CENTRE_ROWS = 2**14  # whose medians are the centre
_COMPANY = 2**12  # rows that can keep far rows company


def typical_range(rows: Rows) -> tuple[Doubles, Doubles]:
    """The smallest and the largest value of each feature, extreme values left out.

    Extreme is what lies farther beyond a quartile than five times the distance between the
    quartiles; nothing is where half of the values are the same. The quartiles are those of at most
    131,072 distinct rows.
    """
    some = rows.sample()
    quartiles = [
        [weighted_quantile(column.astype(np.float64), rate, some.weight) for rate in (0.25, 0.75)]
        for column in some.rows.T
    ]
    first, third = np.array(quartiles).T
    fence = np.where(third > first, _EXTREME * (third - first), np.inf)
    lowest, highest = first - fence, third + fence

    def ends(block: Block) -> Doubles:
        X = block.X if block.weight is None else block.X[block.weight > 0]
        inside = (lowest <= X) & (highest >= X)
        low = np.min(X, axis=0, initial=np.inf, where=inside)
        high = np.max(X, axis=0, initial=-np.inf, where=inside)
        return np.stack([low, -high], dtype=np.float64)

    low, minus_high = np.min(rows.gather(lambda block: [ends(block)]), axis=0)
    return low, -minus_high


@dataclass(frozen=True, eq=False)
class FarRows:
    r"""Recognises rows that are far from most rows, and nearly alone where they are.

    With r the median distance of the rows to a centre, a row is far if it is more than 4 r away
    from the centre, and nearly alone if no other row, or less than 2 % of all rows, lie within 4 r
    of it. A small cluster is therefore not far, wherever it is. Rows of weight zero are never far.
    Original to typicality, see docs/theory.

    Parameters
    ----------
    reach : float
        The squared distance 16 r^2.
    to_centre : callable
        `to_centre(block)`: squared distances of the rows of a block to a centre that one row cannot
        move.
    to_company : callable
        `to_company(rows)`: squared distances of some rows to a sample of all rows.
    weight : array of shape (s,)
        The weights of the sample.
    one_row : float
        The weight of one row.
    """

    reach: float
    to_centre: Callable[[Block], Doubles]
    to_company: Callable[[Floats], Floats]
    weight: Doubles
    one_row: float

    def find(self, block: Block) -> Places:
        """The rows of a block that are far."""
        if self.reach <= 0:
            return np.empty(0, np.intp)
        counted = True if block.weight is None else block.weight > 0
        far = np.flatnonzero((self.to_centre(block) > self.reach) & counted)
        few = max(_FEW * self.weight.sum(dtype=np.float64), self.one_row)
        alone = np.zeros(len(far), bool)
        for some in row_blocks(len(far)):
            near = self.to_company(block.X[far[some]]) <= self.reach
            alone[some] = near @ self.weight.astype(np.float64) <= few * (1 + 1e-9)
        return far[alone]

    def weigh(self, block: Block) -> Floats:
        """The weights of the rows of a block; those of far rows are zero."""
        weight = (
            np.ones(len(block.X), block.X.dtype) if block.weight is None else block.weight.copy()
        )
        weight[self.find(block)] = 0.0
        return weight


def reach_of(sqdist: Doubles, weight: Floats | None) -> float:
    """The squared distance beyond which rows are far, by those to the centre."""
    return _FAR**2 * weighted_quantile(sqdist, 0.5, weight)


def far_points(rows: Rows) -> FarRows:
    """Recognises rows far from the median of each feature, by a sample of the rows."""
    some = rows.sample(_CENTRE_ROWS)
    centre, company = _medians(some), some.smallest(_COMPANY)
    between = sparse_distances if is_sparse(company.rows) else cdist
    return FarRows(
        reach_of(_sqdist(some.rows, centre), some.weight),
        lambda block: _sqdist(block.X, centre),
        lambda X: between(X, company.rows, "sqeuclidean"),
        company.weight,
        unit_of_weight(some.weight),
    )


def _medians(some: DistinctRows) -> Doubles:
    def median(values: Doubles, weight: Doubles) -> float:
        return weighted_quantile(values, 0.5, weight)

    if is_sparse(some.rows):
        return sparse_medians(some.rows, some.weight, median)
    return np.array([median(x.astype(np.float64), some.weight) for x in some.rows.T])


def _sqdist(X: Floats, centre: Doubles) -> Doubles:
    if is_sparse(X):
        return sqdist_to_points(X, centre[None, :])[:, 0]
    sqdist = np.empty(len(X))
    for rows in row_blocks(len(X)):  # offsets would copy all rows
        offsets = X[rows] - centre
        sqdist[rows] = np.einsum("hj,hj->h", offsets, offsets)
    return sqdist
