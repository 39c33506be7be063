"""`kernel=` on the estimators with prototypes."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from instances import KERNEL_ESTIMATORS
from reference import kernel_space as reference
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality.exceptions import (
    BandwidthWarning,
    CoincidentClustersWarning,
    CollapsedMembershipsWarning,
    FeatureWarning,
    IndefiniteKernelWarning,
)
from typicality.kernels import Gaussian, Linear, LocalGaussian, Polynomial
from typicality.rows import DistinctRows
from ways import summed_by

pytestmark = pytest.mark.filterwarnings("ignore:.*prototypes coincide")

every_estimator = pytest.mark.parametrize("estimator", KERNEL_ESTIMATORS, ids=str)
# One of each family; with a wide kernel, in which possibilistic clusters stay apart.
FAMILIES = [
    FuzzyCMeans(3, m=1.5, random_state=0),
    EntropyCMeans(3, lam=4.0, random_state=0),
    PossibilisticCMeans(3, eta_scale=0.3, random_state=0),
    PossibilisticCMeans(3, objective="1993", m=1.5, random_state=0),
]
every_family = pytest.mark.parametrize("estimator", FAMILIES, ids=str)


@every_estimator
def test_fit_predict_is_predict_after_fit(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_params(random_state=0)
    labels = model.fit_predict(X)
    assert_array_equal(labels, model.predict(X))
    assert_array_equal(labels, model.labels_)
    assert_array_equal(model.memberships_, model.transform(X))
    assert_array_equal(np.unique(labels), np.arange(model.n_clusters_))
    assert model.status_ == "converged"


@every_estimator
def test_a_row_gets_the_same_in_any_batch(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_params(random_state=0).fit(X)
    rows = X[::9] + 0.1
    alone = np.concatenate([model.predict_memberships(row[None]) for row in rows])
    assert_array_equal(model.predict_memberships(rows), alone)


@every_estimator
def test_objective_falls(estimator, blobs):
    model = clone(estimator).set_params(random_state=0).fit(blobs[0])
    largest = np.abs(model.objective_path_).max()
    assert (np.diff(model.objective_path_) <= 1e-10 * largest).all()
    assert_allclose(model.objective_, model.objective_path_[-1], rtol=1e-3)
    assert_allclose(-model.score(blobs[0]), model.objective_, rtol=1e-10)


@every_estimator
def test_models_can_be_saved_and_keep_their_own_rows(estimator, blobs):
    X = blobs[0].copy()
    model = clone(estimator).set_params(random_state=0).fit(X)
    before = model.predict_memberships(blobs[0])
    X[:] = 0.0
    assert_array_equal(model.predict_memberships(blobs[0]), before)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_memberships(blobs[0]), before)


@every_family
@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "laplacian", "polynomial", "cosine"])
def test_every_rule_works_in_every_space(estimator, kernel, blobs):
    X, _ = blobs
    with np.errstate(all="raise", under="ignore"):
        model = clone(estimator).set_params(kernel=kernel, sigma="median", n_init=3)
        model.set_params(sigma="auto" if kernel in ("polynomial", "cosine") else "median")
        labels = fit_quietly(model, X + 1.0).labels_
    assert model.sigma_ == getattr(model.kernel_, "sigma", None)
    assert len(np.unique(labels)) == model.n_clusters_
    assert not hasattr(model, "cluster_centers_")


def fit_quietly(model, X):
    """Some of these kernels do not suit these data; the warnings for that are tested elsewhere."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


@every_family
def test_a_wide_gaussian_finds_the_blobs(estimator, blobs):
    X, truth = blobs
    model = clone(estimator).set_params(kernel="gaussian", sigma=6.0, n_init=3).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


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


def test_new_rows_of_fuzzy_c_means(blobs, rng):
    """miyamoto2003, eq. (15)-(16), with the memberships after convergence."""
    X, _ = blobs
    new, kernel = rng.normal(size=(9, 2)) * 3, Gaussian(4.0)
    model = FuzzyCMeans(3, m=1.5, kernel=kernel, tol=1e-14, random_state=0).fit(X)
    D = reference.sqdist(kernel(X, X), kernel(new, X), np.ones(9), model.memberships_**1.5)
    expected = [[1 / np.sum((d[i] / d) ** 2.0) for i in range(3)] for d in D]
    assert_allclose(model.predict_memberships(new), expected, rtol=1e-9)


def test_new_rows_of_entropy_c_means(blobs, rng):
    """miyamoto2003, eq. (10)-(11), with the memberships after convergence."""
    X, _ = blobs
    new, kernel = rng.normal(size=(9, 2)) * 3, Gaussian(4.0)
    model = EntropyCMeans(3, lam=8.0, kernel=kernel, tol=1e-14, random_state=0).fit(X)
    D = reference.sqdist(kernel(X, X), kernel(new, X), np.ones(9), model.memberships_)
    expected = np.exp(-8.0 * D) / np.exp(-8.0 * D).sum(axis=1, keepdims=True)
    assert_allclose(model.predict_memberships(new), expected, rtol=1e-9)


