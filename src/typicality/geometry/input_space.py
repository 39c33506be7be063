"""The input space: prototypes are weighted means of rows, from one fold over the rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from typicality._cached import cached_property
from typicality._sparse import as_dense, is_sparse
from typicality._typing import Doubles, Floats, Places
from typicality.geometry.base import (
    TOWARDS_THE_MEAN,
    LabelledSweep,
    Members,
    Outcome,
    OverRows,
    Subsample,
    Sweep,
    Tally,
    relative_move,
)
from typicality.geometry.centroids import (
    Centroids,
    Moments,
    weighted_sums,
)
from typicality.geometry.gaps import InputGaps
from typicality.geometry.rows import FarRows
from typicality.membership.base import MembershipRule
from typicality.rows import (
    LARGEST_SAMPLE,
    Block,
    DistinctRows,
    Features,
    Rows,
    SparseRows,
    row_blocks,
    rows_in_memory,
)

_SAMPLE_ROWS = 4096
_FEW_ROWS = 16  # for which iterations are not worth it, or impossible
_EXACT_EIGENVALUES = 512  # the side of the largest matrix whose eigenvalues are all computed


class InputSpace(OverRows[Centroids]):
    r"""The space of the data: prototypes are weighted means of rows.

    .. math:: v_k = \frac{\sum_h \omega_h w_{hk} x_h}{\sum_h \omega_h w_{hk}}, \qquad
        d_{hk} = \lVert x_h - v_k \rVert^2.

    Implements :cite:`filippone2010`, eq. (9); :cite:`miyamoto2003`, eq. (3) and (5). A step is one
    pass over the rows, O(n c d), in which no (n, c) matrix is formed.

    Parameters
    ----------
    rows : Rows or array of shape (n, d), C-contiguous, float32 or float64
        The rows, wherever they are.
    sample_weight : array of shape (n,), optional
        The weights of an array of rows. Weight k counts as k copies of the row.
    """

    def __init__(self, rows: Rows | Floats, sample_weight: Floats | None = None) -> None:
        self.rows = rows if isinstance(rows, Rows) else rows_in_memory(rows, sample_weight)

    @property
    def X(self) -> Floats:  # noqa: N802
        """The rows, where they are in memory."""
        X: Floats = self.rows.X  # type: ignore[attr-defined]
        return X

    @property
    def sample_weight(self) -> Floats | None:
        """The weights, where they are in memory."""
        weight: Floats | None = self.rows.weight  # type: ignore[attr-defined]
        return weight

    @property
    def features(self) -> Features:
        """Means, variances and ranges of the features."""
        return self.rows.features

    @property
    def typical(self) -> "InputSpace":
        return self._typical or self

    @cached_property
    def _typical(self) -> "InputSpace | None":
        """The space of the typical rows, if there are others. One fold, and medians of a sample."""
        far = FarRows.of(self.rows)
        if self.rows.fold(far.count) == 0:
            return None
        typical = InputSpace(self.rows.reweighted(far.weigh))
        typical._typical = None
        return typical

    @cached_property
    def origin(self) -> Floats:
        """The mean of the typical rows, in the type of the data."""
        return self.typical.features.mean.astype(self.rows.dtype)

    @cached_property
    def covariance(self) -> Doubles:
        """The covariance of the features, O(n d^2)."""
        mean = self.features.mean

        def scatter(block: Block) -> Doubles:
            total = np.zeros((len(mean), len(mean)))
            weight = np.ones(len(block.X)) if block.weight is None else block.weight
            for some in row_blocks(len(block.X)):
                centred = block.X[some] - mean
                total += np.einsum("hi,hj->ij", centred * weight[some, None], centred)
            return total

        return self.rows.fold(scatter) / self.rows.total_weight

    @property
    def total_variance(self) -> float:
        """The mean squared distance of the rows to their mean."""
        return float(self.features.variance.sum())

    @property
    def dimension(self) -> float:
        """The number of features that are not constant; 1 where all are."""
        return max(float(np.count_nonzero(self.features.low < self.features.high)), 1.0)

    def largest_moment(self, *, normalised: bool) -> float:
        some = self.rows.sample(_SAMPLE_ROWS)
        rows, weight = some.rows, some.weight
        sqnorm = some.sqdist_to_mean() if normalised else np.ones(len(rows))
        scale = np.sqrt(weight / np.where(sqnorm > 0, sqnorm, 1.0) / weight.sum())
        if is_sparse(rows):
            return _largest_sparse_eigenvalue(rows, some.mean, scale)
        return _largest_eigenvalue((rows - some.mean) * scale[:, None])

    @property
    def how(self) -> str:
        n_rows, n_features = self.rows.n_rows, self.rows.n_features
        if isinstance(self.rows, SparseRows):
            return (
                f"each iteration is one sweep over the {self.rows.X.nnz:,} stored values of "
                f"{n_rows:,} sparse rows x {n_features:,} features; no row is made dense."
            )
        return (
            f"each iteration is one sweep over {n_rows:,} rows x {n_features} features; nothing of "
            "size rows x clusters is kept."
        )

    def candidates(self, n_clusters: int) -> DistinctRows:
        return self.rows.sample(max(LARGEST_SAMPLE, 4 * n_clusters))

    def at(self, points: Floats) -> Centroids:
        return Centroids.at(points, self.origin)

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> Centroids:
        points = as_dense(self.rows.take(index)).astype(np.float64)
        points += share * (self.typical.features.mean - points)
        return Centroids.at(points, self.origin)

    def prototypes(self, weights: Floats) -> Centroids:
        return self._means(lambda block: weights[block.start : block.start + len(block.X)])

    def middle(self) -> Centroids:
        return self._means(lambda block: np.ones((len(block.X), 1)))

    def _means(self, weights_of: Callable[[Block], Floats]) -> Centroids:
        origin = self.origin

        def moments(block: Block) -> Doubles:
            weights = weights_of(block)
            if block.weight is not None:
                weights = weights * block.weight[:, None]
            mass = weights.sum(axis=0, dtype=np.float64)
            first = np.zeros((weights.shape[1], len(origin)))
            for some in row_blocks(len(block.X)):
                first += weighted_sums(weights[some], block.X[some], origin)
            return np.column_stack([first, mass])

        sums = self.rows.fold(moments)
        return Centroids(origin, sums[:, :-1] / sums[:, -1:])

    def sweep(self, rule: MembershipRule, prototypes: Centroids) -> Sweep[Centroids]:
        moments = self.rows.sweep(lambda block: prototypes.fold(rule, block.X, block.weight))
        return Sweep(**self._step(prototypes, moments))

    def labelled_sweep(
        self, rule: MembershipRule, prototypes: Centroids
    ) -> LabelledSweep[Centroids]:
        keep: dict[int, NDArray[np.int32]] | None = {} if self.rows.in_memory else None
        sums = self.rows.fold(lambda block: prototypes.fold_labelled(rule, block, keep))
        divisor = np.where(sums.mass > 0, sums.mass, 1.0)
        means = Centroids(prototypes.origin, sums.first / divisor[:, None])

        def distances(block: Block) -> Doubles:
            labels = prototypes.labels(rule, block.X) if keep is None else keep[block.start]
            return means.sum_distances(block.X, block.weight, labels)

        distance, sqdist = self.rows.fold(distances).T / divisor
        members = Members(sums.mass, means, distance, sqdist)
        return LabelledSweep(**self._step(prototypes, sums.moments), members=members)

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

    def gaps(self) -> InputGaps:
        some = self.rows.sample()
        return InputGaps(some.rows, some.index)

    def subsample(self, at_most: int) -> Subsample[Centroids] | None:
        if self.rows.n_rows <= at_most and self.rows.in_memory:
            return None
        few = self.rows.sample(at_most)
        sample = InputSpace(few.rows, few.weight.astype(self.rows.dtype))
        return Subsample(sample, lambda p: self.at(p.centers), lambda p: sample.at(p.centers))

    def outcome(
        self, rule: MembershipRule, prototypes: Centroids, *, memberships: bool = True
    ) -> Outcome:
        if not self.rows.in_memory:
            sums = self.rows.fold(lambda block: prototypes.fold_tally(rule, block))
            return Outcome(None, None, sums.moments.objective, sums.moments.mass, sums.tally)
        n_rows = self.rows.n_rows
        labels = np.empty(n_rows, np.int32)
        degrees = np.empty((n_rows if memberships else 0, prototypes.n_clusters), self.rows.dtype)

        def write(block: Block) -> Moments:
            rows = slice(block.start, block.start + len(block.X))
            return prototypes.fold(
                rule,
                block.X,
                block.weight,
                labels=labels[rows],
                memberships=degrees[rows] if memberships else None,
            )

        moments = self.rows.fold(write)
        tally = Tally.of(labels, self.sample_weight, prototypes.n_clusters)
        kept = degrees if memberships else None
        return Outcome(labels, kept, moments.objective, moments.mass, tally)

    def tally(self, rule: MembershipRule, prototypes: Centroids) -> Tally:
        return self.rows.fold(lambda block: prototypes.fold_tally(rule, block)).tally

    def objective_and_mass(
        self, rule: MembershipRule, prototypes: Centroids
    ) -> tuple[float, Doubles]:
        moments = self.rows.fold(lambda block: prototypes.fold(rule, block.X, block.weight))
        return moments.objective, moments.mass

    def largest_membership(self, rule: MembershipRule, prototypes: Centroids) -> float:
        return float(prototypes.memberships(rule, self.rows.sample(_SAMPLE_ROWS).rows).max())


def _largest_sparse_eigenvalue(rows: Any, mean: Doubles, scale: Doubles) -> float:
    """The same for F = S (X - 1 mean'), whose rows are not made; always iteratively."""
    doubles = rows.astype(np.float64, copy=False)
    n_rows = len(scale)

    def product(v: Doubles) -> Doubles:
        """F F' v, with F' v = X' S v - mean (1' S v)."""
        w = scale * v.ravel()
        back = doubles.T @ w - mean * w.sum()
        return np.asarray(scale * (doubles @ back - mean @ back))

    if n_rows <= _FEW_ROWS:
        gram = np.column_stack([product(unit) for unit in np.eye(n_rows)])
        return float(np.linalg.eigvalsh(0.5 * (gram + gram.T))[-1])
    gram = LinearOperator((n_rows, n_rows), matvec=product, dtype=np.float64)
    start = scale * np.sqrt(rows.sqnorms + 1.0)  # the same in every run
    return float(eigsh(gram, k=1, v0=start, tol=1e-6, return_eigenvectors=False)[0])


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
