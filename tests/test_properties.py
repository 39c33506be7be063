"""Properties of all estimators, on generated data: what must not change a result.

Clusters of the generated sets stand apart, so that no result hangs on the last bit. (Fits that are
interrupted are in `cluster/test_unfinished_fits.py`, numbers of threads in `test_same_bits.py`.)
"""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from typicality._estimators import ESTIMATORS

pytestmark = [
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
PUBLIC = [name for name, row in ESTIMATORS.items() if row.method]


@st.composite
def tables(draw):
    """Two or three clusters of rows in one to four dimensions, 20 standard deviations apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(20, 40), min_size=2, max_size=3))
    direction = rng.normal(size=n_features)
    centres = 20.0 * np.arange(len(sizes))[:, None] * direction / np.linalg.norm(direction)
    X = np.repeat(centres, sizes, axis=0) + rng.normal(size=(sum(sizes), n_features))
    return X, len(sizes)


def estimator_for(name, n_clusters):
    """The estimator with its defaults, told the number of clusters where it must be."""
    kind = getattr(import_module(ESTIMATORS[name].module), name)
    settings = {"random_state": 0} if "random_state" in kind().get_params() else {}
    if ESTIMATORS[name].number == "given":
        settings["n_clusters"] = n_clusters
    return kind(**settings)


def assert_same_clusters(labels, expected):
    """The same clusters by any numbers; -1 is no number."""
    pairs = {(int(a), int(b)) for a, b in zip(labels, expected, strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert all((a == -1) == (b == -1) for a, b in pairs)


@pytest.mark.parametrize("name", PUBLIC)
@settings(max_examples=3)  # for each estimator
@given(tables(), st.integers(-400, 400), st.integers(-1000, 1000))
def test_order_units_and_origin_do_not_matter(name, table, power, shift):
    """Up to magnitudes of 1e120 and down to 1e-120."""
    X, n_clusters = table
    order = np.random.default_rng(abs(power)).permutation(len(X))
    model = estimator_for(name, n_clusters)
    expected = model.fit(X).predict(X)[order]
    moved = 2.0**power * (X[order] + shift)
    assert_same_clusters(clone(model).fit(moved).predict(moved), expected)
