"""The way sums are computed, by the kernel, the shape of the rows and the promise."""

import numpy as np
import pytest
from sklearn import config_context

from typicality.geometry import KernelSpace
from typicality.kernels import Cauchy, Gaussian, Laplacian, Linear
from typicality.operators import (
    EXACT,
    Blocked,
    Dense,
    KernelColumns,
    Nufft,
    Tiles,
    Tolerance,
    choose_operator,
)
from typicality.operators.tolerance import are_few

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
    (Linear(), 2, 6_000, Blocked),
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


def test_series_stay_within_the_memory(rng):
    columns = KernelColumns(Gaussian(0.5), rng.normal(size=(20_000, 2)))
    with config_context(working_memory=0.25):
        assert isinstance(choose_operator(columns, columns.training, PROMISE), Tiles)


# ---- promises ------------------------------------------------------------------------------------


def test_few_rows(rng):
    X = rng.normal(size=(5121, 4))
    for kernel, d, most in (
        (Gaussian(1.0), 3, 2048),
        (Gaussian(1.0), 4, 5120),
        (Linear(), 2, 5120),
    ):
        assert are_few(KernelColumns(kernel, X[:most, :d]))
        assert not are_few(KernelColumns(kernel, X[: most + 1, :d]))


def test_tolerances_follow_the_variance_and_the_heights(rng):
    X = rng.normal(size=(5000, 2))

    def of(sigma, rtol=1e-6):
        return Tolerance.of_distances(KernelColumns(Gaussian(sigma), X), None, rtol)

    wide, middle, narrow = of(100.0), of(1.0), of(0.001)
    assert wide.absolute == pytest.approx(1e-6 * 2 / 100**2, rel=0.1)
    assert 1e-7 < middle.absolute < 1e-6
    assert narrow.absolute == pytest.approx(1e-6, rel=1e-3)
    assert narrow.tails == pytest.approx(1e-4 / 5000)
    assert middle.tails <= middle.absolute
    assert of(1.0, rtol=0.0) == EXACT


def test_rows_of_no_weight_do_not_count_in_tolerances(rng):
    X = np.vstack([rng.normal(size=(3000, 2)), rng.normal(500.0, 1.0, size=(3000, 2))])
    columns, weight = KernelColumns(Gaussian(1.0), X), np.repeat([1.0, 0.0], 3000)
    weighted = Tolerance.of_distances(columns, weight, 1e-6)
    assert 0 < weighted.absolute < 1e-6


def test_a_row_that_stands_alone():
    assert Tolerance.of_a_row(1000, None, 1e-6).absolute == pytest.approx(1e-9)
    weighted = Tolerance.of_a_row(3, np.array([1.0, 2.0, 1.0]), 1e-6)
    assert weighted.absolute == pytest.approx(2.5e-7)


@pytest.mark.parametrize("d", [2, 4])
def test_the_promise_follows_the_variance_that_was_found(rng, d):
    """Nearly all weight is in one place, which no sample of the rows can see."""
    X = np.vstack([0.05 * rng.normal(size=(20, d)), 4 * rng.normal(size=(5200, d))])
    weight = np.repeat([1e6, 1.0], [20, 5200])
    columns = KernelColumns(Gaussian(1.0), X)
    tolerance = Tolerance.of_distances(columns, weight, 1e-6)
    space = KernelSpace(columns, X, weight, tolerance=tolerance)
    assert space.operator.rtol <= 2e-6 * space.total_variance


def test_coarse_promises_are_fast_ones(rng):
    X = rng.normal(size=(20_000, 2))
    columns = KernelColumns(Gaussian(1.0), X)
    space = KernelSpace(columns, X, tolerance=Tolerance.of_distances(columns, None, 0.01))
    assert isinstance(space.operator, Nufft)
