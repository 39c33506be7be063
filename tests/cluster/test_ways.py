"""However sums are computed, the results are the same within the promise."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from reference import kernel_space as reference
from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
)
from typicality.exceptions import BandwidthWarning, ClusteringWarning
from typicality.kernels import Gaussian
from typicality.rows.quantiles import weighted_quantile
from ways import summed_by

FAST = ["blocked", "tiles", "truncated", "nufft"]
CLUSTERERS = [
    FuzzyCMeans(3, m=1.5, kernel="gaussian", sigma=2.0, random_state=0),
    EntropyCMeans(3, kernel="gaussian", sigma=2.0, random_state=0),
    PossibilisticCMeans(3, kernel="gaussian", sigma=2.0, eta_scale=0.25, random_state=0),
    AdaptivePCM(5, kernel="gaussian", sigma=2.0),
    SparseAdaptivePCM(5, kernel="gaussian", sigma=2.0),
    SequentialPCM(lam=0.1, kernel="gaussian", sigma=2.0, assign="all"),
]
every_way = pytest.mark.parametrize("way", FAST)


@pytest.fixture
def plane(rng):
    """Three groups, a few outliers near and far, and some copies."""
    places = {(0, 0): 180, (5, 0): 150, (0, 6): 120}
    groups = [rng.normal(place, 0.5, size=(n, 2)) for place, n in places.items()]
    far = np.array([[40.0, 40.0], [41.0, 40.0], [-300.0, 7.0], [2.5, 12.0]])
    return np.vstack([*groups, far, groups[0][:5], far[:1]])


@pytest.mark.parametrize(
    ("estimator", "way"),
    [
        *((CLUSTERERS[0], way) for way in FAST),
        *zip(CLUSTERERS[1:], ["nufft", "tiles", "truncated", "blocked", "nufft"], strict=True),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_no_way_changes_a_membership_or_a_label(estimator, way, plane):
    X = plane[:450]
    exact = clone(estimator).fit(X)
    with summed_by(way):
        fast = clone(estimator).fit(X)
    assert exact.sums_ != fast.sums_
    assert_allclose(fast.predict_memberships(X), exact.predict_memberships(X), atol=1e-3)
    assert_array_equal(fast.predict(X), fast.labels_)


@every_way
def test_outliers_have_their_true_scores(way, plane, rng):
    """Copies, rows that stand alone, and rows so far away that no kernel value is left."""
    with summed_by(way):
        model = OneClusterPCM(sigma=0.7).fit(plane)
    w, K = model.weights_, Gaussian(0.7)
    exact = OneClusterPCM(sigma=0.7).fit(plane)
    assert_allclose(model.typicality_, exact.typicality_, atol=1e-5)
    assert_array_equal(model.predict(plane), exact.predict(plane))
    for rows in (plane, np.vstack([rng.normal(size=(50, 2)) * 20, [[1e3, 1e3], [-300.1, 7.0]]])):
        scores = model.score_samples(rows)
        expected = [reference.log_score(plane, w, row, K) for row in rows]
        assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)
        assert_array_equal(np.concatenate([model.score_samples(row[None]) for row in rows]), scores)


def test_thresholds_of_rows_of_very_unequal_weight(rng):
    """A row with much weight is not well known even where its score is not low."""
    X, weight = rng.normal(size=(2500, 3)), 10.0 ** rng.uniform(-3, 0, size=2500)
    model = OneClusterPCM(kernel="cauchy", sigma=0.01, contamination=0.05, tol=0, max_iter=10)
    model.fit(X, sample_weight=weight)
    expected = weighted_quantile(model.score_samples(X), 0.05, weight)
    assert model.offset_ == pytest.approx(expected, abs=1e-3)


@every_way
def test_no_way_changes_an_alpha_cut(way, plane):
    exact = AlphaCutClustering(sigma=0.5).fit(plane)
    with summed_by(way):
        fast = AlphaCutClustering(sigma=0.5).fit(plane)
    assert_array_equal(fast.labels_, exact.labels_)
    assert_allclose(fast.tree_.saddles, exact.tree_.saddles, atol=1e-8)


def test_many_rows_take_a_fast_way(rng):
    X = rng.normal(size=(5000, 2))
    model = OneClusterPCM(sigma=0.5).fit(X)
    exact = OneClusterPCM(sigma=0.5, rtol=0.0).fit(X)
    assert "Fourier series" in model.sums_
    assert "tile by tile" in exact.sums_
    assert model.n_iter_ == exact.n_iter_
    assert_allclose(model.typicality_, exact.typicality_, atol=1e-5)
    assert_allclose(model.score_samples(X), exact.score_samples(X), rtol=1e-3, atol=1e-4)


def test_wide_kernels_keep_their_digits(rng):
    X = rng.normal(size=(3000, 2))
    with pytest.warns(BandwidthWarning, match="too wide"):
        model = OneClusterPCM(sigma=1e6).fit(X)
    linear = OneClusterPCM(kernel="linear").fit(X)
    assert "tile by tile" in model.sums_
    assert_allclose(model.typicality_, linear.typicality_, atol=1e-4)


# ---- compression --------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "rtol"), [(2, 1e-4), (5, 1e-2)])
def test_small_models_keep_the_promise(rng, d, rtol):
    X = np.vstack([rng.normal(k, 1.0, size=(2000, d)) for k in (0.0, 6.0)])
    model = OneClusterPCM(sigma=2.0).fit(X)
    small = model.compress(rtol)
    new = np.vstack([X[:200], rng.normal(3.0, 6.0, size=(200, d)), np.full((1, d), 1e6)])
    exact = Gaussian(2.0)(new, X) @ model.weights_
    s = np.exp(small.score_samples(new))
    assert (np.abs(s - np.maximum(exact, rtol)) <= rtol * 1.0001).all()
    assert len(pickle.dumps(small)) < 0.5 * len(pickle.dumps(model))
    assert not hasattr(small, "weights_")
    assert hasattr(model, "weights_")


def test_small_models_that_cannot_tell_outliers_say_so(rng):
    model = OneClusterPCM(sigma=0.1).fit(rng.normal(size=(3000, 2)))
    with pytest.warns(ClusteringWarning, match="rtol=0.1 is too coarse"):
        model.compress(0.1)


def test_compress_refuses_what_cannot_be_made_small(plane):
    model = OneClusterPCM()
    with pytest.raises(NotFittedError):
        model.compress()
    model.fit(plane)
    for bad in (0.0, 1.0, -1.0, "much"):
        with pytest.raises(ValueError, match="rtol must be between 0 and 1"):
            model.compress(bad)
    with pytest.raises(ValueError, match="compressed with an error bound"):
        OneClusterPCM(kernel="polynomial").fit(plane[:450]).compress()
    with pytest.raises(ValueError, match="cannot be made smaller"):
        FuzzyCMeans(3).fit(plane[:450]).compress()
