"""When to stop: the change of weights."""

import numpy as np
from numpy.testing import assert_allclose

from typicality.geometry import KernelSpace
from typicality.kernels import Gaussian
from typicality.membership import Possibilistic1996
from typicality.solve.step import Alternation, ByWeights, ClusterState


def test_by_weights_residual_is_the_change_of_weights(rng):
    space = KernelSpace(Gaussian(0.5), rng.normal(size=(50, 2)))
    state = ClusterState(space.mean, Possibilistic1996(np.array([space.total_variance])))
    following, residual, objective = ByWeights(Alternation(space))(state)
    change = following.prototypes.weights - state.prototypes.weights
    assert_allclose(residual, np.abs(change).sum())
    assert objective == Alternation(space)(state)[2]
