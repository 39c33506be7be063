"""Sparse rows: the same clusters as the same rows in an array, without making them dense."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
)
from typicality._sparse import sparse_distances, sparse_rows
from typicality.kernels import Gaussian, LocalGaussian
from typicality.rows import DistinctRows, SparseRows, content_hash

CMEANS = [
    FuzzyCMeans(3, random_state=0),
    FuzzyCMeans(3, m=1.2, init="max-min"),
    FuzzyCMeans(3, m=1.2, init="random", n_init=3, random_state=1),
    EntropyCMeans(3, random_state=0),
    EntropyCMeans(3, init="annealing", random_state=0),
    PossibilisticCMeans(3, random_state=0),
    PossibilisticCMeans(3, objective="1993", random_state=0),
    PossibilisticCMeans(3, eta=0.5, init="max-min"),
]
BY_KERNEL = [
    FuzzyCMeans(3, kernel="gaussian", random_state=0),
    FuzzyCMeans(3, kernel=Gaussian(3.0), init="max-min"),
    EntropyCMeans(3, kernel="cauchy", random_state=0),
    PossibilisticCMeans(3, kernel="cosine", random_state=0),
    PossibilisticCMeans(3, kernel="laplacian", random_state=0),
    PossibilisticCMeans(3, kernel="polynomial", random_state=0),
]
DENSITIES = [
    OneClusterPCM(),
    OneClusterPCM(kernel="linear"),
    OneClusterPCM(kernel="cosine"),
    OneClusterPCM(sigma="knn"),
    OneClusterPCM(kernel="laplacian", sigma="knn"),
    OneClusterPCM(sigma="loo-likelihood"),
    OneClusterPCM(sigma="scott", weights="uniform"),
    OneClusterPCM(sigma=3.0, calibration="split", random_state=0),
]
FITTED = ("cluster_centers_", "objective_path_", "prototype_labels_", "n_iter_", "labels_")


@pytest.fixture(scope="module", name="X")
def three_topics():
    """Rows of three groups, each with words of its own and a few common ones."""
    rng = np.random.default_rng(3)
    rows = np.zeros((420, 40))
    for row, group in zip(rows, rng.integers(0, 3, 420), strict=True):
        row[rng.integers(10 * group, 10 * group + 10, 6)] = rng.uniform(0.5, 1.5)
        row[rng.integers(30, 40, 2)] = rng.uniform(0.5, 1.5, 2)
    return rows


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(4).integers(0, 4, 420).astype(float)


def agree(dense, sparse, X, *, rtol=1e-12):
    assert sparse.n_iter_ == dense.n_iter_
    assert_array_equal(sparse.labels_, dense.labels_)
    assert_allclose(sparse.memberships_, dense.memberships_, rtol=rtol, atol=rtol)
    assert_allclose(sparse.objective_path_, dense.objective_path_, rtol=rtol)
    rows = sp.csr_array(X)
    assert_array_equal(sparse.predict(rows), sparse.labels_)
    assert_array_equal(sparse.predict(X), sparse.labels_)  # an array is converted
    assert_allclose(sparse.predict_memberships(rows), dense.memberships_, rtol=rtol, atol=rtol)
    assert_array_equal(sparse.transform(rows), sparse.predict_memberships(rows))
    assert_allclose(sparse.score(rows), dense.score(X), rtol=rtol)


# ---- each estimator and its twin ----------------------------------------------------------------


@pytest.mark.parametrize(("place", "estimator"), list(enumerate(CMEANS)), ids=repr)
def test_cmeans_on_sparse_rows_are_those_on_an_array(X, weight, place, estimator):
    w = weight if place % 2 else None
    dense = clone(estimator).fit(X, sample_weight=w)
    sparse = clone(estimator).fit(sp.csr_matrix(X), sample_weight=w)
    assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, rtol=1e-12, atol=1e-12)
    agree(dense, sparse, X)


@pytest.mark.parametrize("estimator", BY_KERNEL, ids=repr)
def test_kernel_cmeans_on_sparse_rows_are_those_on_an_array(X, weight, estimator):
    dense = clone(estimator).fit(X, sample_weight=weight)
    sparse = clone(estimator).fit(sp.csr_matrix(X), sample_weight=weight)
    agree(dense, sparse, X, rtol=1e-10)


@pytest.mark.parametrize("estimator", DENSITIES, ids=repr)
def test_densities_of_sparse_rows_are_those_of_an_array(X, weight, estimator):
    dense = clone(estimator).fit(X, sample_weight=weight)
    sparse = clone(estimator).fit(sp.csr_array(X), sample_weight=weight)
    rows = sp.csr_array(X)
    assert_allclose(sparse.typicality_, dense.typicality_, rtol=1e-11)
    assert_allclose(sparse.weights_, dense.weights_, rtol=1e-11)
    assert_allclose(sparse.score_samples(rows), dense.score_samples(X), rtol=1e-11, atol=1e-11)
    assert_array_equal(sparse.predict(rows), dense.predict(X))
    assert_array_equal(sparse.p_values(rows), dense.p_values(X))
    assert_allclose(sparse.transform(rows), dense.transform(X), rtol=1e-11)


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix, sp.coo_array, "untidy"])
def test_kinds_of_sparse_matrices_give_the_same_bits(X, convert):
    expected = FuzzyCMeans(3, random_state=0).fit(sp.csr_matrix(X))
    given = untidy(X) if convert == "untidy" else convert(X)
    before = given.copy()
    model = FuzzyCMeans(3, random_state=0).fit(given)
    for name in FITTED:
        assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)
    assert type(given) is type(before)
    assert given.nnz == before.nnz  # it was not tidied up in place
    assert_array_equal(given.data, before.data)


def untidy(X):
    """The same rows with stored zeros, values in two parts, and columns in falling order."""
    tidy = sp.coo_array(X)
    n = X.shape[0]
    rows = np.concatenate([tidy.row, tidy.row, np.arange(n)])
    columns = np.concatenate([tidy.col, tidy.col, np.full(n, 35)])
    data = np.concatenate([0.5 * tidy.data, 0.5 * tidy.data, np.zeros(n)])
    order = np.lexsort((-columns, rows))
    ends = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
    return sp.csr_matrix((data[order], columns[order], ends), shape=X.shape)


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [AdaptivePCM(), SparseAdaptivePCM(3), SequentialPCM(), AlphaCutClustering()],
    ids=repr,
)
def test_methods_that_need_dense_rows_name_the_remedy(X, estimator):
    with pytest.raises(TypeError, match=r"sparse matrix.*TruncatedSVD"):
        estimator.fit(sp.csr_array(X))


@pytest.mark.parametrize("kernel", ["local", "precomputed", "connectivity", "chi2", np.dot])
def test_kernels_that_need_dense_rows_name_the_remedy(X, kernel):
    with pytest.raises(TypeError, match=r"kernel=.*arrays only.*TruncatedSVD"):
        FuzzyCMeans(3, kernel=kernel).fit(sp.csr_array(X))
    with pytest.raises(TypeError, match=r"kernel=.*arrays only"):
        OneClusterPCM(kernel=LocalGaussian(X)).fit(sp.csr_array(X))


def test_what_a_model_of_arrays_or_of_sparse_rows_cannot_do_is_refused(X):
    rows = sp.csr_array(X)
    with pytest.raises(TypeError, match=r"fitted on an array.*toarray"):
        OneClusterPCM().fit(X).predict(rows)
    assert_array_equal(*(FuzzyCMeans(3, random_state=0).fit(X).predict(r) for r in (X, rows)))
    model = OneClusterPCM().fit(rows)
    with pytest.raises(ValueError, match=r"sparse matrix.*TruncatedSVD"):
        model.compress()
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.explain(rows)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.report(rows)


def test_values_that_are_no_numbers_are_named(X):
    bad = sp.csr_array(X)
    bad.data[bad.indptr[7]] = np.nan
    column = bad.indices[bad.indptr[7]]
    with pytest.raises(ValueError, match=rf"NaN, first in row 7 .* column {column}"):
        FuzzyCMeans(3).fit(bad)
    bad.data[bad.indptr[7]] = 1e200
    with pytest.raises(ValueError, match="too large"):
        FuzzyCMeans(3).fit(bad)


# ---- memory -------------------------------------------------------------------------------------

_LARGE = """
import resource, sys
import numpy as np, scipy.sparse as sp
from typicality import FuzzyCMeans
rng = np.random.default_rng(0)
n, d = 10_000, 50_000
columns = (rng.integers(0, 3, (n, 1)) * 10_000 + (30_000 * rng.random((n, 20)) ** 2)).astype(int)
X = sp.csr_array((np.ones(n * 20), columns.ravel(), np.arange(0, 20 * n + 1, 20)), shape=(n, d))
X.sum_duplicates()
FuzzyCMeans(3, m=1.1, random_state=0, tol=1e-2).fit(X[:500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
FuzzyCMeans(3, m=1.1, random_state=0, tol=1e-2).fit(X)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak has another unit there")
def test_a_large_matrix_is_not_made_dense():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _LARGE], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * 1024 < 200e6  # as an array it would take 4 GB


# ---- parts --------------------------------------------------------------------------------------


@pytest.fixture
def mixed(rng):
    """Rows with negative values, rows of zeros, and rows that share long beginnings."""
    rows = rng.integers(-2, 3, (300, 6)) * (rng.random((300, 6)) < 0.4)
    return np.concatenate([rows, np.zeros((2, 6)), rows[:50]]).astype(float)


@pytest.mark.parametrize("at_most", [20, 10_000])
def test_distinct_sparse_rows_are_those_of_an_array(rng, mixed, at_most):
    weight = rng.integers(0, 3, len(mixed)).astype(float)
    rows = sparse_rows(mixed)
    assert len(np.unique(content_hash(rows))) == len(np.unique(mixed, axis=0))
    whole = DistinctRows.of(rows, weight, at_most=at_most)
    parts = SparseRows(rows, weight, (100, 101, 300)).fold(
        lambda b: DistinctRows.of(b.X, b.weight, at_most=at_most, first_row=b.start)
    )
    assert_array_equal(parts.rows.toarray(), whole.rows.toarray())
    assert_array_equal(parts.weight, whole.weight)
    assert_array_equal(mixed[parts.index], whole.rows.toarray())
    dense = DistinctRows.of(mixed, weight)
    assert {*map(tuple, whole.rows.toarray())} <= {*map(tuple, dense.rows)}
    assert_array_equal(DistinctRows.of(rows, weight).rows.toarray(), dense.rows)


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "cityblock"])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_distances_keep_their_digits_however_far_from_zero(rng, mixed, metric, far):
    from scipy.spatial.distance import cdist

    mixed[:, 0] += far  # a column without zeros, where products would lose eight digits
    rows = sparse_rows(mixed)
    expected = cdist(mixed, mixed, metric)
    assert_allclose(sparse_distances(rows, rows, metric), expected, rtol=1e-12)
    assert_array_equal(
        sparse_distances(rows[7:9], mixed, metric), sparse_distances(rows, rows, metric)[7:9]
    )
