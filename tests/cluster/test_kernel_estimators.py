"""`kernel=` on the estimators with prototypes."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score

from reference import kernel_space as reference
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality.exceptions import BandwidthWarning, CollapsedMembershipsWarning
from typicality.kernels import Gaussian, Linear, LocalGaussian, Polynomial
from typicality.rows import DistinctRows

pytestmark = pytest.mark.filterwarnings("ignore:.*prototypes coincide")

# One of each family; with a wide kernel, in which possibilistic clusters stay apart.
FAMILIES = [
    FuzzyCMeans(3, m=1.5, random_state=0),
    EntropyCMeans(3, lam=4.0, random_state=0),
    PossibilisticCMeans(3, eta_scale=0.3, random_state=0),
    PossibilisticCMeans(3, objective="1993", m=1.5, random_state=0),
]
every_family = pytest.mark.parametrize("estimator", FAMILIES, ids=str)


@every_family
def test_a_linear_kernel_object_is_the_input_space(estimator, blobs):
    X, _ = blobs
    start = X[[0, 60, 120]]
    named = clone(estimator).set_params(init=start).fit(X)
    given = clone(estimator).set_params(init=start, kernel=Linear()).fit(X)
    assert_array_equal(named.memberships_, given.memberships_)
    assert_array_equal(named.cluster_centers_, given.cluster_centers_)
    as_function = clone(estimator).set_params(init=start, kernel=lambda A, B: A @ B.T, tol=1e-12)
    exact = clone(named).set_params(tol=1e-12).fit(X)
    assert_allclose(as_function.fit(X).memberships_, exact.memberships_, atol=1e-7)


@every_family
def test_precomputed_kernels_give_the_same(estimator, blobs, rng):
    X, _ = blobs
    new = rng.normal(size=(20, 2)) * 4
    start = rng.random((len(X), 3))
    kernel = Polynomial(2)
    model = clone(estimator).set_params(init=start, tol=1e-12)
    plain = clone(model).set_params(kernel=kernel).fit(X)
    given = clone(model).set_params(kernel="precomputed").fit(kernel(X, X))
    assert_allclose(given.memberships_, plain.memberships_, atol=1e-10)
    assert_array_equal(given.labels_, plain.labels_)
    assert_array_equal(given.predict(kernel(X, X)), plain.labels_)
    with pytest.raises(ValueError, match="Row 0 of X is not a training row"):
        given.predict(kernel(new, X))
    kernel = Gaussian(2.0)
    plain = clone(model).set_params(kernel=kernel).fit(X)
    given = clone(model).set_params(kernel="precomputed").fit(kernel(X, X))
    K = kernel(new, X)
    assert_allclose(given.predict_memberships(K), plain.predict_memberships(new), atol=1e-10)
    assert_array_equal(given.predict(K), plain.predict(new))
    assert_allclose(given.score(K), plain.score(new), rtol=1e-9)


@every_family
def test_dissimilarities_give_the_same(estimator, blobs, rng):
    X, _ = blobs
    start = rng.random((len(X), 3))
    model = clone(estimator).set_params(init=start, tol=1e-12)
    plain = clone(model).fit(X)
    given = clone(model).set_params(kernel="dissimilarities")
    given.fit(np.sqrt(Linear().sqdist(X, X)))
    assert_allclose(given.memberships_, plain.memberships_, atol=1e-7)
    new = rng.normal(size=(20, 2)) * 4
    ours = given.predict_memberships(np.sqrt(Linear().sqdist(new, X)))
    assert_allclose(ours, plain.predict_memberships(new), atol=1e-7)


def test_centres_come_and_go_with_the_space(blobs):
    model = FuzzyCMeans(3, random_state=0).fit(blobs[0])
    assert model.cluster_centers_.shape == (3, 2)
    model.set_params(kernel="gaussian", m=1.4).fit(blobs[0])
    assert not hasattr(model, "cluster_centers_")
    assert list(model.get_feature_names_out()) == [f"membership_{k}" for k in range(3)]


def test_starts_given_as_points_and_as_memberships(blobs):
    X, truth = blobs
    kernel = {"kernel": "gaussian", "m": 1.4}
    by_points = FuzzyCMeans(3, init=X[[0, 60, 120]], **kernel).fit(X)
    by_memberships = FuzzyCMeans(3, init=np.eye(3)[truth] + 0.01, **kernel).fit(X)
    by_callable = FuzzyCMeans(3, init=lambda X, c, rng: X[[0, 60, 120]], **kernel).fit(X)
    assert_allclose(by_points.memberships_, by_memberships.memberships_, atol=1e-3)
    assert_array_equal(by_points.memberships_, by_callable.memberships_)
    given = FuzzyCMeans(3, kernel="precomputed", init=X[[0, 60, 120]])
    with pytest.raises(ValueError, match=r"init has shape \(3, 2\)"):
        given.fit(Gaussian(1.0)(X, X))


def test_pairwise_matrices_are_split_by_rows_and_columns(blobs):
    """scikit-learn's pairwise tag: cross validation takes both out of the matrix."""
    X, _ = blobs
    model = FuzzyCMeans(3, m=1.4, kernel="precomputed", random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    scores = cross_val_score(model, Gaussian(4.0)(X[order], X[order]), cv=3)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("estimator", "power", "rule"),
    [
        # miyamoto2003, eq. (15)-(16) and (10)-(11), and filippone2010, eq. (17) and (28),
        # with the memberships after convergence.
        (
            FuzzyCMeans(3, m=1.5, kernel=Gaussian(4.0)),
            1.5,
            lambda D, eta: 1 / np.sum((D[:, :, None] / D[:, None]) ** 2.0, axis=2),
        ),
        (
            EntropyCMeans(3, lam=8.0, kernel=Gaussian(4.0)),
            1.0,
            lambda D, eta: np.exp(-8.0 * D) / np.exp(-8.0 * D).sum(axis=1, keepdims=True),
        ),
        (PossibilisticCMeans(3, kernel=Gaussian(6.0)), 1.0, lambda D, eta: np.exp(-D / eta)),
    ],
    ids=["fuzzy", "entropy", "possibilistic"],
)
def test_new_rows_follow_the_papers(estimator, power, rule, blobs, rng):
    X, _ = blobs
    new, kernel = rng.normal(size=(9, 2)) * 3, estimator.kernel
    model = clone(estimator).set_params(tol=1e-14, random_state=0).fit(X)
    D = reference.sqdist(kernel(X, X), kernel(new, X), np.ones(9), model.memberships_**power)
    expected = rule(D, getattr(model, "eta_", None))
    assert_allclose(model.predict_memberships(new), expected, rtol=1e-7)


