"""What every engine promises: the blocks, the order and the sums of an array with the same blocks.

A new engine enters by a function in `ENGINES`. `ListRows` shows how little an engine is.
"""

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality import FuzzyCMeans, _threads, open_rows
from typicality._sparse import as_dense, sparse_rows
from typicality._threads import TreeSum
from typicality.rows import (
    ArrayRows,
    Block,
    Rows,
    SparseRows,
    TensorRows,
    content_hash,
    file,
    quantile,
)
from typicality.rows.dask import dask_rows

N_ROWS = 1700
SIZES = {1: 1700, 3: 600, 17: 100}  # rows of a block, by the number of blocks


class ListRows(Rows):
    """Rows in a list of arrays: an engine of two methods."""

    def __init__(self, parts):
        starts = np.cumsum([0, *map(len, parts)])
        pairs = zip(parts, starts, strict=False)
        self.blocks = [Block(X, None, start) for X, start in pairs if len(X)]
        self.n_rows, self.n_features = starts[-1], parts[0].shape[1]
        self.dtype, self.weighted = parts[0].dtype, False

    def fold(self, function):
        sums = TreeSum()
        for block in self.blocks:
            sums.add(function(block))
        return sums.total()

    def map(self, function):
        return np.concatenate([function(block) for block in self.blocks])


def cuts_of(size):
    """Where blocks end, with an empty block after the first."""
    ends = list(range(size, N_ROWS, size)) or [0]
    return [ends[0], *ends]


def in_array(X, size, folder, monkeypatch):
    return ArrayRows(X, cuts=cuts_of(size))


def in_sparse(X, size, folder, monkeypatch):
    return SparseRows(sparse_rows(X), cuts=cuts_of(size))


def in_list(X, size, folder, monkeypatch):
    return ListRows(np.split(X, cuts_of(size)))


def in_dask(X, size, folder, monkeypatch):
    sizes = np.diff([0, *cuts_of(size), N_ROWS])
    return dask_rows(da.from_array(X, chunks=(tuple(sizes.tolist()), 3)))


def in_files(X, size, folder, monkeypatch):
    monkeypatch.setattr(file, "BLOCK_ROWS", size)
    monkeypatch.setattr(file, "_BATCH_ENTRIES", 12 * size)  # four blocks
    for number, part in enumerate(np.split(X, [700, 700])):
        table = pa.table({f"x{j}": column for j, column in enumerate(part.T)})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=77)
    return open_rows(folder)


def on_device(X, size, folder, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed: tensors are not tested")
    from typicality._tensors import OnDevice
    from typicality.rows import tensor

    monkeypatch.setattr(tensor, "_BLOCK_ROWS", size)
    return TensorRows(OnDevice(torch.tensor(X)), None, "cpu")


ENGINES = [in_array, in_sparse, in_list, in_dask, in_files, on_device]


@pytest.fixture(scope="module", name="X")
def three_groups():
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.normal(m, 1.0, (n, 3)) for m, n in ((0, 600), (9, 600), (18, 500))])
    X[rng.random(X.shape) < 0.2] = 0.0
    return np.concatenate([rng.permutation(X)[:-50], X[:50]])  # some rows are equal


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.__name__)
def engine(request):
    return request.param


@pytest.fixture(params=SIZES)
def n_blocks(request):
    return request.param


@pytest.fixture
def both(engine, n_blocks, X, tmp_path, monkeypatch):
    """The rows in an engine and in an array, in the same blocks."""
    with dask.config.set(scheduler="synchronous"):
        size = SIZES[n_blocks]
        yield engine(X, size, tmp_path, monkeypatch), ArrayRows(X, cuts=cuts_of(size))


def summed(block):
    return np.asarray(as_dense(block.X)).sum(axis=0)


def test_blocks_come_in_order_and_empty_ones_are_skipped(both, n_blocks):
    rows, array = both
    blocks = rows.resident.fold(lambda block: [(int(block.start), len(block.X))])
    assert blocks == array.fold(lambda block: [(block.start, len(block.X))])
    assert len(blocks) == n_blocks
    assert (rows.n_rows, rows.n_features, rows.dtype) == (N_ROWS, 3, array.dtype)


def test_sums_have_the_bits_of_the_array(both):
    rows, array = both
    assert_array_equal(rows.resident.fold(summed), array.fold(summed))


@pytest.mark.parametrize("n_threads", [2, 5])
def test_sums_have_the_same_bits_for_any_number_of_threads(both, n_threads, monkeypatch):
    rows, _ = both
    expected = rows.fold(summed)
    monkeypatch.setattr(_threads, "_n_threads", lambda: n_threads)
    assert_array_equal(rows.fold(summed), expected)


def test_results_are_in_the_order_of_the_rows(both, X):
    rows, _ = both
    assert_array_equal(
        np.asarray(rows.map(lambda block: 2.0 * as_dense(block.X)[:, 1])), 2 * X[:, 1]
    )


def test_what_follows_from_folds_is_that_of_the_array(both, X):
    rows, array = both
    for name in ("mean", "variance", "low", "high"):
        found, expected = getattr(rows.features, name), getattr(array.features, name)
        assert_allclose(found, expected, rtol=1e-13, atol=1e-15, err_msg=name)
    some, expected = rows.sample(), array.sample()
    assert_array_equal(as_dense(some.rows), expected.rows)
    assert_array_equal(some.weight, expected.weight)
    assert_array_equal(X[some.index], expected.rows)
    assert some.n_distinct == expected.n_distinct
    index = np.array([1650, 3, 640, 3])
    assert_array_equal(as_dense(rows.take(index)), X[index])
    second = lambda block: as_dense(block.X)[:, 1]  # noqa: E731
    assert quantile(rows, second, 0.3) == quantile(array, second, 0.3)


def test_weights_are_copies(both, X):
    rows, _ = both
    copies = np.arange(N_ROWS) % 3
    weighted = rows.reweighted(lambda block: (block.start + np.arange(len(block.X))) % 3.0)
    repeated = ArrayRows(np.repeat(X, copies, axis=0))
    assert weighted.total_weight == copies.sum()
    assert_allclose(weighted.features.mean, repeated.features.mean, rtol=1e-13)
    assert_allclose(weighted.features.variance, repeated.features.variance, rtol=1e-12)
    assert_array_equal(weighted.sample().weight, repeated.sample().weight)
    second = lambda block: as_dense(block.X)[:, 1]  # noqa: E731
    assert quantile(weighted, second, 0.3) == quantile(repeated, second, 0.3)


def test_fits_are_those_of_the_array(both):
    found, expected = (FuzzyCMeans(3, random_state=0).fit(each) for each in both)
    assert_allclose(found.cluster_centers_, expected.cluster_centers_, rtol=1e-12, atol=1e-12)
    assert_array_equal(np.asarray(found.labels_), expected.labels_)
    assert found.n_iter_ == expected.n_iter_


def test_zeros_of_both_signs_are_the_same_content():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]])
    assert len(np.unique(content_hash(X))) == 2
