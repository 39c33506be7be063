"""A sample of the distinct rows of a space, and what is asked of it instead of all rows.

A sample depends on the content of the rows, not on their order. Starts, gaps, the dimension and
warnings look at it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Places
from typicality.membership.base import MembershipRule, labels

P = TypeVar("P")

SAMPLE_ROWS = 4096
_MOST_ROWS = 0.95
_ISOLATED = 3.0  # times the gap of most rows
_CROWD = 10  # rows: how far the last of them is tells how dense it is around a row
_TIED = 100.0  # units in the last place, of distances that may be the same
_NOTHING = 0.01  # units in the last place of the largest squared distance: the same row
_ROWS_AT_A_TIME = 512


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows of positive weight, with their mutual distances in their space.

    Parameters
    ----------
    rows : array of shape (s, d)
        The rows.
    index : array of shape (s,)
        Where they stand among all rows.
    weight : array of shape (s,)
        The weight of all copies of each.
    measure : callable
        Computes `half_sqdist`, if it is asked for.
    """

    rows: Floats
    index: Places
    weight: Doubles
    measure: Callable[[], Floats]

    @cached_property
    def half_sqdist(self) -> Floats:
        """Half the mutual squared distances, shape (s, s)."""
        return self.measure()

    def sqdist_to(self, number: int) -> Doubles:
        """Squared distances of all rows of the sample to one of them."""
        return 2.0 * self.half_sqdist[:, number].clip(min=0.0)

    def sqdist_to_mean(self) -> Doubles:
        """Squared distances to the weighted mean, up to a constant and a factor."""
        return np.asarray(np.einsum("ij,j->i", self.half_sqdist, self.weight))

    def moments(self, *, normalised: bool) -> Doubles:
        """Eigenvalues, in rising order, of the covariance in the space of the rows; normalised, of
        the directions from the mean alone. They are those of the centred Gram matrix.
        """
        share = self.weight / self.weight.sum()
        to_mean = self.half_sqdist @ share
        energy = share @ to_mean
        gram = to_mean[:, None] + to_mean - energy - self.half_sqdist
        scale = np.sqrt(share)
        if normalised:
            sqnorm = np.diagonal(gram)
            scale = np.where(sqnorm > 0, scale / np.sqrt(np.where(sqnorm > 0, sqnorm, 1.0)), 0.0)
        return np.linalg.eigvalsh(gram * scale * scale[:, None])


@dataclass(frozen=True, eq=False)
class Gaps(Generic[P]):
    """How far the rows of a sample are from the rows nearest to them, as squared distances.

    A row is isolated when it is more than three times as far from its nearest row as 95 of 100 rows
    are: an outlier. Isolated rows do not count in the largest gap and are never the farthest.

    Costs O(s^2) for s rows.

    Parameters
    ----------
    space : Space
        The space of the rows.
    sample : Sample
        Some of its distinct rows.
    """

    space: Any
    sample: Sample

    @cached_property
    def max_gap(self) -> float:
        """The largest of all distances from a row to its nearest row."""
        return float(self._nearest[~self._isolated].max())

    @cached_property
    def _isolated(self) -> NDArray[np.bool_]:
        return self._nearest > self._isolation

    @property
    def _isolation(self) -> float:
        """The gap beyond which a row is isolated; a subclass can isolate none."""
        return float(_ISOLATED**2 * np.quantile(self._nearest, _MOST_ROWS))

    @property
    def _nearest(self) -> Doubles:
        return self._neighbours[:, 0]

    @cached_property
    def _neighbours(self) -> Doubles:
        """Squared distances to the nearest ten other rows."""
        half, n_rows = self.sample.half_sqdist, len(self.sample.index)
        n_near = min(_CROWD, n_rows - 1)
        near = np.empty((n_rows, n_near))
        for start in range(0, n_rows, _ROWS_AT_A_TIME):
            own = 2.0 * half[start : start + _ROWS_AT_A_TIME].astype(np.float64)
            own[np.arange(len(own)), start + np.arange(len(own))] = np.inf
            near[start : start + len(own)] = np.partition(own, n_near - 1, axis=1)[:, :n_near]
        return np.sort(near.clip(min=0.0), axis=1)

    def farthest_row(self, prototypes: P) -> int:
        """The row that is farthest from its nearest prototype."""
        nearest = self.space.sqdist_of(prototypes, self.sample).min(axis=1)
        nearest[self._isolated] = -np.inf
        # Of rows that are equally far, but for rounding, the first in the order of the distinct.
        limit = (1.0 - _TIED * np.finfo(self.space.dtype).eps) * nearest.max()
        return int(self.sample.index[np.flatnonzero(nearest >= limit)[0]])

    def densest(self, rule: MembershipRule, prototypes: P) -> int | None:
        """Of the rows in no cluster, the one whose tenth nearest row is closest; None without."""
        free = labels(rule, self.space.sqdist_of(prototypes, self.sample)) < 0
        if not free.any():
            return None
        crowd = np.where(free, self._neighbours[:, -1], np.inf)
        limit = (1.0 + _TIED * np.finfo(self.space.dtype).eps) * crowd.min()
        return int(self.sample.index[np.flatnonzero(crowd <= limit)[0]])

    def near(self, prototypes: P, n_neighbors: int) -> Doubles:
        """The distances from each prototype to its nearest rows, in rising order.

        A row that coincides with the prototype does not count.
        """
        ordered = np.sort(self.space.sqdist_of(prototypes, self.sample).T, axis=1)
        eps = np.finfo(self.space.dtype).eps
        itself = ordered[:, 0] <= _NOTHING * eps * ordered[:, -1]
        return np.where(itself[:, None], ordered[:, 1:], ordered[:, :-1])[:, :n_neighbors]
