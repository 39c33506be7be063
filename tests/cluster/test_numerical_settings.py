"""Masks, tiny weights and rows on a threshold: no influence on results, or an error says why."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from typicality import AdaptivePCM, AlphaCutClustering, FuzzyCMeans, OneClusterPCM

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (60, 2)), RNG.normal(12, 1, (60, 2)), [[40.0, 40.0]]])


@pytest.mark.parametrize(
    ("kind", "dtype"), [(AdaptivePCM, "f4"), (FuzzyCMeans, "f8"), (AlphaCutClustering, "f8")]
)
def test_weights_that_vanish_are_refused(kind, dtype):
    smallest = np.finfo(dtype).smallest_subnormal
    with pytest.raises(ValueError, match="sample_weight is too small"):
        kind().fit(X.astype(dtype), sample_weight=np.full(len(X), smallest))


def test_masked_values_are_refused():
    masked = np.ma.masked_array(X, mask=False)
    masked[7, 1] = np.ma.masked
    with pytest.raises(ValueError, match=r"X is a masked array with 1 masked .*row 7 "):
        FuzzyCMeans(2).fit(masked)
    with pytest.raises(ValueError, match="X is a masked array"):
        FuzzyCMeans(2, random_state=0).fit(X).predict(masked)
    with pytest.raises(ValueError, match="sample_weight is a masked array"):
        FuzzyCMeans(2).fit(X, sample_weight=np.ma.masked_less(X[:, 0], 0))


@pytest.mark.parametrize("seed", [12, 30, 44])
def test_row_on_the_threshold_is_typical_by_weights_and_by_copies(seed):
    rng = np.random.default_rng(seed)
    rows, weight = rng.normal(size=(14, 1)), rng.integers(1, 4, 14)
    model = OneClusterPCM(kernel="linear", contamination=0.1)
    by_weights = model.fit(rows, sample_weight=weight).predict(rows)
    assert_array_equal(model.fit(np.repeat(rows, weight, axis=0)).predict(rows), by_weights)
