"""Scores in which no row speaks for itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from instances import DISTANCE_KINDS
from reference import kernel_space as reference
from reference.kernel_sums import log_sums
from typicality import OneClusterPCM
from typicality.geometry import KernelSpace
from typicality.geometry.scores import leave_one_out
from typicality.kernels import Gaussian, Linear, Polynomial
from typicality.operators.tails import ExactTails

on_sphere = pytest.mark.parametrize("kernel", [kind(0.6) for kind in DISTANCE_KINDS], ids=str)
elsewhere = pytest.mark.parametrize("kernel", [Linear(), Polynomial()], ids=str)


def model(kernel, X, weights, sample_weight=None):
    space = KernelSpace(kernel, X, sample_weight)
    mean = space.prototypes(weights[:, None])
    return leave_one_out(mean, space.columns, sample_weight, total_variance=space.total_variance)


@on_sphere
def test_scores_leave_training_rows_out(rng, kernel):
    X, w = rng.normal(size=(40, 2)), rng.random(40)
    expected = [reference.leave_one_out(kernel(X, X), w, h) for h in range(40)]
    assert_allclose(np.exp(model(kernel, X, w).scores(X, 1.0)), expected, rtol=1e-12)


@on_sphere
def test_scores_of_new_rows_are_plain(rng, kernel):
    X, w, new = rng.normal(size=(40, 2)), rng.random(40), rng.normal(size=(9, 2))
    expected = kernel(new, X) @ w / w.sum()
    assert_allclose(np.exp(model(kernel, X, w).scores(new, 1.0)), expected, rtol=1e-12)


@elsewhere
def test_sqdist_is_to_the_mean_of_the_others(rng, kernel):
    X, w = rng.normal(size=(30, 2)), rng.random(30)
    ours = model(kernel, X, w).sqdist(X)
    for h in range(30):
        others = np.arange(30) != h
        mean = KernelSpace(kernel, X[others]).prototypes(w[others, None])
        assert_allclose(ours[h], mean.sqdist(X[h : h + 1])[0, 0], rtol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(0.6), Polynomial()], ids=str)
def test_scores_do_not_depend_on_the_batch(rng, kernel):
    X, w = rng.normal(size=(60, 2)), rng.random(60)
    rows = np.vstack([X[::2], rng.normal(size=(30, 2))])
    scores = model(kernel, X, w)
    alone = np.concatenate([scores.scores(row[None], 0.7) for row in rows])
    assert_array_equal(scores.scores(rows, 0.7), alone)


@pytest.mark.parametrize("kernel", [Gaussian(0.6), Polynomial()], ids=str)
def test_scores_count_weight_k_as_k_copies(rng, kernel):
    X, times = rng.normal(size=(20, 2)), rng.integers(0, 4, size=20)
    pull = rng.random(20)
    weighted = model(kernel, X, pull, times.astype(float))
    repeated = model(kernel, np.repeat(X, times, axis=0), np.repeat(pull, times))
    rows = np.vstack([X, rng.normal(size=(5, 2))])
    assert_allclose(weighted.scores(rows, 0.7), repeated.scores(rows, 0.7), rtol=1e-10)


def test_scores_leave_out_one_copy_of_a_repeated_row():
    X = np.array([[0.0], [0.0], [1.0]])
    w = np.full(3, 1 / 3)
    K = Gaussian(1.0)(X, X)
    assert_allclose(np.exp(model(Gaussian(1.0), X, w).scores(X[:1], 1.0)[0]), (1 + K[0, 2]) / 2)


def test_scores_leave_out_a_whole_weight_below_one():
    X = np.array([[0.0], [1.0], [3.0]])
    small = model(Gaussian(1.0), X, np.ones(3), np.array([0.5, 0.25, 0.25]))
    expected = (0.25 * np.exp(-0.5) + 0.25 * np.exp(-4.5)) / 0.5
    assert_allclose(np.exp(small.scores(X[:1], 1.0)[0]), expected)


def test_scores_keep_their_order_in_the_tails():
    """Rows whose similarity underflows, and rows that only themselves stand near to."""
    X = np.array([[0.0], [0.1], [1e3], [2e3], [4e3]])
    scores = model(Gaussian(1.0), X, np.ones(5)).scores(np.vstack([X, [[9e3]]]), 1.0)
    assert np.isfinite(scores).all()
    assert (np.diff(scores[1:]) < 0).all()


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()], ids=str)
def test_scores_keep_a_row_with_all_the_weight(kernel):
    scores = model(kernel, np.array([[1.0], [2.0]]), np.array([1.0, 0.0])).scores(
        np.array([[1.0], [2.0]]), 1.0
    )
    assert np.isfinite(scores).all()
    assert scores[0] == 0.0
    assert scores[1] < 0.0


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear(), Polynomial()], ids=str)
def test_scores_recognise_a_training_row_despite_rounding(rng, kernel):
    """As between `fit_transform` and `transform` of a principal component analysis."""
    X, w = rng.normal(size=(60, 5)), rng.random(60)
    scores = model(kernel, X, w)
    nearly = X * (1 + 4 * np.finfo(np.float64).eps * rng.choice([-1, 1], size=X.shape))
    assert_allclose(scores.scores(nearly, 0.7), scores.scores(X, 0.7), rtol=1e-9)


def test_scores_leave_out_one_copy_when_weights_are_small(rng):
    X = np.repeat(rng.normal(size=(10, 2)), 3, axis=0)
    plain = model(Gaussian(0.5), X, np.ones(30))
    small = model(Gaussian(0.5), X, np.ones(30), np.full(30, 1 / 30))
    assert_allclose(small.scores(X, 1.0), plain.scores(X, 1.0), rtol=1e-12)


@pytest.mark.parametrize("sigma", [1e3, 1e6, 1e8])
def test_scores_of_wide_kernels_keep_their_digits(rng, sigma):
    """log s is -d^2 / (2 sigma^2) on average: far below the rounding of a sum near one."""
    X, w, new = rng.normal(size=(50, 2)), rng.random(50), rng.normal(size=(20, 2))
    ours = model(Gaussian(sigma), X, w).scores(new, 1.0) * 2 * sigma**2
    expected = -(Linear().sqdist(new, X) @ w / w.sum())
    assert_allclose(ours, expected, rtol=1e-4)


def test_scores_of_many_rows_do_not_depend_on_the_batch(rng):
    X, w = rng.normal(size=(9000, 1)), rng.random(9000)
    scores = model(Gaussian(0.1), X, w)
    alone = np.concatenate([scores.scores(X[i : i + 1], 1.0) for i in range(8)])
    assert_array_equal(scores.scores(X[:8], 1.0), alone)


def delays(rng, n):
    """Two columns with heavy tails, strongly correlated, as delays at departure and arrival."""
    departure = np.exp(rng.normal(2.5, 1.0, size=n)) - 10
    return np.column_stack([departure, departure + 15 * rng.standard_t(4, size=n)])


@pytest.mark.parametrize("n", [20_000, 40_000])
def test_heavy_tails_are_scored_truly_and_few_rows_are_summed_exactly(rng, monkeypatch, n):
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
