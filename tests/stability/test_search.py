"""Settings chosen by stability."""

import doctest
import inspect
import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_clusterer, is_outlier_detector
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import Ridge
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from typicality import FuzzyCMeans, OneClusterPCM
from typicality.exceptions import ClusteringWarning, RepetitionError
from typicality.stability import (
    ClusteringStability,
    OutlierStability,
    PredictByNearest,
    StabilitySearch,
    select_by_stability,
)
from typicality.stability.search import choose, results_table

CENTRES = np.array([[0, 0], [9, 0], [0, 9], [9, 9], [18, 0], [0, 18], [18, 18], [18, 9]])


@parametrize_with_checks(
    [
        StabilitySearch(KMeans(n_init=2), {"n_clusters": [2, 3]}, n_repeats=1, random_state=0),
        StabilitySearch(
            IsolationForest(n_estimators=3), {"bootstrap": [True]}, n_repeats=1, random_state=0
        ),
    ]
)
@pytest.mark.filterwarnings("ignore:All rows have the same score")  # of four, in halves
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def apart():
    return make_blobs(90, centers=CENTRES[:3], random_state=0)[0]


@pytest.fixture(scope="module")
def chosen(apart):
    return select_by_stability(
        KMeans(n_init=3), apart, {"n_clusters": range(2, 6)}, n_repeats=4, random_state=0
    )


# ---- the rule -----------------------------------------------------------------------------------


def steady(*means):
    """Scores of four splits that differ by nothing but a setting's own mean."""
    return np.tile(means, (4, 1)), np.array(means)


def test_the_most_stable_setting_is_chosen():
    assert choose(*steady(0.5, 0.9, 0.7), tolerance=0.02) == (1, [1])


def test_search_takes_most_clusters_of_equally_stable_settings():
    chosen, tied = choose(
        *steady(1.0, 0.99, 0.985, 0.9), tolerance=0.02, n_clusters=np.array([2, 5, 4, 6])
    )
    assert chosen == 1
    assert_array_equal(tied, [0, 1, 2])


def test_search_takes_the_first_of_settings_with_as_many_clusters():
    counts = np.array([2, 4, 4])
    assert choose(*steady(1.0, 1.0, 1.0), tolerance=0.0, n_clusters=counts)[0] == 1
    assert choose(*steady(0.99, 1.0, 0.98), tolerance=0.02)[0] == 0


def test_one_standard_error_of_the_difference_counts_as_equal():
    wide = np.column_stack([np.ones(4), [1.0, 1.0, 1.0, 0.8]])  # behind by .05, with error .05
    close = np.column_stack([np.ones(4), [0.95, 0.96, 0.94, 0.95]])
    counts = np.array([2, 3])
    assert choose(wide, wide.mean(0), tolerance=0.0, n_clusters=counts)[0] == 1
    assert choose(close, close.mean(0), tolerance=0.0, n_clusters=counts)[0] == 0
    # Swings that both share are no difference.
    swing = close - [[0.3], [0.0], [0.2], [0.1]]
    assert choose(swing, swing.mean(0), tolerance=0.0, n_clusters=counts)[0] == 0


def test_search_takes_what_says_nothing_only_if_nothing_else_is_there():
    scores, means = steady(np.nan, 0.1)
    assert choose(scores, means, tolerance=0.02, n_clusters=np.array([1, 2])) == (1, [1])
    assert choose(scores[:, :1], means[:1], tolerance=0.02)[0] == 0


def test_the_table_has_the_form_of_scikit_learn():
    scores, means = steady(0.5, np.nan, 0.9)
    table = results_table([{"a": 1}, {"a": 2}, {"b": 3}], scores, means)
    assert_array_equal(table["rank_test_score"], [2, 3, 1])
    assert_array_equal(table["param_b"].mask, [True, True, False])
    assert_array_equal(table["split3_test_score"], means)
    assert_array_equal(table["std_test_score"], [0.0, np.nan, 0.0])


# ---- numbers of clusters ------------------------------------------------------------------------


def test_the_number_of_blobs_that_stand_apart_is_found():
    numbers = [2, 3, 5, 6, 7, 8]
    found = []
    for seed, number in enumerate(numbers):
        centres = np.random.RandomState(seed).permutation(CENTRES)[:number]
        sizes = np.random.RandomState(seed).randint(15, 45, size=number)
        X, _ = make_blobs(sizes, centers=centres, random_state=seed)
        search = select_by_stability(
            KMeans(n_init=4), X, {"n_clusters": range(2, 11)}, n_repeats=2, random_state=seed
        )
        found.append(search.best_params_["n_clusters"])
    assert np.sum(np.array(found) == numbers) >= 5


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (GaussianMixture(n_init=2), {"n_components": [2, 3, 4, 5]}),
        (FuzzyCMeans(n_init=2), {"n_clusters": [2, 3, 4, 5]}),
        (make_pipeline(StandardScaler(), KMeans(n_init=5)), {"kmeans__n_clusters": [2, 3, 4]}),
        (PredictByNearest(HDBSCAN(copy=True)), {"clusterer__min_cluster_size": [2, 5, 40]}),
    ],
)
def test_search_finds_the_number_with_other_clusterers(estimator, grid, apart):
    search = select_by_stability(estimator, apart, grid, n_repeats=4, random_state=1)
    assert len(np.unique(search.predict(apart))) == 3


