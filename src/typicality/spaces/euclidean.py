"""The input space: prototypes are weighted means of rows, from one fold over the rows."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import cdist

from typicality._cached import cached_property
from typicality._sparse import is_sparse, sparse_distances, sqdist_to_points
from typicality._tensors import is_tensor, tensor_of
from typicality._threads import over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.compiled.small import is_small
from typicality.membership.base import MembershipRule
from typicality.rows import LARGEST_SAMPLE, Block, DistinctRows, Rows, SparseRows, rows_in_memory
from typicality.spaces.base import Prototypes, Space, Subsample, Sums, Tally, Wanted, is_reached
from typicality.spaces.far import far_points
from typicality.spaces.sample import SAMPLE_ROWS, Sample

_TILE_ENTRIES = 2**16  # entries of the largest array of a tile: stays in the L2 cache
_ROWS_PER_THREAD = 4096
_SWEEPS = 400  # of a fit
_ENTRY_SECONDS, _PRODUCT_SECONDS = 4e-8, 2e-9  # of arrays: rows x clusters, and x features
_EXACT_EIGENVALUES = 512  # the side of the largest matrix whose eigenvalues are all computed


@dataclass(frozen=True, eq=False)
class Centroids(Prototypes):
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

    def sqdist_to(self, other: Self) -> Doubles:
        return np.asarray(np.sum((other.offsets - self.offsets) ** 2, axis=1))

    def take(self, order: Places) -> Self:
        return replace(self, **{name: v[order] for name, v in self._of_each.items()})

    def join(self, other: Self) -> Self:
        pairs = {name: (v, getattr(other, name)) for name, v in self._of_each.items()}
        return replace(self, **{name: np.concatenate(pair) for name, pair in pairs.items()})

    @property
    def _of_each(self) -> dict[str, Doubles]:
        """The arrays with an entry for each prototype."""
        return {name: v for name, v in vars(self).items() if name != "origin"}

    def blend(self, other: Self, share: float) -> Self:
        return replace(self, offsets=self.offsets + share * (other.offsets - self.offsets))

    def mutual_sqdist(self) -> Doubles:
        return cdist(self.offsets, self.offsets, "sqeuclidean")

    def sqdist(self, X: Any) -> Any:
        if is_tensor(X):
            return self._tensor_sqdist(X)
        if is_sparse(X):
            return sqdist_to_points(X, self.offsets, self.origin)
        with np.errstate(over="ignore"):  # infinite is far
            # Clusters first in memory: sums over few of them are ten times quicker that way.
            return cdist(self.offsets.astype(X.dtype), X - self.origin, "sqeuclidean").T

    def _tensor_sqdist(self, X: Any) -> Any:
        import torch

        rows, centers = about(self.origin, X), tensor_of(self.offsets, str(X.device))
        norms = rows.square().sum(dim=1, keepdim=True) + centers.square().sum(dim=1)
        return torch.addmm(norms, rows, centers.T, alpha=-2.0).clamp_(min=0.0)

    def form_of(self, rule: MembershipRule, X: Any, n_rows: int) -> Any:
        """The compiled form of a rule; None where arrays are as quick, by the sizes alone.

        There is no compiled code for the distances of a subclass.
        """
        form = rule.compiled_form
        if form is None or is_sparse(X) or type(self) is not Centroids:
            return None
        per_entry = _ENTRY_SECONDS + _PRODUCT_SECONDS * len(self.origin)
        return None if is_small(_SWEEPS * n_rows * self.n_clusters * per_entry) else form

    def judge(
        self, rule: MembershipRule, X: Any, *, memberships: bool = True
    ) -> tuple[NDArray[np.int32], Floats | None]:
        form = self.form_of(rule, X, len(X))
        if form is None:
            return super().judge(rule, X, memberships=memberships)
        preferred, nothing = np.empty(len(X), np.int32), np.empty((0, 0))
        degrees = np.empty((len(X), self.n_clusters if memberships else 0), X.dtype)

        def write(first: int, last: int) -> None:
            own = slice(first, last)
            self.fold_compiled(form, X[own], None, nothing, preferred[own], nothing, degrees[own])

        over_ranges(write, len(X), at_least=_ROWS_PER_THREAD)
        return preferred, degrees if memberships else None

    def fold_compiled(
        self,
        form: Any,
        X: Floats,
        weight: Floats | None,
        sums: Doubles,
        labels: NDArray[np.int32],
        members: Doubles,
        memberships: Floats,
    ) -> float:
        """Fill in what is not empty, and return the objective; no (n, c) matrix is formed."""
        from typicality.compiled.sweep import fold_rows

        if X.ndim != 2 or X.shape[1] != len(self.origin):
            raise ValueError(
                f"X has shape {X.shape}, but the prototypes have {len(self.origin)} features: "
                "pass rows with the same features."
            )
        weight = np.empty(0, X.dtype) if weight is None else weight
        read = map(_read_only, (X, weight, self.origin, self.offsets.astype(X.dtype)))
        # By the shapes alone, never by the number of threads.
        tile_rows = int(2 ** np.clip(np.log2(_TILE_ENTRIES / max(self.offsets.shape)) // 1, 4, 8))
        written = sums, labels, members, memberships
        return fold_rows(form, *read, tile_rows, *written)


class Euclidean(Space[Centroids]):
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
        if sample_weight is not None and sample_weight.shape != (len(rows),):
            raise ValueError(
                f"sample_weight.shape == {sample_weight.shape}, expected {(len(rows),)}."
            )
        self.rows = rows if isinstance(rows, Rows) else rows_in_memory(rows, sample_weight)

    def accumulate(self, block: Block, weights: Any) -> Doubles:
        """Sums of the rows about the origin, under each column of weights."""
        X, origin = block.X, self.origin
        if is_sparse(X):  # they are summed as they are, and the origin is subtracted from the sums
            about_zero: Doubles = (X.astype(np.float64, copy=False).T @ weights).T
            return np.asarray(about_zero - weights.sum(axis=0)[:, None] * origin)
        rows = about(origin, X)
        if is_tensor(X):
            weights = tensor_of(weights, str(X.device))
            return np.asarray((weights.double().T @ rows).cpu().numpy())
        return np.asarray(weights.T @ rows)

    def means(
        self, sums: Doubles, total: Doubles, unless_empty: Centroids | None = None
    ) -> Centroids:
        reached = is_reached(total)[:, None]
        offsets = sums / np.where(reached, total[:, None], 1.0)
        if unless_empty is not None:
            offsets = np.where(reached, offsets, unless_empty.offsets)
        return Centroids(self.origin, offsets)

    def fused(
        self, rule: MembershipRule, prototypes: Centroids, block: Block, wanted: Wanted
    ) -> Sums | None:
        if type(prototypes) is not Centroids:
            return None
        if is_tensor(block.X):
            from typicality.spaces.torch_sweep import fused_sums

            return None if wanted.counted else fused_sums(rule, prototypes, block)
        form = prototypes.form_of(rule, block.X, self.rows.n_rows)
        if form is None:
            return None
        X, weight, (c, d) = block.X, block.weight, prototypes.offsets.shape
        sums, members = np.zeros((c, d + 2)), np.zeros((c if wanted.members else 0, d))
        labels, degrees = wanted.labels, wanted.memberships
        if labels is None:
            labels = np.empty(len(X) if wanted.counted else 0, np.int32)
        if degrees is None:
            degrees = np.empty((0, 0), X.dtype)
        objective = prototypes.fold_compiled(form, X, weight, sums, labels, members, degrees)
        tally = Tally.of(labels, weight, c) if wanted.counted else 0
        mass = sums[:, -2]
        return Sums(sums[:, :-2], mass, sums[:, -1], mass, objective, tally, members)

    def over(self, rows: Rows) -> "Euclidean":
        """A space of the same kind over other rows."""
        return Euclidean(rows)

    @cached_property
    def _typical(self) -> "Euclidean | None":  # type: ignore[override]
        """The space of the typical rows, if there are others. One fold, and medians of a sample."""
        far = far_points(self.rows)
        if self.rows.fold(lambda block: len(far.find(block))) == 0:
            return None
        typical = self.over(self.rows.reweighted(far.weigh))
        typical._typical = None
        return typical

    @cached_property
    def origin(self) -> Floats:
        """The mean of the typical rows, in the type of the data."""
        return self.typical.rows.features.mean.astype(self.rows.dtype)

    @cached_property
    def mean(self) -> Centroids:
        return Centroids(self.origin, (self.rows.features.mean - self.origin)[None])

    @property
    def total_variance(self) -> float:
        return float(self.rows.features.variance.sum())

    @property
    def dimension(self) -> float:
        """The number of features that are not constant; 1 where all are."""
        return max(float(np.count_nonzero(self.rows.features.low < self.rows.features.high)), 1.0)

    def largest_moment(self, *, normalised: bool) -> float:
        if isinstance(self.rows, SparseRows):
            return super().largest_moment(normalised=normalised)
        some = self.rows.sample(SAMPLE_ROWS)
        sqnorm = some.sqdist_to_mean() if normalised else np.ones(len(some.rows))
        scale = np.sqrt(some.weight / np.where(sqnorm > 0, sqnorm, 1.0) / some.weight.sum())
        return _largest_eigenvalue((some.rows - some.mean) * scale[:, None])

    def candidates(self, n_clusters: int) -> DistinctRows:
        return self.rows.sample(max(LARGEST_SAMPLE, 4 * n_clusters))

    def sample(self, at_most: int | None = SAMPLE_ROWS) -> Sample:
        some = self.rows.sample(self.rows.n_rows if at_most is None else at_most)
        between = sparse_distances if is_sparse(some.rows) else cdist
        return Sample(
            some.rows,
            some.index,
            some.weight,
            lambda: 0.5 * between(some.rows, some.rows, "sqeuclidean"),
        )

    def at(self, points: Floats) -> Centroids:
        return Centroids.at(points, self.origin)

    def subsample(self, at_most: int) -> Subsample | None:
        if self.rows.n_rows <= at_most and self.rows.in_memory:
            return None
        few = self.rows.sample(at_most)
        sample = self.over(rows_in_memory(few.rows, few.weight.astype(self.rows.dtype)))
        return Subsample(sample, lambda p: self.at(p.centers), lambda p: sample.at(p.centers))


def about(origin: Floats, X: Any) -> Any:
    """Rows of an array or a tensor relative to an origin, as float64."""
    if is_tensor(X):
        return X.double() - tensor_of(origin, str(X.device)).double()
    return (X - origin).astype(np.float64, copy=False)


def _read_only(array: Floats) -> Floats:
    """A view that cannot be written to: numba compiles apart for arrays that can and cannot."""
    view = array.view()
    view.flags.writeable = False
    return view


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
