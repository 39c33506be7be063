"""When to stop: the change of weights, or of memberships."""

import numpy as np
from numpy.testing import assert_allclose

from typicality.geometry import KernelSpace
from typicality.kernels import Gaussian
from typicality.membership import Possibilistic1996
from typicality.solve.step import Alternation, ByMemberships, ByWeights, WatchedState


def start(rng, sample_weight=None):
    space = KernelSpace(Gaussian(0.5), rng.normal(size=(50, 2)), sample_weight)
    rule = Possibilistic1996(np.array([space.total_variance]))
    return space, WatchedState(space.mean, rule, np.ones((50, 1)))


def test_by_weights_residual_is_the_change_of_weights(rng):
    space, state = start(rng)
    following, residual, objective = ByWeights(Alternation(space))(state)
    change = following.prototypes.weights - state.prototypes.weights
    assert_allclose(residual, np.abs(change).sum())
    assert objective == Alternation(space)(state)[2]


def test_by_memberships_residual_is_that_of_the_papers(rng):
    """The first change is from the start, u = 1; the next between successive memberships."""
    weight = rng.integers(1, 4, size=50).astype(float)
    space, state = start(rng, weight)
    step = ByMemberships(Alternation(space), space)
    first = space.memberships(state.rule, state.prototypes)
    state, residual, _ = step(state)
    assert_allclose(residual, weight @ np.abs(first - 1.0)[:, 0])
    second = space.memberships(state.rule, state.prototypes)
    _, residual, _ = step(state)
    assert_allclose(residual, weight @ np.abs(second - first)[:, 0])