def test_new_rows_of_possibilistic_c_means(blobs, rng):
    """filippone2010, eq. (17) and (28)."""
    X, _ = blobs
    new, kernel = rng.normal(size=(9, 2)) * 3, Gaussian(6.0)
    model = PossibilisticCMeans(3, kernel=kernel, tol=1e-14, random_state=0).fit(X)
    D = reference.sqdist(kernel(X, X), kernel(new, X), np.ones(9), model.memberships_)
    assert_allclose(model.predict_memberships(new), np.exp(-D / model.eta_), rtol=1e-7)


def test_weights_count_copies(blobs, rng):
    X, _ = blobs
    times = rng.integers(0, 3, size=len(X))
    estimator = FuzzyCMeans(3, m=1.4, kernel="gaussian", random_state=0)
    weighted = clone(estimator).fit(X, sample_weight=times.astype(float))
    repeated = clone(estimator).fit(np.repeat(X, times, axis=0))
    assert weighted.sigma_ == pytest.approx(repeated.sigma_)
    assert_allclose(weighted.predict_memberships(X), repeated.predict_memberships(X), atol=1e-4)
    assert_array_equal(weighted.labels_, repeated.predict(X))


def test_blocks_give_the_same_as_the_whole_matrix(blobs):
    estimator = FuzzyCMeans(3, m=1.4, kernel="gaussian", random_state=0)
    whole = clone(estimator).fit(blobs[0])
    with summed_by("blocked"):
        blocks = clone(estimator).fit(blobs[0])
    assert blocks.sums_ != whole.sums_
    assert_array_equal(blocks.memberships_, whole.memberships_)


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


# ---- what kernels are for -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "estimator",
    [
        FuzzyCMeans(2, m=1.5, kernel="gaussian", random_state=0),
        FuzzyCMeans(2, kernel="connectivity", random_state=0),
        EntropyCMeans(2, kernel="gaussian", random_state=0),
    ],
    ids=str,
)
def test_kernel_separates_concentric_circles(estimator, seed):
    X, truth = make_circles(400, factor=0.3, noise=0.04, random_state=seed)
    assert adjusted_rand_score(truth, clone(estimator).fit(X).labels_) == 1.0
    assert adjusted_rand_score(truth, FuzzyCMeans(2, random_state=0).fit(X).labels_) < 0.2


def test_a_path_of_short_steps_joins_moons():
    X, truth = make_moons(300, noise=0.05, random_state=0)
    model = FuzzyCMeans(2, kernel="connectivity", random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    new, expected = make_moons(200, noise=0.05, random_state=1)
    assert adjusted_rand_score(expected, model.predict(new)) == 1.0


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


def test_narrow_kernels_let_possibilistic_clusters_coincide(blobs):
    """filippone2010, section III: the drawback that leads to the one-cluster version."""
    settings = {"kernel": "gaussian", "eta_scale": 1.0, "random_state": 0}
    with pytest.warns(CoincidentClustersWarning):
        PossibilisticCMeans(3, sigma=0.5, m=1.1, **settings).fit(blobs[0])
    wide = PossibilisticCMeans(3, sigma=6.0, m=2.0, **settings).fit(blobs[0])
    assert wide.n_clusters_ == 3


def test_kernel_fit_warns_of_widths_that_say_nothing(rng):
    X = rng.normal(size=(60, 2))
    with pytest.warns(BandwidthWarning, match="too wide"):
        FuzzyCMeans(2, kernel="gaussian", sigma=1e3, random_state=0).fit(X)
    with pytest.warns(BandwidthWarning, match="too narrow.*sigma"):
        FuzzyCMeans(2, m=1.05, kernel="gaussian", sigma=1e-3, random_state=0).fit(X)
    with pytest.warns(BandwidthWarning, match="too narrow.*kernel"):
        FuzzyCMeans(2, m=1.05, kernel="precomputed", random_state=0).fit(np.eye(60))


def test_kernel_fit_warns_of_a_width_without_a_use(blobs):
    with pytest.warns(BandwidthWarning, match=r"sigma=0.5 has no effect with kernel='linear'"):
        FuzzyCMeans(3, sigma=0.5, random_state=0).fit(blobs[0])
    with pytest.warns(BandwidthWarning, match=r"sigma='knn' has no effect with kernel='linear'"):
        FuzzyCMeans(3, sigma="knn", random_state=0).fit(blobs[0])


def test_kernel_fit_warns_of_a_kernel_that_is_no_scalar_product(blobs):
    with pytest.warns(IndefiniteKernelWarning, match="not positive semidefinite"):
        model = EntropyCMeans(3, lam=20.0, kernel="sigmoid", random_state=0).fit(blobs[0])
    assert np.isfinite(model.memberships_).all()


def test_functions_that_are_scalar_products_do_not_warn(blobs):
    FuzzyCMeans(3, m=1.4, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.05), random_state=0).fit(
        blobs[0]
    )


