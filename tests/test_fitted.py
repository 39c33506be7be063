"""The result of a fitted model for rows, as reports, plots and csv files read it."""

import base64
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from instances import ADAPTIVE, CUTTERS, DETECTORS, EVERY, PROTOTYPES
from report.conftest import payload_of
from typicality import EntropyCMeans, FuzzyCMeans, JoinedMixture, OneClusterPCM, PossibilisticCMeans
from typicality.exceptions import ClusteringWarning
from typicality.fitted import chosen_method, view
from typicality.plot import MembershipContourDisplay, MembershipHistogramDisplay
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation

KEEPING = [model for model in EVERY if getattr(model, "store_memberships", True)]


def fitted(estimator, rows):
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        return model.fit(rows)


def decoded(part):
    """An array as a page reads it."""
    return np.frombuffer(base64.b64decode(part["data"]), np.dtype(part["dtype"]))


@pytest.mark.parametrize("estimator", PROTOTYPES, ids=repr)
def test_one_pass_gives_the_bits_of_both_predictions_of_prototypes(estimator, blobs):
    model = fitted(estimator, blobs[0])
    new = blobs[0][:90] + 0.25
    labels, memberships = model._labels_and_memberships(new)
    assert_array_equal(labels, model.predict(new), strict=True)
    assert_array_equal(memberships, model.predict_memberships(new), strict=True)
    assert_array_equal(view(model, new).labels, labels)


@pytest.mark.parametrize("estimator", CUTTERS, ids=repr)
def test_one_pass_gives_the_bits_of_both_predictions_of_a_tree(estimator, blobs):
    model = fitted(estimator, blobs[0])
    new = blobs[0][:90] + 0.25
    seen = view(model, new)
    assert_array_equal(seen.labels, model.predict(new), strict=True)
    assert_array_equal(seen.strength, model.predict_typicality(new))


@pytest.mark.parametrize("estimator", DETECTORS, ids=repr)
def test_view_of_a_detector_has_p_values_of_new_rows_and_ranks_of_training_rows(estimator, blobs):
    X = blobs[0]
    model = fitted(estimator, X)
    new = X[:90] + 0.25
    seen = view(model, new)
    assert_array_equal(seen.p_values, model.p_values(new))
    assert_array_equal(np.where(seen.labels < 0, -1, 1), model.predict(new))
    assert_array_equal(seen.strength, model.score_samples(new))
    assert_array_equal(seen.memberships[:, 0], model.predict_typicality(new))
    assert seen.cut == model.offset_
    kept = view(model, X, training=True)
    scores = model.score_samples(X)
    assert_allclose(kept.p_values, (scores <= scores[:, None]).mean(axis=1))
    assert list(kept.columns) == ["typicality", "score", "p_value", "outlier"]


@pytest.mark.parametrize("estimator", KEEPING, ids=repr)
def test_view_of_training_rows_reads_the_fit_and_gives_the_same_columns(
    estimator, blobs, monkeypatch
):
    model = fitted(estimator, blobs[0])
    predicted = view(model, blobs[0]).columns

    def refuse(*args):
        raise AssertionError("the rows of the fit were predicted again")

    for name in ("predict", "predict_typicality", "predict_memberships"):
        monkeypatch.setattr(type(chosen_method(model)), name, refuse, raising=False)
    kept = view(model, blobs[0], training=True).columns
    assert list(kept) == list(predicted)
    for name in kept.keys() - {"p_value"}:  # ranks among themselves, and p-values of new rows
        assert kept[name].dtype == predicted[name].dtype
        # Kernel products of a fit come from BLAS: the last digits differ.
        assert_allclose(kept[name], predicted[name], rtol=1e-9, atol=1e-12)


