"""The defaults of c-means: the automatic fuzzifier, and prototypes that do not collapse."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality.cluster._diagnostics import largest_fuzzifier
from typicality.kernels import Gaussian
from typicality.spaces import Gram

TOLD = {
    "iris": (scale(load_iris().data), 3),
    "wine": (scale(load_wine().data), 3),
    "ten dimensions": (make_blobs(600, 10, centers=6, cluster_std=3.0, random_state=0)[0], 6),
}


def by_hand(n, d):
    """schwaemmle2010, written as in the paper."""
    first = (1418 / n + 22.05) * d ** (-2)
    return 1 + first + (12.33 / n + 0.243) * d ** (-0.0406 * math.log(n) - 0.1134)


@pytest.mark.parametrize(
    ("estimator", "n_features"), [(FuzzyCMeans, 2), (FuzzyCMeans, 8), (PossibilisticCMeans, 40)]
)
def test_automatic_m_is_the_formula(rng, n_features, estimator):
    X = rng.normal(size=(300, n_features)) + 9 * (np.arange(300) % 2)[:, None]
    model = estimator(2, random_state=0).fit(X)
    assert model.m_ == pytest.approx(min(2.0, by_hand(300, n_features)), rel=1e-12)


@pytest.mark.filterwarnings("ignore:Constant:typicality.exceptions.FeatureWarning")
def test_constant_features_do_not_count(rng):
    X = rng.normal(size=(300, 8)) + 9 * (np.arange(300) % 2)[:, None]
    wider = np.hstack([X, np.full((300, 5), 3.0)])
    assert FuzzyCMeans(2, random_state=0).fit(wider).m_ == FuzzyCMeans(2, random_state=0).fit(X).m_


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_automatic_m_takes_weights_for_copies(rng, kernel):
    X = rng.normal(size=(120, 8)) + 3 * (np.arange(120) % 2)[:, None]
    copies = rng.integers(0, 4, 120)
    model = FuzzyCMeans(2, kernel=kernel, sigma=1.5 if kernel == "gaussian" else "auto")
    weighted = model.set_params(random_state=0).fit(X, sample_weight=copies).m_
    assert weighted == model.fit(np.repeat(X, copies, axis=0)).m_
    assert weighted != model.fit(X).m_


def test_automatic_m_with_a_kernel_is_below_the_bound():
    X, _ = TOLD["wine"]
    model = FuzzyCMeans(3, kernel="gaussian", random_state=0).fit(X)
    bound = largest_fuzzifier(Gram(Gaussian(model.sigma_), X))
    assert model.m_ <= 1 + (bound - 1) / 2 + 1e-9
    assert model.m_ < by_hand(len(X), X.shape[1])


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("estimator", [FuzzyCMeans, EntropyCMeans, PossibilisticCMeans])
def test_defaults_do_not_collapse(estimator, name, kernel):
    """A collapse, or clusters that coincide, would warn, and warnings are errors."""
    X, n_clusters = TOLD[name]
    model = estimator(n_clusters, kernel=kernel, random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters


def test_automatic_m_does_not_change_low_dimensions():
    X, _ = TOLD["iris"]
    automatic, two = (FuzzyCMeans(3, m=m, random_state=0).fit(X) for m in ("auto", 2.0))
    assert_array_equal(automatic.memberships_, two.memberships_)
    assert adjusted_rand_score(load_iris().target, automatic.labels_) > 0.6
