"""The tree gives at every level what a cut at that level alone would give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from levelsets.scenes import SCENES, alphas, fitted
from reference import alpha_cut as reference
from typicality import AlphaCutClustering

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")

every_scene = pytest.mark.parametrize("name", SCENES)


def naive_heights(model, X, pairs):
    """The lowest typicality on each segment, ends included, in steps of half a bandwidth."""
    ends = [model.typicality_[pairs[:, 0]], model.typicality_[pairs[:, 1]]]
    points, owner = [], []
    for e, (i, j) in enumerate(pairs):
        m = max(1, int(np.ceil(np.linalg.norm(X[i] - X[j]) / (0.5 * model.sigma_))) - 1)
        points += [X[i] + t / (m + 1) * (X[j] - X[i]) for t in range(1, m + 1)]
        owner += [e] * m
    between = reference.typicality(model.kernel_, X, model.weights_, model.eta_, np.array(points))
    lowest = np.minimum(*ends)
    np.minimum.at(lowest, owner, between)
    return lowest


def neighbours(X, k=30):
    """Pairs of which one is among the k nearest of the other."""
    order = np.argsort(cdist(X, X), axis=1)[:, 1 : k + 1]
    return np.array(sorted({(min(i, j), max(i, j)) for i in range(len(X)) for j in order[i]}))


def from_scratch(model, pairs, heights, alpha):
    """Connected components of the rows and pairs above a level."""
    graph = {i: set() for i in np.flatnonzero(model.typicality_ > alpha)}
    for i, j in pairs[heights > alpha]:
        graph[i].add(j)
        graph[j].add(i)
    return reference.walk(len(model.typicality_), graph)


@every_scene
def test_labels_at_are_components_computed_from_scratch(name):
    model, X = fitted(name), SCENES[name]
    own = model.tree_.row_of[model.tree_.pairs]  # there are ways between peaks beside neighbours
    pairs = np.unique(np.sort(np.vstack([neighbours(X), own]), axis=1), axis=0)
    heights = naive_heights(model, X, pairs)
    for alpha in alphas(model, 25):
        labels = model.tree_.labels_at(alpha)
        assert reference.same_partition(labels, from_scratch(model, pairs, heights, alpha))
        assert model.tree_.n_clusters_at(alpha) == labels.max() + 1
        assert_array_equal(model.labels_at(alpha), labels)


def test_labels_of_neighbours_agree_with_those_of_all_pairs():
    agree = []
    for name, X in SCENES.items():
        model = fitted(name)
        every = AlphaCutClustering(kernel="gaussian", n_neighbors=len(X)).fit(
            X
        )  # all pairs, by step
        for alpha in alphas(model):
            agree.append(reference.same_partition(model.labels_at(alpha), every.labels_at(alpha)))
    assert len(agree) == 500
    assert np.mean(agree) >= 0.9


@pytest.mark.parametrize("name", ["blobs", "moons", "crescents", "dense regions"])
def test_complete_labelling_is_the_rule_of_the_paper(name):
    X = SCENES[name][:120]
    model = AlphaCutClustering(labelling="complete").fit(X)
    for alpha in alphas(model, 12):
        literal = reference.labels(model.kernel_, X, model.typicality_, model.eta_, alpha)
        assert reference.same_partition(model.labels_at(alpha), literal)


@every_scene
def test_clusters_are_nested_and_numbered_by_size(name):
    model = fitted(name)
    above = model.labels_at(1.0)
    assert (above == -1).all()
    for alpha in alphas(model)[::-1]:
        labels = model.labels_at(alpha)
        inside = above >= 0
        assert (labels[inside] >= 0).all()
        joined = {(i, j) for i, j in zip(above[inside], labels[inside], strict=True)}
        assert len(joined) == len(np.unique(above[inside]))  # nothing falls apart further down
        sizes = np.bincount(labels[labels >= 0])
        assert (np.diff(sizes) <= 0).all()
        above = labels


@every_scene
def test_branches_are_clusters_between_their_ends(name):
    model = fitted(name)
    table = model.tree_.to_pandas()
    assert table.parent[0] == -1
    assert table["size"][0] == len(model.labels_)
    assert_allclose(table.peak_alpha, model.typicality_[table.peak])
    assert (table.merge_alpha < table.peak_alpha).all()
    assert (np.diff(table.persistence) <= 0).all()
    large = model.tree_.to_pandas(min_cluster_size=5)
    assert large.equals(table[table["size"] >= 5].reset_index(drop=True))
    for branch in table[1:].itertuples():
        labels = model.labels_at(branch.merge_alpha)
        own = labels == labels[branch.peak]
        assert own.sum() == branch.size
        assert model.typicality_[own].max() == branch.peak_alpha
        below = model.labels_at(np.nextafter(branch.merge_alpha, 0))
        assert below[branch.peak] == below[branch.parent]
