"""The figures of filippone2007 and miyamoto2003 as numbers."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from regenerating.one_cluster import PaperOneCluster
from typicality import EntropyCMeans, FuzzyCMeans
from typicality.datasets import make_ball_and_ring, make_crescents, make_dense_regions
from typicality.exceptions import CoincidentClustersWarning, CollapsedMembershipsWarning
from typicality.kernels import Gaussian


@pytest.mark.parametrize("seed", range(3))
def test_dense_regions_are_found(seed):
    """filippone2007, section 5: four iterations, typicalities on both sides of .3667."""
    X, regions = make_dense_regions(random_state=seed)
    model = PaperOneCluster(sigma=0.5, tol=0.01).fit(X)
    assert model.n_iter_ == 4
    assert model.typicality_.min() >= 0.35
    assert model.typicality_.max() <= 0.40
    dense = model.typicality_ > 0.3667
    assert np.mean(dense[regions >= 0]) > 0.97
    assert np.mean(dense[regions < 0]) < 0.3  # a tenth of the noise lies inside the regions


@pytest.mark.parametrize("seed", range(4))
def test_ball_and_ring_are_separated(seed):
    """miyamoto2003, fig. 1: the standard form, m = 2 and c = 10, from single random starts."""
    X, truth = make_ball_and_ring(random_state=seed)
    model = FuzzyCMeans(
        2, m=2.0, kernel=Gaussian.from_gamma(10.0), init="random", random_state=seed
    )
    assert adjusted_rand_score(truth, model.fit(X).labels_) == 1.0


def crescents(estimator):
    right = []
    for seed in range(10):
        X, truth = make_crescents(random_state=seed)
        labels = estimator.set_params(random_state=seed).fit(X).labels_
        right.append(adjusted_rand_score(truth, labels) > 0.95)
    return sum(right)


def test_crescents_by_entropy():
    """miyamoto2003, fig. 5: lambda 15 and c = 50; right in most draws, not in all."""
    kernel = Gaussian.from_gamma(50.0)
    assert crescents(EntropyCMeans(2, lam=15.0, kernel=kernel, init="annealing")) >= 7
    assert crescents(EntropyCMeans(2, lam=15.0, kernel=kernel, init="random", n_init=10)) >= 6
    assert crescents(EntropyCMeans(2, lam=15.0)) == 0


def test_crescents_by_the_standard_form():
    """miyamoto2003, fig. 4: m = 2 fails, because the centres coincide; a smaller m works."""
    X, _ = make_crescents(random_state=0)
    kernel = Gaussian.from_gamma(50.0)
    with pytest.warns((CollapsedMembershipsWarning, CoincidentClustersWarning)):
        FuzzyCMeans(2, m=2.0, kernel=kernel, random_state=0).fit(X)
    assert crescents(FuzzyCMeans(2, m=1.15, kernel=kernel, init="random", n_init=10)) >= 6
