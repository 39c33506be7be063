"""Sums over many training rows, made small for prediction."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import DISTANCE_KERNELS, Stationary
from typicality.sums import fourier
from typicality.sums.base import Expansion
from typicality.sums.columns import Columns, KernelColumns, evenly_spaced, has_compiled_sums
from typicality.sums.dense import DenseSums
from typicality.sums.tiles import Tiles, exact_expansion

LARGEST_SET = 4096  # rows
_CANDIDATES = 4096  # rows to choose from at first, and further ones in another round
_HOPELESS = 8.0  # times the error, where the largest set still has that: more rows do not help
_ROUNDING = 32.0 * float(np.finfo(np.float64).eps)  # of sums of kernel values, of the total
_SPANNED = 1e-12  # squared distances from the span of the chosen rows; what is less is rounding
_HARDER = (0.99, 0.5, 0.1)  # parts of the promise aimed at, until it is proven


def compressed(columns: KernelColumns, weights: Floats, *, rtol: float) -> Expansion:
    """Sums with a promise that need no training rows, or only a few.

    Gaussian sums in up to three dimensions become Fourier coefficients where these are fewer
    numbers than the rows; all others a reduced set of rows.

    Parameters
    ----------
    columns : KernelColumns
        A kernel of a distance against the training rows.
    weights : array of shape (n, c)
        The weights.
    rtol : float
        The promise.
    """
    if fourier.can_be_summed(columns.kernel_function, columns.training, rtol):
        small = fourier.Nufft(columns, rtol=rtol).expansion(weights)
        if small.modes.nbytes < columns.training.nbytes:
            return small
    return reduced_set(columns, weights, rtol=rtol)


@dataclass(frozen=True, eq=False)
class ReducedSet:
    """Sums over a few rows that stand for sums over all rows, at any point.

    Parameters
    ----------
    columns : KernelColumns
        The kernel against the few rows.
    weights : array of shape (m, c)
        Their weights, which need not sum to those of all rows.
    total : array of shape (c,)
        The sums of the weights of all rows.
    rtol : float
        The promise that was proven.
    """

    columns: KernelColumns
    weights: Annotated[Doubles, "n c"]
    total: Annotated[Doubles, "c"]
    rtol: float

    @property
    def rows(self) -> Floats:
        """The few rows."""
        return self.columns.training

    def error(self, sums: Floats) -> float:
        return self.rtol

    def at(self, points: Floats, *, complement: bool = False) -> Floats:
        sums = exact_expansion(self.columns, self.weights).at(points)
        return self.total - sums if complement else sums


class _Sums(NamedTuple):
    """What is to be reduced: distinct rows that have weights, and the sums over them."""

    kernel: Stationary
    rows: Floats
    weights: Doubles
    products: Doubles  # K @ W on the rows
    scale: Doubles  # sums of |W|

    @property
    def energy(self) -> Doubles:
        """The squared length of each weighted sum of mapped rows, w' K w."""
        return np.asarray(np.sum(self.weights * self.products, axis=0))


