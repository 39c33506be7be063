"""Bad input: the error names the input and the place at fault, before any work starts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from typicality import (
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
)

GOOD = np.random.default_rng(0).normal(size=(30, 3))


def with_value(value, row=7, column=2):
    X = GOOD.copy()
    X[row, column] = value
    return X


BAD_DATA = {
    "nan": (with_value(np.nan), r"X contains NaN.*row 7 .*, column 2; 1 of"),
    "infinity": (with_value(np.inf), r"X contains infinity.*row 7 .*, column 2;"),
    "nan far down": (
        np.vstack([np.zeros((9000, 3)) + GOOD[:1], with_value(np.nan)]),
        r"row 9007 .*, column 2",
    ),
    "nan in a named column": (
        pd.DataFrame(with_value(np.nan), columns=["age", "height", "weight"]),
        r"row 7 .*, column 'weight'",
    ),
    "empty": (np.empty((0, 3)), r"X has 0 sample"),
    "one row": (GOOD[:1], r"X has 1 sample"),
    "no features": (np.empty((5, 0)), r"0 feature\(s\)"),
    "too few rows": (GOOD[:2], r"n_clusters=3 .* 2 distinct rows"),
    "text": (np.array([["1", "2"]] * 8 + [["3", "b"]]), r"'b' in row 8, column 1"),
    "decimal commas": (
        pd.DataFrame({"price": ["1,5", "2,5"] * 9}),
        r"'1,5' in row 0, column 'price'",
    ),
    "dates": (
        pd.DataFrame({"x": range(9), "when": pd.date_range("2026-01-01", periods=9)}),
        r"dates or times in column 'when'",
    ),
    "an array of times": (
        np.arange(18).reshape(9, 2).astype("timedelta64[s]"),
        r"dates or times in the whole array",
    ),
    "missing values in a column of objects": (
        pd.DataFrame({"x": pd.Series([1.0, pd.NA] * 9, dtype=object)}),
        r"<NA> in row 1, column 'x'",
    ),
    "text in a frame": (
        pd.DataFrame({"x": range(9), "name": ["ann"] * 9}),
        r"'ann' in row 0, column 'name'",
    ),
    "complex": (GOOD + 1j, r"Complex data not supported"),
    "one dimension": (GOOD[:, 0], r"Reshape your data"),
    "three dimensions": (GOOD[None], r"dim 3: X has the shape \(1, 30, 3\).*reshape.*Recipes"),
    "overflow": (GOOD * 1e200, r"overflow float64"),
    "overflow in float32": ((GOOD * 1e18).astype(np.float32), r"overflow float32"),
    "underflow": (GOOD * 1e-170, r"too close together"),
}


@pytest.mark.parametrize("case", BAD_DATA)
@pytest.mark.parametrize("estimator", [FuzzyCMeans(3), PossibilisticCMeans(3)], ids=str)
def test_estimator_refuses_bad_data(estimator, case):
    X, message = BAD_DATA[case]
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)


@pytest.mark.parametrize("case", sorted(set(BAD_DATA) - {"empty", "one row", "too few rows"}))
@pytest.mark.parametrize("estimator", [OneClusterPCM(), AlphaCutClustering()], ids=str)
def test_one_model_estimator_refuses_bad_data(estimator, case):
    X, message = BAD_DATA[case]
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)


BAD_WEIGHTS = {
    "negative": (np.r_[-2.0, np.ones(29)], r"sample_weight: -2.0 at row 0"),
    "all zero": (np.zeros(30), r"sample_weight are zero"),
    "wrong length": (np.ones(29), r"sample_weight.shape == \(29,\), expected \(30,\)"),
    "two dimensions": (np.ones((30, 1)), r"sample_weight.shape == \(30, 1\)"),
    "nan": (np.r_[np.nan, np.ones(29)], r"sample_weight contains NaN.* row 0"),
    "text": (["heavy"] * 30, r"sample_weight: could not convert"),
    "complex": (np.ones(30) + 1j, r"^sample_weight: "),
    "too large": (np.full(30, 1e200), r"sample_weight is too large"),
    "a word": ("balanced", r"^sample_weight: "),
    "too few rows left": (np.r_[1.0, 1.0, np.zeros(28)], r"2 distinct rows of positive weight"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_estimator_refuses_bad_weights(case):
    weight, message = BAD_WEIGHTS[case]
    with pytest.raises(ValueError, match=message):
        FuzzyCMeans(3).fit(GOOD, sample_weight=weight)


BAD_PARAMETERS = {
    "m = 1": (FuzzyCMeans(3, m=1.0), r"'m' parameter of FuzzyCMeans.*\(1.0, inf\).*Got 1.0"),
    "m nan": (FuzzyCMeans(3, m=np.nan), r"'m' parameter"),
    "m of the 1993 form": (PossibilisticCMeans(3, objective="1993", m=1), r"'m' parameter"),
    "lam = 0": (EntropyCMeans(3, lam=0), r"'lam' parameter.*\(0.0, inf\).*Got 0"),
    "lam unknown": (EntropyCMeans(3, lam="best"), r"'lam' parameter.*auto.*Got 'best'"),
    "eta = 0": (PossibilisticCMeans(3, eta=0.0), r"'eta' parameter"),
    "eta with a zero": (PossibilisticCMeans(3, eta=[1.0, 0.0, 1.0]), r"eta must be.*\[1.0, 0.0"),
    "eta of wrong shape": (PossibilisticCMeans(3, eta=[1.0, 1.0]), r"an array of shape \(3,\)"),
    "eta in words": (PossibilisticCMeans(3, eta=["a", "b", "c"]), r"eta must be 'fcm', 'variance'"),
    "eta_scale = 0": (PossibilisticCMeans(3, eta_scale=0), r"'eta_scale' parameter"),
    "objective unknown": (PossibilisticCMeans(3, objective="2007"), r"'objective' parameter"),
    "no clusters": (FuzzyCMeans(0), r"'n_clusters' parameter.*\[1, inf\).*Got 0"),
    "half a cluster": (FuzzyCMeans(2.5), r"'n_clusters' parameter"),
    "kernel unknown": (FuzzyCMeans(3, kernel="rfb"), r"'kernel' parameter.*'linear'"),
    "start unknown": (FuzzyCMeans(3, init="best"), r"'init' parameter.*k-means\+\+.*Got 'best'"),
    "start of wrong shape": (
        FuzzyCMeans(3, init=np.zeros((2, 3))),
        r"init has shape \(2, 3\).*\(3, 3\).*\(30, 3\)",
    ),
    "identical prototypes": (FuzzyCMeans(3, init=np.zeros((3, 3))), r"identical prototypes"),
    "start not finite": (FuzzyCMeans(3, init=np.full((3, 3), np.nan)), r"init contains NaN"),
    "start from an empty cluster": (
        FuzzyCMeans(3, init=np.eye(3)[[0] * 15 + [1] * 15]),
        r"a row of positive weight",
    ),
    "start from negative memberships": (FuzzyCMeans(3, init=-np.ones((30, 3))), r"not be negative"),
    "callable of wrong shape": (
        FuzzyCMeans(3, init=lambda X, k, random_state: X[:2]),
        r"init\(\) has shape \(2, 3\).*\(3, 3\)",
    ),
    "tol < 0": (FuzzyCMeans(3, tol=-1e-3), r"'tol' parameter"),
    "max_iter = 0": (FuzzyCMeans(3, max_iter=0), r"'max_iter' parameter"),
    "n_init = 0": (FuzzyCMeans(3, n_init=0), r"'n_init' parameter"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_estimator_refuses_bad_parameters(case):
    estimator, message = BAD_PARAMETERS[case]
    with pytest.raises(ValueError, match=message):
        estimator.fit(GOOD)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (GOOD[:, :2], r"X has 2 features, .* 3 features"),
        (with_value(np.nan), r"X contains NaN.*row 7"),
        (np.empty((0, 3)), r"X has 0 samples"),
        (GOOD[0], r"Reshape your data"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_memberships", "transform", "score"])
def test_fitted_model_refuses_bad_new_rows(X, message, method):
    model = FuzzyCMeans(3, random_state=0).fit(GOOD)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_model_refuses_rows_too_far_away(dtype):
    model = FuzzyCMeans(3, random_state=0).fit(GOOD.astype(dtype))
    far = with_value(np.finfo(dtype).max / 10)
    with pytest.raises(ValueError, match=r"too large in row 7"):
        model.predict_memberships(far)


def test_estimator_refuses_a_start_from_rows_of_weight_zero_alone():
    memberships = np.eye(3)[np.repeat([0, 1, 2], 10)]
    weight = np.repeat([1.0, 1.0, 0.0], 10)
    with pytest.raises(ValueError, match="a row of positive weight"):
        FuzzyCMeans(3, init=memberships).fit(GOOD, sample_weight=weight)


def test_an_iteration_that_leaves_the_finite_numbers_has_no_result(monkeypatch):
    from typicality.spaces import Euclidean

    sweep = Euclidean.sweep
    monkeypatch.setattr(
        Euclidean,
        "sweep",
        lambda *args, **options: replace(sweep(*args, **options), objective=float("nan")),
    )
    model = FuzzyCMeans(3, random_state=0)
    with pytest.raises(ValueError, match=r"not finite after 1 step"):
        model.fit(GOOD)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(
    ("estimator", "n_distinct", "kernel"),
    [
        (FuzzyCMeans, 1, "gaussian"),
        (FuzzyCMeans, 2, "linear"),
        (EntropyCMeans, 2, "gaussian"),
        (PossibilisticCMeans, 1, "linear"),
        (PossibilisticCMeans, 2, "gaussian"),
    ],
)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_estimator_finds_fewer_clusters_when_rows_are_copies(estimator, n_distinct, kernel):
    X = np.repeat(GOOD[:n_distinct], 20, axis=0)
    model = estimator(n_clusters=3, kernel=kernel, random_state=0)
    with pytest.warns(ConvergenceWarning, match=f"n_clusters=3 .* {n_distinct} distinct rows"):
        model.fit(X)
    assert model.n_clusters_ == n_distinct
    assert model.memberships_.shape == (len(X), n_distinct)
    assert np.isfinite(model.memberships_).all()
    assert len(np.unique(model.labels_.reshape(n_distinct, 20), axis=1).T) == 1


def test_estimator_refuses_more_starts_than_distinct_rows():
    X = np.repeat(GOOD[:2], 20, axis=0)
    with pytest.raises(ValueError, match=r"n_clusters=3 .* 2 distinct rows"):
        FuzzyCMeans(n_clusters=3, init=GOOD[:3]).fit(X)


def test_a_row_of_weight_zero_that_is_too_far_away_is_named_in_dask_collections():
    dask_array = pytest.importorskip("dask.array", reason="Dask is not installed")
    X = with_value(1e200)
    weight = np.ones(len(X))
    weight[7] = 0.0
    blocks = dask_array.from_array(X, chunks=(3, X.shape[1]))
    weights = dask_array.from_array(weight, chunks=3)
    with pytest.raises(ValueError, match=r"too large in row 7"):
        FuzzyCMeans(2, random_state=0).fit(blocks, sample_weight=weights)