def test_annealing_finds_what_a_plain_start_misses():
    """Over ten draws of ball and ring (miyamoto2003, fig. 2): single starts, and annealed ones."""
    from typicality.datasets import make_ball_and_ring

    found = {"random": 0, "annealing": 0}
    for seed in range(10):
        X, truth = make_ball_and_ring(random_state=seed)
        for init in found:
            model = EntropyCMeans(
                2, lam=10.0, kernel=Gaussian.from_gamma(10.0), init=init, random_state=seed
            ).fit(X)
            found[init] += adjusted_rand_score(truth, model.labels_) == 1.0
    assert found["annealing"] == 10
    assert found["random"] < 10


@pytest.mark.parametrize("n_init", [1, 3])
def test_annealing_in_the_input_space(blobs, n_init):
    X, truth = blobs
    model = EntropyCMeans(3, init="annealing", n_init=n_init, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.n_iter_ == len(model.objective_path_)


def test_annealing_to_a_lam_below_the_collapse(blobs):
    with pytest.warns(CollapsedMembershipsWarning):
        EntropyCMeans(3, lam=1e-3, init="annealing", random_state=0).fit(blobs[0])


def test_annealing_of_equal_rows():
    with pytest.warns(FeatureWarning, match="Constant"):
        model = EntropyCMeans(1, lam=1.0, init="annealing").fit(np.ones((5, 2)))
    assert_array_equal(model.memberships_, 1.0)


def test_points_start_any_entropy(blobs):
    """Whatever lam and the scale of the kernel are."""
    X, truth = blobs
    model = EntropyCMeans(
        3, lam=1e8, kernel="gaussian", sigma=1e4, init=X[[0, 60, 120]], random_state=0
    )
    with pytest.warns(BandwidthWarning, match="too wide"):
        model.fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


@pytest.mark.parametrize("kernel", ["precomputed", "dissimilarities"])
def test_the_order_of_many_rows_without_coordinates_does_not_matter(rng, kernel):
    X = rng.normal(size=(700, 2))
    X[:350] += 3.0
    order = rng.permutation(700)
    matrices = {"precomputed": Gaussian(2.0), "dissimilarities": lambda A, B: cdist(A, B)}
    matrix = matrices[kernel](X, X)
    model = EntropyCMeans(2, kernel=kernel, random_state=0)
    here = clone(model).fit(matrix)
    there = clone(model).fit(matrix[np.ix_(order, order)])
    assert_allclose(there.lam_, here.lam_, rtol=1e-9)
    assert_allclose(there.memberships_, here.memberships_[order], atol=1e-4)


@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
def test_an_iteration_is_one_product(blobs, monkeypatch, kernel):
    from typicality.operators import Blocked, Dense

    X, _ = blobs
    products = []
    for operator in (Blocked, Dense):
        plain = operator.complement
        monkeypatch.setattr(
            operator,
            "complement",
            lambda self, weights, plain=plain: products.append(1) or plain(self, weights),
        )
    model = FuzzyCMeans(3, m=1.5, kernel=kernel, random_state=0)
    model.fit({"gaussian": X, "precomputed": Gaussian(3.0)(X, X)}[kernel])
    assert len(products) == model.n_iter_ + 2  # and one for the mean, one for the start


def test_the_width_of_a_laplacian_is_that_of_its_distance(rng):
    X = rng.normal(size=(200, 20))
    model = EntropyCMeans(2, lam=100.0, kernel="laplacian", random_state=0).fit(X)
    assert_allclose(model.sigma_, np.median(pdist(X, "cityblock")) / 2)


@pytest.mark.parametrize("n_rows", [60, 1000])
@pytest.mark.parametrize("estimator", [FuzzyCMeans, EntropyCMeans, PossibilisticCMeans])
def test_the_local_kernel_tells_clusters_of_different_widths_apart(estimator, n_rows):
    centers, widths = [[0, 0], [6, 0], [0, 6]], [0.3, 1.0, 1.5]
    X, y = make_blobs(n_rows, centers=centers, cluster_std=widths, random_state=0)
    model = estimator(3, kernel="local", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.kernel_ == LocalGaussian(DistinctRows.of(X).rows, max(22, n_rows // 4))


def test_the_local_kernel_looks_at_distinct_rows_of_positive_weight(rng):
    X = rng.normal(size=(30, 2))
    weight = rng.integers(0, 3, 30)
    weighted = EntropyCMeans(2, kernel="local", random_state=0).fit(X, sample_weight=weight)
    copies = EntropyCMeans(2, kernel="local", random_state=0).fit(np.repeat(X, weight, axis=0))
    assert weighted.kernel_ == copies.kernel_
    assert weighted.kernel_.n_neighbors == min(22, np.count_nonzero(weight) - 1)
    assert_allclose(weighted.predict_memberships(X), copies.predict_memberships(X), atol=1e-6)


def test_the_local_kernel_has_no_sigma(rng):
    with pytest.warns(BandwidthWarning, match="has no effect with kernel='local'"):
        EntropyCMeans(2, kernel="local", sigma=1.0).fit(rng.normal(size=(30, 2)))
