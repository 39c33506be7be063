"""Clusters as connected regions: labels, prediction, weights, errors and warnings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from instances import CUTTERS
from typicality import AlphaCutClustering, OneClusterPCM
from typicality.datasets import make_discs_banana_ring
from typicality.exceptions import (
    ClusteringWarning,
    DegenerateSpreadWarning,
    EmptyClustersWarning,
    FragmentedClustersWarning,
)
from typicality.kernels import Cauchy, Gaussian, Linear

every_cutter = pytest.mark.parametrize("cutter", CUTTERS, ids=str)
quiet = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


@pytest.fixture
def with_outliers(blobs):
    """Three blobs and three rows far from everything."""
    X, y = blobs
    far = [[20.0, 20.0], [-15.0, 3.0], [3.0, -14.0]]
    return np.vstack([X, far]), np.append(y, [-1, -1, -1])


def test_finds_the_blobs_and_leaves_the_outliers(with_outliers):
    X, y = with_outliers
    model = AlphaCutClustering().fit(X)
    assert model.n_clusters_ == 3
    assert_array_equal(model.labels_[-3:], [-1, -1, -1])
    inside = model.labels_ >= 0
    assert inside.mean() > 0.8
    assert adjusted_rand_score(y[inside], model.labels_[inside]) == 1.0
    filled = AlphaCutClustering(assign="all").fit(X)
    assert (filled.labels_ >= 0).all()
    assert adjusted_rand_score(y[:-3], filled.labels_[:-3]) == 1.0
    assert_array_equal(filled.labels_[inside], model.labels_[inside])


def test_the_density_is_that_of_one_cluster_pcm(blobs):
    X, _ = blobs
    model = AlphaCutClustering(sigma=0.6, eta_scale=0.7).fit(X)
    detector = OneClusterPCM(sigma=0.6, eta_scale=0.7).fit(X)
    assert_allclose(model.typicality_, detector.typicality_, rtol=1e-10)
    assert_allclose(model.weights_, detector.weights_, rtol=1e-10)
    assert model.eta_ == pytest.approx(detector.eta_, rel=1e-12)
    assert model.n_iter_ == detector.n_iter_
    new = X + 0.3
    assert_allclose(model.predict_typicality(new), detector.predict_typicality(new), rtol=1e-10)


def test_selected_clusters_have_levels_of_their_own(with_outliers):
    model = AlphaCutClustering(kernel="gaussian", assign="core").fit(with_outliers[0])
    assert model.alpha_.shape == (model.n_clusters_,)
    for cluster, alpha in enumerate(model.alpha_):
        own = model.labels_ == cluster
        assert model.typicality_[own].min() > alpha
        at_alpha = model.labels_at(alpha)
        assert len(np.unique(at_alpha[own])) == 1  # a component of the cut at its level
        assert_array_equal(at_alpha == at_alpha[own][0], own)


def test_predictions_fill_the_region_above_the_cut(blobs):
    X, _ = blobs
    level = np.quantile(AlphaCutClustering(kernel="gaussian").fit(X).typicality_, 0.05)
    model = AlphaCutClustering(alpha=level).fit(X)
    x, y = np.meshgrid(np.linspace(-3, 9, 60), np.linspace(-3, 9, 60))
    grid = np.column_stack([x.ravel(), y.ravel()])
    inside = model.predict_typicality(grid) > model.alpha_
    labels = model.predict(grid)
    assert not (labels[~inside] >= 0).any()
    assert np.mean(labels[inside] >= 0) > 0.99
    nearest = model.labels_[np.argmin(((grid[:, None] - X) ** 2).sum(axis=2), axis=1)]
    agree = labels == nearest
    assert agree[(labels >= 0) & (nearest >= 0)].mean() > 0.99


def test_rows_of_weight_zero_only_get_a_label(blobs, rng):
    X, _ = blobs
    extra = np.vstack([rng.uniform(-2, 8, size=(40, 2)), X[:5], [[50.0, 50.0]]])
    rows = np.vstack([extra, X])
    weight = np.r_[np.zeros(len(extra)), np.ones(len(X))]
    model, alone = AlphaCutClustering(), AlphaCutClustering()
    model.fit(rows, sample_weight=weight)
    alone.fit(X)
    assert_array_equal(model.labels_[len(extra) :], alone.labels_)
    assert_array_equal(model.labels_[: len(extra)], alone.predict(extra))
    assert_array_equal(model.typicality_[: len(extra)], alone.predict_typicality(extra))
    assert_array_equal(model.weights_[: len(extra)], 0.0)
    cut = AlphaCutClustering(kernel="local", alpha=0.36).fit(X)
    assert_array_equal(model.labels_at(0.36), np.r_[cut.predict(extra), alone.labels_at(0.36)])


@pytest.mark.parametrize("d", [1, 3, 12])
def test_alpha_cut_finds_clusters_in_other_dimensions(d):
    X, y = make_blobs(300, n_features=d, centers=[[0.0] * d, [9.0] * d], random_state=0)
    model = AlphaCutClustering(assign="all").fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore:The scales of the features")
def test_far_islands_hang_together_at_the_bottom():
    X = make_blobs(400, centers=[[0, 0], [1e6, 0], [0, 1e8]], random_state=0)[0]
    model = AlphaCutClustering().fit(X)
    assert model.n_clusters_ == 3
    assert len(model.tree_.pairs) == len(X) - 1
    wide = AlphaCutClustering(sigma=1e8, alpha=0.0).fit(X)
    assert wide.n_clusters_ == 1


# ---- the automatic choice ------------------------------------------------------------------------


@quiet
def test_two_gaussians_near_each_other_are_two_clusters():
    right = []
    for seed in range(5):
        X, y = make_blobs(2000, centers=[[0, 0], [3.5, 0]], random_state=seed)
        model = AlphaCutClustering(assign="all").fit(X)
        assert model.evidence_ >= 1.5
        right.append(model.n_clusters_ == 2 and adjusted_rand_score(y, model.labels_) > 0.7)
    assert right.count(True) >= 4  # the vote may take another split than the clearest


NULLS = {
    "gaussian": lambda rng: rng.normal(size=(1000, 2)),
    "five dimensions": lambda rng: rng.normal(size=(500, 5)),
    "square": lambda rng: rng.uniform(size=(1000, 2)),
    "heavy tails": lambda rng: rng.standard_t(3, size=(1000, 2)),
}


@quiet
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", NULLS)
def test_a_single_cluster_stays_whole(name, seed):
    X = NULLS[name](np.random.default_rng(seed))
    model = AlphaCutClustering().fit(X)
    assert model.n_clusters_ == 1
    assert model.evidence_ < 1.0
    assert np.mean(model.labels_ == -1) < 0.15


@pytest.mark.parametrize("seed", range(2))
def test_noise_around_clusters_belongs_nowhere(seed):
    rng = np.random.default_rng(seed)
    centers = [[0, 0], [12, 0], [0, 12], [12, 12]]
    X, y = make_blobs(800, centers=centers, cluster_std=0.7, random_state=seed)
    noise = rng.uniform(-6, 18, size=(200, 2))
    model = AlphaCutClustering().fit(np.concatenate([X, noise]))
    inside, outside = model.labels_[:800], model.labels_[800:]
    assert model.n_clusters_ == 4
    assert np.mean(outside == -1) >= 0.5
    assert np.mean(inside == -1) <= 0.05
    assert adjusted_rand_score(y[inside >= 0], inside[inside >= 0]) > 0.99


def test_evidence_and_agreement_are_of_the_automatic_choice(blobs):
    for options in ({}, {"kernel": "gaussian"}, {"sigma": 0.5}):
        automatic = AlphaCutClustering(**options).fit(blobs[0])
        assert automatic.evidence_ > 1.0
        assert 0.0 < automatic.agreement_ <= 1.0
    at_a_level = AlphaCutClustering(alpha=0.35).fit(blobs[0])
    assert (at_a_level.evidence_, at_a_level.agreement_) == (None, None)


@quiet
@pytest.mark.parametrize(
    ("kernel", "assign", "sample"),
    [
        ("auto", "auto", 900_000),
        ("auto", "typical", 700),
        ("auto", "all", 700),
        ("gaussian", "typical", 900_000),
        ("laplacian", "core", 900_000),
        ("dissimilarities", "all", 900_000),
        ("dissimilarities", "core", 700),
    ],
)
def test_predictions_of_training_rows_are_their_labels(kernel, assign, sample, rng, monkeypatch):
    monkeypatch.setattr("typicality.levelsets.choice._WORK", sample)
    X = rng.normal([[1.0, 0.3]], 0.1, size=(150, 2)) * rng.choice([-1, 1], (150, 1))
    X = {"dissimilarities": cdist(X, X)}.get(kernel, X)
    model = AlphaCutClustering(kernel=kernel, assign=assign).fit(X)
    assert model.tree_.n_nodes <= {"gaussian": 150, "laplacian": 150}.get(kernel, sample / 6)
    assert model.n_clusters_ == 2
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict_memberships(X), model.memberships_)
    assert_array_equal(model.predict_typicality(X), model.typicality_)


@quiet
def test_a_sample_gives_the_clusters_of_all_rows(monkeypatch):
    X, y = make_blobs(2000, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    monkeypatch.setattr("typicality.levelsets.choice._MOST_ROWS", 300)
    model = AlphaCutClustering().fit(X)
    assert model.tree_.n_nodes == 300
    assert "a sample of 300 rows" in model.sums_
    assert np.mean(model.labels_ == -1) < 0.15
    inside = model.labels_ >= 0
    assert adjusted_rand_score(y[inside], model.labels_[inside]) == 1.0
    assert_array_equal(model.predict(X), model.labels_)
    assert model.weights_.sum() == pytest.approx(1.0)


@quiet
@pytest.mark.parametrize("sample", [900_000, 300])
def test_copies_are_weights_to_the_label(sample, rng, monkeypatch):
    monkeypatch.setattr("typicality.levelsets.choice._WORK", sample)
    X = np.concatenate([rng.normal(c, 1.0, (50, 2)) for c in (0, 9, 18)])
    weight = rng.integers(0, 5, 150)
    order = rng.permutation(weight.sum())
    weighted = AlphaCutClustering().fit(X, sample_weight=weight)
    copies = AlphaCutClustering().fit(np.repeat(X, weight, axis=0)[order])
    of_copies = np.repeat(np.arange(150), weight)[order]
    assert weighted.n_clusters_ == 3
    assert_array_equal(copies.labels_, weighted.labels_[of_copies])
    assert_array_equal(copies.memberships_, weighted.memberships_[of_copies])
    assert copies.evidence_ == weighted.evidence_


# ---- memberships and medoids ---------------------------------------------------------------------


def best_ways(model):
    """The lowest height on the best way between every two nodes, by Floyd and Warshall."""
    tree = model.tree_
    way = np.full((tree.n_nodes, tree.n_nodes), -np.inf)
    way[tree.pairs[:, 0], tree.pairs[:, 1]] = way[tree.pairs[:, 1], tree.pairs[:, 0]] = tree.saddles
    np.fill_diagonal(way, tree.heights)
    for k in range(tree.n_nodes):
        way = np.maximum(way, np.minimum(way[:, [k]], way[[k]]))
    return way


@quiet
@every_cutter
def test_memberships_are_the_best_ways_to_the_peaks(cutter, with_outliers):
    X, _ = with_outliers
    model = clone(cutter).fit(X)
    tree, node_labels, way = model.tree_, model._cut.node_labels, best_ways(model)
    expected = np.empty((len(X), model.n_clusters_))
    for k in range(model.n_clusters_):
        own = np.flatnonzero(node_labels == k)
        peak = own[tree.heights[own].argmax()]
        expected[:, k] = way[peak][tree.node_of] / tree.heights.max()
    assert_array_equal(model.memberships_, expected)
    assert_array_equal(model.predict_memberships(X), expected)
    assert (expected >= 0).all()
    assert expected.max() == 1.0


@quiet
def test_rows_of_clusters_that_overlap_are_no_noise_but_rows_of_background_are():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [3.6, 0]])
    pair = np.vstack([rng.normal(centre, 1, (400, 2)) for centre in centres])
    model = AlphaCutClustering().fit(pair)
    assert model.n_clusters_ == 2
    assert np.mean(model.labels_ < 0) < 0.03
    pair[400:, 0] += 5
    background = rng.uniform([-8, -8], [17, 8], (150, 2))
    noise = AlphaCutClustering().fit(np.vstack([pair, background])).labels_[800:] < 0
    assert noise.mean() > 0.5


def test_background_as_dense_as_the_borders_of_clusters_is_in_no_cluster():
    X, truth = make_discs_banana_ring(random_state=0)
    outside = AlphaCutClustering().fit(X).labels_ < 0
    assert not outside[truth >= 0].any()
    assert np.count_nonzero(outside[truth < 0]) >= 8


@pytest.mark.parametrize("assign", ["core", "typical", "all"])
def test_the_label_has_the_largest_membership(assign, with_outliers, rng):
    X, _ = with_outliers
    model = AlphaCutClustering(assign=assign).fit(X)
    new = rng.uniform(-3, 9, size=(200, 2))
    for rows in (X, new):
        labels, memberships = model.predict(rows), model.predict_memberships(rows)
        inside = np.flatnonzero(labels >= 0)
        own = memberships[inside, labels[inside]]
        assert_array_equal(own, memberships[inside].max(axis=1))
    assert model.predict_memberships([[1e6, 1e6]]).max() < 1e-3  # no more than its own height


@quiet
@every_cutter
def test_medoids_are_rows_nearest_to_the_others(cutter, with_outliers):
    X, _ = with_outliers
    model = clone(cutter).fit(X)
    assert_array_equal(model.medoids_, X[model.medoid_indices_])
    for k, medoid in enumerate(model.medoid_indices_):
        own = np.flatnonzero(model.labels_ == k)
        assert medoid == own[cdist(X[own], X[own]).sum(axis=1).argmin()]


# ---- a matrix of distances -----------------------------------------------------------------------


def test_distances_give_the_labels_of_coordinates(with_outliers):
    X, _ = with_outliers
    model = AlphaCutClustering().fit(X)
    given = AlphaCutClustering(kernel="dissimilarities").fit(cdist(X, X))
    assert_array_equal(given.labels_, model.labels_)
    assert_allclose(given.typicality_, model.typicality_, rtol=1e-9)
    assert_allclose(given.memberships_, model.memberships_, rtol=1e-6)
    new = X[:20] + 0.05
    assert_array_equal(given.predict(cdist(new, X)), model.predict(new))
    assert given.kernel_ == "local"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "dissimilarities", "weights": "typicality"}, "weights='typicality' needs"),
        ({"kernel": "local", "labelling": "complete"}, "labelling='complete' needs"),
        ({"at_least": 2, "kernel": "local", "alpha": 0.3}, "at_least=2 works only"),
        ({"at_least": 2, "alpha": "valley"}, "at_least=2 works only"),
        ({"n_clusters": 2, "alpha": "valley"}, "n_clusters=2 works only"),
        ({"n_clusters": 3, "at_least": 2}, "at_least=2 has no effect with n_clusters=3"),
    ],
    ids=str,
)
def test_alpha_cut_refuses_parameters_that_do_not_fit_together(parameters, message, blobs):
    with pytest.raises(ValueError, match=message):
        AlphaCutClustering(**parameters).fit(cdist(blobs[0], blobs[0]))


# ---- few rows, strange rows ----------------------------------------------------------------------


@quiet
@pytest.mark.parametrize(
    ("n_rows", "n_features"), [(1, 2), (2, 1), (3, 50), (4, 2), (6, 1), (11, 2), (19, 50)]
)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.DegenerateSpreadWarning")
def test_alpha_cut_answers_for_few_rows(n_rows, n_features, rng):
    X = rng.normal(size=(n_rows, n_features))
    for options in ({"at_least": 1}, {"at_least": 2}, {"n_clusters": 2}, {"n_clusters": 4}):
        model = AlphaCutClustering(**options).fit(X)
        assert model.n_clusters_ == min(*options.values(), n_rows)
        assert_array_equal(model.predict(X), model.labels_)
        assert np.isfinite(model.typicality_).all()
        assert np.isfinite(model.memberships_).all()


STRANGE = {
    "grid": np.array([[i, j] for i in range(12) for j in range(12)], float),
    "line": np.linspace(0, 1, 60)[:, None] * [1.0, 2.0, 3.0],
    "two places": np.repeat([[0.0], [1.0]], [30, 9], axis=0),
    "integers": np.random.default_rng(0).integers(0, 4, (200, 2)).astype(float),
    "powers": 2.0 ** np.arange(-30, 30)[:, None],
    "heavy tails": np.random.default_rng(0).standard_cauchy((80, 2)) ** 3,
    "far from zero": np.random.default_rng(0).normal(size=(80, 2)) + 1e12,
    "one column apart": np.column_stack([np.arange(40) % 2 * 1e9, np.arange(40.0)]),
}


@quiet
@pytest.mark.filterwarnings("ignore::typicality.exceptions.FeatureWarning")
@pytest.mark.parametrize(
    ("name", "scale"),
    [*zip(STRANGE, [1.0, 1e120, 1e-120] * 3, strict=False), ("powers", 1e120), ("grid", 1e-120)],
)
def test_alpha_cut_answers_for_strange_rows(name, scale, rng):
    X = scale * STRANGE[name]
    order = rng.permutation(len(X))
    for options in ({}, {"at_least": 3}, {"kernel": "local", "alpha": 0.3}):
        model = AlphaCutClustering(**options).fit(X)
        assert_array_equal(model.predict(X), model.labels_)
        assert_array_equal(
            AlphaCutClustering(**options).fit(X[order]).labels_, model.labels_[order]
        )
        assert np.isfinite(model.typicality_).all()
        assert (model.memberships_ >= 0).all()
        assert (model.memberships_ <= 1).all()


def test_tiny_differences_beside_large_ones_stay(rng):
    """Rows a hair apart near zero are two clusters beside one far away."""
    tiny = np.concatenate([rng.normal(c, 1e-22, (30, 1)) for c in (1e-20, 2e-20)])
    X = np.concatenate([tiny, rng.normal(1.0, 0.01, (130, 1))])
    model = AlphaCutClustering(assign="all").fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], [30, 30, 130]), model.labels_) == 1.0


# ---- errors and warnings -------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "precomputed", Linear(), np.dot], ids=str)
def test_kernels_without_a_density_are_refused(kernel, blobs):
    with pytest.raises(ValueError, match="not a function of a distance"):
        AlphaCutClustering(kernel=kernel).fit(blobs[0])


@pytest.mark.parametrize("alpha", [-0.1, 1.5, "auto", None, True, np.nan, np.ones(2)])
def test_alpha_cut_refuses_levels_that_are_none(alpha, blobs):
    model = AlphaCutClustering().fit(blobs[0])
    for ask in (model.labels_at, model.tree_.labels_at, model.tree_.n_clusters_at):
        with pytest.raises(ValueError, match="alpha must be a number from 0 to 1"):
            ask(alpha)


@pytest.mark.parametrize("kernel", ["gaussian", "local"])
def test_alpha_cut_warns_of_levels_above_and_below_all_rows(kernel, blobs):
    with pytest.warns(EmptyClustersWarning, match=r"alpha=0\.9"):
        model = AlphaCutClustering(kernel=kernel, alpha=0.9, assign="all").fit(blobs[0])
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()
    assert (model.predict(blobs[0]) == -1).all()
    with pytest.warns(ClusteringWarning, match=r"alpha=0\.1 is below"):
        assert AlphaCutClustering(kernel=kernel, alpha=0.1).fit(blobs[0]).n_clusters_ == 1


def test_alpha_cut_warns_of_fragments(rng):
    with pytest.warns(FragmentedClustersWarning, match="single rows"):
        AlphaCutClustering(alpha=0.3659, sigma=0.02).fit(rng.uniform(size=(200, 2)))


def test_alpha_cut_warns_of_typicalities_without_a_valley(rng):
    with pytest.warns(ClusteringWarning, match="no clear valley"):
        AlphaCutClustering(alpha="valley", sigma=0.1, min_cluster_size=5).fit(
            rng.normal(size=(300, 2))
        )


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 5], ids=["one row", "equal rows"])
def test_alpha_cut_warns_of_rows_that_are_all_one(X):
    with pytest.warns(DegenerateSpreadWarning, match="all rows of positive weight are one point"):
        model = AlphaCutClustering().fit(X)
    assert model.n_clusters_ == 1
    assert_array_equal(model.labels_, 0)
    assert_array_equal(model.predict(X), 0)


def test_a_subclass_with_another_profile_is_not_taken_for_its_parent(blobs):
    class Heavy(Gaussian):
        def log_profile(self, distance, out=None):
            return np.negative(np.log1p(distance / self.sigma**2, out=out), out=out)

    model = AlphaCutClustering(kernel=Heavy(0.5)).fit(blobs[0])
    cauchy = AlphaCutClustering(kernel=Cauchy(0.5)).fit(blobs[0])
    assert_allclose(model.typicality_, cauchy.typicality_, rtol=1e-10)
    assert_array_equal(model.labels_, cauchy.labels_)


def test_more_clusters_than_rows_cannot_be_had():
    with pytest.warns(
        ClusteringWarning, match=r"3 clusters were found, fewer than at_least=5: .* too few"
    ):
        AlphaCutClustering(at_least=5).fit([[0.0], [1.0], [2.0], [2.0]])
    with pytest.warns(ClusteringWarning, match=r"3 clusters were found, fewer than n_clusters=4"):
        AlphaCutClustering(n_clusters=4).fit([[0.0], [1.0], [2.0], [2.0]])


@pytest.mark.parametrize("kernel", ["local", "gaussian"])
def test_alpha_cut_finds_as_many_clusters_as_it_is_told(kernel, blobs):
    X, y = blobs
    told = {k: AlphaCutClustering(n_clusters=k, kernel=kernel, assign="all") for k in range(1, 8)}
    labels = {k: model.fit_predict(X) for k, model in told.items()}
    assert all(len(np.unique(labels[k])) == k == told[k].n_clusters_ for k in told)
    assert adjusted_rand_score(y, labels[3]) > 0.95
    pairs = np.unique(np.column_stack([y, labels[2]]), axis=0)
    assert len(pairs) == 3  # two of the three groups are one


def test_alpha_cut_warns_of_evidence_near_the_bar(monkeypatch, blobs):
    def evidence_is(value):
        monkeypatch.setattr("typicality.levelsets.choice.evidence_of", lambda *_: value)
        return AlphaCutClustering().fit(blobs[0])

    with pytest.warns(ClusteringWarning, match=r"look like one cluster.*evidence_=0\.90"):
        assert evidence_is(0.9).n_clusters_ == 1
    with pytest.warns(ClusteringWarning, match=r"3 clusters were found, but.*evidence_=1\.05"):
        assert evidence_is(1.05).n_clusters_ == 3
    assert evidence_is(0.5).n_clusters_ == 1  # and no warning
    assert evidence_is(2.0).n_clusters_ == 3


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_labels_do_not_depend_on_the_directions_of_the_axes(seed):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-6, 6, (5, 2))
    X = centers[rng.integers(5, size=400)] + rng.normal(size=(400, 2))
    turn = np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
    assert_array_equal(
        AlphaCutClustering().fit_predict(X @ turn), AlphaCutClustering().fit(X).labels_
    )
