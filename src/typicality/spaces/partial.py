"""The input space of rows with missing values: distances use the values that are there."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality.membership.base import MembershipRule
from typicality.rows import Block, Rows
from typicality.spaces.base import Sums, Wanted, is_reached, rows_of
from typicality.spaces.euclidean import Centroids, Euclidean, about
from typicality.spaces.sample import Sample


class PartialCentroids(Centroids):
    r"""Prototypes that judge a row by the features that it has.

    .. math:: d_{hk} = \frac{d}{|A_h|} \sum_{j \in A_h} (x_{hj} - v_{kj})^2,

    where :math:`A_h` are the features of row h that are not missing (NaN), at least one.
    """

    def sqdist(self, X: Any) -> Any:
        rows, known = _known(X, self.origin)
        each = [np.sum((rows - known * v) ** 2, axis=1) for v in self.offsets]
        return np.reshape(each, (self.n_clusters, len(X))).T / known.mean(axis=1)[:, None]


class Partial(Euclidean):
    r"""The input space of rows with missing values.

    .. math:: v_{kj} = \frac{\sum_{h : j \in A_h} \omega_h w_{hk} x_{hj}}
        {\sum_{h : j \in A_h} \omega_h w_{hk}}

    A row counts by the share :math:`|A_h| / d` of the values that it has. These means then
    minimise the objective, which therefore never rises.

    Implements the partial distances of :cite:`hathaway2001`. Starts, the automatic fuzzifier and
    warnings see the rows with the means of the features in the gaps.

    Parameters
    ----------
    rows : Rows or array of shape (n, d)
        The rows; an array can have missing values (NaN).
    sample_weight : array of shape (n,), optional
        The weights of an array of rows.
    given : array of shape (n, d), optional
        The same rows with gaps, where `rows` has none.
    """

    def __init__(
        self,
        rows: Rows | Floats,
        sample_weight: Floats | None = None,
        *,
        given: Floats | None = None,
    ) -> None:
        if not isinstance(rows, Rows):
            given = rows
            rows, sample_weight = _filled(rows, sample_weight)
        super().__init__(rows, sample_weight)
        self.given = given

    def _sum_block(
        self, rule: MembershipRule, prototypes: Centroids, wanted: Wanted, pull: Any, block: Block
    ) -> Sums:
        if self.given is not None:
            block = block._replace(X=self.given[rows_of(block)])
        return super()._sum_block(rule, prototypes, wanted, pull, block)

    def accumulate(self, block: Block, weights: Any) -> Doubles:
        """Sums of the values about the origin, and of the weights of the rows that have them."""
        rows, known = _known(block.X, self.origin)
        weights = (weights / known.mean(axis=1)[:, None]).T
        return np.hstack([weights @ rows, weights @ known])

    def means(
        self, sums: Doubles, total: Doubles, unless_empty: Centroids | None = None
    ) -> Centroids:
        first, mass = np.hsplit(sums, 2)
        reached = is_reached(mass)
        offsets = first / np.where(reached, mass, 1.0)
        if unless_empty is not None:
            offsets = np.where(reached, offsets, unless_empty.offsets)
        return PartialCentroids(self.origin, offsets)

    def over(self, rows: Rows) -> Self:
        return type(self)(rows, given=self.given)

    def at(self, points: Floats) -> PartialCentroids:
        return PartialCentroids.at(points, self.origin)

    def sqdist_of(self, prototypes: Centroids, sample: Sample) -> Doubles:
        rows = sample.rows if self.given is None else self.given[sample.index]
        return np.asarray(prototypes.sqdist(rows))


def _known(X: Floats, origin: Floats) -> tuple[Doubles, NDArray[np.bool_]]:
    """Rows about the origin, with zeros in the gaps, and where their values are."""
    known = ~np.isnan(X)
    return np.where(known, about(origin, X), 0.0), known


def _filled(X: Floats, sample_weight: Floats | None) -> tuple[Floats, Floats]:
    """Rows with the means of the features in their gaps, and their weights."""
    known = ~np.isnan(X)
    weight = np.ones(len(X), X.dtype) if sample_weight is None else sample_weight
    counted = known * weight[:, None].astype(np.float64)
    mass = counted.sum(axis=0)
    if not mass.all():
        raise ValueError(
            f"X has no value in column {int(np.argmin(mass))} (counted from 0) in rows of "
            "positive weight. Remove the column."
        )
    mean = np.sum(np.where(known, X, 0.0) * counted, axis=0) / mass
    return np.where(known, X, mean.astype(X.dtype)), weight * known.mean(axis=1).astype(X.dtype)
