"""Clusters of the kernel density estimate: the same estimator and tree, all weights alike."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KernelDensity

from reference.alpha_cut import same_partition, walk
from typicality import AlphaCutClustering
from typicality.datasets import make_discs_banana_ring

SIGMA = 0.5
LOG_SCALE = np.log(2 * np.pi * SIGMA**2)  # of a Gaussian kernel in the plane


@pytest.fixture(scope="module")
def rows():
    return make_discs_banana_ring(10, 20, 25, 10, random_state=0)[0]


@pytest.fixture(scope="module")
def model(rows):
    return AlphaCutClustering(sigma=SIGMA, weights="uniform", labelling="complete").fit(rows)


@pytest.fixture(scope="module")
def density(rows):
    return KernelDensity(bandwidth=SIGMA).fit(rows)


def heights_of(model):
    return model.tree_.heights[model.tree_.node_of]


def test_heights_are_the_density_of_scikit_learn(model, density, rows):
    assert_allclose(np.log(heights_of(model)), density.score_samples(rows) + LOG_SCALE, rtol=1e-5)
    assert_allclose(model.weights_, 1 / len(rows))
    assert (model.n_iter_, model.status_) == (1, "converged")


def labels_by_density(density, rows, log_level):
    """The papers' rule, with the density of scikit-learn as the landscape."""
    inside = np.flatnonzero(density.score_samples(rows) >= log_level)
    share = np.linspace(0, 1, 22)[1:-1, None, None]  # 20 points between two rows

    def joined_to(i):
        points = rows[i] + share * (rows[inside] - rows[i])
        above = density.score_samples(points.reshape(-1, 2)) >= log_level
        return inside[above.reshape(20, -1).all(axis=0)]

    return walk(len(rows), {i: joined_to(i) for i in inside})


def test_clusters_are_those_of_that_density(model, density, rows):
    densities = np.exp(density.score_samples(rows))
    level = np.quantile(densities, 0.1, method="weibull")
    expected = labels_by_density(density, rows, np.log(level))
    # Logarithms of typicalities are linear in the density.
    line = np.polynomial.Polynomial.fit(densities, np.log(model.typicality_), 1)
    labels = model.labels_at(np.exp(line(level)))
    assert labels.max() >= 3
    assert same_partition(labels, expected)


@pytest.mark.filterwarnings("ignore::typicality.exceptions.BandwidthWarning")
def test_a_large_gamma_comes_to_the_same(model, rows):
    limit = AlphaCutClustering(sigma=SIGMA, eta_scale=1e5, labelling="complete")
    limit.fit(rows)
    assert_allclose(limit.weights_, model.weights_, rtol=1e-4)
    assert_allclose(heights_of(limit), heights_of(model), rtol=1e-4)
    assert_array_equal(limit.labels_, model.labels_)


def test_the_whole_tree_serves_every_level(rows):
    model = AlphaCutClustering(sigma=SIGMA, weights="uniform").fit(rows)
    highest = model.typicality_.max()
    counts = [len(set(model.labels_at(a)) - {-1}) for a in (0.0, 0.9 * highest, highest)]
    assert counts[0] == 1
    assert counts[1] > 3
    assert counts[2] == 0
    assert_array_equal(model.predict(rows), model.labels_)