def test_a_single_cluster_is_not_chosen(apart):
    with pytest.warns(
        ClusteringWarning, match=r"neither half has two clusters.*In 1 of 2 settings"
    ):
        search = select_by_stability(
            KMeans(n_init=2), apart, {"n_clusters": [1, 7]}, n_repeats=2, random_state=0
        )
    assert search.best_params_ == {"n_clusters": 7}
    assert_array_equal(search.cv_results_["rank_test_score"], [2, 1])


# ---- the search ---------------------------------------------------------------------------------


def test_scores_are_the_stabilities_of_the_settings(apart):
    search = select_by_stability(
        KMeans(n_init=3), apart, {"n_clusters": [4, 3]}, n_repeats=4, random_state=0
    )
    assert isinstance(search.results_[0], ClusteringStability)
    table = search.cv_results_
    assert_allclose(table["mean_test_score"], [r.stability for r in search.results_])
    assert_allclose(table["split2_test_score"], [r.scores[2, 0] for r in search.results_])
    assert_array_equal(table["median_n_clusters"], [4, 3])
    assert_array_equal(table["param_n_clusters"], [4, 3])
    assert search.best_index_ == 1
    assert search.best_score_ == 1.0
    assert search.n_splits_ == 4


def test_all_settings_see_the_same_splits(apart):
    same = select_by_stability(
        KMeans(5, random_state=0), apart, {"n_init": [1, 1]}, n_repeats=3, random_state=0
    )
    assert_array_equal(same.results_[0].scores, same.results_[1].scores)
    assert np.ptp(same.results_[0].scores) > 0


@pytest.mark.xdist_group("processes")  # that all of these tests share
def test_the_number_of_jobs_does_not_matter(apart):
    grid = {"n_clusters": [3, 5]}
    options = {"n_repeats": 4, "random_state": 0}
    one = select_by_stability(KMeans(n_init=1), apart, grid, n_jobs=1, **options)
    two = select_by_stability(KMeans(n_init=1), apart, grid, n_jobs=2, **options)
    assert_array_equal(one.results_[1].scores, two.results_[1].scores)
    assert_array_equal(one.labels_, two.labels_)


def test_the_chosen_estimator_is_fitted_on_all_rows_and_answers(chosen, apart):
    assert chosen.best_params_ == {"n_clusters": 3}
    assert chosen.best_estimator_.n_clusters == 3
    assert_array_equal(chosen.predict(apart), chosen.labels_)
    assert chosen.transform(apart).shape == (90, 3)
    assert chosen.score(apart) < 0
    assert is_clusterer(chosen)
    assert not hasattr(chosen, "predict_memberships")
    assert not hasattr(chosen, "score_samples")


def test_soft_clusterers_answer_with_memberships(apart):
    search = StabilitySearch(FuzzyCMeans(), {"n_clusters": [3]}, n_repeats=1, random_state=0)
    assert search.fit(apart).predict_memberships(apart).shape == (90, 3)
    mixture = StabilitySearch(GaussianMixture(), {"n_components": [3]}, n_repeats=1, random_state=0)
    assert mixture.fit(apart).predict_proba(apart).shape == (90, 3)


def test_without_refit_there_is_a_choice_and_no_estimator(apart):
    search = StabilitySearch(KMeans(), {"n_clusters": [3]}, n_repeats=1, refit=False).fit(apart)
    assert search.best_params_ == {"n_clusters": 3}
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")
    assert not hasattr(search, "labels_")


def test_parameters_nest_and_names_of_features_are_kept(apart):
    search = StabilitySearch(KMeans(), {"n_clusters": [3, 4]}, n_repeats=1, random_state=0)
    search.set_params(estimator__n_init=2, tolerance=0.1)
    again = clone(search)
    assert again.get_params()["estimator__n_init"] == 2
    again.fit(pd.DataFrame(apart, columns=["height", "width"]))
    assert list(again.feature_names_in_) == ["height", "width"]
    assert again.n_features_in_ == 2
    assert not hasattr(search, "n_features_in_")