@one_blas_thread()
def reduced_set(columns: Columns, weights: Floats, *, rtol: float) -> ReducedSet:
    r"""A few of the rows, with new weights, whose sums are those of all rows under a promise.

    With :math:`v_k = \sum_r w_{rk} \Phi(x_r)`, projected on the span of the mapped rows z,

    .. math:: v_k' = \sum_z a_{zk} \Phi(z), \quad a = K_{zz}^{-1} K_{zn} W, \qquad
        |s_k'(x) - s_k(x)| = |\langle \Phi(x), v_k' - v_k \rangle| \le \lVert v_k' - v_k \rVert
        \le \text{rtol} \sum_r |w_{rk}|

    at every point x of the space, because K(x, x) = 1; and
    :math:`\lVert v' - v \rVert^2 = w^\top K w - 2 a^\top K_{zn} w + a^\top K_{zz} a` is computed,
    for the weights as they are rounded, so that the promise is proven. Rows are taken one by one,
    each the one that lowers the error most.

    Costs one product K @ W on all rows, and O(n m d + p m^2) for m rows out of p candidates.

    The sparsification :cite:`filippone2010` asks for; how it is done is original to typicality, see
    docs/theory.

    Parameters
    ----------
    columns : Columns
        A kernel of a distance against the training rows.
    weights : array of shape (n, c)
        The weights.
    rtol : float
        The promise.

    Returns
    -------
    ReducedSet
        The rows, their weights, and the promise that was proven.
    """
    if not (isinstance(columns, KernelColumns) and isinstance(columns.kernel_function, Stationary)):
        raise ValueError(
            "Only models with a kernel that depends only on the distance of two rows can be "
            f"compressed ({', '.join(DISTANCE_KERNELS)})."
        )
    smallest = 2.0 * float(np.sqrt(_ROUNDING))
    if not rtol > smallest:
        raise ValueError(
            f"A compressed model cannot guarantee rtol={rtol:g}, only more than "
            f"{smallest:.1e}: the error is computed from differences of sums, and rounding hides "
            "smaller errors. Keep all rows, or use a larger rtol."
        )
    sums = _sums_to_reduce(columns, weights)
    n_rows = columns.n_training
    limit = min(n_rows // 2, LARGEST_SET)
    total: Doubles = weights.sum(axis=0, dtype=np.float64)
    few = _few_rows(sums, rtol, limit)
    if few is not None:
        chosen, new_weights, proven = few
        return ReducedSet(KernelColumns(sums.kernel, sums.rows[chosen]), new_weights, total, proven)
    if len(sums.rows) <= limit:  # without copies and rows of no weight nothing is lost
        return ReducedSet(KernelColumns(sums.kernel, sums.rows), sums.weights, total, 0.0)
    raise ValueError(
        f"An error bound of {rtol:g} takes more than {limit:,} of the {n_rows:,} rows: "
        "the model cannot be made that small. Use a larger rtol."
    )


def _sums_to_reduce(columns: KernelColumns, weights: Floats) -> _Sums:
    """Leave out rows without weight, add up those of copies, and compute the sums on the rest."""
    weighty = np.flatnonzero((weights != 0).any(axis=1))
    kept = weighty if len(weighty) else np.arange(1)
    rows, copy_of = np.unique(columns.training[kept], axis=0, return_inverse=True)
    merged = np.zeros((len(rows), weights.shape[1]))
    np.add.at(merged, copy_of.ravel(), weights[kept].astype(np.float64))
    products = _exact_products(KernelColumns(columns.kernel_function, rows), merged)
    scale = np.abs(weights).sum(axis=0, dtype=np.float64)
    positive = np.where(scale > 0, scale, 1.0)
    return _Sums(columns.kernel_function, rows, merged, products, positive)


def _exact_products(columns: KernelColumns, weights: Doubles) -> Doubles:
    """K @ W, each column added up in pairs: all digits of the sums are needed here."""
    if has_compiled_sums(columns):
        return np.asarray(weights.sum(axis=0) - Tiles(columns).complement(weights))
    rows = columns.training
    return np.hstack([DenseSums(columns, column[:, None]).at(rows) for column in weights.T])


def _few_rows(sums: _Sums, rtol: float, limit: int) -> tuple[Places, Doubles, float] | None:
    """The rows chosen, their weights, and the promise they keep; None where too many are needed."""
    if limit < 1:
        return None
    candidates = evenly_spaced(len(sums.rows), _CANDIDATES)
    while True:
        for part in _HARDER:
            chosen, weights, error = _chosen(sums, candidates, part * rtol, limit)
            proven = _proven(sums, chosen, weights)
            if proven <= rtol:
                return chosen, weights, proven
            if error > part * rtol:
                break
        hopeless = len(chosen) == limit and error > _HOPELESS * rtol
        if hopeless or len(candidates) == len(sums.rows):
            return None
        columns = KernelColumns(sums.kernel, sums.rows[chosen])
        lacking = np.sum((sums.products - DenseSums(columns, weights).at(sums.rows)) ** 2, axis=1)
        lacking[candidates] = -1.0
        n_new = min(_CANDIDATES, len(lacking) - len(candidates))
        worst = np.argsort(-lacking, kind="stable")[:n_new]
        candidates = np.concatenate([candidates, worst])


def _chosen(
    sums: _Sums, candidates: Places, error: float, limit: int
) -> tuple[Places, Doubles, float]:
    r"""Rows out of some candidates, each where the error falls most, their weights, and the error.

    Let g(x) be the error of the sums at a row x, and r(x) the squared distance of the mapped row
    from the span of those chosen before: to choose it lowers the squared error by g(x)^2 / r(x).
    Rows with r below the error are counted as if it were the error: they lower it only by large
    weights of both signs, which cost digits.
    """
    rows, scale = sums.rows[candidates], sums.scale
    basis = np.empty((len(rows), min(limit, len(rows))), order="F")
    lacking, residual = sums.products[candidates] / scale, np.ones(len(rows))
    sqerror = sums.energy / scale**2
    chosen: list[int] = []
    along: list[Doubles] = []
    while len(chosen) < basis.shape[1] and (sqerror.max() > error**2 or not chosen):
        gain = np.sum(lacking**2, axis=1) / np.maximum(residual, error)
        new = int(np.argmax(np.where(residual > _SPANNED, gain, -1.0)))
        if residual[new] <= _SPANNED:
            break
        known, length = basis[:, : len(chosen)], np.sqrt(residual[new])
        column = (sums.kernel(rows, rows[[new]])[:, 0] - known @ known[new]) / length
        basis[:, len(chosen)] = column
        chosen.append(new)
        along.append(lacking[new] / length)
        sqerror = sqerror - along[-1] ** 2
        lacking = lacking - column[:, None] * along[-1]
        residual = residual - column**2
        residual[new] = 0.0
    triangle = np.tril(basis[chosen, : len(chosen)])
    weights = solve_triangular(triangle, np.array(along) * scale, lower=True, trans="T")
    return candidates[chosen], weights, float(np.sqrt(max(sqerror.max(), 0.0)))


def _proven(sums: _Sums, chosen: Places, weights: Doubles) -> float:
    """The largest error of any column at any point, in units of the scale."""
    rows = sums.rows[chosen]
    own = np.sum(weights * _exact_products(KernelColumns(sums.kernel, rows), weights), axis=0)
    sqerror = sums.energy - 2.0 * np.sum(weights * sums.products[chosen], axis=0) + own
    unsure = _ROUNDING * (sums.scale + np.abs(weights).sum(axis=0)) ** 2
    return float(np.sqrt((sqerror.clip(min=0.0) + unsure) / sums.scale**2).max())
