"""All methods on the same rows."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.neighbors import LocalOutlierFactor

from typicality import OneClusterPCM
from typicality.exceptions import ClusteringWarning
from typicality.stability import Repeats, compare_methods, methods

pytestmark = pytest.mark.xdist_group("processes")  # one run of all methods, and one pool

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
        import warnings

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
    return compare_methods(apart, n_repeats=2, random_state=0)


@pytest.fixture(scope="module")
def given(apart):
    return compare_methods(apart, methods=QUICK, n_clusters=3, n_repeats=3, random_state=1)


# ---- known answers -------------------------------------------------------------------------------


def test_all_methods_are_compared(everything):
    assert [r.name for r in everything.clusterers] == CLUSTERERS
    assert [r.name for r in everything.detectors] == DETECTORS


def test_on_clusters_far_apart_all_agree(everything):
    assert [r.n_clusters for r in everything.clusterers] == [3] * len(CLUSTERERS)
    assert everything.placed_agreement.values.min() == 1.0
    assert everything.label_agreement.values.min() > 0.9
    assert any(
        s.startswith("Seven of seven clusterers agree on 3 clusters") for s in everything.findings
    )


def test_on_clusters_far_apart_refits_agree(everything):
    whole = [r for r in everything.clusterers if r.left_out == 0]
    assert len(whole) >= 4
    assert [r.reproducibility.mean for r in whole] == [1.0] * len(whole)
    assert all(r.refit_n_clusters == (3, 3) for r in everything.clusterers)


def test_comparison_tells_where_the_number_of_clusters_comes_from(everything, given):
    sources = {r.name: r.number_from for r in everything.clusterers}
    assert sources == {
        "auto": "found",
        "alpha-cut": "found",
        "sequential": "found",
        "fcm": "silhouette",
        "k-means": "silhouette",
        "gaussian mixture": "BIC",
        "hdbscan": "found",
    }
    assert [r.number_from for r in given.clusterers] == ["given", "found"]
    assert given.clusterers[0].seconds_choosing == 0.0
    assert all(r.seconds_choosing > 0 for r in everything.clusterers if r.name == "k-means")


def test_detectors_keep_the_nominal_rate_on_their_own_rows(everything):
    assert [r.rate for r in everything.detectors] == [0.05] * 4
    assert all(abs(r.flagged_share - 0.05) < 0.03 for r in everything.detectors)
    assert all(0 <= r.held_out.mean <= 1 for r in everything.detectors)


def test_the_calibrated_detector_flags_the_nominal_rate_of_unseen_rows():
    X = np.random.default_rng(3).normal(size=(600, 2))
    (detector,) = compare_methods(
        X, methods=["one-cluster"], contamination=0.1, random_state=0
    ).detectors
    # 600 judgements of unseen rows: a standard error of 0.012.
    assert detector.held_out.mean == pytest.approx(0.1, abs=0.04)


def test_flags_of_training_rows_are_those_of_the_estimators(apart, given):
    own = LocalOutlierFactor(contamination=0.05).fit_predict(apart) == -1
    np.testing.assert_array_equal(given.flagged["local outlier factor"], own)
    ours = OneClusterPCM(contamination=0.05).fit(apart)
    np.testing.assert_array_equal(given.flagged["one-cluster"], ours.predict(apart) == -1)
    np.testing.assert_array_equal(given.scores["one-cluster"], ours.decision_function(apart))


def test_labels_are_those_of_the_estimators(apart, given):
    own = KMeans(3, random_state=1).fit(apart).labels_
    np.testing.assert_array_equal(given.labels["k-means"], own)


def test_comparison_claims_no_clusters_where_there_are_none():
    X = np.random.default_rng(0).normal(size=(100, 2))
    names = ["alpha-cut", "k-means", "gaussian mixture"]
    found = compare_methods(X, methods=names, n_repeats=2, random_state=0)
    numbers = {r.name: r.n_clusters for r in found.clusterers}
    assert numbers["gaussian mixture"] == 1
    assert numbers["k-means"] > 1  # it cannot say so
    assert not any("agree on" in sentence for sentence in found.findings)
    assert any("that may find one cluster or none" in sentence for sentence in found.findings)


# ---- failures and warnings -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_failures(apart):
    methods = [Failing(), Failing(at_least=150), "k-means"]
    return compare_methods(apart, methods=methods, n_clusters=3, n_repeats=2, random_state=0)


def test_comparison_goes_on_when_a_method_fails(with_failures):
    failed, _, worked = with_failures.clusterers
    assert failed.failure == "needs inf rows"
    assert (failed.labels, failed.n_clusters) == (None, None)
    assert failed.reproducibility == Repeats()
    assert failed.to_dict()["seconds"] is None
    assert worked.n_clusters == 3
    assert with_failures.label_agreement.names == ("Failing(at_least=150)", "k-means")
    assert with_failures.findings[0] == "Failing() failed: needs inf rows"


def test_refits_that_fail_are_told(with_failures):
    _, shaky, _ = with_failures.clusterers
    assert shaky.reproducibility == Repeats()
    assert shaky.warnings == ("all in one", "2 of 2 refits failed: needs 150 rows")


def test_a_mistake_in_an_estimator_is_not_hidden(apart):
    class Mistaken(Failing):
        def fit(self, X, y=None):
            raise TypeError("a mistake")

    with pytest.raises(TypeError, match="a mistake"):
        compare_methods(apart, methods=[Mistaken()])


# ---- seeds, samples, estimators of one's own -----------------------------------------------------


def numbers_of(comparison):
    """All that does not depend on the clock."""
    found = comparison.to_dict()
    for row in (*found["clusterers"], *found["detectors"]):
        row.pop("seconds")
        row.pop("seconds_choosing", None)
    return found


def test_the_same_seed_gives_the_same_numbers_whatever_the_number_of_jobs(apart, given):
    again = compare_methods(
        apart, methods=QUICK, n_clusters=3, n_repeats=3, random_state=1, n_jobs=2
    )
    assert numbers_of(again) == numbers_of(given)


def test_the_numbers_of_a_method_do_not_depend_on_the_others(apart, given):
    alone = compare_methods(apart, methods=["hdbscan"], n_repeats=3, random_state=1)
    assert alone.clusterers[0].reproducibility == given.clusterers[1].reproducibility


def test_comparison_draws_and_keeps_a_seed_when_none_is_given(apart):
    found = compare_methods(apart, methods=["k-means"], n_clusters=4, n_repeats=2)
    again = compare_methods(
        apart, methods=["k-means"], n_clusters=4, n_repeats=2, random_state=found.seed
    )
    assert numbers_of(found) == numbers_of(again)


def test_comparison_samples_many_rows(apart):
    found = compare_methods(apart, methods=["k-means"], n_clusters=3, max_rows=60, random_state=0)
    assert len(found.rows) == len(found.labels["k-means"]) == 60
    assert (np.diff(found.rows) > 0).all()
    assert "The comparison uses a random sample of 60 of the 150 rows (seed 0)." in found.notes


def test_a_method_of_quadratic_cost_is_fitted_on_fewer_rows(apart, monkeypatch):
    capped = methods.METHODS["one-class svm"]._replace(most_rows=50)
    monkeypatch.setattr(methods, "METHODS", {"one-class svm": capped})
    found = compare_methods(apart, n_repeats=2, random_state=0)
    assert found.detectors[0].n_fitted == 50
    assert len(found.flagged["one-class svm"]) == 150
    assert any(
        note.startswith("Only 50 rows were used to fit one-class svm") for note in found.notes
    )


def test_estimators_of_ones_own_keep_their_parameters(apart):
    own = [KMeans(5, random_state=3), LocalOutlierFactor(contamination=0.2)]
    found = compare_methods(apart, methods=own, n_clusters=2, n_repeats=2, random_state=0)
    assert found.clusterers[0].name == "KMeans(n_clusters=5, random_state=3)"
    assert found.clusterers[0].n_clusters == 5
    assert found.detectors[0].flagged_share == pytest.approx(0.2)
    assert (found.detectors[0].rate, found.detectors[0].held_out) == (None, Repeats())
    assert own[0].get_params() == KMeans(5, random_state=3).get_params()


def test_numbers_of_numpy_are_written_as_those_of_python(apart):
    found = compare_methods(
        apart,
        methods=["k-means", "one-cluster"],
        n_clusters=np.int64(3),
        contamination=np.float64(0.1),
        n_repeats=2,
        random_state=0,
    )
    (clusterer,), (detector,) = found.clusterers, found.detectors
    assert clusterer.estimator == "KMeans(n_clusters=3, random_state=0)"
    assert detector.estimator.startswith("OneClusterPCM(contamination=0.1")


def test_a_table_of_names_may_be_spelled_freely(apart):
    found = compare_methods(apart, methods=["FCM", "K Means"], n_clusters=3, n_repeats=2)
    assert [r.name for r in found.clusterers] == ["fcm", "k-means"]


def test_comparison_tells_its_progress(apart):
    told = []
    compare_methods(
        apart, methods=["hdbscan"], n_repeats=2, progress=lambda *step: told.append(step)
    )
    assert told == [
        (0, 3, "Fitting hdbscan"),
        (1, 3, "Refitting hdbscan, 1 of 2"),
        (2, 3, "Refitting hdbscan, 2 of 2"),
    ]


# ---- what is shown -------------------------------------------------------------------------------


def test_a_frame_has_a_row_for_each_method(everything):
    frame = everything.to_pandas()
    assert list(frame["method"]) == CLUSTERERS + DETECTORS
    assert list(frame["kind"]) == ["clusterer"] * len(CLUSTERERS) + ["detector"] * 4
    assert frame["reproducibility"].between(0, 1).all()


def test_agreement_as_a_frame(given):
    frame = given.label_agreement.to_pandas()
    assert frame.loc["k-means", "hdbscan"] == given.label_agreement.between("k-means", "hdbscan")


def test_comparison_is_ready_for_json_but_for_arrays(everything):
    again = json.loads(json.dumps(everything.to_dict(), allow_nan=False))
    assert [row["method"] for row in again["clusterers"]] == CLUSTERERS
    assert again["rank_agreement"]["names"] == DETECTORS


def test_printing_shows_tables_and_findings(everything):
    text = repr(everything)
    assert text.startswith("Comparison of 150 rows, 2 features\n")
    assert all(name in text for name in CLUSTERERS + DETECTORS)
    assert all(f"- {sentence}" in text for sentence in everything.findings)


def test_clusterers_alone_and_detectors_alone(apart):
    clusterers = compare_methods(apart, methods=["hdbscan"], n_repeats=2)
    detectors = compare_methods(apart, methods=["lof"], n_repeats=2)
    assert (clusterers.detectors, detectors.clusterers) == ((), ())
    assert "flagged" not in repr(clusterers)
    assert "clusters" not in repr(detectors)


# ---- hostile input -------------------------------------------------------------------------------

ROWS = np.arange(40.0).reshape(20, 2)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (ROWS[:1], "X has 1 row"),
        (ROWS[:2], "needs at least 10"),
        (np.ones((20, 2)), "All rows of X are the same"),
        (np.where(ROWS == 7, np.nan, ROWS), "X contains NaN, first in row 3"),
        (np.where(ROWS == 7, np.inf, ROWS), "X contains infinity"),
        (pd.DataFrame({"a": ["x"] * 20}), "which is not a number"),
        (ROWS[:, 0], "Expected 2D array"),
    ],
    ids=["one-row", "two-rows", "constant", "nan", "inf", "text", "flat"],
)
def test_comparison_refuses_rows_it_cannot_use(X, words):
    with pytest.raises(ValueError, match=words):
        compare_methods(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": []}, "methods is empty"),
        ({"methods": "k-means"}, "must be a list"),
        ({"methods": ["dbscan"]}, "'dbscan', which is unknown. Choose from auto, alpha-cut"),
        ({"methods": ["k-means", "kmeans"]}, "'k-means' twice"),
        ({"methods": [KMeans]}, "neither a name nor an estimator"),
        ({"methods": [BaseEstimator()]}, "neither finds clusters nor flags"),
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"n_clusters": "three"}, "n_clusters must be"),
        ({"n_clusters": np.array([2, 3])}, "n_clusters must be"),
        ({"n_clusters": 21}, "more than the 20 distinct rows"),
        ({"contamination": 0.6}, "contamination must be"),
        ({"contamination": True}, "contamination must be"),
        ({"contamination": np.array([0.1, 0.2])}, "contamination must be"),
        ({"n_repeats": 1}, "n_repeats must be"),
        ({"max_rows": 9}, "max_rows must be"),
        ({"random_state": "seed"}, "cannot be used to seed"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_comparison_refuses_settings_it_cannot_use(options, words):
    with pytest.raises(ValueError, match=words):
        compare_methods(ROWS, **options)


def test_few_rows_can_be_compared():
    X = np.random.default_rng(0).normal(size=(12, 9))
    found = compare_methods(X, n_repeats=2, random_state=0)
    assert [r.failure for r in (*found.clusterers, *found.detectors)] == [None] * len(
        CLUSTERERS + DETECTORS
    )


def test_a_single_feature_can_be_compared():
    X = np.random.default_rng(0).normal(size=(30, 1))
    found = compare_methods(X, methods=[*QUICK, "alpha-cut"], n_repeats=2, random_state=0)
    assert [r.failure for r in (*found.clusterers, *found.detectors)] == [None] * 5


def test_two_distinct_rows_can_be_compared():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    found = compare_methods(X, methods=["k-means", "gaussian mixture", "lof"], n_repeats=2)
    assert found.clusterers[0].n_clusters == 2


@pytest.mark.parametrize(
    ("factor", "words"), [(1e200, "too large"), (1e-200, "too close together")]
)
def test_comparison_refuses_rows_whose_squared_distances_overflow(rng, factor, words):
    with pytest.raises(ValueError, match=words):
        compare_methods(factor * rng.normal(size=(20, 2)), methods=["k-means"])
