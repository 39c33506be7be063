"""Steps that look ahead on a sample end where plain steps end, and need fewer of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from typicality import OneClusterPCM
from typicality.kernels import Cauchy, Gaussian
from typicality.membership import Possibilistic1996
from typicality.solve.lookahead import LookAhead
from typicality.solve.picard import Status, picard
from typicality.solve.step import Alternation, ByWeights, ClusterState
from typicality.spaces import Gram
from ways import summed_by


def two_blobs(rng, n=3000, d=5):
    return rng.normal(size=(n, d)) + 6.0 * (rng.random((n, 1)) < 0.4)


def one_cluster(kernel, X, sample_weight=None):
    with summed_by("tiles"):
        space = Gram(kernel, X, sample_weight)
    return space, ClusterState(space.mean, Possibilistic1996(np.array([space.total_variance])))


def both_ways(space, start, tol=1e-8):
    plain = Alternation(space)
    return [
        picard(ByWeights(step), start, tol=tol, max_iter=300)
        for step in (plain, LookAhead(plain, space))
    ]


@pytest.mark.parametrize("kernel", [Gaussian(4.0), Cauchy(4.0)], ids=str)
def test_lookahead_ends_where_plain_steps_end(rng, kernel):
    plain, ahead = both_ways(*one_cluster(kernel, two_blobs(rng)))
    assert ahead.status is Status.CONVERGED
    assert_allclose(ahead.state.prototypes.weights, plain.state.prototypes.weights, rtol=1e-4)
    assert ahead.n_iter < plain.n_iter / 2
    assert (np.diff(ahead.objectives) <= 1e-9 * abs(ahead.objectives[0])).all()


@pytest.mark.parametrize("heaviest", [1.0, 3000.0])
def test_lookahead_counts_sample_weights(rng, heaviest):
    X, weight = two_blobs(rng), rng.integers(0, 3, size=3000).astype(float)
    weight[7] = heaviest
    plain, ahead = both_ways(*one_cluster(Gaussian(4.0), X, weight))
    weights = ahead.state.prototypes.weights
    assert_allclose(weights, plain.state.prototypes.weights, rtol=1e-4)
    assert_array_equal(weights[weight == 0], 0.0)
    assert ahead.n_iter < plain.n_iter


def test_lookahead_gives_way_to_a_plain_step_that_lowers_the_objective(rng, monkeypatch):
    space, start = one_cluster(Gaussian(1.0), rng.normal(size=(3000, 4)))
    farthest = np.zeros(3000)
    farthest[space.mean.training_sqdist[:, 0].argmax()] = 1.0
    monkeypatch.setattr(LookAhead, "_weights_ahead", lambda *args: farthest)
    plain = Alternation(space)
    ours, expected = LookAhead(plain, space)(start)[0], plain(start)[0]
    assert_array_equal(ours.prototypes.weights, expected.prototypes.weights)


def test_lookahead_has_the_same_bits_for_any_number_of_threads(rng):
    space, start = one_cluster(Gaussian(4.0), two_blobs(rng))
    step = LookAhead(Alternation(space), space)
    with threadpool_limits(1):
        alone = step(start)[0].prototypes.weights
    with threadpool_limits(4):
        assert_array_equal(step(start)[0].prototypes.weights, alone)


def test_estimator_looks_ahead_with_many_rows(rng):
    X = two_blobs(rng, n=16_384)
    model = OneClusterPCM(max_samples=None).fit(X)
    assert model.status_ == "converged"
    assert model.n_iter_ <= 6
    space = Gram(model.kernel_, X)
    state = ClusterState(space.prototypes(model.weights_[:, None]), model._rule)
    _, residual, _ = ByWeights(Alternation(space))(state)
    assert residual < model.tol
