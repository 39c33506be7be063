"""Columns on a common scale."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import RobustScaler, StandardScaler

from sklearn_checks import FOR_ALL, FOR_TRANSFORMERS, needs_names_of_polars, parametrize_with_checks
from typicality.preprocessing import ColumnScaler

SCALERS = [ColumnScaler(), ColumnScaler(missing="median", log="all")]
# The checks mix arrays and data frames on purpose.
MIXED = pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")


@MIXED
@parametrize_with_checks(SCALERS[:1])
def test_scaler_passes_a_scikit_learn_check(estimator, check):
    check(estimator)


@MIXED
@pytest.mark.parametrize("check", [*FOR_ALL, *FOR_TRANSFORMERS], ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", SCALERS, ids=str)
def test_scaler_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.fixture(name="X")
def rows(rng):
    return rng.normal(size=(101, 3)) * [1.0, 1e-6, 1e9] + [0.0, 5.0, -1e12]


def test_scaler_robust_is_that_of_scikit_learn(X):
    peer = RobustScaler(unit_variance=True).fit(X)
    ours = ColumnScaler().fit(X)
    np.testing.assert_allclose(ours.center_, peer.center_, rtol=1e-15)
    np.testing.assert_allclose(ours.scale_, peer.scale_, rtol=1e-4)  # 1.349 has four digits
    np.testing.assert_allclose(
        ours.scale_, np.ptp(np.quantile(X, [0.25, 0.75], axis=0), axis=0) / 1.349
    )


def test_scaler_standard_is_that_of_scikit_learn(X):
    peer = StandardScaler().fit(X)
    ours = ColumnScaler(scale="standard").fit(X)
    np.testing.assert_allclose(ours.center_, peer.mean_, rtol=1e-14)
    np.testing.assert_allclose(ours.scale_, peer.scale_, rtol=1e-9)


def test_scaler_robust_resists_outliers(X):
    far = np.concatenate([X, np.full((5, 3), 1e30)])
    inliers = ColumnScaler().fit(far).transform(X)
    np.testing.assert_allclose(inliers.std(axis=0), 1.0, atol=0.35)


@pytest.mark.parametrize(
    ("n_others", "largest_z"), [(300, 1.0 / 0.3**0.5), (100, 10**0.5), (10, 10.0), (1, 10.0)]
)
def test_scaler_survives_a_spike(n_others, largest_z):
    column = np.zeros((1000, 1))
    column[:n_others] = 7.0
    column[0] = 7.0 if n_others == 1 else 1e12  # a far value does not inflate the scale
    scaler = ColumnScaler().fit(column[::-1])
    assert scaler.center_ == [0.0]
    robust = max(7.0 / largest_z, 7.0 / 1.349 * (n_others > 250))
    np.testing.assert_allclose(scaler.scale_, [robust])


@pytest.mark.parametrize("far", [30.0, -300.0])
def test_one_outlier_of_few_rows_makes_no_column_skewed(rng, far):
    X = np.append(rng.normal(1.0, 1.0, 15), far)[:, None]
    assert ColumnScaler(log="auto").fit(X).log_unit_ == 0.0


def test_scaler_takes_logarithms_of_skewed_columns_only(rng):
    X = np.column_stack(
        [
            rng.lognormal(10.0, 2.0, 501),  # gross domestic products
            rng.normal(size=501),
            -rng.lognormal(0.0, 1.5, 501),
            10.0 - rng.lognormal(0.0, 0.3, 501),  # its tail is below, where logarithms do no good
            rng.poisson(0.7, 501),
            np.zeros(501),
        ]
    )
    scaler = ColumnScaler(log="auto").fit(X)
    assert_array_equal(scaler.log_unit_ > 0, [True, False, True, False, False, False])
    unit = np.quantile(X[:, 0], 0.05)
    peer = ColumnScaler().fit_transform(np.log1p(X[:, [0]] / unit))
    assert_allclose(scaler.transform(X)[:, [0]], peer, rtol=1e-9, atol=1e-12)
    assert_array_equal(scaler.transform(X)[:, 1], ColumnScaler().fit_transform(X)[:, 1])
    assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, rtol=1e-9, atol=1e-9)


def test_scaler_takes_logarithms_of_all_columns_by_sign():
    X = np.array([[-10.0], [-1.0], [0.0], [1.0], [10.0]])
    Z = ColumnScaler(log="all", scale="none").fit_transform(X)
    unit = np.quantile([1.0, 1.0, 10.0, 10.0], 0.05)
    assert_allclose(
        Z.ravel(), [-np.log1p(10 / unit), -np.log1p(1 / unit), 0, *np.log1p([1 / unit, 10 / unit])]
    )


def test_scaler_fills_in_medians_before_logarithms(rng):
    X = rng.lognormal(3.0, 1.0, (101, 1))
    X[5] = np.nan
    scaler = ColumnScaler(log="all", missing="median").fit(X)
    assert_allclose(scaler.transform(X)[5], 0.0, atol=1e-12)
    assert scaler.fill_ == [np.nanmedian(X)]


@pytest.mark.parametrize(("scale", "dtype"), [("robust", np.float32), ("standard", np.float64)])
def test_scaler_keeps_the_scale_of_constant_columns(scale, dtype):
    X = np.full((7, 2), 0.1, dtype=dtype)
    X[3, 1] = np.nextafter(X[3, 1], dtype(1))  # rounding is no variation
    scaler = ColumnScaler(scale=scale).fit(X)
    np.testing.assert_array_equal(scaler.scale_, [1.0, 1.0])
    np.testing.assert_allclose(scaler.transform(X), 0.0, atol=1e-7)


@pytest.mark.parametrize("scale", ["robust", "standard", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaler_inverts(X, scale, dtype):
    X = X.astype(dtype)
    scaler = ColumnScaler(scale=scale).fit(X)
    Z = scaler.transform(X)
    assert Z.dtype == dtype
    np.testing.assert_allclose(scaler.inverse_transform(Z), X, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("scale", ["robust", "standard"])
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_scaler_neither_overflows_nor_vanishes_in_extreme_units(X, scale, unit):
    expected = ColumnScaler(scale=scale).fit_transform(X[:, :1])
    found = ColumnScaler(scale=scale).fit_transform(X[:, :1] * unit)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_scaler_fills_missing_values_with_medians(X):
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    scaler = ColumnScaler(missing="median").fit(gaps)
    np.testing.assert_array_equal(scaler.fill_, np.nanmedian(gaps, axis=0))
    Z = scaler.transform(gaps)
    np.testing.assert_array_equal(Z[::7, 0], 0.0)
    np.testing.assert_array_equal(scaler.inverse_transform(Z)[::7, 0], scaler.fill_[0])
    present = ColumnScaler().fit(gaps[~np.isnan(gaps[:, 0]), 0:1])
    assert (scaler.center_[0], scaler.scale_[0]) == (present.center_[0], present.scale_[0])


def test_scaler_refuses_missing_values_by_default(X):
    scaler = ColumnScaler().fit(X)
    X[4, 2] = np.nan
    for refuse in (scaler.transform, ColumnScaler().fit):
        with pytest.raises(ValueError, match="X contains NaN, first in row 4"):
            refuse(X)


@pytest.mark.parametrize("library", [pd, pytest.param(pl, marks=needs_names_of_polars)])
def test_scaler_takes_data_frames_of_any_kind(X, library):
    frame = library.DataFrame({name: X[:, j] for j, name in enumerate("abc")})
    scaler = ColumnScaler().fit(frame)
    assert list(scaler.feature_names_in_) == list(scaler.get_feature_names_out()) == list("abc")
    np.testing.assert_array_equal(scaler.transform(frame), ColumnScaler().fit_transform(X))
