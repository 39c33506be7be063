"""The contract of operators and of sums at any points: what every one of them is held to.

A new operator enters by one entry in `OPERATORS`: what it is for, how it is built, its promise. Its
sums at points enter with it; other sums at points enter by one entry in `SUMS`.
"""

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from instances import DISTANCE_KINDS, KERNELS
from typicality.kernels import Gaussian
from typicality.kernels.stationary import compiled_distances
from typicality.sums import (
    Dense,
    DenseSums,
    KernelColumns,
    Nufft,
    PrecomputedKernel,
    PrecomputedSqdist,
    Tiles,
    compressed,
)
from typicality.sums.landmarks import reduced_set
from typicality.sums.tails import ExactTails

# ---- data ----------------------------------------------------------------------------------------


def draw(seed, n=60):
    return np.random.default_rng(seed).normal(size=(n, 2))


ROWS = {
    "normal": draw(0),
    "sparse regions": draw(1, 400) * np.repeat([[0.5], [4.0]], [100, 300], axis=0),
    "copies": np.repeat(draw(2, 12), 5, axis=0),
    "unequal axes": draw(4) * [1.0, 1e-3],
    "float32": draw(5).astype(np.float32),
    "two rows": draw(6, 2),
    "one row": draw(7, 1),
}


def weights_for(n):
    """Columns of any sign and size, of no weight, and with all of it in one row."""
    rng = np.random.default_rng(n)
    mixed = rng.normal(size=(n, 3)) * [1.0, 1e-9, 1e9]
    one_row = np.column_stack([np.zeros(n), -np.eye(n)[:, ::40]])
    return [mixed, rng.random((n, 1)), one_row]


def points_for(X):
    """Training rows, places between them, and places ever farther away."""
    rng = np.random.default_rng(8)
    middle, extent = X.astype(np.float64).mean(axis=0), np.ptp(X, axis=0).max() + 1.0
    outward = rng.normal(size=(40, 2)) * extent * 10.0 ** rng.uniform(-1, 6, size=(40, 1))
    return np.vstack([X[:20], rng.uniform(-1, 1, size=(20, 2)) * extent + middle, middle + outward])


# ---- operators -----------------------------------------------------------------------------------


class OperatorCase(NamedTuple):
    """An operator: its columns for some rows, how it is built from them, and its promise.

    Products are linear and symmetric but for `rounding`, relative to the sum of absolute weights.
    """

    columns: Callable[[Any], tuple[Any, Any]]
    build: Callable[[Any, Any], Any]
    promise: float
    rounding: float = 1e-13


def evaluated(kernel):
    return lambda X: (KernelColumns(kernel, X), X)


class ManyFeatures(Gaussian):
    """A Gaussian kernel by the distances that rows of many features have."""

    def distances(self, X, Y):
        return compiled_distances(X, Y, self.metric)


ANY = {str(kernel): evaluated(kernel) for kernel in KERNELS} | {
    "many features": evaluated(ManyFeatures(0.7)),
    "precomputed kernel": lambda X: PrecomputedKernel.of(KERNELS[1](X, X)),
    "precomputed distances": lambda X: PrecomputedSqdist.of(KERNELS[0].sqdist(X, X)),
}
FEW = {
    name: ANY[name]
    for name in ("Gaussian(sigma=0.9)", "Linear()", "precomputed kernel", "precomputed distances")
}
WIDTHS = {"Gaussian": 0.7, "Laplacian": 1.0}
KERNEL_OF = {kind.__name__: kind(WIDTHS.get(kind.__name__, 0.8)) for kind in DISTANCE_KINDS}
COMPILED = {str(kernel): evaluated(kernel) for kernel in KERNEL_OF.values()}
GAUSSIAN = {"Gaussian(sigma=0.7)": evaluated(KERNEL_OF["Gaussian"])}

# name: the columns it is for, how to build it, its promise (rounding)
OPERATORS = {
    "dense": (ANY, Dense, 0.0),
    "dense, not kept": (FEW, partial(Dense, keep=False), 0.0),
    "tiles": (COMPILED, lambda c, X: Tiles(c), 0.0),
    "tiles, single": (COMPILED, lambda c, X: Tiles(c, single=True), 8e-7, 1e-6),
    "truncated": (COMPILED, lambda c, X: Tiles(c, rtol=1e-3), 1e-3),
    "truncated, single": (COMPILED, lambda c, X: Tiles(c, rtol=1e-6, single=True), 2e-6, 1e-6),
    "nufft": (GAUSSIAN, lambda c, X: Nufft(c, rtol=1e-3), 1e-3),
    "nufft, finer": (GAUSSIAN, lambda c, X: Nufft(c, rtol=1e-8), 1e-8),
}
OPERATOR_CASES = {
    f"{name}, {kernel}": OperatorCase(columns, *rest)
    for name, (kernels, *rest) in OPERATORS.items()
    for kernel, columns in kernels.items()
}


