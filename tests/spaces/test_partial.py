"""Rows with missing values: distances and means use the values that are there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from instances import PARTIAL
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality._sparse import sparse_rows
from typicality.membership import Fuzzy
from typicality.spaces import Partial

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")

every_partial = pytest.mark.parametrize("model", PARTIAL, ids=str)


@pytest.fixture
def holes(rng):
    """Three clusters, and a third of the values missing; each row and column has some."""
    centers = np.array([[0.0, 0.0, 0.0, 0.0], [5.0, 5.0, 0.0, 0.0], [0.0, 5.0, 5.0, 5.0]])
    X = np.repeat(centers, 40, axis=0) + rng.normal(size=(120, 4))
    gaps = rng.random(X.shape) < 1 / 3
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X)


def with_seed(model):
    return clone(model).set_params(random_state=0)


def test_a_sweep_is_that_of_the_formulas(holes, rng):
    weight = rng.integers(0, 3, size=len(holes)).astype(float)
    space = Partial(holes, weight)
    start = space.at(holes[~np.isnan(holes).any(axis=1)][:3])
    known = ~np.isnan(holes)
    share = known.mean(axis=1)
    sqdist = np.nansum((holes[:, None] - start.centers) ** 2, axis=2) / share[:, None]
    rule = Fuzzy(1.7)
    u = rule.memberships(sqdist)
    w = u**1.7 * weight[:, None]
    means = w.T @ np.where(known, holes, 0.0) / (w.T @ known)

    sweep = space.sweep(rule, start)

    assert_allclose(start.sqdist(holes), sqdist, atol=1e-12)
    assert_allclose(sweep.prototypes.centers, means)
    assert_allclose(sweep.objective, (weight * share) @ rule.objective(u, sqdist))


@every_partial
def test_the_objective_never_rises_and_prediction_agrees_with_the_fit(model, holes):
    fitted = with_seed(model).fit(holes)
    path = fitted.objective_path_
    assert (np.diff(path) <= 1e-12 * np.abs(path[0])).all()
    assert_array_equal(fitted.predict(holes), fitted.labels_)
    assert_allclose(fitted.predict_memberships(holes[:7]), fitted.memberships_[:7])


@every_partial
def test_without_missing_values_it_is_the_usual_fit(model, rng):
    X = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 30, axis=0) + rng.normal(size=(90, 2))
    partial, usual = with_seed(model).fit(X), with_seed(model).set_params(missing="error").fit(X)
    assert_array_equal(partial.labels_, usual.labels_)
    assert_allclose(partial.memberships_, usual.memberships_, rtol=1e-6, atol=1e-9)


def test_a_row_of_one_value_does_not_outweigh_the_others():
    X = np.array([[0.0] * 4] * 10 + [[2.0, np.nan, np.nan, np.nan]])
    model = FuzzyCMeans(1, missing="partial").fit(X)
    assert_allclose(model.cluster_centers_, [[2 / 11, 0.0, 0.0, 0.0]])


def test_gaps_pass_through_a_pipeline_and_float32_stays(holes):
    model = make_pipeline(StandardScaler(), EntropyCMeans(3, missing="partial", random_state=0))
    memberships = model.fit(holes.astype(np.float32)).transform(holes.astype(np.float32))
    assert memberships.dtype == np.float32
    assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize(
    ("parameters", "change", "words"),
    [
        ({}, {}, "missing='error'"),
        ({"missing": "partial", "kernel": "gaussian"}, {}, "kernel='gaussian'"),
        ({"missing": "partial", "covariance_type": "full"}, {}, "covariance_type='spherical'"),
        ({"missing": "partial"}, {"row": 3}, "no value in row 3"),
        ({"missing": "partial"}, {"column": 2}, "no value in column 2"),
        ({"missing": "partial"}, {"infinite": 5}, "infinity, first in row 5"),
    ],
)
def test_what_cannot_be_used_is_refused(holes, parameters, change, words):
    holes[:, 0] = np.nan_to_num(holes[:, 0])  # no row is empty by chance
    holes[change.get("row", [])] = np.nan
    holes[:, change.get("column", [])] = np.nan
    holes[change.get("infinite", []), 1] = np.inf
    with pytest.raises(ValueError, match=words):
        PossibilisticCMeans(3, **parameters).fit(holes)


def test_sparse_rows_are_refused(holes):
    with pytest.raises(TypeError, match="sparse matrix"):
        FuzzyCMeans(3, missing="partial").fit(sparse_rows(np.nan_to_num(holes)))