def test_progress_counts_the_splits_of_all_settings(apart):
    told = []
    select_by_stability(
        KMeans(),
        apart,
        {"n_clusters": [2, 3]},
        n_repeats=2,
        progress=lambda done, total, words: told.append((done, total)),
    )
    assert told == [(0, 4), (1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]


def test_the_picture_has_a_box_for_each_setting(chosen):
    display = chosen.plot(ax=Figure().add_subplot())
    assert list(display.settings) == [f"n_clusters={k}" for k in range(2, 6)]


@pytest.mark.filterwarnings("ignore:In 1 of 1 repetitions")
def test_single_clusters_give_no_picture(apart):
    search = StabilitySearch(KMeans(), {"n_clusters": [1]}, n_repeats=1, random_state=0).fit(apart)
    with pytest.raises(ValueError, match="All settings have a single cluster: there is nothing"):
        search.plot()


# ---- detectors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("detector", "grid"),
    [
        (OneClusterPCM(), {"sigma": [0.5, 4.0], "eta_scale": [1.0]}),
        (OneClassSVM(gamma=0.1), {"nu": [0.1, 0.3]}),
        (IsolationForest(n_estimators=4), {"max_features": [1, 2]}),
        (LocalOutlierFactor(novelty=True), {"n_neighbors": [3, 20]}),
        (KernelDensity(), {"bandwidth": [0.3, 3.0]}),
    ],
)
def test_detectors_are_judged_by_their_outliers(detector, grid, apart):
    search = select_by_stability(
        detector, apart, grid, rates=(0.05, 0.2), transfer="rank", n_repeats=3, random_state=0
    )
    assert isinstance(search.results_[0], OutlierStability)
    assert search.results_[0].transfer == "rank"
    means = [result.scores.mean() for result in search.results_]
    assert_allclose(search.cv_results_["mean_test_score"], means)
    assert "median_n_clusters" not in search.cv_results_
    assert len(search.score_samples(apart)) == 90


def test_a_detector_remains_one(apart):
    search = StabilitySearch(OneClusterPCM(), {"sigma": [2.0]}, n_repeats=1, random_state=0)
    assert is_outlier_detector(search)
    assert_array_equal(search.fit_predict(apart), search.predict(apart))
    assert_array_equal(search.predict(apart) == -1, search.decision_function(apart) < 0)


def test_a_mixture_can_be_judged_as_either(apart):
    options = {"n_repeats": 2, "random_state": 0, "rates": 0.1}
    grid = {"n_components": [3]}
    clusters = select_by_stability(GaussianMixture(), apart, grid, **options)
    outliers = select_by_stability(GaussianMixture(), apart, grid, kind="outliers", **options)
    assert isinstance(clusters.results_[0], ClusteringStability)
    assert isinstance(outliers.results_[0], OutlierStability)


# ---- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clusters", "nearest", "search"])
def test_examples_in_docstrings(name):
    results = doctest.testmod(import_module(f"typicality.stability.{name}"))
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("estimator", [PredictByNearest, StabilitySearch])
def test_every_parameter_is_documented(estimator):
    documented = re.findall(r"^    (\w+) : ", estimator.__doc__, flags=re.MULTILINE)
    assert set(inspect.signature(estimator).parameters) <= set(documented)


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (StabilitySearch(KMeans(), {"n_cluster": [2]}), "Invalid parameter 'n_cluster'"),
        (StabilitySearch(KMeans(), {"n_clusters": []}), "n_clusters"),
        (StabilitySearch(DBSCAN(), {"eps": [1.0]}), r"PredictByNearest\(DBSCAN"),
        (StabilitySearch(Ridge(), {"alpha": [1.0]}), "GridSearchCV"),
        (StabilitySearch(KMeans(), {"n_clusters": [2]}, kind="rows"), "'kind' parameter"),
        (StabilitySearch(KMeans(), {"n_clusters": [2]}, tolerance=-1), "'tolerance' parameter"),
        (StabilitySearch(OneClusterPCM(), {"sigma": [1.0]}, rates=0.7), "rates"),
        (StabilitySearch(OneClusterPCM(), {"sigma": [1.0]}, rates=[0.7]), "rates.*got 0.7"),
        (StabilitySearch(KMeans(), {"n_clusters": [2]}), "NaN"),
    ],
)
def test_what_cannot_be_searched_is_said_before_any_work(search, words):
    with pytest.raises(ValueError, match=words):
        search.fit(np.full((20, 2), np.nan))


def test_a_setting_that_fails_is_named():
    X = np.arange(12.0).reshape(12, 1)
    search = StabilitySearch(KMeans(random_state=0), {"n_clusters": [2, 9]}, n_repeats=2)
    with pytest.raises(RepetitionError, match=r"KMeans\(n_clusters=9.*Repetition 1 of 2"):
        search.fit(X)
