"""The usual range of rows, and rows far from all others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
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

    low, minus_high = rows.reduce(ends, np.minimum)
    return low, -minus_high


@dataclass(frozen=True, eq=False)
class FarRows:
    """Recognises rows that are :func:`far <far_rows>` from a sample of all rows.

    Parameters
    ----------
    centre : array of shape (d,)
        The median of each feature.
    reach : float
        The squared distance beyond which a row is far, and within which rows keep it company.
    sample : DistinctRows
        The rows that can keep company.
    one_row : float
        The weight of one row.
    """

    centre: Doubles
    reach: float
    sample: DistinctRows
    one_row: float

    @classmethod
    def of(cls, rows: Rows) -> Self:
        some = rows.sample(_CENTRE_ROWS)
        centre = _medians(some)
        sqdist = _sqdist(some.rows, centre)
        reach = _FAR**2 * weighted_quantile(sqdist, 0.5, some.weight)
        return cls(centre, reach, some.smallest(_COMPANY), unit_of_weight(some.weight))

    def weigh(self, block: Block) -> Floats:
        """The weights of the rows of a block; those of far rows are zero."""
        weight = np.ones(len(block.X), block.X.dtype)
        if block.weight is not None:
            weight = block.weight.copy()
        weight[self._find(block)] = 0.0
        return weight

    def count(self, block: Block) -> int:
        """How many rows of a block are far."""
        return len(self._find(block))

    def _find(self, block: Block) -> Places:
        if self.reach <= 0:
            return np.empty(0, np.intp)
        sqdist = np.empty(len(block.X))
        for rows in row_blocks(len(block.X)):
            sqdist[rows] = _sqdist(block.X[rows], self.centre)
        counted = True if block.weight is None else block.weight > 0
        far = np.flatnonzero((sqdist > self.reach) & counted)
        others, weight = self.sample.rows, self.sample.weight
        between = sparse_distances if is_sparse(others) else cdist
        return _alone(
            far,
            lambda some: (between(block.X[some], others, "sqeuclidean"), weight),
            self.reach,
            self.one_row,
        )


def _medians(some: DistinctRows) -> Doubles:
    def median(values: Doubles, weight: Doubles) -> float:
        return weighted_quantile(values, 0.5, weight)

    if is_sparse(some.rows):
        return sparse_medians(some.rows, some.weight, median)
    return np.array([median(x.astype(np.float64), some.weight) for x in some.rows.T])


def _sqdist(rows: Floats, centre: Doubles) -> Doubles:
    if is_sparse(rows):
        return sqdist_to_points(rows, centre[None, :])[:, 0]
    offsets = rows - centre
    return np.asarray(np.einsum("hj,hj->h", offsets, offsets))


def far_rows(
    sqdist: Doubles,
    sample_weight: Floats | None,
    company: Callable[[Places], tuple[Floats, Floats]],
) -> NDArray[np.bool_] | None:
    r"""Rows that are far from most rows, and nearly alone where they are; None if there are none.

    With r the median distance of the rows to a centre, a row is far if it is more than 4 r away
    from the centre, and nearly alone if no other row, or less than 2 % of all rows, lie within 4 r
    of it. A small cluster is therefore not far, wherever it is. Original to typicality, see
    docs/theory.

    Parameters
    ----------
    sqdist : array of shape (n,), float64
        Squared distances of the rows to a centre that one row cannot move.
    sample_weight : array of shape (n,), optional
        Weight k counts as k copies of the row; rows of weight zero are never far.
    company : callable
        `company(rows) -> (sqdist, weight)`: squared distances of some rows to a sample of all rows,
        and the weights of the sample.
    """
    reach = _FAR**2 * weighted_quantile(sqdist, 0.5, sample_weight)
    if reach <= 0:
        return None
    counted = True if sample_weight is None else sample_weight > 0
    far = np.flatnonzero((sqdist > reach) & counted)
    if len(far) == 0:
        return None
    one_row = 1.0 if sample_weight is None else unit_of_weight(sample_weight)
    alone = np.zeros(len(sqdist), bool)
    alone[_alone(far, company, reach, one_row)] = True
    return alone if alone.any() else None


def _alone(
    far: Places,
    company: Callable[[Places], tuple[Floats, Floats]],
    reach: float,
    one_row: float,
) -> Places:
    """Those of the far rows that have few rows within reach, or one."""
    alone = np.zeros(len(far), bool)
    for block in row_blocks(len(far)):
        between, weight = company(far[block])
        few = max(_FEW * weight.sum(dtype=np.float64), one_row)
        alone[block] = (between <= reach) @ weight.astype(np.float64) <= few * (1 + 1e-9)
    return far[alone]
