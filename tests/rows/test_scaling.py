"""Centre and scale by folds over blocks are those of all rows in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality.preprocessing import ColumnScaler
from typicality.rows import ArrayRows, quantiles
from typicality.rows.base import View

CUTS = (100, 101, 700)


def in_blocks(X):
    """Rows in blocks that are not in memory."""
    rows = ArrayRows(X, cuts=[cut for cut in CUTS if cut < len(X)])
    return View(rows, lambda block: block, weighted=False)


@pytest.fixture(name="X")
def columns_of_all_kinds(rng):
    """Normal, skewed with zeros, mostly one value, constant, whole numbers, huge."""
    n = 1001
    return np.column_stack(
        [
            rng.normal(3, 2, n),
            np.where(rng.random(n) < 0.1, 0.0, rng.lognormal(0, 2, n)),
            np.where(rng.random(n) < 0.7, 5.0, rng.normal(5, 1, n)),
            np.full(n, 2.5),
            rng.integers(-4, 5, n),
            rng.normal(0, 1e200, n),
        ]
    )


@pytest.mark.parametrize("n", [1, 2, 5, 1001])
def test_quantiles_have_the_bits_of_numpy(X, n):
    rates = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]
    found = quantiles(in_blocks(X[:n]), lambda block: block.X, rates)
    assert_array_equal(found, np.quantile(X[:n], rates, axis=0))


@pytest.mark.parametrize(
    ("scale", "log"), [("robust", "auto"), ("standard", "all"), ("none", "none")]
)
@pytest.mark.parametrize(("missing", "rate"), [("error", 0.0), ("median", 0.1)])
def test_scaler_of_blocks_is_that_of_an_array(X, rng, scale, log, missing, rate):
    X[rng.random(X.shape) < rate] = np.nan
    scaler = ColumnScaler(scale=scale, log=log, missing=missing)
    expected = scaler.fit(X).transform(X)
    of_blocks = ColumnScaler(scale=scale, log=log, missing=missing).fit(in_blocks(X))
    compare = assert_array_equal if scale != "standard" else assert_close
    for name in ("log_unit_", "fill_", "center_", "scale_"):
        compare(getattr(of_blocks, name), getattr(scaler, name))
    moved = of_blocks.transform(in_blocks(X))
    compare(moved.take(np.arange(len(X))), expected)


def assert_close(found, expected):
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_column_without_values_is_named(X):
    X[:, 4] = np.nan
    with pytest.raises(ValueError, match="Column 4 of X has only missing values"):
        ColumnScaler(missing="median").fit(in_blocks(X))
