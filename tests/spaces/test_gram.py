"""Kernel-induced spaces: against the formulas of the papers, and against the input space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from instances import KERNELS, ONE_OF_EACH_RULE, rules
from reference import kernel_space as reference
from typicality.kernels import Gaussian, Linear
from typicality.membership import Fuzzy
from typicality.spaces import Euclidean, Gram
from typicality.sums import PrecomputedKernel

every_rule = pytest.mark.parametrize("index", ONE_OF_EACH_RULE.values(), ids=ONE_OF_EACH_RULE)
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def sample(rng, n=60, c=3):
    X = rng.normal(size=(n, 2)) + np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]], n // 3, axis=0)
    return X, rng.integers(0, 4, size=n).astype(float), rng.random((n, c)) + 0.1


@every_kernel
@every_rule
def test_sweep_is_the_formula_of_the_papers(rng, kernel, index):
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    space = Gram(kernel, X, weight)
    prototypes = space.prototypes(start)
    sweep = space.sweep(rule, prototypes)
    K = kernel(X, X)
    d, weights, objective = reference.step(rule, K, weight, start * weight[:, None])
    largest = d.max()
    assert_allclose(prototypes.training_sqdist, d, atol=1e-11 * largest)
    assert_allclose(sweep.objective, objective, rtol=1e-7)
    reached = weights.sum(axis=0) > 1e-200
    expected = reference.sqdist(K, K, np.diag(K), np.where(reached, weights, 1.0))[:, reached]
    assert_allclose(
        sweep.prototypes.training_sqdist[:, reached], expected.clip(min=0), atol=1e-6 * largest
    )


def test_relative_move_is_that_of_the_input_space_when_the_kernel_is_linear(rng):
    X, weight, start = sample(rng)
    induced, explicit = Gram(Linear(), X, weight), Euclidean(X, weight)
    here = induced.sweep(Fuzzy(1.5), induced.prototypes(start))
    there = explicit.sweep(Fuzzy(1.5), explicit.prototypes(start))
    assert_allclose(here.relative_move, there.relative_move, rtol=1e-9)
    ours, theirs = (space.largest_moment(normalised=True) for space in (induced, explicit))
    assert_allclose(ours, theirs)


def test_kernel_space_measures_indefinite_kernels(rng):
    X = rng.normal(size=(30, 2))
    definite, indefinite = Gaussian(1.0)(X, X), -(np.abs(Linear().sqdist(X, X)) ** 2)
    assert Gram(*PrecomputedKernel.of(definite)).negative_share < 1e-12
    space = Gram(*PrecomputedKernel.of(indefinite))
    assert 0.01 < space.negative_share < 1.0
    assert space.total_variance > 0
    prototypes = space.prototypes(np.ones((30, 1)))
    by_hand = 2 * prototypes.products - prototypes.energy
    assert space.n_clipped(prototypes) == np.sum(by_hand < 0) > 0
    assert (prototypes.training_sqdist >= 0).all()
