"""What every estimator promises, whatever its parameters: one suite over the lists of instances."""

import pickle
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from instances import ADAPTIVE, CUTTERS, DETECTORS, ESTIMATORS, EVERY, KERNEL_ESTIMATORS

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")

DEGREES = ("predict_memberships", "predict_typicality", "transform", "score_samples")


def blobs_and_far_rows():
    """Three round clusters of 50 rows, and three rows far from everything."""
    rng = np.random.default_rng(20261115)
    centres = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 50, axis=0)
    far = [[15.0, 14.0], [-11.0, 3.0], [3.0, -10.0]]
    return np.vstack([centres + rng.normal(scale=0.6, size=(150, 2)), far])


X = blobs_and_far_rows()


def which(estimators):
    places = [place for place, each in enumerate(EVERY) if each in estimators]
    return pytest.mark.parametrize("place", places, ids=[str(EVERY[place]) for place in places])


every_estimator = which(EVERY)
every_weighted = which([each for each in EVERY if has_fit_parameter(each, "sample_weight")])


def unfitted(place):
    model = clone(EVERY[place])
    is_drawn = "random_state" in model.get_params()
    return model.set_params(random_state=0) if is_drawn else model


STRICT = {"all": "raise"}  # floating-point errors of the user do not stop a fit


@cache
def fitted(place):
    with np.errstate(**STRICT):
        return unfitted(place).fit(X)


def degrees(model, rows):
    """All numbers that a model has for rows."""
    with np.errstate(**STRICT):
        return {name: getattr(model, name)(rows) for name in DEGREES if hasattr(model, name)}


def assert_same_answers(model, other, rows, **tolerance):
    assert_array_equal(model.predict(rows), other.predict(rows))
    expected = degrees(other, rows)
    for name, found in degrees(model, rows).items():
        assert_allclose(found, expected[name], err_msg=name, **tolerance)


EXACT = {"rtol": 0, "atol": 0}


@every_estimator
def test_rows_of_the_fit_get_the_same_as_new_rows(place):
    model = fitted(place)
    labels = unfitted(place).fit_predict(X)
    assert_array_equal(labels, model.predict(X))
    assert_array_equal(labels, getattr(model, "labels_", labels))
    assert labels.dtype.kind == "i"
    assert set(labels) <= {-1, *range(getattr(model, "n_clusters_", 2))}
    found = degrees(model, X)
    kept = {"predict_memberships": "memberships_", "predict_typicality": "typicality_"}
    for name in kept.keys() & found.keys():
        # In a kernel-induced space the products of a fit come from BLAS: the last digits differ.
        assert_allclose(getattr(model, kept[name], found[name]), found[name], rtol=1e-9, atol=1e-12)


@every_estimator
def test_row_gets_the_same_in_any_batch(place):
    model = fitted(place)
    others = np.random.default_rng(1).uniform(-5, 10, (12, 2))
    rows = np.vstack([X[::20], X[-3:], others, [[1e4, 1e4]]])
    alone = np.concatenate([model.predict(row[None]) for row in rows])
    assert_array_equal(model.predict(rows), alone)
    for name, together in degrees(model, rows).items():
        alone = np.concatenate([getattr(model, name)(row[None]) for row in rows])
        assert_array_equal(together, alone, err_msg=name)


@every_weighted
def test_weight_k_is_k_copies_in_any_order(place):
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 4, len(X))
    copies = rng.permutation(np.repeat(np.arange(len(X)), weight))
    weighted = unfitted(place).fit(X, sample_weight=weight)
    repeated = unfitted(place).fit(X[copies])
    assert_same_answers(weighted, repeated, X, rtol=1e-6, atol=1e-4)
    pulls = np.bincount(copies, getattr(repeated, "weights_", np.ones(len(copies))), len(X))
    assert_allclose(getattr(weighted, "weights_", weight), pulls, rtol=1e-6, atol=1e-9)
    labels = weighted.predict(X)
    assert_array_equal(getattr(weighted, "labels_", labels), labels)
    assert_array_equal(getattr(repeated, "labels_", labels[copies]), labels[copies])


@which([each for each in [*DETECTORS, *CUTTERS, *ADAPTIVE] if each.sigma != "scott"])
def test_weights_that_sum_to_one_are_as_good_as_none(place):
    shares = unfitted(place).fit(X, sample_weight=np.full(len(X), 1 / len(X)))
    assert_same_answers(shares, fitted(place), X, rtol=1e-6, atol=1e-4)


@every_estimator
def test_order_of_rows_does_not_matter(place):
    order = np.random.default_rng(3).permutation(len(X))
    shuffled = unfitted(place).fit(X[order])
    assert_same_answers(shuffled, fitted(place), X, rtol=1e-6, atol=1e-4)
    expected = fitted(place).predict(X)[order]
    assert_array_equal(getattr(shuffled, "labels_", expected), expected)


@every_estimator
def test_float32_stays_and_changes_few_labels(place):
    rows = X.astype(np.float32)
    model = unfitted(place).fit(rows)
    found = degrees(model, rows)
    found.pop("score_samples", None)  # logarithms, which stay precise
    assert {values.dtype for values in found.values()} == {np.dtype(np.float32)}
    assert np.mean(model.predict(rows) != fitted(place).predict(X)) < 0.02


@every_estimator
def test_pickled_model_keeps_its_own_rows(place):
    rows = X.copy()
    model = unfitted(place).fit(rows)
    again = pickle.loads(pickle.dumps(model))
    rows[:] = 0.0
    for copy in (model, again):
        assert_same_answers(copy, fitted(place), X, **EXACT)


@which([*ESTIMATORS, *KERNEL_ESTIMATORS, *DETECTORS])
def test_objective_never_rises(place):
    model = fitted(place)
    path = model.objective_path_
    assert model.status_ == "converged"
    assert model.n_iter_ == len(path)
    assert (np.diff(path) <= 1e-10 * np.abs(path).max()).all()


@which([*ESTIMATORS, *KERNEL_ESTIMATORS, *ADAPTIVE])
def test_score_is_the_negative_objective(place):
    model = fitted(place)
    with np.errstate(**STRICT):
        assert_allclose(model.score(X), -model.objective_, rtol=1e-9)
