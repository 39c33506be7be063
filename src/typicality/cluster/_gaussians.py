"""Gaussian mixtures: the parts of one, and many of one kind fitted together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, softmax

from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Index, Places

_REGULARISATION = 1e-3  # of the variance of a column
_MOST_ITERATIONS = 100
_TOL = 1e-3  # of the mean log likelihood
_LEAST_WEIGHT = 1e-12
_BLOCK = 256  # rows, whose densities are computed together


@dataclass(frozen=True, eq=False)
class GaussianParts:
    """A Gaussian mixture, and the group that each of its parts belongs to.

    Parameters
    ----------
    weights : array of shape (k,)
        The shares of the parts.
    means : array of shape (k, d)
        Their means.
    covariances : array of shape (k, d, d)
        Their covariance matrices.
    groups : array of shape (k,)
        Their groups, contiguous from 0.
    n_iter : int
        The iterations of the fit.
    """

    weights: Annotated[Doubles, "_parts"]
    means: Annotated[Doubles, "_parts d"]
    covariances: Annotated[Doubles, "_parts d d"]
    groups: Annotated[Places, "_parts", Index("_parts")]
    n_iter: int

    @one_blas_thread()
    def log_densities(self, rows: Doubles) -> Doubles:
        """The weighted log density of each part at each row.

        Rows are taken in blocks of one size: so a row has the same bits in any batch.
        """
        whitening = np.linalg.inv(np.linalg.cholesky(self.covariances)).swapaxes(1, 2)
        origins = self.means[:, None] @ whitening
        scale = np.log(self.weights) + np.log(np.einsum("kii->ki", whitening)).sum(axis=1)
        blocks = np.zeros((-(-len(rows) // _BLOCK), _BLOCK, rows.shape[1]))
        blocks.reshape(-1, rows.shape[1])[: len(rows)] = rows
        log = np.empty((*blocks.shape[:2], len(self.weights)))
        for block, out in zip(blocks, log, strict=True):
            apart = block @ whitening - origins
            out[:] = scale - 0.5 * np.einsum("kij,kij->ik", apart, apart)
        return log.reshape(-1, len(self.weights))[: len(rows)]

    def memberships(self, rows: Doubles) -> Doubles:
        """The posterior probability of each group."""
        if self.n_groups == 1:  # no matrix of thousands of columns is factored for that
            return np.ones((len(rows), 1))
        of_parts = softmax(self.log_densities(rows), axis=1)
        of_groups = np.zeros((len(rows), self.n_groups))
        for k, group in enumerate(self.groups):
            of_groups[:, group] += of_parts[:, k]
        return of_groups

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1

    def group_means(self) -> Doubles:
        """The mean of each group."""
        share = np.eye(self.n_groups)[self.groups].T * self.weights
        return np.asarray(share @ self.means / share.sum(axis=1, keepdims=True))

    def take(self, kept: NDArray[np.bool_]) -> "GaussianParts":
        """Some of the parts, with weights that sum to one."""
        weights = self.weights[kept] / self.weights[kept].sum()
        groups = np.unique(self.groups[kept], return_inverse=True)[1]
        means, covariances = self.means[kept], self.covariances[kept]
        return GaussianParts(weights, means, covariances, groups, self.n_iter)

    def numbered(self, rows: Doubles) -> "GaussianParts":
        """Number the groups by falling size; a group without rows joins the largest one."""
        memberships = self.memberships(rows)
        sizes = np.bincount(memberships.argmax(axis=1), minlength=memberships.shape[1])
        order = np.argsort(-sizes, kind="stable")
        number = np.zeros(len(sizes), np.intp)
        n_groups = np.count_nonzero(sizes)
        number[order[:n_groups]] = np.arange(n_groups)
        parts = replace(self, groups=number[self.groups])
        return parts if n_groups == len(sizes) else parts.numbered(rows)


class Fit(NamedTuple):
    """A fitted mixture: its kind of covariance matrices, its parts, BIC and ICL."""

    kind: str
    parts: GaussianParts
    bic: float
    icl: float


def fit_mixtures(rows: Doubles, steps: Doubles, kind: str, starts: Sequence[Places]) -> list[Fit]:
    """Fit a mixture from each partition of the rows by EM, all of one kind together.

    The log density of a part is linear in features of the rows, their entries and products of two.
    So an iteration is two products of matrices, for all parts of all mixtures that still change.
    Each row is spread evenly over the steps of its columns: the features are the means over them.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows, in columns of variance one.
    steps : array of shape (d,)
        The steps of the columns.
    kind : {"full", "tied", "diag"}
        The covariance matrices: one for each part, one for all, or diagonal ones.
    starts : sequence of arrays of shape (n,)
        Partitions to begin with, with labels from 0.
    """
    if not starts:
        return []
    features = _features(rows, steps, kind)
    total = rows.T @ rows / len(rows) + np.diag(steps**2 / 12)
    sizes = np.array([int(start.max()) + 1 for start in starts])
    share = np.vstack([np.eye(size)[start].T for size, start in zip(sizes, starts, strict=True)])
    changing, before = np.arange(len(starts)), np.full(len(starts), -np.inf)
    fits: dict[int, Fit] = {}
    for n_iter in range(1, _MOST_ITERATIONS + 1):
        gaussians = _gaussians(share @ features / len(rows), kind, sizes[changing], total)
        share, log_likelihood = _posterior(gaussians.coefficients @ features.T, sizes[changing])
        ended = log_likelihood - before[changing] < _TOL
        ended |= n_iter == _MOST_ITERATIONS
        before[changing] = log_likelihood
        owner = np.repeat(np.arange(len(changing)), sizes[changing])
        for place in np.flatnonzero(ended):
            parts = gaussians.of(owner == place, n_iter)
            entropy = float(entr(share[owner == place]).sum())
            n_free = _n_parameters(kind, *parts.means.shape)
            bic = -2 * len(rows) * log_likelihood[place] + n_free * np.log(len(rows))
            fits[changing[place]] = Fit(kind, parts, float(bic), float(bic + 2 * entropy))
        changing, share = changing[~ended], share[~ended[owner]]
        if not len(changing):
            break
    return [fits[number] for number in range(len(starts))]


class _Gaussians(NamedTuple):
    """Parts of several mixtures, and the coefficients of their log densities."""

    weights: Doubles
    means: Doubles
    covariances: Doubles  # of full matrices, or their diagonals
    coefficients: Doubles

    def of(self, mixture: NDArray[np.bool_], n_iter: int) -> GaussianParts:
        """Those of one mixture."""
        covariances = self.covariances[mixture]
        if covariances.ndim == 2:
            covariances = covariances[:, :, None] * np.eye(covariances.shape[1])
        groups = np.arange(len(covariances))
        weights = self.weights[mixture]
        return GaussianParts(weights, self.means[mixture], covariances, groups, n_iter)


def _features(rows: Doubles, steps: Doubles, kind: str) -> Doubles:
    """One, the entries of the rows, and those products of two that the log density has."""
    every = np.arange(rows.shape[1])
    if kind == "full":
        first, second = np.triu_indices(len(every))
    else:
        first = second = every if kind == "diag" else every[:0]
    within = np.where(first == second, steps[first] ** 2 / 12, 0.0)  # the variance over a step
    products = rows[:, first] * rows[:, second] + within
    return np.hstack([np.ones((len(rows), 1)), rows, products])


def _gaussians(moments: Doubles, kind: str, sizes: Places, total: Doubles) -> _Gaussians:
    """The maximum of the likelihood, from the mean of each feature times the share of each part."""
    d = len(total)
    weights = np.maximum(moments[:, 0], _LEAST_WEIGHT)
    means, squares = np.split(moments[:, 1:] / weights[:, None], [d], axis=1)
    if kind == "diag":
        covariances = squares - means**2 + _REGULARISATION
        linear, quadratic = means / covariances, -0.5 / covariances
        log_dets = np.log(covariances).sum(axis=1)
    elif kind == "full":
        first, second = np.triu_indices(d)
        covariances = np.empty((len(means), d, d))
        covariances[:, first, second] = covariances[:, second, first] = squares
        covariances += _REGULARISATION * np.eye(d) - means[:, :, None] * means[:, None, :]
        inverses, log_dets = np.linalg.inv(covariances), np.linalg.slogdet(covariances)[1]
        linear = np.einsum("kij,kj->ki", inverses, means)
        quadratic = np.where(first == second, -0.5, -1.0) * inverses[:, first, second]
    else:  # the quadratic term is that of all parts of a mixture: its mean over the rows will do
        ends = np.cumsum(sizes)[:-1]
        pairs = zip(np.split(weights, ends), np.split(means, ends), strict=True)
        within = np.array([total - (w[:, None] * m).T @ m for w, m in pairs])
        within += _REGULARISATION * np.eye(d)
        inverses = np.linalg.inv(within)
        log_dets = np.linalg.slogdet(within)[1] + np.einsum("kij,ij->k", inverses, total)
        log_dets = np.repeat(log_dets, sizes)
        pieces = zip(np.split(means, ends), inverses, strict=True)
        linear, quadratic = np.vstack([m @ inverse for m, inverse in pieces]), means[:, :0]
        covariances = np.repeat(within, sizes, axis=0)
    inner = np.einsum("kj,kj->k", linear, means)
    constant = np.log(weights) - 0.5 * (inner + log_dets + d * np.log(2 * np.pi))
    coefficients = np.hstack([constant[:, None], linear, quadratic])
    return _Gaussians(weights, means, covariances, coefficients)


def _posterior(log: Doubles, sizes: Places) -> tuple[Doubles, Doubles]:
    """The probability of each part at each row, and the mean log likelihood of each mixture."""
    first = np.append(0, np.cumsum(sizes)[:-1])
    highest = np.maximum.reduceat(log, first, axis=0)
    log -= np.repeat(highest, sizes, axis=0)
    share = np.exp(log, out=log)
    sums = np.add.reduceat(share, first, axis=0)
    share /= np.repeat(sums, sizes, axis=0)
    return share, (highest + np.log(sums)).mean(axis=1)


def _n_parameters(kind: str, n_parts: int, d: int) -> int:
    of_covariances = {"full": n_parts * d * (d + 1) // 2, "tied": d * (d + 1) // 2}
    return n_parts - 1 + n_parts * d + of_covariances.get(kind, n_parts * d)
