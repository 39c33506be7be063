"""What every estimator promises."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from instances import ESTIMATORS
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality.exceptions import ClusteringWarning
from typicality.spaces import Ellipsoidal

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


@every_estimator
def test_finds_the_blobs(estimator, blobs):
    X, truth = blobs
    model = clone(estimator).set_params(n_clusters=3, random_state=0, n_init=3).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.n_clusters_ == 3
    assert model.status_ == "converged"
    assert model.n_iter_ == len(model.objective_path_) >= 1


@every_estimator
def test_centers_and_memberships_are_indexed_by_label(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_params(random_state=0, store_memberships=True).fit(X)
    own = model.memberships_[np.arange(len(X)), model.labels_]
    assert_allclose(own, model.memberships_.max(axis=1), rtol=0.06)
    assert_array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))


@pytest.mark.filterwarnings("ignore::typicality.exceptions.EmptyClustersWarning")
def test_rows_of_weight_zero_take_part_in_nothing_but_labels():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [49.0]])
    start = [[0.0], [50.0], [1.0]]
    model = EntropyCMeans(3, lam=1e3, init=start)
    aside = model.fit(X, sample_weight=[1, 1, 1, 1, 0])
    assert aside.labels_.tolist() == [0, 0, 1, 1, 2]
    assert aside.n_clusters_ == 2
    assert model.fit(X[:4]).labels_.tolist() == [0, 0, 1, 1]


@every_estimator
def test_memberships_can_be_left_out(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_params(random_state=0, store_memberships=True).fit(X)
    model.set_params(store_memberships=False).fit(X)
    assert not hasattr(model, "memberships_")
    assert model.predict_memberships(X[:5]).shape == (5, len(model.cluster_centers_))


def test_start_from_prototypes_memberships_or_a_callable(blobs):
    X, truth = blobs
    centers = np.array([[5.0, 1.0], [0.0, 5.0], [1.0, 1.0]])
    by_array = FuzzyCMeans(3, init=centers).fit(X)
    by_list = FuzzyCMeans(3, init=centers.tolist()).fit(X)
    by_callable = FuzzyCMeans(3, init=lambda X, k, random_state: centers).fit(X)
    by_memberships = FuzzyCMeans(3, init=np.eye(3)[(truth + 2) % 3]).fit(X)
    for model in (by_array, by_list, by_callable, by_memberships):
        assert_allclose(model.cluster_centers_, by_array.cluster_centers_, atol=1e-3)


def test_a_thousand_clusters_in_many_dimensions_need_little_memory(rng):
    import tracemalloc

    X = rng.normal(size=(1500, 200))
    model = FuzzyCMeans(1000, m=1.1, max_iter=1, tol=0, init="random", random_state=0)
    model.set_params(store_memberships=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        model.fit(X)
        tracemalloc.start()
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 40 * X.nbytes


@pytest.mark.parametrize("m", [5.0, 15.0, 50.0])
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_large_m_leaves_a_start_on_the_rows(blobs, m):
    """A row on a prototype holds it fast; named starts keep off the rows."""
    X, _ = blobs
    model = FuzzyCMeans(3, m=m, random_state=0, max_iter=1000).fit(X)
    elsewhere = FuzzyCMeans(3, m=m, init=[[1.0, 1.1], [5.2, 0.3], [0.4, 5.1]], max_iter=1000).fit(X)
    assert model.n_iter_ > 3
    assert_allclose(model.objective_, elsewhere.objective_, rtol=1e-4)


def test_hard_limit_is_kmeans(blobs):
    from sklearn.cluster import KMeans

    X, _ = blobs
    start = X[[0, 60, 120]]
    hard = KMeans(3, init=start, n_init=1, tol=0).fit(X)
    for soft in (FuzzyCMeans(3, m=1.01, init=start), EntropyCMeans(3, lam=1e3, init=start)):
        assert_allclose(soft.fit(X).cluster_centers_, hard.cluster_centers_, atol=1e-4)


def test_automatic_lam_is_the_variance_of_the_hard_clusters(blobs):
    X, truth = blobs
    model = EntropyCMeans(3, random_state=0).fit(X)
    within = np.mean(
        [np.sum((x - X[truth == t].mean(axis=0)) ** 2) for x, t in zip(X, truth, strict=True)]
    )
    assert_allclose(model.lam_, 2 / (2 * within), rtol=1e-6)
    assert EntropyCMeans(3, lam=5.0, random_state=0).fit(X).lam_ == 5.0


def test_spreads_are_the_widest_that_keep_possibilistic_clusters_apart():
    """Neighbouring clusters in ten dimensions: with one constant factor, prototypes meet."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), 80)
    X = 3.0 * np.eye(10)[truth] + rng.normal(size=(240, 10))
    with pytest.warns(ClusteringWarning):
        assert PossibilisticCMeans(3, eta_scale=1, random_state=0).fit(X).n_clusters_ < 3
    model = PossibilisticCMeans(3, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(truth, model.labels_) > 0.8
    scale = model.eta_scale_
    assert np.log2(scale) == round(np.log2(scale)) < 0
    assert np.ptp(model.eta_) == 0  # one spread for all
    start = FuzzyCMeans(3, random_state=0).fit(X).cluster_centers_
    wider = PossibilisticCMeans(3, eta=2 * model.eta_, init=start)
    with pytest.warns(ClusteringWarning):
        assert wider.fit(X).n_clusters_ < 3


@pytest.mark.parametrize(("objective", "m", "eta_scale"), [("1996", 2.0, 0.5), ("1993", 3.2, 1.0)])
def test_spreads_come_from_a_fuzzy_partition_with_a_fuzzifier_of_its_own(
    blobs, objective, m, eta_scale
):
    X, _ = blobs
    given = {"objective": objective, "m": m, "fcm_m": 2.0, "eta_scale": eta_scale}
    model = PossibilisticCMeans(3, random_state=0, **given).fit(X)
    fuzzy = FuzzyCMeans(3, m=2.0, random_state=0).fit(X)
    w = fuzzy.memberships_**2
    spread = (w * fuzzy._prototypes.sqdist(X)).sum(axis=0) / w.sum(axis=0)
    assert model.m_ == m
    assert_allclose(np.sort(model.eta_), np.sort(eta_scale * spread), rtol=1e-3)


def sheared(rng, n_rows=150):
    """Two long clusters side by side, which round clusters cut across."""
    rows = rng.normal(size=(2 * n_rows, 2)) * [4.0, 0.5]
    truth = np.repeat([0, 1], n_rows)
    rows[:, 1] += 4.0 * truth
    return rows @ np.array([[1.0, 1.0], [0.0, 1.0]]), truth


def test_ellipsoids_are_the_iteration_of_gustafson_and_kessel(rng):
    X, _ = sheared(rng)
    model = FuzzyCMeans(
        2, m=2, covariance_type="full", shrinkage=0.0, random_state=0, tol=1e-9
    ).fit(X)
    u = model.memberships_
    for _ in range(50):
        w = u**2
        V = w.T @ X / w.sum(axis=0)[:, None]
        F = [(w[:, [k]] * (X - V[k])).T @ (X - V[k]) / w[:, k].sum() for k in range(2)]
        A = [np.sqrt(np.linalg.det(f)) * np.linalg.inv(f) for f in F]
        d = np.stack([((X - V[k]) @ A[k] * (X - V[k])).sum(axis=1) for k in range(2)], axis=1)
        u = (1 / d) / (1 / d).sum(axis=1, keepdims=True)
    assert_allclose(model.cluster_centers_, V, atol=1e-6)
    assert_allclose(model.covariances_, F, atol=1e-5)
    assert_allclose(model.memberships_, u, atol=1e-6)


@pytest.mark.parametrize("kind", [FuzzyCMeans, PossibilisticCMeans])
def test_ellipsoids_find_long_clusters(rng, kind):
    X, truth = sheared(rng)
    by_shape = {
        shape: kind(2, covariance_type=shape, random_state=0).fit(X).labels_
        for shape in ("spherical", "full")
    }
    assert adjusted_rand_score(truth, by_shape["spherical"]) < 0.3
    assert adjusted_rand_score(truth, by_shape["full"]) > 0.95


def test_shrinkage_keeps_ellipsoids_of_few_rows_from_becoming_needles():
    """Gustafson-Kessel without shrinkage loses on Wine: 13 columns, 60 rows in a cluster."""
    wine = load_wine()
    X = StandardScaler().fit_transform(wine.data)
    agreement = {
        shrinkage: adjusted_rand_score(
            wine.target,
            FuzzyCMeans(3, covariance_type="full", shrinkage=shrinkage, random_state=0).fit_predict(
                X
            ),
        )
        for shrinkage in (0.0, "auto")
    }
    assert agreement[0.0] < 0.78
    assert agreement["auto"] > 0.8
    flat = X[:10]  # fewer rows than columns
    model = FuzzyCMeans(2, covariance_type="full", random_state=0).fit(flat)
    assert np.isfinite(model.memberships_).all()
    assert (np.linalg.eigvalsh(model.covariances_) > 0).all()


def test_automatic_shrinkage_goes_by_the_effective_number_of_rows(rng):
    X, omega, w = rng.normal(size=(40, 3)), rng.integers(1, 4, 40), rng.random((40, 2))
    found = Ellipsoidal(X, omega.astype(float)).prototypes(w).covariances
    for k in range(2):
        own = omega * w[:, k]
        share = 4 / (4 + own.sum() ** 2 / (omega @ w[:, k] ** 2))
        full = np.cov(X.T, aweights=own, bias=True)
        ball = np.linalg.det(full) ** (1 / 3) * np.eye(3)
        assert_allclose(found[k], (1 - share) * full + share * ball, rtol=1e-10, atol=1e-12)


def test_ellipsoids_need_coordinates(blobs):
    with pytest.raises(ValueError, match="covariance_type"):
        FuzzyCMeans(3, covariance_type="full", kernel="gaussian").fit(blobs[0])


def test_noise_clustering_is_the_iteration_of_dave(blobs):
    X, truth = blobs
    noise = np.random.default_rng(3).uniform(-8, 14, (30, 2))
    X, n = np.vstack([X, noise]), len(X)
    model = FuzzyCMeans(3, m=2, noise_distance=2.5, random_state=0, tol=1e-8).fit(X)
    V = np.array([X[:n][truth == t].mean(axis=0) for t in range(3)])
    for _ in range(200):
        pull = 1 / ((X[:, None] - V) ** 2).sum(axis=2)
        u = pull / (1 / 2.5**2 + pull.sum(axis=1, keepdims=True))
        V = (u**2).T @ X / (u**2).sum(axis=0)[:, None]
    order = np.lexsort(V.T), np.lexsort(model.cluster_centers_.T)
    assert_allclose(model.cluster_centers_[order[1]], V[order[0]], rtol=1e-6)
    assert_allclose(np.sort(model.memberships_), np.sort(u), rtol=1e-5, atol=1e-9)
    nearest = np.sqrt(((X[:, None] - V) ** 2).sum(axis=2)).min(axis=1)
    assert_array_equal(model.labels_ == -1, nearest > 2.5)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_automatic_noise_distance_leaves_clusters_whole_and_noise_out(blobs, kernel):
    X, _ = blobs
    noise = np.random.default_rng(3).uniform(-30, 36, (40, 2))
    noise = noise[((noise[:, None] - X) ** 2).sum(axis=2).min(axis=1) > 4]
    both = np.vstack([X, noise])
    model = FuzzyCMeans(3, noise_distance="auto", kernel=kernel, random_state=0).fit(both)
    assert (model.labels_[: len(X)] == -1).mean() < 0.02
    assert (model.labels_[len(X) :] == -1).mean() > 0.8
    assert model.noise_distance_ > 0
    assert model.n_clusters_ == 3


def test_too_small_a_noise_distance_is_warned_of(blobs):
    with pytest.warns(ClusteringWarning) as caught:
        FuzzyCMeans(3, noise_distance=0.05, random_state=0).fit(blobs[0])
    assert [warning.message.finding for warning in caught] == ["rows nowhere"]


def test_spreads_follow_their_prototypes(blobs):
    """Coincident prototypes are moved behind; so are their spreads."""
    X, _ = blobs
    start = np.array([[0.0, 0.0], [0.1, 0.1], [6.0, 0.0]])
    with pytest.warns(Warning, match="1 of 3 prototypes coincide"):
        model = PossibilisticCMeans(3, eta=[1.0, 1.0, 2.0], init=start).fit(X)
    assert_allclose(model.eta_, [1.0, 2.0, 1.0])
    assert model.prototype_labels_.tolist() == [0, 1, 0]
    assert model.n_clusters_ == 2
    assert_allclose(model.cluster_centers_[1], [6.0, 0.0], atol=0.3)
    assert_array_equal(model.labels_, model.predict(X))
    assert np.unique(model.labels_).tolist() == [0, 1]


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_estimator_fits_one_cluster_and_as_many_as_rows(n_clusters):
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    model = FuzzyCMeans(n_clusters, random_state=0).fit(X)
    assert model.memberships_.shape == (2, n_clusters)
    assert np.isfinite(model.memberships_).all()


@pytest.mark.parametrize("m", [1.5, 2.0, 3.0])
def test_the_spread_by_variance_is_unsupervised_possibilistic_clustering(m, blobs):
    X, _ = blobs
    start = X[[3, 60, 130]]
    model = PossibilisticCMeans(3, eta="variance", m=m, init=start, tol=1e-12)
    fuzzy = FuzzyCMeans(3, m=m, init=start, tol=1e-12).fit(X)
    model.set_params(init=fuzzy.cluster_centers_).fit(X)
    beta = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    centers = fuzzy.cluster_centers_
    for _ in range(500):
        u = np.exp(-m * np.sqrt(3) * cdist(X, centers, "sqeuclidean") / beta)
        centers = (u**m).T @ X / (u**m).sum(axis=0)[:, None]
    order = cdist(centers, model.cluster_centers_).argmin(axis=1)
    assert_allclose(model.cluster_centers_[order], centers, atol=1e-6)
    assert_allclose(model.memberships_[:, order], u**m, atol=1e-6)
