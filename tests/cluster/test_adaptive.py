"""What the adaptive estimators promise: APCM, SAPCM and SeqSAPCM."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.metrics import adjusted_rand_score, rand_score

from instances import ADAPTIVE
from typicality import AdaptivePCM, SequentialPCM, SparseAdaptivePCM
from typicality.exceptions import (
    ClusteringWarning,
    EmptyClustersWarning,
    FeatureWarning,
)

every_estimator = pytest.mark.parametrize("estimator", ADAPTIVE, ids=str)
IN_A_BOX = [e for e in ADAPTIVE if e.kernel == "linear" and e.alpha is None]
in_a_box = pytest.mark.parametrize("estimator", IN_A_BOX, ids=str)
SPARSE = [SparseAdaptivePCM(lam=0.05), SequentialPCM(lam=0.05), SequentialPCM()]
either_sparse = pytest.mark.parametrize("estimator", SPARSE, ids=str)


# ---- what every one of them promises ------------------------------------------------------------


@every_estimator
def test_finds_the_blobs(estimator, blobs):
    X, truth = blobs
    model = clone(estimator).fit(X)
    kept = model.labels_ >= 0
    assert adjusted_rand_score(truth[kept], model.labels_[kept]) == 1.0
    assert kept.mean() > 0.9
    assert model.n_clusters_ == 3
    assert model.status_ == "converged"
    assert model.n_iter_ == len(model.objective_path_)


@every_estimator
def test_labels_and_memberships_agree(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).fit(X)
    u = model.predict_memberships(X)
    nowhere = model.labels_ == -1
    assert not u[nowhere].any()
    assert_array_equal(u[~nowhere].argmax(axis=1), model.labels_[~nowhere])
    assert_array_equal(np.unique(model.labels_[~nowhere]), np.arange(model.n_clusters_))
    assert list(model.get_feature_names_out()) == [f"typicality_{k}" for k in range(u.shape[1])]


def test_more_clusters_than_distinct_rows_will_do():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.9], [10.0]])
    model = AdaptivePCM(50).fit(np.repeat(X, 3, axis=0))
    assert 1 <= model.n_clusters_ <= 6


def test_clusters_of_one_row_have_no_spread_and_vanish():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.9], [10.0]])
    with pytest.warns(EmptyClustersWarning, match="lam=0.1 is too large"):
        SparseAdaptivePCM(6).fit(X)


@every_estimator
def test_equal_rows_are_an_error(estimator):
    with pytest.raises(ValueError, match="All rows of X are the same"):
        clone(estimator).fit(np.ones((5, 2)))


# ---- the box ------------------------------------------------------------------------------------


@in_a_box
def test_scale_of_the_features_does_not_matter(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_params(box=10.0).fit(X)
    scaled = clone(model).fit(X * [1e-3, 1e4] + [5.0, -2e6])
    assert_array_equal(model.labels_, scaled.labels_)
    assert_allclose(
        scaled.cluster_centers_, model.cluster_centers_ * [1e-3, 1e4] + [5.0, -2e6], rtol=1e-6
    )
    assert_allclose(scaled.eta_, model.eta_, rtol=1e-4)


@in_a_box
def test_a_constant_feature_does_nothing_but_warn(estimator, blobs):
    X, _ = blobs
    plain = clone(estimator).set_params(box=10.0).fit(X)
    padded = np.column_stack([X, np.full(len(X), 7.5)])
    with pytest.warns(FeatureWarning, match="Constant: feature 2"):
        model = clone(plain).fit(padded)
    assert_array_equal(model.labels_, plain.labels_)
    assert_allclose(model.cluster_centers_[:, 2], 7.5)
    elsewhere = padded + np.array([0.0, 0.0, 1e3])
    assert_array_equal(model.predict(elsewhere), plain.labels_)


# ---- what can go wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "kernel", "assign"),
    [
        (SparseAdaptivePCM, "linear", "core"),
        (SparseAdaptivePCM, "gaussian", "all"),
        (SequentialPCM, "linear", "all"),
        (SequentialPCM, "connectivity", "core"),
    ],
)
def test_a_collapse_is_a_warning_and_no_crash(kind, kernel, assign, blobs):
    X, _ = blobs
    model = kind(lam=50.0, kernel=kernel, assign=assign)
    with pytest.warns(EmptyClustersWarning, match=r"lam=50 .*lam=12"):
        model.fit(X)
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()
    assert (model.predict(X[:3]) == -1).all()
    assert model.memberships_.shape == model.transform(X).shape == (len(X), 0)
    assert model.score(X) == 0
    assert model.eta_.shape == (0,)
    assert list(model.get_feature_names_out()) == []


@either_sparse
def test_rows_between_and_far_from_clusters_belong_nowhere(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).fit(X)
    assert model.predict([[3.0, 3.0], [50.0, 50.0]]).tolist() == [-1, -1]
    everywhere = clone(estimator).set_params(assign="all").fit(X)
    assert (everywhere.predict([[3.0, 3.0], [50.0, 50.0]]) >= 0).all()
    d = np.sum((X[:, None] - everywhere.cluster_centers_) ** 2 / np.ptp(X, axis=0) ** 2, axis=2)
    assert_allclose(everywhere.predict_memberships(X), np.exp(-100 * d / everywhere.eta_))
    assert_allclose(everywhere.eta_, model.eta_, rtol=1e-9)


def test_most_rows_nowhere_is_a_warning():
    X = load_breast_cancer().data
    with pytest.warns(ClusteringWarning, match=r"% of the rows .*box=3.7"):
        SequentialPCM(lam=0.2).fit(X)


@pytest.mark.parametrize("scale", [5e-324, 1e-307])
def test_a_feature_too_narrow_for_the_box_is_an_error(scale, blobs):
    X = np.column_stack([blobs[0], np.arange(180) % 2 * scale])
    with pytest.raises(ValueError, match="Feature 2 of X has a range of only"):
        AdaptivePCM().fit(X)


@every_estimator
def test_one_point_in_the_space_of_a_kernel_is_an_error(estimator):
    X = np.outer(np.arange(1, 31), [1.0, 2.0])
    with pytest.raises(ValueError, match="one point in the space of the kernel"):
        clone(estimator).set_params(kernel=lambda A, B: np.ones((len(A), len(B)))).fit(X)


def test_sequential_fit_finds_no_more_clusters_than_allowed(s2_like):
    X, _ = s2_like
    assert SequentialPCM(lam=0.1, max_clusters=5).fit(X).n_clusters_ == 5


@pytest.fixture
def s2_like():
    from typicality.datasets import make_s2_like

    return make_s2_like(1500, random_state=0)


@pytest.mark.parametrize(
    "outliers",
    [[[12, 12], [-9, 12]], [[12, 12], [12.2, 12]], [[1e5, -1e7]]],
)
def test_outliers_do_not_end_the_search(blobs, outliers):
    X = np.vstack([blobs[0], outliers])
    model = SequentialPCM().fit(X)
    assert model.n_clusters_ == 3
    assert (model.labels_[180:] == -1).all()
    assert np.mean(model.labels_[:180] == -1) < 0.1


# ---- starts -------------------------------------------------------------------------------------


def test_adaptive_fit_starts_at_given_points(blobs):
    X, truth = blobs
    points = [[0.0, 1.0], [5.0, 0.0], [0.0, 5.0], [1.0, 1.0]]
    model = AdaptivePCM(4, init=points).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    sequential = SequentialPCM(lam=0.05, init=points[1:2], assign="all").fit(X)
    assert adjusted_rand_score(truth, sequential.labels_) == 1.0


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (AdaptivePCM(3, init=[[0.0, 1.0]]), r"init has shape \(1, 2\).* = \(3, 2\)"),
        (AdaptivePCM(1, init=[[0.0, 1.0, 2.0]]), r"init has shape \(1, 3\).* = \(1, 2\)"),
        (SequentialPCM(init=[[0.0, 1.0], [0.0, 1.0]]), "identical prototypes"),
        (SequentialPCM(init=[[0.0, np.nan]]), "init contains NaN"),
        (SequentialPCM(init=[[0.0, 1.0]], kernel="connectivity"), "no coordinates"),
    ],
)
def test_bad_starts_are_errors(estimator, message, blobs):
    with pytest.raises(ValueError, match=message):
        estimator.fit(blobs[0])


# ---- kernels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_connectivity_finds_crescents(seed):
    X, truth = make_moons(200, noise=0.05, random_state=seed)
    model = SequentialPCM(lam=0.05, kernel="connectivity", box=3.0, assign="all").fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.95


# ---- spreads in any unit ------------------------------------------------------------------------


def test_with_alpha_the_unit_of_length_does_not_matter(blobs):
    X, _ = blobs
    for unit in (1e-3, 1000.0):
        models = [AdaptivePCM(6, alpha=1.0).fit(rows) for rows in (X, unit * X)]
        assert_array_equal(models[0].labels_, models[1].labels_)
        assert_allclose(models[1].cluster_centers_, unit * models[0].cluster_centers_, rtol=1e-4)
        assert_allclose(models[1].eta_, unit**2 * models[0].eta_, rtol=1e-4)


def test_alpha_on_iris_finds_the_three_species():
    X, y = load_iris(return_X_y=True)
    model = AdaptivePCM(10, alpha=1.0).fit(X)
    assert model.n_clusters_ == 3
    assert_allclose(rand_score(y, model.labels_), 0.8415, atol=2e-3)


def test_larger_alpha_gives_more_clusters():
    X = load_iris().data
    numbers = [AdaptivePCM(10, alpha=alpha).fit(X).n_clusters_ for alpha in (0.5, 1.0, 3.0)]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[2]


def test_a_single_prototype_with_alpha_is_all_rows(blobs):
    X, _ = blobs
    assert AdaptivePCM(1, alpha=1.0).fit(X).n_clusters_ == 1
