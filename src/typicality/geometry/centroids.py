"""Prototypes of the input space, and the sums over rows that the next ones follow from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from typicality._sparse import is_sparse, sqdist_to_points
from typicality._tensors import is_tensor
from typicality._threads import over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.compiled.small import is_small
from typicality.geometry.base import Tally
from typicality.geometry.torch_sweep import sum_tensor
from typicality.membership.base import MembershipRule, labels
from typicality.membership.hard import HardForm
from typicality.rows import Additive, Block

_TILE_ENTRIES = 2**16  # entries of the largest array of a tile: stays in the L2 cache
_CHUNK_ROWS = 4096
_SUMS_SHARE = 50  # chunks are so long that their sums take at most 1/50 of the memory of X
ARRAY_BLOCK_ENTRIES = 2**20  # rows x clusters at a time where arrays are used
_ARRAY_BLOCK_ROWS = 8192
_ROWS_PER_THREAD = 4096
_SWEEPS = 400  # of a fit
_ENTRY_SECONDS, _PRODUCT_SECONDS = 4e-8, 2e-9  # of arrays: rows x clusters, and x features
_WORK_PER_THREAD = 200_000  # products of rows, clusters and features that are worth a thread


@dataclass(frozen=True, eq=False)
class Moments(Additive):
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


@dataclass(frozen=True, eq=False)
class LabelledMoments(Additive):
    """Moments, and the first moments and mass of the rows that prefer each cluster; they add up."""

    moments: Moments
    first: Doubles
    mass: Doubles


@dataclass(frozen=True, eq=False)
class TalliedMoments(Additive):
    """Moments, and how many rows prefer each cluster; they add up."""

    moments: Moments
    tally: Tally


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
        if is_sparse(X):
            self._check_shapes(X)
            return sqdist_to_points(X, self.offsets, self.origin).astype(X.dtype, copy=False)
        if self._is_small(X):
            with np.errstate(over="ignore"):  # infinite is far
                return self._plain_sqdist(X).astype(X.dtype, copy=False)
        out = np.empty((len(X), self.n_clusters), X.dtype)
        self._write(X, HardForm(), sqdist=out)
        return out

    def _plain_sqdist(self, X: Floats) -> Doubles:
        """The same by SciPy, as float64."""
        self._check_shapes(X)
        with np.errstate(over="ignore"):
            # Clusters first in memory: sums over few of them are ten times quicker that way.
            sqdist: Doubles = cdist(self.offsets.astype(X.dtype), X - self.origin, "sqeuclidean")
        return sqdist.T

    def _sqdist_for_arrays(self, X: Floats) -> Doubles:
        """Squared distances for the array form of a rule; in float64, as in compiled code."""
        if not is_sparse(X) and self._is_small(X):
            return self._plain_sqdist(X)
        return self.sqdist(X).astype(np.float64, copy=False)

    def _is_small(self, X: Floats) -> bool:
        """Whether arrays are quick enough, by the sizes alone."""
        entries = len(X) * self.n_clusters
        return is_small(_SWEEPS * entries * (_ENTRY_SECONDS + _PRODUCT_SECONDS * X.shape[-1]))

    def _uses_arrays(self, rule: MembershipRule, X: Floats) -> bool:
        return rule.compiled_form is None or is_sparse(X) or self._is_small(X)

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        out = np.empty((len(X), self.n_clusters), X.dtype)
        if not self._uses_arrays(rule, X):
            self._write(X, rule.compiled_form, memberships=out)
            return out
        for rows in self.blocks(X):
            out[rows] = rule.memberships(self._sqdist_for_arrays(X[rows]))
        return out

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        out = np.empty(len(X), np.int32)
        if not self._uses_arrays(rule, X):
            self._write(X, rule.compiled_form, labels=out)
            return out
        for rows in self.blocks(X):
            out[rows] = labels(rule, self._sqdist_for_arrays(X[rows]))
        return out

    def labels_and_memberships(
        self, rule: MembershipRule, X: Floats
    ) -> tuple[NDArray[np.int32], Floats]:
        preferred = np.empty(len(X), np.int32)
        degrees = np.empty((len(X), self.n_clusters), X.dtype)
        if not self._uses_arrays(rule, X):
            self._write(X, rule.compiled_form, labels=preferred, memberships=degrees)
            return preferred, degrees
        for rows in self.blocks(X):
            sqdist = self._sqdist_for_arrays(X[rows])
            degrees[rows] = memberships = rule.memberships(sqdist)
            preferred[rows] = labels(rule, sqdist, memberships)
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
        them, with the same numbers as the methods of these names. A tensor of rows is folded on its
        device.
        """
        if is_tensor(X):
            return Moments(*sum_tensor(rule, X, sample_weight, self.origin, self.offsets))
        return self._fold(rule, X, sample_weight, labels, memberships)[0]

    def fold_labelled(
        self, rule: MembershipRule, block: Block, keep: dict[int, NDArray[np.int32]] | None
    ) -> "LabelledMoments":
        """Fold rows into their sums, and into those of the rows that prefer each cluster.

        The labels go to `keep`, under the number of the first row of the block, if it is given.
        """
        labels = np.empty(len(block.X), np.int32)
        moments, (first, mass) = self._fold(rule, block.X, block.weight, labels)
        if keep is not None:
            keep[block.start] = labels
        return LabelledMoments(moments, first, mass)

    def fold_tally(self, rule: MembershipRule, block: Block) -> "TalliedMoments":
        """Fold rows into their sums, and count the rows that prefer each cluster."""
        labels = np.empty(len(block.X), np.int32)
        moments = self.fold(rule, block.X, block.weight, labels=labels)
        return TalliedMoments(moments, Tally.of(labels, block.weight, self.n_clusters))

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
        if self._uses_arrays(rule, X):
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

    def sum_distances(
        self,
        X: Floats,
        sample_weight: Floats | None,
        labels: NDArray[np.int32],
    ) -> Doubles:
        """Sums of distances of the rows to the prototype of their label, plain and squared."""
        if self._is_small(X):
            return self._plain_distances(X, sample_weight, labels)
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

    def _plain_distances(
        self, X: Floats, sample_weight: Floats | None, labels: NDArray[np.int32]
    ) -> Doubles:
        """The same by NumPy."""
        some = labels >= 0
        own = labels[some]
        apart = (X[some] - self.origin).astype(np.float64) - self.offsets[own]
        sqdist = np.einsum("hj,hj->h", apart, apart)
        weight = 1.0 if sample_weight is None else sample_weight[some]
        sums = [
            np.bincount(own, weight * values, self.n_clusters)
            for values in (np.sqrt(sqdist), sqdist)
        ]
        return np.column_stack(sums)

    def _fold_arrays(
        self,
        rule: MembershipRule,
        X: Floats,
        sample_weight: Floats | None,
        labels_out: NDArray[np.int32] | None,
        memberships_out: Floats | None,
    ) -> tuple[Moments, tuple[Doubles, Doubles]]:
        """The same through the array form of a rule, also for sparse rows."""
        total: Moments | None = None
        first = np.zeros_like(self.offsets)
        mass = np.zeros(self.n_clusters)
        for block in self.blocks(X):
            rows = X[block]
            sqdist = self._sqdist_for_arrays(rows)
            memberships = rule.memberships(sqdist)
            weights = rule.weights(memberships)
            objective = rule.objective(memberships, sqdist)
            if sample_weight is not None:
                weights = weights * sample_weight[block, None]
                objective = objective * sample_weight[block]
            part = Moments(
                weighted_sums(weights, rows, self.origin),
                weights.sum(axis=0, dtype=np.float64),
                np.vecdot(weights.T, sqdist.T),
                float(objective.sum(dtype=np.float64)),
            )
            total = part if total is None else total + part
            if memberships_out is not None:
                memberships_out[block] = memberships
            if labels_out is not None:
                labels_out[block] = labels(rule, sqdist, memberships)
                member = (labels_out[block, None] == np.arange(self.n_clusters)).astype(np.float64)
                member *= 1.0 if sample_weight is None else sample_weight[block, None]
                first += weighted_sums(member, rows, self.origin)
                mass += member.sum(axis=0)
        if total is None:  # no rows
            total = Moments(np.zeros_like(first), np.zeros_like(mass), np.zeros_like(mass), 0.0)
        return total, (first, mass)

    def _check_shapes(self, X: Floats, sample_weight: Floats | None = None) -> None:
        """Compiled code does not look where it reads."""
        if X.ndim != 2 or X.shape[1] != len(self.origin):
            raise ValueError(
                f"X has shape {X.shape}, but the prototypes have {len(self.origin)} features: "
                "pass rows with the same features."
            )
        if sample_weight is not None and sample_weight.shape != X.shape[:1]:
            raise ValueError(
                f"sample_weight.shape == {sample_weight.shape}, expected {X.shape[:1]}."
            )

    def blocks(self, X: Floats) -> Iterator[slice]:
        """Slices of the rows, so long that their distances to all prototypes fit in memory."""
        step = max(1, min(_ARRAY_BLOCK_ROWS, ARRAY_BLOCK_ENTRIES // max(1, self.n_clusters)))
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


def weighted_sums(weights: Floats, rows: Floats, origin: Floats) -> Doubles:
    """Sums of a few thousand rows about the origin under each column of weights.

    BLAS would cut the products of more rows by the number of its threads. Sparse rows are summed as
    they are, and the origin is subtracted from the sums.
    """
    weights = weights.astype(np.float64, copy=False)
    if is_sparse(rows):
        about_zero: Doubles = (rows.astype(np.float64, copy=False).T @ weights).T
        return np.asarray(about_zero - weights.sum(axis=0)[:, None] * origin)
    columns = np.ascontiguousarray((rows - origin).T, np.float64)
    sums: Doubles = np.vecdot(weights.T[:, None], columns)
    return sums