# ---- what kernels are for -----------------------------------------------------------------------


def test_rows_of_weight_zero_build_no_path():
    X = np.concatenate([np.arange(0.0, 1.0, 0.1), np.arange(5.0, 6.0, 0.1), [2.0, 3.0, 4.0]])
    weight = np.repeat([1.0, 0.0], [20, 3])
    model = FuzzyCMeans(2, kernel="connectivity", random_state=0)
    model.fit(X[:, None], sample_weight=weight)
    assert_array_equal(model.labels_[:10], model.labels_[0])
    assert_array_equal(model.labels_[10:20], 1 - model.labels_[0])
    without = clone(model).fit(X[:20, None])
    assert_allclose(model.predict_memberships(X[:, None]), without.predict_memberships(X[:, None]))


# ---- suspicious results -------------------------------------------------------------------------


def test_collapse_in_a_kernel_space_names_a_better_m():
    X, truth = make_circles(400, factor=0.3, noise=0.04, random_state=0)
    with pytest.warns(CollapsedMembershipsWarning, match=r"Try m=(1\.\d+)") as record:
        FuzzyCMeans(2, m=2.0, kernel="gaussian", sigma=0.35, random_state=0).fit(X)
    better = float(re.search(r"Try m=(1\.\d+), or a wider", str(record[0].message)).group(1))
    model = FuzzyCMeans(2, m=better, kernel="gaussian", sigma=0.35, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_collapse_in_a_narrow_kernel_asks_for_a_wider_one():
    X, truth = make_circles(400, factor=0.3, noise=0.04, random_state=0)
    with pytest.warns(CollapsedMembershipsWarning, match=r"too narrow for m=1.5"):
        FuzzyCMeans(2, m=1.5, kernel="gaussian", sigma=0.2, random_state=0).fit(X)
    wider = FuzzyCMeans(2, m=1.5, kernel="gaussian", sigma=0.4, random_state=0).fit(X)
    assert adjusted_rand_score(truth, wider.labels_) == 1.0


def test_kernel_fit_warns_of_widths_that_say_nothing(rng):
    X = rng.normal(size=(60, 2))
    with pytest.warns(BandwidthWarning, match="too wide"):
        FuzzyCMeans(2, kernel="gaussian", sigma=1e3, random_state=0).fit(X)
    with pytest.warns(BandwidthWarning, match="too narrow.*sigma"):
        FuzzyCMeans(2, m=1.05, kernel="gaussian", sigma=1e-3, random_state=0).fit(X)
    with pytest.warns(BandwidthWarning, match="too narrow.*kernel"):
        FuzzyCMeans(2, m=1.05, kernel="precomputed", random_state=0).fit(np.eye(60))


def test_annealing_finds_what_a_plain_start_misses():
    """Over five draws of ball and ring (miyamoto2003, fig. 2): single starts, and annealed ones."""
    from typicality.datasets import make_ball_and_ring

    found = {"random": 0, "annealing": 0}
    for seed in range(5):
        X, truth = make_ball_and_ring(random_state=seed)
        for init in found:
            model = EntropyCMeans(
                2, lam=10.0, kernel=Gaussian.from_gamma(10.0), init=init, random_state=seed
            ).fit(X)
            found[init] += adjusted_rand_score(truth, model.labels_) == 1.0
    assert found["annealing"] == 5
    assert found["random"] < 5


@pytest.mark.parametrize("n_init", [1, 3])
def test_annealing_in_the_input_space(blobs, n_init):
    X, truth = blobs
    model = EntropyCMeans(3, init="annealing", n_init=n_init, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.n_iter_ == len(model.objective_path_)


@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
def test_an_iteration_is_one_product(blobs, monkeypatch, kernel):
    from typicality.sums import Dense

    X, _ = blobs
    products = []
    plain = Dense.complement
    monkeypatch.setattr(
        Dense, "complement", lambda self, weights: products.append(1) or plain(self, weights)
    )
    model = FuzzyCMeans(3, m=1.5, kernel=kernel, random_state=0)
    model.fit({"gaussian": X, "precomputed": Gaussian(3.0)(X, X)}[kernel])
    assert len(products) == model.n_iter_ + 2  # and one for the mean, one for the start


@pytest.mark.parametrize(
    ("estimator", "n_rows"), [(FuzzyCMeans, 60), (EntropyCMeans, 1000), (PossibilisticCMeans, 60)]
)
def test_the_local_kernel_tells_clusters_of_different_widths_apart(estimator, n_rows):
    centers, widths = [[0, 0], [6, 0], [0, 6]], [0.3, 1.0, 1.5]
    X, y = make_blobs(n_rows, centers=centers, cluster_std=widths, random_state=0)
    model = estimator(3, kernel="local", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.kernel_ == LocalGaussian(DistinctRows.of(X).rows, max(22, n_rows // 4))
