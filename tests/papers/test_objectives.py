"""The one-class SVM is SVDD where the kernel is radial; 1-PCM has its objective, turned round."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from filippone2010.objectives import (
    both_solutions,
    one_cluster_objective,
    svdd_objective,
    svm_weights,
)
from reference import svdd
from typicality.datasets import make_gaussian_and_outliers
from typicality.kernels import Gaussian, Laplacian, Polynomial

NU = 0.2
RADIAL = [Gaussian(0.5), Laplacian(1.0)]


@pytest.fixture(scope="module")
def rows():
    return make_gaussian_and_outliers(50, 7, 3, random_state=0)[0]


@pytest.fixture(scope="module")
def both(rows):
    return both_solutions(rows, sigma=1.0, nu=NU)


# ---- one-class SVM and SVDD ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", RADIAL, ids=str)
@pytest.mark.parametrize("nu", [0.05, 0.6])
def test_for_radial_kernels_the_one_class_svm_is_svdd(kernel, nu, rows):
    K = kernel(rows, rows)
    sphere, plane = svdd.weights(K, nu), svm_weights(K, nu)
    difference = plane - sphere
    assert difference @ K @ difference <= 1e-10  # the centres, which are means in another space
    assert_allclose(plane, sphere, atol=1e-5)
    assert_allclose(svdd_objective(plane, K), svdd_objective(sphere, K), rtol=1e-9)


def test_for_another_kernel_they_are_two_methods(rows):
    K = Polynomial(2, gamma=0.1)(rows, rows)
    sphere, plane = svdd.weights(K, NU), svm_weights(K, NU)
    difference = plane - sphere
    assert difference @ K @ difference > 0.01 * np.diag(K).mean()
    assert svdd_objective(plane, K) > 0.9 * svdd_objective(sphere, K)  # both are negative
    longest = np.argmax(np.diag(K))
    assert np.argmax(svdd.sqdist(K, sphere)) == longest
    assert np.argmax(K @ plane) == longest  # the least typical of the one, the most of the other


# ---- one-cluster PCM ----------------------------------------------------------------------------


def perturbed(weights, rng, size):
    """Other weights that sum to one, all positive, in a random direction."""
    other = weights * np.exp(size * rng.normal(size=len(weights)))
    return other / other.sum()


@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_one_cluster_pcm_minimises_its_objective(both, size, rng):
    lowest = one_cluster_objective(both.u, both.K, both.eta)
    around = [
        one_cluster_objective(perturbed(both.u, rng, size), both.K, both.eta) for _ in range(50)
    ]
    assert min(around) > lowest


def test_the_objectives_are_each_other_turned_round_but_for_the_entropy(both, rng):
    weights = rng.dirichlet(np.ones(len(both.u)))
    without_entropy = one_cluster_objective(weights, both.K, 0.0)
    assert without_entropy == -svdd_objective(weights, both.K)
    entropy = -np.sum(weights * np.log(weights))
    assert_allclose(
        one_cluster_objective(weights, both.K, both.eta), without_entropy - both.eta * entropy
    )


def test_the_roles_of_the_weights_are_dual(both):
    of_alpha, of_u = both.correlations
    assert of_alpha < -0.5
    assert of_u > 0.9
    assert both.alpha[50:].sum() > 0.5  # the outliers, a sixth of the rows
    assert both.u[50:].sum() < 1 / 6
    assert both.sqdist_of_centres > 0
