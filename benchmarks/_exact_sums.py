"""Gaussian sums as the formulas stand, by NumPy and SciPy alone: what fast sums are held against.

Squared distances are sums of squared differences, all in float64; nothing is left out. Sums go
over pieces that stay in the cache, points in threads.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

__all__ = ["ExactFit", "ExactScores", "exact_fit", "exact_scores", "kernel_sums"]

_POINTS_OF_A_PIECE = 16
_ROWS_OF_A_PIECE = 8192

Doubles = NDArray[np.float64]


class ExactScores(NamedTuple):
    """Log s of each point, without one copy of a row it coincides with; the sums with all rows."""

    log_s: Doubles
    sums: Doubles


class ExactFit(NamedTuple):
    """Typicalities, weights, the spread, and how much the weights changed in the last step."""

    typicality: Doubles
    weights: Doubles
    eta: float
    change: float


def exact_fit(X: Doubles, *, sigma: float, gamma: float, n_iter: int) -> ExactFit:
    """One-cluster PCM after so many iterations: Filippone2010, table I, eta kept from the start."""
    weights = np.full(len(X), 1 / len(X))
    sqdist = _to_mean(X, weights, sigma)
    eta = gamma * float(sqdist.mean())
    change = np.inf
    for _ in range(n_iter):
        u = np.exp(-sqdist / eta)
        before, weights = weights, u / u.sum()
        change = float(np.abs(weights - before).sum())
        sqdist = _to_mean(X, weights, sigma)
    return ExactFit(np.exp(-sqdist / eta), weights, eta, change)


def _to_mean(X: Doubles, weights: Doubles, sigma: float) -> Doubles:
    sums = kernel_sums(X, X, weights, sigma=sigma)
    sqdist: Doubles = 1 - 2 * sums + weights @ sums
    return sqdist


def kernel_sums(points: Doubles, rows: Doubles, weights: Doubles, *, sigma: float) -> Doubles:
    """`K(points, rows) @ weights`."""

    def of_points(block: Doubles) -> Doubles:
        pieces = _exponents(block, rows, sigma)
        sums: Doubles = sum(np.exp(e, out=e) @ weights[part] for part, e in pieces)
        return sums

    return _by_blocks(points, of_points)


def exact_scores(points: Doubles, rows: Doubles, weights: Doubles, *, sigma: float) -> ExactScores:
    """Scores, in the domain of logarithms, and plain sums."""

    def of_points(block: Doubles) -> Doubles:
        log_others = np.full(len(block), -np.inf)
        own, copies = np.zeros(len(block)), np.zeros(len(block))
        for part, exponents in _exponents(block, rows, sigma):
            i, j = np.nonzero(exponents == 0)
            own += np.bincount(i, weights[part][j], len(block))
            copies += np.bincount(i, minlength=len(block))
            exponents[i, j] = -np.inf
            log_others = np.logaddexp(log_others, _log_sum(exponents, weights[part]))
        unit = own / np.maximum(copies, 1)
        with np.errstate(divide="ignore"):  # nothing is left of a row that stood alone
            log_s = np.logaddexp(log_others, np.log(own - unit)) - np.log1p(-unit)
        return np.column_stack([log_s, np.exp(log_others) + own])

    return ExactScores(*_by_blocks(points, of_points).T)


def _log_sum(exponents: Doubles, weights: Doubles) -> Doubles:
    highest = exponents.max(axis=1)
    exponents -= highest[:, None]
    return highest + np.log(np.exp(exponents, out=exponents) @ weights)


def _exponents(points: Doubles, rows: Doubles, sigma: float) -> Iterator[tuple[slice, Doubles]]:
    """Pieces of the rows, and -|x - y|^2 / (2 sigma^2) for them; an array may be overwritten."""
    for start in range(0, len(rows), _ROWS_OF_A_PIECE):
        part = slice(start, start + _ROWS_OF_A_PIECE)
        exponents = cdist(points, rows[part], "sqeuclidean")
        exponents *= -0.5 / sigma**2
        yield part, exponents


def _by_blocks(points: Doubles, of_points: Callable[[Doubles], Doubles]) -> Doubles:
    starts = range(0, len(points), _POINTS_OF_A_PIECE)
    blocks = [points[start : start + _POINTS_OF_A_PIECE] for start in starts]
    # Threads of BLAS within threads would stand in each other's way.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count()) as threads:
        return np.concatenate(list(threads.map(of_points, blocks)))