def allowed(promise, matrix, W):
    return (promise + 1e-14) * max(1.0, np.abs(matrix).max()) * np.abs(W).sum(axis=0)


def keeps_its_promise(case):
    for X in ROWS.values():
        columns, rows = case.columns(X)
        half_sqdist = columns.half_sqdist(rows)
        operator = case.build(columns, rows)
        assert 0.0 <= operator.rtol <= case.promise
        for W in weights_for(len(X)):
            ours, exact = operator.complement(W), half_sqdist @ W
            assert ours.dtype == np.float64
            assert (np.abs(ours - exact) <= allowed(operator.rtol, half_sqdist, W)).all()


def is_linear_and_symmetric(case):
    columns, rows = case.columns(ROWS["normal"])
    operator = case.build(columns, rows)
    u, v = np.random.default_rng(9).normal(size=(2, len(rows), 1))
    largest = max(1.0, np.abs(columns.half_sqdist(rows)).max())
    atol = 10 * case.rounding * largest * (np.abs(u).sum() + np.abs(v).sum())
    apply = operator.complement
    assert_allclose(apply(2 * u - v), 2 * apply(u) - apply(v), rtol=0, atol=atol)
    across = atol * np.abs([u, v]).max()
    assert_allclose(v.T @ apply(u), u.T @ apply(v), rtol=0, atol=len(rows) * across)


def complement_is_that_of_the_sums_of_the_kernel(case):
    """With E(x, y) = (K(x, x) + K(y, y)) / 2 - K(x, y); on the sphere sum W - K @ W."""
    columns, rows = case.columns(ROWS["normal"])
    operator, W = case.build(columns, rows), weights_for(len(rows))[1]
    norms = columns.sqnorm(rows)[:, None]
    expected = 0.5 * (norms * W.sum() + (norms * W).sum()) - operator.expansion(W).at(rows)
    off = allowed(2 * operator.rtol + 1e-12, columns.kernel(rows), W)
    assert (np.abs(operator.complement(W) - expected) <= off).all()


def is_the_same_each_time_and_with_any_threads(case):
    columns, rows = case.columns(draw(10, 600))
    W = np.random.default_rng(11).random((600, 3))
    operator, again = case.build(columns, rows), case.build(columns, rows)
    with threadpool_limits(1):
        alone = operator.complement(W)
        assert_array_equal(again.complement(W), alone)
    with threadpool_limits(4):
        together = operator.complement(W)
    assert_array_equal(together, alone)


def agrees_with_its_sums_at_points(case):
    columns, rows = case.columns(ROWS["normal"])
    operator = case.build(columns, rows)
    for W in weights_for(len(rows)):
        sums = operator.expansion(W)
        assert sums.rtol <= operator.rtol
        off = allowed(2 * operator.rtol, columns.half_sqdist(rows), W)
        assert (np.abs(sums.at(rows, complement=True) - operator.complement(W)) <= off).all()


OPERATOR_CHECKS = [
    keeps_its_promise,
    is_linear_and_symmetric,
    complement_is_that_of_the_sums_of_the_kernel,
    is_the_same_each_time_and_with_any_threads,
    agrees_with_its_sums_at_points,
]


# ---- sums at any points --------------------------------------------------------------------------


class SumsCase(NamedTuple):
    """Sums at points: a kernel, how they are made of rows and weights, and their promise."""

    kernel: Any
    make: Callable[[Any, Any], Any]
    promise: float


@dataclass
class TailSums:
    """Exact tails as sums: of the rows elsewhere and of those here, for weights of either sign."""

    columns: KernelColumns
    weights: Any
    rtol: float = 1e-9

    def at(self, points, *, complement=False):
        sums = np.zeros((len(points), self.weights.shape[1]))
        for sign in (1.0, -1.0):
            for column, weights in enumerate((sign * self.weights).clip(min=0.0).T):
                tails = ExactTails(self.columns, weights, np.ones(len(weights)), 1e-18)
                log_others, own, _ = tails.log_sums(points)
                sums[:, column] += sign * (np.exp(log_others) + own)
        return self.weights.sum(axis=0) - sums if complement else sums

    def error(self, sums):
        return self.rtol * sums


