"""All methods on the same rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import LocalOutlierFactor

from typicality import AutoClustering, OneClusterPCM
from typicality.exceptions import ClusteringWarning
from typicality.stability import compare_methods

CENTERS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
CLUSTERERS = [
    *("auto", "alpha-cut", "sequential", "fcm"),
    *("k-means", "gaussian mixture", "hdbscan"),
]
DETECTORS = ["one-cluster", "one-class svm", "isolation forest", "local outlier factor"]
QUICK = ["k-means", "hdbscan", "one-cluster", "local outlier factor"]


class Failing(ClusterMixin, BaseEstimator):
    """Fits on at least so many rows."""

    def __init__(self, at_least=np.inf):
        self.at_least = at_least

    def fit(self, X, y=None):
        if len(X) < self.at_least:
            raise ValueError(f"needs {self.at_least} rows\nand a second line")
        warnings.warn("all in one", ClusteringWarning, stacklevel=2)
        warnings.warn("an old name", DeprecationWarning, stacklevel=2)
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


@pytest.fixture(scope="module")
def apart():
    """Three clusters far apart, as uniform discs: no row is at a rim that thins out."""
    rng = np.random.default_rng(7)
    angle, radius = rng.uniform(0, 2 * np.pi, 150), np.sqrt(rng.uniform(0, 1, 150))
    return CENTERS[np.arange(150) % 3] + np.c_[radius * np.cos(angle), radius * np.sin(angle)]


@pytest.fixture(scope="module")
def everything(apart):
    return compare_methods(apart, known=np.arange(150) % 3, random_state=0)


@pytest.fixture(scope="module")
def given(apart):
    return compare_methods(apart, methods=QUICK, n_clusters=3, random_state=1)


def result(found, name):
    (one,) = [each for each in found.results if each.name == name]
    return one


def test_on_clusters_far_apart_all_methods_agree(everything):
    assert [r.name for r in everything.results] == CLUSTERERS + DETECTORS
    assert [r.is_detector for r in everything.results] == [False] * 7 + [True] * 4
    assert [r.n_clusters for r in everything.results] == [3] * 7 + [None] * 4
    agreement = pd.DataFrame(everything.label_agreement)
    assert list(agreement) == ["known", *CLUSTERERS]
    assert agreement.to_numpy().min() > 0.9
    assert (
        everything.findings[0] == "Number of clusters given to fcm, k-means, gaussian mixture: 3."
    )


def test_the_number_of_clusters_is_that_of_auto():
    X = np.random.default_rng(0).normal(size=(100, 2))
    found = compare_methods(X, methods=["k-means", "gaussian mixture"], random_state=0)
    number = AutoClustering(random_state=0).fit(X).n_clusters_
    assert found.n_clusters == number
    assert [r.name for r in found.results] == ["k-means", "gaussian mixture"]
    assert [r.n_clusters for r in found.results] == [number] * 2


def test_results_are_those_of_the_estimators(apart, given):
    own = LocalOutlierFactor(contamination=0.05).fit_predict(apart) == -1
    np.testing.assert_array_equal(given.flagged["local outlier factor"], own)
    ours = OneClusterPCM(contamination=0.05).fit(apart)
    np.testing.assert_array_equal(given.flagged["one-cluster"], ours.predict(apart) == -1)
    k_means = result(given, "k-means")
    np.testing.assert_array_equal(k_means.labels, k_means.estimator.labels_)
    assert k_means.estimator.n_clusters == 3


# ---- failures and warnings -----------------------------------------------------------------------


def test_comparison_goes_on_when_a_method_fails(apart):
    methods = [Failing(), Failing(at_least=150), "k-means"]
    found = compare_methods(apart, methods=methods, n_clusters=3, random_state=0)
    failed, warned, worked = found.results
    assert failed.failure == "needs inf rows"
    assert (failed.labels, failed.n_clusters, failed.unassigned) == (None, None, None)
    assert warned.warnings == ("all in one",)
    assert worked.n_clusters == 3
    assert list(found.label_agreement) == ["Failing(at_least=150)", "k-means"]
    assert found.findings[0] == "Failing() failed: needs inf rows"
    assert "failed" in repr(found)


# ---- seeds, samples, estimators of one's own -----------------------------------------------------


def test_comparison_samples_many_rows(apart):
    known = np.arange(150) % 3
    options = {"methods": ["k-means"], "n_clusters": 3, "known": known, "random_state": 0}
    found = compare_methods(apart, max_rows=60, **options)
    assert len(found.rows) == len(found.labels["k-means"]) == 60
    assert (np.diff(found.rows) > 0).all()
    assert found.label_agreement["known"]["k-means"] == 1.0


# ---- hostile input -------------------------------------------------------------------------------

ROWS = np.arange(40.0).reshape(20, 2)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (ROWS[:2], "pass 10 rows or more"),
        (np.ones((20, 2)), "All rows of X are the same"),
        (np.where(ROWS == 7, np.nan, ROWS), "X contains NaN, first in row 3"),
        (pd.DataFrame({"a": ["x"] * 20}), "which is not a number"),
        (ROWS[:, 0], "Expected 2D array"),
    ],
    ids=["two-rows", "constant", "nan", "text", "flat"],
)
def test_comparison_refuses_rows_it_cannot_use(X, words):
    with pytest.raises(ValueError, match=words):
        compare_methods(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": []}, "must be a list of one or more of auto"),
        ({"methods": "k-means"}, "must be a list"),
        ({"methods": ["dbscan"]}, "'dbscan' is unknown. Choose from auto, alpha-cut"),
        ({"methods": [BaseEstimator()]}, "or pass an estimator with fit_predict"),
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"n_clusters": 21}, "more than the 20 distinct rows"),
        ({"contamination": 0.6}, "contamination must be"),
        ({"max_rows": 9}, "max_rows must be"),
        ({"random_state": "seed"}, "cannot be used to seed"),
        ({"known": [0, 1]}, "known"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_comparison_refuses_settings_it_cannot_use(options, words):
    with pytest.raises(ValueError, match=words):
        compare_methods(ROWS, **options)
