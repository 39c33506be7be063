"""The input space: prototypes are weighted means of rows."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._compat import effective_n_threads
from typicality.geometry.base import TOWARDS_THE_MEAN, Floats, LabelledSweep, Sweep, row_blocks
from typicality.geometry.centroids import Centroids, Moments, layout, weighted_sums
from typicality.geometry.distinct import LARGEST_SAMPLE, DistinctRows, count_distinct_rows
from typicality.geometry.features import Features
from typicality.geometry.gaps import InputGaps
from typicality.membership.base import MembershipRule
from typicality.plan import Plan

_SAMPLE_ROWS = 4096


class InputSpace:
    r"""The space of the data: prototypes are weighted means of rows.

    .. math:: v_k = \frac{\sum_h \omega_h w_{hk} x_h}{\sum_h \omega_h w_{hk}}, \qquad
        d_{hk} = \lVert x_h - v_k \rVert^2.

    Implements :cite:`filippone2010`, eq. (9); :cite:`miyamoto2003`, eq. (3) and (5). A step is one
    pass over the rows, O(n c d), in which no (n, c) matrix is formed.

    Parameters
    ----------
    X : array of shape (n, d), C-contiguous, float32 or float64
        The rows.
    sample_weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    """

    def __init__(self, X: Floats, sample_weight: Floats | None = None) -> None:
        self.X = X
        self.sample_weight = sample_weight

    @cached_property
    def features(self) -> Features:
        """Means, variances and ranges of the features."""
        return Features.of(self.X, self.sample_weight)

    @cached_property
    def origin(self) -> Floats:
        """The mean of the data, in the type of the data."""
        return self.features.mean.astype(self.X.dtype)

    @property
    def centre(self) -> NDArray[np.float64]:
        """The mean of the data, relative to the origin: its rounding."""
        return np.asarray(self.features.mean - self.origin, dtype=np.float64)

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """The covariance of the features, O(n d^2)."""
        n_features = self.X.shape[1]
        scatter = np.zeros((n_features, n_features))
        weight = np.ones(len(self.X)) if self.sample_weight is None else self.sample_weight
        for block in row_blocks(len(self.X)):
            centred = self.X[block] - self.features.mean
            scatter += np.einsum("hi,hj->ij", centred * weight[block, None], centred)
        scatter /= weight.sum(dtype=np.float64)
        return scatter

    @property
    def total_variance(self) -> float:
        """The mean squared distance of the rows to their mean."""
        return float(self.features.variance.sum())

    @property
    def dimension(self) -> float:
        """The number of features that are not constant; 1 where all are."""
        return max(float(np.count_nonzero(self.features.low < self.features.high)), 1.0)

    @cached_property
    def n_distinct_rows(self) -> int:
        return count_distinct_rows(self.X, self.sample_weight)

    @cached_property
    def _sample(self) -> tuple[Floats, NDArray[np.float64]]:
        """At most about 4096 rows of positive weight, evenly spaced, and their weights."""
        if self.sample_weight is None:
            rows = self.X[:: max(1, len(self.X) // _SAMPLE_ROWS)].copy()
            return rows, np.ones(len(rows))
        taking_part = np.flatnonzero(self.sample_weight)
        chosen = taking_part[:: max(1, len(taking_part) // _SAMPLE_ROWS)]
        return self.X[chosen], self.sample_weight[chosen].astype(np.float64)

    def largest_moment(self, *, normalised: bool) -> float:
        rows, weight = self._sample
        centred = rows - np.average(rows.astype(np.float64), axis=0, weights=weight)
        sqnorm = np.einsum("ij,ij->i", centred, centred) if normalised else np.ones(len(rows))
        scale = weight / np.where(sqnorm > 0, sqnorm, 1.0) / weight.sum()
        return float(np.linalg.eigvalsh((centred.T * scale) @ centred)[-1])

    def plan(self, n_clusters: int) -> Plan:
        n_samples, n_features = self.X.shape
        tile_rows, chunk_rows = layout(n_clusters, n_features)
        sums = -(-n_samples // chunk_rows) * (n_clusters * (n_features + 2) + 1)
        tile = tile_rows * (2 * n_clusters + n_features + 6)
        return Plan(
            method="input space",
            working_memory=8 * sums + effective_n_threads() * self.X.itemsize * tile,
            reason=f"each iteration is one sweep over {n_samples:,} rows x {n_features} features, "
            f"{tile_rows} rows at a time; nothing of size rows x clusters is kept.",
        )

    def candidates(self, n_clusters: int) -> DistinctRows:
        at_most = max(LARGEST_SAMPLE, 4 * n_clusters)
        return DistinctRows.of(self.X, self.sample_weight, at_most=at_most)

    def at(self, points: Floats) -> Centroids:
        return Centroids.at(points, self.origin)

    def near_rows(self, index: NDArray[np.intp], *, share: float = TOWARDS_THE_MEAN) -> Centroids:
        points = self.X[index].astype(np.float64)
        points += share * (self.features.mean - points)
        return Centroids.at(points, self.origin)

    def prototypes(self, weights: Floats) -> Centroids:
        if self.sample_weight is not None:
            weights = weights * self.sample_weight[:, None]
        mass = weights.sum(axis=0, dtype=np.float64)
        blocks = row_blocks(len(self.X))
        first = sum(weighted_sums(weights[b], self.X[b] - self.origin) for b in blocks)
        return Centroids(self.origin, first / mass[:, None])

    def sweep(self, rule: MembershipRule, prototypes: Centroids) -> Sweep[Centroids]:
        moments = prototypes.fold(rule, self.X, self.sample_weight)
        return Sweep(**self._step(prototypes, moments))

    def labelled_sweep(
        self, rule: MembershipRule, prototypes: Centroids
    ) -> LabelledSweep[Centroids]:
        moments, members = prototypes.fold_labelled(rule, self.X, self.sample_weight)
        return LabelledSweep(**self._step(prototypes, moments), members=members)

    def _step(self, prototypes: Centroids, moments: Moments) -> dict[str, Any]:
        """What a sweep says, from its moments."""
        reached = moments.mass > np.finfo(np.float64).tiny
        mass = np.where(reached, moments.mass, 1.0)
        # A prototype that reaches no row stays where it is.
        offsets = np.where(reached[:, None], moments.first / mass[:, None], prototypes.offsets)
        moves = np.sum((offsets - prototypes.offsets) ** 2, axis=1)
        return {
            "prototypes": Centroids(prototypes.origin, offsets),
            "objective": moments.objective,
            "mass": moments.mass,
            "spread": np.maximum(moments.within / mass - moves, 0.0),
            "shift": float(np.sqrt(moves.max() / self.total_variance)) if moves.any() else 0.0,
        }

    def gaps(self, *, all_rows: bool = False) -> InputGaps:
        distinct = DistinctRows.of(self.X, self.sample_weight, at_most=len(self.X))
        return InputGaps(distinct.rows, distinct.index, all_rows)

    def objective_and_mass(
        self, rule: MembershipRule, prototypes: Centroids
    ) -> tuple[float, NDArray[np.float64]]:
        moments = prototypes.fold(rule, self.X, self.sample_weight)
        return moments.objective, moments.mass

    def memberships(self, rule: MembershipRule, prototypes: Centroids) -> Floats:
        return prototypes.memberships(rule, self.X)

    def labels(self, rule: MembershipRule, prototypes: Centroids) -> NDArray[np.int32]:
        return prototypes.labels(rule, self.X)

    def largest_membership(self, rule: MembershipRule, prototypes: Centroids) -> float:
        return float(prototypes.memberships(rule, self._sample[0]).max())
