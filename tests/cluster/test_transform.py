"""Typicalities and memberships as features of the estimators of a density."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from typicality import (
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0], [8.0, 8.0]], 50, axis=0) + rng.normal(size=(100, 2))


@pytest.mark.parametrize(
    ("estimator", "method", "names", "library"),
    [
        (OneClusterPCM(), "predict_typicality", ["typicality"], "pandas"),
        (AlphaCutClustering(), "predict_memberships", ["membership_0", "membership_1"], "polars"),
        (AutoClustering(), "predict_memberships", ["membership_0", "membership_1"], "pandas"),
        (FuzzyCMeans(2), "predict_memberships", ["membership_0", "membership_1"], "pandas"),
        (
            PossibilisticCMeans(2, random_state=0),
            "predict_memberships",
            ["typicality_0", "typicality_1"],
            "pandas",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else type(value).__name__,
)
def test_transform_gives_named_typicalities(rows, estimator, method, names, library):
    model = clone(estimator).fit(rows)
    plain = model.transform(rows[:7])
    assert_array_equal(plain.reshape(7, -1), getattr(model, method)(rows[:7]).reshape(7, -1))
    frame = model.set_output(transform=library).transform(rows[:7])
    assert list(frame.columns) == names == list(model.get_feature_names_out())
    assert_array_equal(frame.to_numpy(), plain)


@pytest.mark.parametrize(
    "estimator",
    [FuzzyCMeans(2), EntropyCMeans(2), AutoClustering(random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_memberships_that_sum_to_one_are_probabilities(rows, estimator):
    X = np.hstack([rows, rows[::-1]])  # of four columns, for which a mixture is fitted
    shares = clone(estimator).fit(X).predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert len(shares) == 100


@pytest.mark.parametrize(
    "estimator",
    [
        FuzzyCMeans(2, noise_distance=2.0),
        PossibilisticCMeans(2, random_state=0),
        AlphaCutClustering(),
        AutoClustering(random_state=0),  # of two columns: density
        OneClusterPCM(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_other_memberships_are_no_probabilities(rows, estimator):
    assert not hasattr(clone(estimator).fit(rows), "predict_proba")
