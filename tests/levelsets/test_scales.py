"""The automatic choice: dimension, evidence, the vote, and clusters that are background."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from typicality.levelsets.choice import (
    _elect,
    adjusted_rand_matrix,
    choose_clusters,
    evidence_of,
    partition_by,
)
from typicality.levelsets.growing import dimensions_by, grow_trees
from typicality.spaces.nearest import NearestRows, neighbours_of


def choose(X, weight=None, **options):
    order = np.random.default_rng(0).permutation(len(X))
    weight = np.ones(len(X)) if weight is None else weight
    return choose_clusters(X, lambda some: NearestRows(X[some]), weight, order, **options)


def tree_of(X, k, *, mutual=True):
    n = len(X)
    trees = grow_trees(X, lambda some: NearestRows(X[some]), np.ones(n), [(np.arange(n), [k])])[0]
    return trees[0 if mutual else 1]


# ---- dimension -----------------------------------------------------------------------------------


def segment(rng):
    return rng.uniform(size=(2000, 1)) @ rng.normal(size=(1, 7))


def circle(rng):
    angle = rng.uniform(0, 2 * np.pi, 2000)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def sheet(rng):
    return rng.uniform(size=(2000, 2)) @ np.linalg.qr(rng.normal(size=(9, 2)))[0].T


def sphere(rng):
    X = rng.normal(size=(2000, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def cube(rng):
    return rng.uniform(size=(2000, 3))


@pytest.mark.parametrize(
    ("manifold", "dimension"), [(segment, 1), (circle, 1), (sheet, 2), (sphere, 2), (cube, 3)]
)
def test_dimension_is_that_of_the_manifold(rng, manifold, dimension):
    X = manifold(rng)
    near = neighbours_of(NearestRows(X), X, 16)
    assert dimensions_by(near, [15])[0] == pytest.approx(dimension, rel=0.12)


# ---- the vote ------------------------------------------------------------------------------------


def test_adjusted_rand_matrix_is_that_of_scikit_learn(rng):
    labels = [rng.integers(0, k, 200) for k in (1, 2, 3, 7, 50)]
    labels += [np.arange(200), np.zeros(200, np.int64), labels[2].copy()]
    found = adjusted_rand_matrix(labels)
    for i, j in product(range(len(labels)), repeat=2):
        assert found[i, j] == pytest.approx(adjusted_rand_score(labels[i], labels[j]), abs=1e-12)


def test_choice_has_high_agreement_and_evidence_when_clusters_are_clear():
    X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    choice = choose(X)
    assert choice.agreement == pytest.approx(1.0, abs=0.1)
    assert adjusted_rand_score(y, choice.partition.labels) == 1.0
    assert choice.evidence > 3.0


@pytest.mark.parametrize(("more_votes", "n_clusters"), [(1, 2), (40, 3)])
def test_elect_prefers_fewer_clusters_when_votes_are_nearly_equal(rng, more_votes, n_clusters):
    one = partition_by(tree_of(rng.normal(size=(100, 2)), 11), np.zeros(99, bool))
    two = one._replace(labels=np.repeat([0, 1], 50), n_clusters=2)
    three = one._replace(labels=np.repeat([0, 1, 2], [50, 25, 25]), n_clusters=3)
    ballots = [(three, 10 + more_votes), (two, 10)]
    chosen, agreement = _elect(ballots, np.arange(100), np.ones(2, bool))
    assert chosen.n_clusters == n_clusters
    same = adjusted_rand_score(two.labels, three.labels)
    votes = {two.n_clusters: 10, three.n_clusters: 10 + more_votes}
    share = votes[n_clusters] / sum(votes.values())
    assert agreement == pytest.approx(share + (1 - share) * same)


# ---- evidence ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimension", "sheet"), [(1.0, 0), (1.6, 0.5), (1.9, 1), (7.0, 1)])
def test_evidence_is_the_contrast_of_mean_heights(dimension, sheet):
    """By hand, from the edges and heights of a tree: the rows above each edge on its sides."""
    X = make_blobs(200, centers=[[0, 0], [5, 0]], random_state=0)[0]
    tree = tree_of(X, 11, mutual=False)
    group = np.arange(200)
    found = [0.0]
    for (one, other), saddle in zip(tree.pairs, tree.saddles, strict=True):
        own = [group == group[end] for end in (one, other)]
        size = min(np.count_nonzero(side) for side in own)
        contrast = min(tree.heights[side].mean() for side in own) - saddle
        as_sheet = np.sqrt(tree.dimension) / 2.7 * (min(size / 200, 0.15) / 0.15) ** 0.25
        as_curve = np.sqrt(dimension) / (4.5 * 0.2**0.08)
        evidence = np.sqrt(11) * contrast * as_sheet**sheet * as_curve ** (1 - sheet)
        found += [evidence] * int(size >= 5)
        group[own[1]] = group[one]
    assert evidence_of(tree, 5.0, dimension) == pytest.approx(max(found))


def test_evidence_ignores_clusters_that_are_too_small(monkeypatch):
    X, y = make_blobs([400, 30], centers=[[0, 0], [12, 0]], random_state=0)
    assert choose(X, min_cluster_size=30).partition.n_clusters == 2
    large = choose(X, min_cluster_size=31)
    assert large.partition.n_clusters == 1
    assert large.evidence < 1.0
    monkeypatch.setattr("typicality.levelsets.choice._MOST_ROWS", 215)  # half of them
    sample = choose(X, min_cluster_size=20).partition
    assert adjusted_rand_score(y[sample.tree.sample.rows], sample.labels) == 1.0


@pytest.mark.parametrize("gap", [4.0, 5.5])
def test_choice_finds_two_clusters_on_a_line(gap):
    found = []
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(800, 1))
        X[:400] += gap
        found.append(choose(X).partition.n_clusters)
    assert found == [2, 2, 2]


@pytest.mark.parametrize("at_least", [1, 3, 40])
def test_choice_has_at_least_the_number_of_clusters_asked_for(rng, at_least):
    choice = choose(rng.normal(size=(200, 2)), at_least=at_least)
    assert choice.partition.n_clusters >= at_least
    assert len(np.unique(choice.partition.labels)) == choice.partition.n_clusters
    assert choice.evidence < 1.0


# ---- clusters and background ---------------------------------------------------------------------

FAR = 20.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0]])


@pytest.mark.parametrize("sizes", [[8] * 4, [15] * 5, [100, 12, 12], [500, 9, 9]], ids=str)
def test_choice_keeps_small_clusters_that_are_far_apart(sizes):
    X, y = make_blobs(sizes, centers=FAR[: len(sizes)], random_state=0)
    assert adjusted_rand_score(y, choose(X).partition.labels) == 1.0
