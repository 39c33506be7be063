"""Scores in which no row speaks for itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from instances import DISTANCE_KINDS
from reference import kernel_space as reference
from reference.kernel_sums import log_sums
from typicality import OneClusterPCM
from typicality.density import Calibration, LeaveOneOut
from typicality.kernels import Gaussian, Linear, Polynomial
from typicality.spaces import Gram
from typicality.sums import KernelColumns
from typicality.sums.tails import ExactTails

on_sphere = pytest.mark.parametrize("kernel", [kind(0.6) for kind in DISTANCE_KINDS], ids=str)
elsewhere = pytest.mark.parametrize("kernel", [Linear(), Polynomial()], ids=str)


def model(kernel, X, weights, sample_weight=None):
    space = Gram(kernel, X, sample_weight)
    mean = space.prototypes(weights[:, None])
    return LeaveOneOut.of(mean, space, 1.0)


@on_sphere
def test_scores_leave_training_rows_out(rng, kernel):
    X, w = rng.normal(size=(40, 2)), rng.random(40)
    expected = [reference.leave_one_out(kernel(X, X), w, h) for h in range(40)]
    assert_allclose(np.exp(model(kernel, X, w).scores(X)), expected, rtol=1e-12)


@elsewhere
def test_sqdist_is_to_the_mean_of_the_others(rng, kernel):
    X, w = rng.normal(size=(30, 2)), rng.random(30)
    ours = -model(kernel, X, w).scores(X)
    for h in range(30):
        others = np.arange(30) != h
        mean = Gram(kernel, X[others]).prototypes(w[others, None])
        assert_allclose(ours[h], mean.sqdist(X[h : h + 1])[0, 0], rtol=1e-9)


def test_scores_leave_out_one_copy_of_a_repeated_row():
    X = np.array([[0.0], [0.0], [1.0]])
    w = np.full(3, 1 / 3)
    K = Gaussian(1.0)(X, X)
    assert_allclose(np.exp(model(Gaussian(1.0), X, w).scores(X[:1])[0]), (1 + K[0, 2]) / 2)


def test_scores_leave_out_a_whole_weight_below_one():
    X = np.array([[0.0], [1.0], [3.0]])
    small = model(Gaussian(1.0), X, np.ones(3), np.array([0.5, 0.25, 0.25]))
    expected = (0.25 * np.exp(-0.5) + 0.25 * np.exp(-4.5)) / 0.5
    assert_allclose(np.exp(small.scores(X[:1])[0]), expected)


def test_scores_keep_their_order_in_the_tails():
    """Rows whose similarity underflows, and rows that only themselves stand near to."""
    X = np.array([[0.0], [0.1], [1e3], [2e3], [4e3]])
    scores = model(Gaussian(1.0), X, np.ones(5)).scores(np.vstack([X, [[9e3]]]))
    assert np.isfinite(scores).all()
    assert (np.diff(scores[1:]) < 0).all()


@pytest.mark.parametrize("sigma", [1e3, 1e6, 1e8])
def test_scores_of_wide_kernels_keep_their_digits(rng, sigma):
    """log s is -d^2 / (2 sigma^2) on average: far below the rounding of a sum near one."""
    X, w, new = rng.normal(size=(50, 2)), rng.random(50), rng.normal(size=(20, 2))
    ours = model(Gaussian(sigma), X, w).scores(new) * 2 * sigma**2
    expected = -(Linear().sqdist(new, X) @ w / w.sum())
    assert_allclose(ours, expected, rtol=1e-4)


def delays(rng, n):
    """Two columns with heavy tails, strongly correlated, as delays at departure and arrival."""
    departure = np.exp(rng.normal(2.5, 1.0, size=n)) - 10
    return np.column_stack([departure, departure + 15 * rng.standard_t(4, size=n)])


def test_heavy_tails_are_scored_truly_and_few_rows_are_summed_exactly(rng, monkeypatch):
    n = 20_000
    X = delays(rng, n)
    model = OneClusterPCM().fit(X)
    exact_rows = []
    log_sums_of = ExactTails.log_sums
    monkeypatch.setattr(
        ExactTails, "log_sums", lambda t, x: (exact_rows.append(len(x)), log_sums_of(t, x))[1]
    )
    scores = model.score_samples(X)
    assert sum(exact_rows) < 1e-3 * n
    some = np.concatenate([np.argsort(scores)[:100], rng.integers(0, n, size=50)])
    own = model.weights_[some]
    others = log_sums(model.kernel_, X, model.weights_, 1e-18, X[some])
    assert_allclose(scores[some], others - np.log1p(-own), rtol=0, atol=5e-4)
    with threadpool_limits(1):
        assert_array_equal(
            np.concatenate([model.score_samples(X[[i]]) for i in some]), scores[some]
        )


def test_equal_sums_count_in_p_values():
    """Of four rows, one sum is below and two are equal: (1 + 3) / (4 + 1)."""
    calibration = Calibration(np.array([0.0, 1.0, 1.0, 2.0]), np.ones(4), of_fit=False)
    assert_array_equal(calibration.p_values(np.array([1.0])), [0.8])


def test_equal_sums_count_in_full_p_values():
    """A new row of weight zero adds nothing to the sums of the others."""
    X = np.arange(4.0)[:, None]
    calibration = Calibration(np.array([0.0, 1.0, 1.0, 2.0]), np.ones(4), of_fit=False)
    columns = KernelColumns(Gaussian(1.0), X)
    found = calibration.full_p_values(columns, X[:1], np.array([1.0]), np.zeros(1))
    assert_array_equal(found, [0.8])
