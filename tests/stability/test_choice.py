"""Settings chosen by stability."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.neighbors import KernelDensity

from typicality import OneClusterPCM
from typicality.exceptions import ClusteringWarning
from typicality.stability import (
    choose,
    choose_by_stability,
    clustering_stability,
    outlier_stability,
)

CENTRES = np.array([[0, 0], [9, 0], [0, 9], [9, 9], [18, 0], [0, 18], [18, 18], [18, 9]])


@pytest.fixture(scope="module")
def apart():
    return make_blobs(90, centers=CENTRES[:3], random_state=0)[0]


# ---- the rule -----------------------------------------------------------------------------------


def steady(*means):
    """Scores of four splits that differ by nothing but a setting's own mean."""
    return np.tile(means, (4, 1))


def test_most_clusters_win_among_equally_stable_settings():
    assert choose(steady(0.5, 0.9, 0.7), None) == (1, [1])
    best, tied = choose(steady(1.0, 0.99, 0.98, 0.9), np.array([2, 5, 4, 6]))
    assert best == 1
    assert_array_equal(tied, [0, 1, 2])
    assert choose(steady(1.0, 1.0, 1.0), np.array([2, 4, 4]))[0] == 1  # the first of them
    assert choose(steady(0.99, 1.0, 0.98), None)[0] == 0


def test_one_standard_error_of_the_difference_counts_as_equal():
    wide = np.column_stack([np.ones(4), [1.0, 1.0, 1.0, 0.8]])  # behind by .05, with error .05
    close = np.column_stack([np.ones(4), [0.95, 0.96, 0.94, 0.95]])
    counts = np.array([2, 3])
    assert choose(wide, counts)[0] == 1
    assert choose(close, counts)[0] == 0
    # Swings that both share are no difference.
    swing = close - [[0.3], [0.0], [0.2], [0.1]]
    assert choose(swing, counts)[0] == 0


def test_a_single_cluster_is_chosen_only_if_nothing_else_is_there(apart):
    scores = steady(np.nan, 0.1)
    assert choose(scores, np.array([1, 2])) == (1, [1])
    assert choose(scores[:, :1], None)[0] == 0
    with pytest.warns(ClusteringWarning, match="neither half has two clusters"):
        table = choose_by_stability(
            KMeans(n_init=2), apart, {"n_clusters": [1, 7]}, n_repeats=2, random_state=0
        )
    assert table.best_params == {"n_clusters": 7}
    assert np.isnan(table.mean[0])


# ---- the table ----------------------------------------------------------------------------------


def test_scores_are_the_stabilities_of_the_settings_on_the_same_splits(apart):
    settings = {"n_clusters": [4, 3]}
    table = choose_by_stability(KMeans(n_init=3), apart, settings, n_repeats=4, random_state=0)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    for place, number in enumerate(settings["n_clusters"]):
        alone = clustering_stability(
            KMeans(number, n_init=3), apart, n_repeats=4, random_state=seed
        )
        assert_array_equal(table.scores[:, place], alone.scores)
        assert_allclose(table.mean[place], alone.stability)
        assert_allclose(table.standard_error[place], alone.standard_error)
    assert_array_equal(table.n_clusters, [4, 3])


@pytest.mark.parametrize(
    ("detector", "grid"),
    [(OneClusterPCM(), {"sigma": [0.5, 4.0]}), (KernelDensity(), {"bandwidth": [0.3, 3.0]})],
)
def test_detectors_are_judged_by_their_outliers(detector, grid, apart):
    options = {"rates": (0.05, 0.2), "n_repeats": 3}
    table = choose_by_stability(detector, apart, grid, random_state=0, **options)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    first = detector.set_params(**table.settings[0])
    alone = outlier_stability(first, apart, random_state=seed, **options)
    assert_allclose(table.mean[0], alone.scores.mean())
    assert table.n_clusters is None
    assert "clusters" not in table.to_pandas()


@pytest.mark.parametrize(
    ("estimator", "grid", "words"),
    [
        (KMeans(), {"n_cluster": [2]}, "Invalid parameter 'n_cluster'"),
        (KMeans(), {"n_clusters": []}, "n_clusters"),
    ],
)
def test_what_cannot_be_chosen_is_said_before_any_work(estimator, grid, words, apart):
    with pytest.raises(ValueError, match=words):
        choose_by_stability(estimator, apart, grid)
