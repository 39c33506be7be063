"""Stability of clusterings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reference.stability import distance_by_permutations, instability_of_a_split, seeds_of
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM, SequentialPCM
from typicality.exceptions import ClusteringWarning
from typicality.stability import clustering_stability, labelling_distance

CENTRES = [[0, 0], [9, 0], [0, 9]]


@pytest.fixture(scope="module")
def apart():
    """Three blobs, and an odd number of rows."""
    return make_blobs(91, centers=CENTRES, random_state=0)[0]


@pytest.fixture(scope="module")
def one_blob():
    return np.random.default_rng(0).normal(size=(80, 2))


# ---- labellings ---------------------------------------------------------------------------------

labellings = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-1, 3), min_size=n, max_size=n)] * 2)
)


@given(labellings)
def test_the_best_matching_is_the_best_permutation(pair):
    first, second = map(np.array, pair)
    assert_allclose(
        labelling_distance(first, second), distance_by_permutations(*pair), rtol=0, atol=1e-12
    )


# ---- stability ----------------------------------------------------------------------------------


def labelled_by_k_means(n_clusters):
    def labelled(X):
        model = KMeans(n_clusters, n_init=4, random_state=0).fit(X)
        return model.labels_, model.predict

    return labelled


def test_clustering_stability_is_that_of_the_slow_twin(one_blob):
    model = KMeans(3, n_init=4, random_state=0)
    result = clustering_stability(model, one_blob, n_repeats=4, random_state=7)
    twin = [
        instability_of_a_split(labelled_by_k_means(3), one_blob, seed, 3) for seed in seeds_of(7, 4)
    ]
    assert_allclose(1.0 - result.scores, twin, rtol=0.02)
    assert result.stability < 0.9
    assert_allclose(result.stability, result.scores.mean())
    assert_allclose(result.standard_error, result.scores.std(ddof=1) / 2.0)
    assert str(result).startswith(f"Stability {result.stability:.3f}")


CLUSTERERS = {
    "mixture": GaussianMixture(3),
    "alpha-cut": AlphaCutClustering(assign="all"),
    "sequential": SequentialPCM(lam=0.2, assign="all"),
    "dbscan": DBSCAN(eps=3.0),
    "pipeline": make_pipeline(StandardScaler(), DBSCAN(eps=0.6)),
}


@pytest.mark.parametrize("name", CLUSTERERS)
def test_blobs_that_stand_apart_are_stable_for_all(name, apart):
    result = clustering_stability(CLUSTERERS[name], apart, n_repeats=2, random_state=0)
    assert result.stability > 0.95
    assert result.typical_n_clusters == 3


def test_clusters_of_nothing_are_no_better_than_random():
    class Dice(KMeans):
        """Labels that have nothing to do with the rows."""

        def fit(self, X, y=None):
            self.labels_ = self.predict(X)
            return self

        def predict(self, X):
            return np.random.RandomState(self.random_state).randint(4, size=len(X))

    X = np.zeros((200, 1))
    result = clustering_stability(Dice(4), X, n_repeats=30, random_state=0)
    assert abs(result.stability) < 4 * result.standard_error
    assert result.standard_error < 0.02


def test_a_single_cluster_says_nothing(apart):
    with pytest.warns(
        ClusteringWarning, match="In 3 of 3 repetitions neither half has two clusters"
    ):
        result = clustering_stability(KMeans(1), apart, n_repeats=3, random_state=0)
    assert np.isnan(result.stability)
    assert np.isnan(result.standard_error)
    assert_array_equal(result.distances, 0.0)


def test_square_matrices_and_data_frames_are_split_as_the_clusterer_takes_them(apart):
    options = {"n_repeats": 2, "random_state": 0}
    kernel = FuzzyCMeans(3, kernel="precomputed", random_state=0)
    of_kernel = clustering_stability(kernel, rbf_kernel(apart, gamma=0.05), **options)
    plain = clustering_stability(DBSCAN(3.0), apart, **options)
    frame = pd.DataFrame(apart, columns=["a", "b"])
    of_frame = clustering_stability(DBSCAN(3.0), frame, **options)
    of_frame_of_kernel = clustering_stability(
        kernel, pd.DataFrame(rbf_kernel(apart, gamma=0.05)), **options
    )
    assert of_kernel.stability == 1.0
    assert_array_equal(of_frame_of_kernel.distances, of_kernel.distances)
    assert_array_equal(of_frame.scores, plain.scores)


@pytest.mark.parametrize(
    ("clusterer", "words"),
    [
        (DBSCAN(metric="precomputed"), "has no predict, and takes a square matrix"),
        (OneClusterPCM(), "flags outliers and finds no clusters: use outlier_stability"),
    ],
)
def test_what_is_no_clusterer_is_refused_before_any_work(clusterer, words, apart):
    with pytest.raises(ValueError, match=words):
        clustering_stability(clusterer, apart)
