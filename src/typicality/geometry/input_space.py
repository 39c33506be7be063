"""The input space: prototypes are weighted means of rows, from one fold over the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import cdist

from typicality._cached import cached_property
from typicality._threads import PLANNED_THREADS, over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.geometry.base import (
    TOWARDS_THE_MEAN,
    LabelledSweep,
    Members,
    Outcome,
    Subsample,
    Sweep,
    relative_move,
    row_blocks,
)
from typicality.geometry.gaps import InputGaps
from typicality.geometry.rows import (
    LARGEST_SAMPLE,
    DistinctRows,
    Features,
    count_distinct_rows,
    far_rows,
    medians,
)
from typicality.membership.base import MembershipRule, labels
from typicality.membership.hard import HardForm
from typicality.plan import Plan

_TILE_ENTRIES = 2**16  # entries of the largest array of a tile: stays in the L2 cache
_CHUNK_ROWS = 4096
_SUMS_SHARE = 50  # chunks are so long that their sums take at most 1/50 of the memory of X
_ARRAY_BLOCK_ENTRIES = 2**20  # rows x clusters at a time where a rule has no compiled form
_ROWS_PER_THREAD = 4096
_WORK_PER_THREAD = 200_000  # products of rows, clusters and features that are worth a thread
_SAMPLE_ROWS = 4096
_EXACT_EIGENVALUES = 512  # the side of the largest matrix whose eigenvalues are all computed


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows, relative to an origin; those of two sets of rows add up.

    Parameters
    ----------
    first : array of shape (c, d)
        Weighted sums of the rows about the origin.
    mass, within : arrays of shape (c,)
        Sums of the weights, and of the weighted squared distances to the prototypes.
    objective : float
        The sum of the objective of the rows.
    """

    first: Doubles
    mass: Doubles
    within: Doubles
    objective: float

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.first + other.first,
            self.mass + other.mass,
            self.within + other.within,
            self.objective + other.objective,
        )