def test_view_predicts_training_rows_that_the_fit_has_not_kept(blobs):
    X = blobs[0]
    for model in (
        OneClusterPCM().fit(X).compress(1e-3),
        FuzzyCMeans(2, store_memberships=False, random_state=0).fit(X),
    ):
        labels = view(model, X, training=True).labels
        assert_array_equal(labels, view(model, X).labels)


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know."""
    return pytest.importorskip("matplotlib.figure").Figure().add_subplot()


@pytest.mark.parametrize("estimator", EVERY[::2], ids=repr)
def test_report_plot_and_csv_agree(estimator, blobs, ax):
    X = blobs[0]
    model = fitted(estimator, X)
    seen, page = view(model, X), payload_of(model, X)
    bars = MembershipHistogramDisplay.from_estimator(model, X, by_cluster=True, ax=ax)
    assert_array_equal(decoded(page["labels"]), seen.labels)
    assert_array_equal(bars.labels, seen.labels)
    assert_array_equal(decoded(page["strength"]), seen.strength)
    assert_array_equal(bars.values, seen.strength)
    assert bars.name == page["strength_name"]
    assert any(column is seen.strength for column in seen.columns.values())


STARTS = [[0.0, 0.0], [1e-9, 0.0], [9.0, 0.0], [0.0, 9.0]]


@pytest.fixture
def three_groups(rng):
    centers = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 40, axis=0)
    return centers + rng.normal(scale=0.3, size=(120, 2))


def test_strength_is_that_of_the_label_when_two_prototypes_outweigh_the_nearest(three_groups):
    model = fitted(FuzzyCMeans(4, init=STARTS), three_groups)
    middle = np.array([[4.6, 0.0]])  # nearer to the single prototype, between it and two
    seen = view(model, middle)
    assert seen.labels == [1]
    assert seen.memberships.argmax() == 0
    assert seen.strength == seen.memberships[0, 1]
    assert seen.strength_name == "membership"
    assert seen.fitted_words == "Each row is in the cluster of its nearest prototype"


@pytest.mark.parametrize(
    ("estimator", "combine"),
    [
        (FuzzyCMeans(4, init=STARTS), np.add),
        (EntropyCMeans(4, lam=0.05, init=STARTS), np.add),
        (PossibilisticCMeans(4, objective="1993", init=STARTS), np.maximum),
    ],
    ids=repr,
)
def test_prototypes_that_coincide_have_one_column(estimator, combine, three_groups, ax):
    model = fitted(estimator, three_groups)
    assert_array_equal(model.prototype_labels_, [0, 1, 2, 0])
    of_prototypes = model.predict_memberships(three_groups)
    expected = of_prototypes[:, :3].copy()
    expected[:, 0] = combine(of_prototypes[:, 0], of_prototypes[:, 3])
    for training in (False, True):
        seen = view(model, three_groups, training=training)
        assert_array_equal(seen.memberships, expected)
        assert_array_equal(seen.strength, expected[np.arange(120), seen.labels])
        assert list(seen.columns)[2:] == [f"{seen.word}_{k}" for k in range(3)]
    page = payload_of(model, three_groups)
    assert_allclose(decoded(page["memberships"]).reshape(-1, 3), expected, rtol=1e-6)
    picture = MembershipContourDisplay.from_estimator(
        model, three_groups, cluster=0, grid_resolution=9, ax=ax
    )
    grid = np.column_stack([picture.xx0.ravel(), picture.xx1.ravel()])
    assert_array_equal(picture.membership.ravel(), view(model, grid).memberships[:, 0])
    with pytest.raises(ValueError, match="they are numbered from 0 to 2"):
        MembershipContourDisplay.from_estimator(model, three_groups, cluster=3, ax=ax)


@pytest.mark.parametrize("estimator", [*CUTTERS[:5], *ADAPTIVE[::3], *DETECTORS], ids=repr)
def test_the_farthest_row_is_the_rarest(estimator, blobs):
    X = np.vstack([blobs[0], blobs[0].mean(axis=0) + 40.0])
    found = view(fitted(estimator, X), X, training=True)
    assert found.depth.argmin() == len(X) - 1
    assert found.rarity.argmax() == len(X) - 1
    assert_allclose(found.rarity.max(), 1.0 - 1.0 / len(X))


def mahalanobis(rows):
    away = rows - rows.mean(axis=0)
    return np.einsum("ij,jk,ik->i", away, np.linalg.inv(np.cov(rows.T)), away)


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


def test_most_typical_row_of_shares_is_nearest_to_the_prototype(iris):
    for model in (FuzzyCMeans(3, random_state=0), EntropyCMeans(3, random_state=0)):
        found = view(model.fit(iris), iris, training=True)
        labels, rows = found.most_typical
        for label, row in zip(labels, rows, strict=True):
            own = np.flatnonzero(found.labels == label)
            sqdist = ((iris[own] - model.cluster_centers_[label]) ** 2).sum(axis=1)
            assert row == own[sqdist.argmin()]


def test_most_typical_row_of_a_mixture_lies_in_the_dense_part_of_its_cluster(iris):
    model = JoinedMixture().fit(iris)
    found = view(model, iris)
    labels, rows = found.most_typical
    assert len(labels) == 3
    for label, row in zip(labels, rows, strict=True):
        own = np.flatnonzero(found.labels == label)
        away = mahalanobis(iris[own])
        assert (away < away[own == row]).mean() < 0.25


def test_rows_between_clusters_have_a_real_second_membership(iris, blobs):
    found = view(FuzzyCMeans(3, random_state=0).fit(iris), iris)
    second = np.sort(found.memberships, axis=1)[:, -2]
    assert sorted(found.between) == np.flatnonzero(second >= 0.1).tolist()
    assert (np.diff(found.strength[found.between]) >= 0).all()
    far = np.repeat([[0.0, 0.0], [100.0, 0.0]], 50, axis=0) + iris[:100, :2]
    assert len(view(JoinedMixture().fit(far), far).between) == 0
    assert len(view(PossibilisticCMeans(3, random_state=0).fit(blobs[0]), blobs[0]).between) == 0


@pytest.mark.parametrize(
    "model", [FuzzyCMeans(3, random_state=0), PossibilisticCMeans(3, random_state=0)], ids=repr
)
def test_rows_that_were_filled_in_are_no_examples(model):
    X = load_iris().data[:, 2:]
    found = view(model.fit(X), X)
    first = [*found.between[:1], *found.most_typical[1], found.depth.argmin()]
    hollow = np.isin(np.arange(found.n_rows), first)
    other = replace(found, hollow=hollow)
    assert list(other.most_typical[0]) == list(found.most_typical[0])
    assert not set(first) & {*other.between, *other.most_typical[1]}
    listed = Explanation(other, FeatureTable(["x", "y"], X, X)).rows
    assert len(listed)
    assert not set(first) & set(listed)
    whole = replace(found, hollow=np.full(found.n_rows, True))
    assert_array_equal(whole.most_typical[1], found.most_typical[1])


def test_rows_stand_apart_by_a_gap_of_scores():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(57, 2)), [[30.0, 30.0], [31.0, 30.0], [-40.0, 0.0]]])
    n_apart, last, following = view(OneClusterPCM().fit(X), X).gap
    assert n_apart == 3
    assert last < following
    assert view(OneClusterPCM().fit(X[:57]), X[:57]).gap is None
    assert view(FuzzyCMeans(2, random_state=0).fit(X), X).gap is None
