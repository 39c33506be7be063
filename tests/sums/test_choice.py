"""The way sums are computed, by the kernel, the shape of the rows and the promise."""

import numpy as np
import pytest

from typicality.kernels import Cauchy, Gaussian, Laplacian, Linear
from typicality.spaces import Gram
from typicality.sums import (
    EXACT,
    Dense,
    KernelColumns,
    Nufft,
    Tiles,
    Tolerance,
    choose_operator,
)

PROMISE = Tolerance(1e-6, 1e-6, 1e-6)
CASES = [
    (Gaussian(0.5), 2, 20_000, Nufft),
    (Gaussian(0.5), 3, 20_000, Nufft),
    (Gaussian(0.5), 3, 3_000, Tiles),
    (Gaussian(1e-4), 2, 20_000, Tiles),
    (Gaussian(1e-4), 3, 20_000, Tiles),
    (Gaussian(1.0), 2, 2_000, Dense),
    (Gaussian(4.0), 16, 5_000, Dense),
    (Gaussian(4.0), 16, 6_000, Tiles),
    (Cauchy(1.0), 3, 20_000, Tiles),
    (Laplacian(1e-3), 2, 3_000, Dense),
    (Laplacian(1e-3), 2, 20_000, Tiles),
    (Linear(), 2, 3_000, Dense),
    (Linear(), 2, 6_000, Dense),
]


@pytest.mark.parametrize(("kernel", "d", "n", "kind"), CASES, ids=str)
def test_the_operator_of_a_fit(rng, kernel, d, n, kind):
    columns = KernelColumns(kernel, rng.normal(size=(n, d)))
    operator = choose_operator(columns, columns.training, PROMISE)
    assert type(operator) is kind
    assert f"{n:,}" in operator.how


@pytest.mark.parametrize("d", [2, 5])
def test_exact_sums_where_they_are_asked_for(rng, d):
    columns = KernelColumns(Gaussian(0.1), rng.normal(size=(6000, d)))
    operator = choose_operator(columns, columns.training, EXACT)
    assert isinstance(operator, Tiles)
    assert operator.rtol == 0.0
    assert "tile by tile" in operator.how


def test_tiles_skip_far_rows_where_there_are_some(rng):
    X = rng.normal(size=(6000, 4))
    narrow, wide = (choose_operator(KernelColumns(Gaussian(s), X), X, PROMISE) for s in (0.1, 9.0))
    assert narrow.skip_rtol == pytest.approx(2e-7)
    assert "is left out" in narrow.how
    assert wide.skip_rtol == 0.0
    assert "tile by tile" in wide.how
    assert narrow.single
    assert wide.single


# ---- promises ------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 4])
def test_the_promise_follows_the_variance_that_was_found(rng, d):
    """Nearly all weight is in one place, which no sample of the rows can see."""
    X = np.vstack([0.05 * rng.normal(size=(20, d)), 4 * rng.normal(size=(5200, d))])
    weight = np.repeat([1e6, 1.0], [20, 5200])
    columns = KernelColumns(Gaussian(1.0), X)
    tolerance = Tolerance.of_distances(columns, weight, 1e-6)
    space = Gram(columns, X, weight, tolerance=tolerance)
    assert space.operator.rtol <= 2e-6 * space.total_variance