def expansion_of(build, columns, W):
    return build(columns, columns.training).expansion(W)


def twice(make, columns, W):
    """Of rows that come twice, so that some can be spared whatever the kernel."""
    rows = np.repeat(columns.training, 2, axis=0)
    return make(KernelColumns(columns.kernel_function, rows), np.repeat(W / 2, 2, axis=0))


SUMS = {
    name: (
        ["Gaussian"] if kernels is GAUSSIAN else list(KERNEL_OF),
        partial(expansion_of, build),
        rtol,
    )
    for name, (kernels, build, rtol, *_) in OPERATORS.items()
} | {
    "nufft, as fine as asked": (
        ["Gaussian"],
        lambda c, W: Nufft(c, rtol=1e-3).expansion(W, rtol=1e-7),
        1e-7,
    ),
    "many features": (
        ["Gaussian"],
        lambda c, W: DenseSums(KernelColumns(ManyFeatures(0.7), c.training), W),
        0.0,
    ),
    "reduced set": (list(KERNEL_OF), partial(twice, partial(reduced_set, rtol=1e-2)), 1e-2),
    "compressed": (list(KERNEL_OF), partial(twice, partial(compressed, rtol=1e-3)), 1e-3),
    "tails": (list(KERNEL_OF), TailSums, 1e-9),
}
SUMS_CASES = {
    f"{name}, {kernel}": SumsCase(KERNEL_OF[kernel], make, promise)
    for name, (kernels, make, promise) in SUMS.items()
    for kernel in kernels
}


def sums_keep_their_promise(case):
    for X in ROWS.values():
        columns, points = KernelColumns(case.kernel, X), points_for(X)
        kernel = columns.kernel(points)
        for W in weights_for(len(X)):
            sums = case.make(columns, W)
            assert 0.0 <= sums.rtol <= case.promise
            off = allowed(sums.rtol, kernel, W)
            assert (np.abs(sums.at(points) - kernel @ W) <= off).all()
            apart = columns.half_sqdist(points) @ W
            assert (np.abs(sums.at(points, complement=True) - apart) <= off).all()


def sums_know_their_error(case):
    """For weights that are not negative and sum to one, also where sums are small."""
    columns, points = KernelColumns(case.kernel, ROWS["normal"]), points_for(ROWS["normal"])
    W = np.full((len(columns.training), 1), 1 / len(columns.training))
    sums = case.make(columns, W)
    at = sums.at(points)
    assert (np.abs(at - columns.kernel(points) @ W) <= sums.error(at) + 1e-300).all()


def sums_are_the_same_in_any_batch_and_with_any_threads(case):
    X = draw(14, 300)
    points = np.vstack([points_for(X)] * 10) + 0.01 * draw(15, 800)
    sums = case.make(KernelColumns(case.kernel, X), np.random.default_rng(16).random((300, 3)))
    with threadpool_limits(1):
        together = np.hstack([sums.at(points), sums.at(points, complement=True)])
    with threadpool_limits(4):
        assert_array_equal(np.hstack([sums.at(points), sums.at(points, complement=True)]), together)
    some = np.random.default_rng(17).permutation(len(points))[:90]
    assert_array_equal(sums.at(points[some]), together[some, :3])
    few = points[some[:9]]
    alone = [np.hstack([sums.at(p[None]), sums.at(p[None], complement=True)]) for p in few]
    assert_array_equal(np.vstack(alone), together[some[:9]])
    assert sums.at(points[:0]).shape == (0, 3)


def sums_can_be_kept(case):
    X = ROWS["normal"]
    sums = case.make(KernelColumns(case.kernel, X), weights_for(len(X))[0])
    points = points_for(X)
    for kept in (pickle.loads(pickle.dumps(sums)), copy.deepcopy(sums)):
        assert_array_equal(kept.at(points), sums.at(points))
        assert kept.rtol == sums.rtol


SUMS_CHECKS = [
    sums_keep_their_promise,
    sums_know_their_error,
    sums_are_the_same_in_any_batch_and_with_any_threads,
    sums_can_be_kept,
]