@dataclass(frozen=True, eq=False)
class Centroids:
    """Prototypes in the input space.

    They are kept relative to an origin near their middle, so that neither distances nor sums lose
    digits when the data lie far from zero.

    Parameters
    ----------
    origin : array of shape (d,)
        A point of the type of the data.
    offsets : array of shape (c, d), float64
        The prototypes minus the origin.
    """

    origin: Annotated[Floats, "d"]
    offsets: Annotated[Doubles, "c d"]

    @classmethod
    def at(cls, points: Floats, origin: Floats) -> Self:
        """Prototypes at given points; a row given as a point is at distance zero."""
        return cls(origin, (points.astype(origin.dtype) - origin).astype(np.float64))

    @property
    def n_clusters(self) -> int:
        return len(self.offsets)

    @property
    def centers(self) -> Floats:
        """The coordinates, shape (c, d), in the type of the data."""
        return (self.offsets + self.origin).astype(self.origin.dtype)

    def take(self, order: Places) -> Self:
        return type(self)(self.origin, self.offsets[order])

    def join(self, other: Self) -> Self:
        return type(self)(self.origin, np.concatenate([self.offsets, other.offsets]))

    def blend(self, other: Self, share: float) -> Self:
        return type(self)(self.origin, self.offsets + share * (other.offsets - self.offsets))

    def for_prediction(self) -> Self:
        return self

    def mutual_sqdist(self) -> Doubles:
        sqdist: Doubles = cdist(self.offsets, self.offsets, "sqeuclidean")
        return sqdist

    def sqdist(self, X: Floats) -> Floats:
        out = np.empty((len(X), self.n_clusters), X.dtype)
        self._write(X, HardForm(), sqdist=out)
        return out

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        out = np.empty((len(X), self.n_clusters), X.dtype)
        if rule.compiled_form is not None:
            self._write(X, rule.compiled_form, memberships=out)
            return out
        for rows in self.blocks(X):
            out[rows] = rule.memberships(self.sqdist(X[rows]))
        return out

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        out = np.empty(len(X), np.int32)
        if rule.compiled_form is not None:
            self._write(X, rule.compiled_form, labels=out)
            return out
        for rows in self.blocks(X):
            out[rows] = labels(rule, self.sqdist(X[rows]))
        return out

    def labels_and_memberships(
        self, rule: MembershipRule, X: Floats
    ) -> tuple[NDArray[np.int32], Floats]:
        preferred = np.empty(len(X), np.int32)
        degrees = np.empty((len(X), self.n_clusters), X.dtype)
        if rule.compiled_form is not None:
            self._write(X, rule.compiled_form, labels=preferred, memberships=degrees)
            return preferred, degrees
        for rows in self.blocks(X):
            sqdist = self.sqdist(X[rows])
            preferred[rows], degrees[rows] = labels(rule, sqdist), rule.memberships(sqdist)
        return preferred, degrees

    def objective(
        self, rule: MembershipRule, X: Floats, sample_weight: Floats | None = None
    ) -> float:
        return self.fold(rule, X, sample_weight).objective

    def fold(
        self,
        rule: MembershipRule,
        X: Floats,
        sample_weight: Floats | None = None,
        *,
        labels: NDArray[np.int32] | None = None,
        memberships: Floats | None = None,
    ) -> Moments:
        """Fold rows into their sums: the block function of every engine.

        Distances, memberships, objective and moments are computed tile by tile and added up; no
        (n, c) matrix is formed where the rule has a compiled form. Partial sums belong to chunks of
        fixed length and are added in a fixed tree, so the result does not depend on the number of
        threads. Costs O(n c d) time and O(c d) memory for each chunk.

        Where `labels` of shape (n,) or `memberships` of shape (n, c) are given, the same pass fills
        them, with the same numbers as the methods of these names.
        """
        return self._fold(rule, X, sample_weight, labels, memberships)[0]

    def fold_labelled(
        self, rule: MembershipRule, X: Floats, sample_weight: Floats | None = None
    ) -> tuple[Moments, "Members[Centroids]"]:
        """Fold rows into their sums, and sort them by the cluster they prefer, in the same pass.

        A second pass, O(n d), takes the distances to the means. Keeps one integer for each row.
        """
        labels = np.empty(len(X), np.int32)
        moments, (first, mass) = self._fold(rule, X, sample_weight, labels)
        divisor = np.where(mass > 0, mass, 1.0)
        means = Centroids(self.origin, first / divisor[:, None])
        distance, sqdist = means._sum_distances(X, sample_weight, labels).T / divisor
        return moments, Members(mass, means, distance, sqdist)

    def _fold(
        self,
        rule: MembershipRule,
        X: Floats,
        sample_weight: Floats | None,
        labels: NDArray[np.int32] | None,
        memberships: Floats | None = None,
    ) -> tuple[Moments, tuple[Doubles, Doubles]]:
        """Moments; where `labels` is to be filled, also the first moments and mass by label."""
        self._check_shapes(X, sample_weight)
        if rule.compiled_form is None:
            return self._fold_arrays(rule, X, sample_weight, labels, memberships)
        from typicality.compiled.sweep import fold_chunks

        tile_rows, chunk_rows = layout(self.n_clusters, X.shape[1])
        n_chunks = max(1, -(-len(X) // chunk_rows))
        sums = np.zeros((n_chunks, self.n_clusters, X.shape[1] + 2))
        members = np.zeros((1 if labels is None else n_chunks, self.n_clusters, X.shape[1] + 1))
        objectives = np.zeros(n_chunks)
        labels = np.empty(0, np.int32) if labels is None else labels
        memberships = np.empty((0, 0), X.dtype) if memberships is None else memberships
        weight = _read_only(np.empty(0, X.dtype) if sample_weight is None else sample_weight)
        X, origin, centers = map(_read_only, (X, self.origin, self.offsets.astype(X.dtype)))
        over_ranges(
            lambda first, last: fold_chunks(
                rule.compiled_form, X, weight, origin, centers, tile_rows, chunk_rows, first, last,
                sums, objectives, labels, members, memberships,
            ),
            n_chunks,
            at_least=max(1, _WORK_PER_THREAD // (chunk_rows * max(1, self.offsets.size))),
        )  # fmt: skip
        folded, by_label = _tree_sum(sums), _tree_sum(members)
        objective = float(_tree_sum(objectives))
        moments = Moments(folded[:, :-2], folded[:, -2], folded[:, -1], objective)
        return moments, (by_label[:, :-1], by_label[:, -1])

    def _sum_distances(
        self,
        X: Floats,
        sample_weight: Floats | None,
        labels: NDArray[np.int32],
    ) -> Doubles:
        """Sums of distances of the rows to the prototype of their label, plain and squared."""
        from typicality.compiled.sweep import add_distances

        _, chunk_rows = layout(self.n_clusters, X.shape[1])
        n_chunks = max(1, -(-len(X) // chunk_rows))
        sums = np.zeros((n_chunks, self.n_clusters, 2))
        weight = _read_only(np.empty(0, X.dtype) if sample_weight is None else sample_weight)
        X, origin = _read_only(X), _read_only(self.origin)
        over_ranges(
            lambda first, last: add_distances(
                X, weight, origin, self.offsets, labels, chunk_rows, first, last, sums
            ),
            n_chunks,
            at_least=max(1, _WORK_PER_THREAD // (chunk_rows * X.shape[1])),
        )
        return _tree_sum(sums)

    def _fold_arrays(
        self,
        rule: MembershipRule,
        X: Floats,
        sample_weight: Floats | None,
        labels_out: NDArray[np.int32] | None,
        memberships_out: Floats | None,
    ) -> tuple[Moments, tuple[Doubles, Doubles]]:
        """The same through the array form of a rule."""
        parts = []
        first = np.zeros_like(self.offsets)
        mass = np.zeros(self.n_clusters)
        for block in self.blocks(X):
            sqdist, rows = self.sqdist(X[block]), X[block] - self.origin
            memberships = rule.memberships(sqdist)
            weights = rule.weights(memberships)
            objective = rule.objective(memberships, sqdist)
            if sample_weight is not None:
                weights = weights * sample_weight[block, None]
                objective = objective * sample_weight[block]
            parts.append(
                Moments(
                    weighted_sums(weights, rows),
                    weights.sum(axis=0, dtype=np.float64),
                    np.einsum("hk,hk->k", weights, sqdist, dtype=np.float64),
                    float(objective.sum(dtype=np.float64)),
                )
            )
            if memberships_out is not None:
                memberships_out[block] = memberships
            if labels_out is not None:
                labels_out[block] = labels(rule, sqdist)
                member = (labels_out[block, None] == np.arange(self.n_clusters)).astype(np.float64)
                member *= 1.0 if sample_weight is None else sample_weight[block, None]
                first += weighted_sums(member, rows)
                mass += member.sum(axis=0)
        return sum(parts[1:], start=parts[0]), (first, mass)

    def _check_shapes(self, X: Floats, sample_weight: Floats | None = None) -> None:
        """Compiled code does not look where it reads."""
        if X.ndim != 2 or X.shape[1] != len(self.origin):
            raise ValueError(
                f"X has shape {X.shape}, but the prototypes have {len(self.origin)} features: pass "
                "rows with the features they were made from."
            )
        if sample_weight is not None and sample_weight.shape != X.shape[:1]:
            raise ValueError(
                f"sample_weight.shape == {sample_weight.shape}, expected {X.shape[:1]}."
            )

    def blocks(self, X: Floats) -> Iterator[slice]:
        """Slices of the rows, so long that their distances to all prototypes fit in memory."""
        step = max(1, _ARRAY_BLOCK_ENTRIES // max(1, self.n_clusters))
        return (slice(start, start + step) for start in range(0, len(X), step))

    def _write(
        self,
        X: Floats,
        form: object,
        *,
        sqdist: Floats | None = None,
        memberships: Floats | None = None,
        labels: NDArray[np.int32] | None = None,
    ) -> None:
        from typicality.compiled.sweep import write_rows

        self._check_shapes(X)
        tile_rows, _ = layout(self.n_clusters, X.shape[1])
        nothing = np.empty((0, 0), X.dtype)
        outputs = (
            nothing if sqdist is None else sqdist,
            nothing if memberships is None else memberships,
            np.empty(0, np.int32) if labels is None else labels,
        )
        X, origin, centers = map(_read_only, (X, self.origin, self.offsets.astype(X.dtype)))
        over_ranges(
            lambda first, last: write_rows(
                form, X, origin, centers, tile_rows, first, last, *outputs
            ),
            len(X),
            at_least=_ROWS_PER_THREAD,
        )


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

    @property
    def typical(self) -> "InputSpace":
        return self._typical or self

    @cached_property
    def _typical(self) -> "InputSpace | None":
        """The space of the typical rows, if there are others. One pass and d medians."""
        sqdist = np.empty(len(self.X))
        centre = medians(self.X, self.sample_weight)
        for block in row_blocks(len(self.X)):
            offsets = self.X[block] - centre
            sqdist[block] = np.einsum("hj,hj->h", offsets, offsets)

        def company(rows: Places) -> tuple[Doubles, Doubles]:
            return cdist(self.X[rows], self._few.rows, "sqeuclidean"), self._few.weight

        far = far_rows(sqdist, self.sample_weight, company)
        if far is None:
            return None
        weight = np.ones(len(self.X), self.X.dtype)
        if self.sample_weight is not None:
            weight = self.sample_weight.copy()
        weight[far] = 0.0
        typical = InputSpace(self.X, weight)
        typical._typical = None
        return typical

    @cached_property
    def _few(self) -> DistinctRows:
        return DistinctRows.of(self.X, self.sample_weight, at_most=_SAMPLE_ROWS)

    @cached_property
    def origin(self) -> Floats:
        """The mean of the typical rows, in the type of the data."""
        return self.typical.features.mean.astype(self.X.dtype)

    @cached_property
    def covariance(self) -> Doubles:
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
    def _sample(self) -> tuple[Floats, Doubles]:
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
        return _largest_eigenvalue(centred * np.sqrt(scale)[:, None])

    def plan(self, n_clusters: int) -> Plan:
        n_samples, n_features = self.X.shape
        tile_rows, chunk_rows = layout(n_clusters, n_features)
        sums = -(-n_samples // chunk_rows) * (n_clusters * (n_features + 2) + 1)
        tile = tile_rows * (2 * n_clusters + n_features + 6)
        return Plan(
            method="input space",
            working_memory=8 * sums + PLANNED_THREADS * self.X.itemsize * tile,
            reason=f"each iteration is one sweep over {n_samples:,} rows x {n_features} features, "
            f"{tile_rows} rows at a time; nothing of size rows x clusters is kept.",
        )

    def candidates(self, n_clusters: int) -> DistinctRows:
        at_most = max(LARGEST_SAMPLE, 4 * n_clusters)
        rows = DistinctRows.of(self.X, self.sample_weight, at_most=at_most)
        self.n_distinct_rows = rows.n_distinct  # found on the way
        return rows

    def at(self, points: Floats) -> Centroids:
        return Centroids.at(points, self.origin)

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> Centroids:
        points = self.X[index].astype(np.float64)
        points += share * (self.typical.features.mean - points)
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
        """The fields of a sweep, from its moments."""
        reached = moments.mass > np.finfo(np.float64).tiny
        mass = np.where(reached, moments.mass, 1.0)
        # A prototype that reaches no row stays where it is.
        offsets = np.where(reached[:, None], moments.first / mass[:, None], prototypes.offsets)
        moves = np.sum((offsets - prototypes.offsets) ** 2, axis=1)
        return {
            "prototypes": Centroids(prototypes.origin, offsets),
            "objective": moments.objective,
            "mass": moments.mass,
            "within_sqdist": np.maximum(moments.within / mass - moves, 0.0),
            "relative_move": relative_move(moves, self.typical.total_variance),
        }

    def gaps(self, *, all_rows: bool = False) -> InputGaps:
        distinct = DistinctRows.of(self.X, self.sample_weight, at_most=len(self.X))
        return InputGaps(distinct.rows, distinct.index, all_rows)

    def subsample(self, at_most: int) -> Subsample[Centroids] | None:
        if len(self.X) <= at_most:
            return None
        few = DistinctRows.of(self.X, self.sample_weight, at_most=at_most)
        sample = InputSpace(few.rows, few.weight.astype(self.X.dtype))
        return Subsample(sample, lambda p: self.at(p.centers), lambda p: sample.at(p.centers))

    def outcome(
        self, rule: MembershipRule, prototypes: Centroids, *, memberships: bool = True
    ) -> Outcome:
        labels = np.empty(len(self.X), np.int32)
        degrees = None
        if memberships:
            degrees = np.empty((len(self.X), prototypes.n_clusters), self.X.dtype)
        moments = prototypes.fold(
            rule, self.X, self.sample_weight, labels=labels, memberships=degrees
        )
        return Outcome(labels, degrees, moments.objective, moments.mass)

    def objective_and_mass(
        self, rule: MembershipRule, prototypes: Centroids
    ) -> tuple[float, Doubles]:
        moments = prototypes.fold(rule, self.X, self.sample_weight)
        return moments.objective, moments.mass

    def memberships(self, rule: MembershipRule, prototypes: Centroids) -> Floats:
        return prototypes.memberships(rule, self.X)

    def labels(self, rule: MembershipRule, prototypes: Centroids) -> NDArray[np.int32]:
        return prototypes.labels(rule, self.X)

    def largest_membership(self, rule: MembershipRule, prototypes: Centroids) -> float:
        return float(prototypes.memberships(rule, self._sample[0]).max())


def _largest_eigenvalue(factor: Doubles) -> float:
    """The largest eigenvalue of F'F, by the smaller of F'F and FF', or iteratively for a large F.

    A warning asks for it: it must not cost more than a fit.
    """
    few = factor if factor.shape[0] >= factor.shape[1] else factor.T
    if few.shape[1] <= _EXACT_EIGENVALUES:
        return float(np.linalg.eigvalsh(few.T @ few)[-1])
    gram = LinearOperator((few.shape[1],) * 2, matvec=lambda v: few.T @ (few @ v), dtype=np.float64)
    start = np.einsum("ij,ij->j", few, few)  # the same in every run, and near what is sought
    return float(eigsh(gram, k=1, v0=start, tol=1e-6, return_eigenvectors=False)[0])


def layout(n_clusters: int, n_features: int) -> tuple[int, int]:
    """Rows in a tile and in a chunk; they depend on the shapes alone, never on threads."""
    tile_rows = int(2 ** np.clip(np.log2(_TILE_ENTRIES / max(n_clusters, n_features)) // 1, 4, 8))
    shortest = _SUMS_SHARE * n_clusters * (n_features + 2) // n_features
    chunk_rows = max(_CHUNK_ROWS, -(-shortest // tile_rows) * tile_rows)
    return tile_rows, chunk_rows


def _read_only(array: Floats) -> Floats:
    """A view that cannot be written to: numba compiles apart for arrays that can and cannot."""
    view = array.view()
    view.flags.writeable = False
    return view


def _tree_sum(parts: Doubles) -> Doubles:
    """Add neighbours, then neighbouring sums, and so on: one order whatever the threads did."""
    while len(parts) > 1:
        even = len(parts) // 2 * 2
        parts = np.concatenate([parts[0:even:2] + parts[1:even:2], parts[even:]])
    total: Doubles = parts[0]
    return total


def weighted_sums(weights: Floats, rows: Floats) -> Doubles:
    """The sums of the rows under each column of weights; BLAS would depend on its threads."""
    sums: Doubles = np.einsum("hk,hj->kj", weights, rows, dtype=np.float64)
    return sums
