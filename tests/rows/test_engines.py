"""Every engine gives the sums of the in-memory fold over the same blocks, bit for bit."""

import os
import signal
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_checks import needs_callbacks
from typicality import (
    AdaptivePCM,
    EntropyCMeans,
    FuzzyCMeans,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
    open_rows,
)
from typicality._threads import TreeSum
from typicality.exceptions import TableError
from typicality.rows import ArrayRows, DistinctRows, file
from typicality.tables import open_table

dask = pytest.importorskip("dask", reason="Dask is not installed: its engine is not tested")
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
import dask.array as da  # noqa: E402

pytestmark = pytest.mark.xdist_group("dask")  # one cluster for all

CUTS = {1: (), 3: (250, 700), 17: (*range(120, 1800, 120), 1800, 1860)}
ESTIMATORS = [
    FuzzyCMeans(3, random_state=0),
    EntropyCMeans(3, random_state=0),
    PossibilisticCMeans(3, random_state=0),
    PossibilisticCMeans(3, objective="1993", random_state=0),
    AdaptivePCM(5),
    SparseAdaptivePCM(5, lam=0.2),
    SequentialPCM(),
    FuzzyCMeans(3, noise_distance="auto", random_state=0),
    FuzzyCMeans(3, covariance_type="full", random_state=0),
    SequentialPCM(lam=0.3),
]
FUZZY, ONE_BY_ONE = ESTIMATORS[0], ESTIMATORS[-1]
FITTED = ("cluster_centers_", "objective_path_", "prototype_labels_", "n_iter_", "objective_")


@pytest.fixture(scope="module", name="X")
def three_groups():
    rng = np.random.default_rng(5)
    rows = np.concatenate([rng.normal(m, 1.0, (640, 3)) for m in (0.0, 9.0, 18.0)])
    return rng.permutation(rows)


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(6).integers(0, 4, 1920).astype(float)


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def chunked(X, cuts):
    """A Dask array with the blocks of the cuts, and an empty one."""
    sizes = [stop - start for start, stop in pairwise((0, *cuts, len(X)))]
    sizes.insert(len(sizes) // 2, 0)
    return da.from_array(X, chunks=(tuple(sizes), *((n,) for n in X.shape[1:])))


def same_fit(one, other):
    for name in FITTED:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize(
    ("estimator", "n_blocks", "weighted"),
    [
        *((each, 3, False) for each in ESTIMATORS),
        *((each, n, False) for each in (FUZZY, ONE_BY_ONE) for n in (1, 17)),
        *((each, 3, True) for each in (FUZZY, *ESTIMATORS[2:6:3])),
    ],
    ids=repr,
)
def test_dask_gives_the_bits_of_the_fold_in_memory(X, weight, estimator, n_blocks, weighted):
    cuts, weight = CUTS[n_blocks], weight if weighted else None
    blocks = clone(estimator).fit(ArrayRows(X, weight, cuts))
    with dask.config.set(scheduler="synchronous"):
        given = {"sample_weight": chunked(weight, cuts)} if weighted else {}
        spread = clone(estimator).fit(chunked(X, cuts), **given)
        same_fit(blocks, spread)
        assert_array_equal(spread.labels_.compute(), blocks.labels_)
        assert_array_equal(spread.memberships_.compute(), blocks.memberships_)
    plain = clone(estimator).fit(X, sample_weight=weight)
    assert_allclose(spread.cluster_centers_, plain.cluster_centers_, rtol=1e-12, atol=1e-12)
    assert_array_equal(blocks.labels_, plain.labels_)


@pytest.mark.parametrize("estimator", [FUZZY, *ESTIMATORS[3:6:2], ONE_BY_ONE], ids=repr)
def test_two_processes_give_the_bits_of_the_fold_in_memory(cluster, X, estimator):
    blocks = clone(estimator).fit(ArrayRows(X, cuts=CUTS[3]))
    spread = clone(estimator).fit(chunked(X, CUTS[3]))
    same_fit(blocks, spread)
    assert_array_equal(spread.predict(chunked(X, CUTS[3])).compute(), blocks.labels_)


def test_weights_may_come_from_the_table_of_the_rows(X, weight):
    both = chunked(np.column_stack([X, weight]), CUTS[3])
    estimator = FuzzyCMeans(3, random_state=0)
    with dask.config.set(scheduler="synchronous"):
        spread = clone(estimator).fit(both[:, :3], sample_weight=both[:, 3])
    same_fit(clone(estimator).fit(ArrayRows(X, weight, CUTS[3])), spread)


@pytest.mark.parametrize(
    ("estimator", "suffix"),
    [
        *((FUZZY, suffix) for suffix in ("npy", "parquet", "arrow", "csv")),
        *zip(ESTIMATORS[1:6], ["npy", "parquet", "arrow", "csv", "npy"], strict=True),
    ],
    ids=repr,
)
def test_files_give_the_bits_of_the_fold_in_memory(tmp_path, monkeypatch, X, estimator, suffix):
    monkeypatch.setattr(file, "BLOCK_ROWS", 100)
    monkeypatch.setattr(file, "_BATCH_ENTRIES", 1500)
    path = tmp_path / f"rows.{suffix}"
    write(path, X)
    read = clone(estimator).fit(open_rows(path))
    blocks = clone(estimator).fit(ArrayRows(X, cuts=range(100, 1920, 100)))
    same_fit(blocks, read)
    assert_array_equal(read.labels_, blocks.labels_)
    assert not hasattr(read, "memberships_")
    assert_array_equal(read.predict(open_rows(path)), blocks.labels_)
    assert_array_equal(read.predict_memberships(open_rows(path)), blocks.predict_memberships(X))


def write(path, X):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table({f"x{j}": column for j, column in enumerate(X.T, 1)})
    writers = {
        ".npy": lambda: np.save(path, X),
        ".parquet": lambda: pyarrow.parquet.write_table(table, path, row_group_size=77),
        ".arrow": lambda: pyarrow.feather.write_feather(table, path, compression="uncompressed"),
        ".csv": lambda: path.write_text(
            "x1,x2,x3\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()) + "\n"
        ),
    }
    writers[path.suffix]()


class KilledAt:
    """A callback that kills a process when an iteration begins."""

    def __init__(self, victim, iteration):
        self.victim, self.iteration = victim, iteration
        self.has_killed = False

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        is_time = context.task_name == "iteration" and context.task_id == self.iteration
        if is_time and not self.has_killed:
            self.has_killed = True
            os.kill(self.victim, signal.SIGKILL)

    def on_fit_task_end(self, estimator, context, **of_fit):
        pass


@needs_callbacks
def test_a_killed_worker_does_not_change_a_bit(cluster, X):
    estimator = FuzzyCMeans(3, random_state=0, tol=0, max_iter=8)
    expected = clone(estimator).fit(ArrayRows(X, cuts=CUTS[17]))
    victim = next(iter(cluster.cluster.workers.values())).pid
    killer = KilledAt(victim, iteration=2)
    same_fit(estimator.set_callbacks(killer).fit(chunked(X, CUTS[17])), expected)
    assert killer.has_killed


def test_dask_frames_have_names_and_refuse_text(X):
    frames = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = FuzzyCMeans(3, random_state=0).fit(frames.from_pandas(frame, npartitions=4))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    frame["text"] = "x"
    with pytest.raises(ValueError, match="Column 'text' of X holds"):
        FuzzyCMeans(3).fit(frames.from_pandas(frame, npartitions=4))


def test_columns_of_files_are_used_or_refused_by_name(tmp_path, X):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,x\n")
    with pytest.raises(TableError, match="line 3, column 'b'"):
        open_rows(path)
    rows = open_rows(path, columns=["a"])
    assert FuzzyCMeans(2, random_state=0).fit(rows).feature_names_in_.tolist() == ["a"]
    with pytest.raises(TableError, match="no column 'c'"):
        open_rows(path, columns=["c"])
    path.write_text("a,b\n1,2\n3,\n")
    with pytest.raises(TableError, match=r"line 3, column 'b': the value is missing"):
        open_rows(path)
    with pytest.raises(TableError, match="No file matches"):
        open_rows(tmp_path / "*.parquet")


@pytest.mark.parametrize("suffix", ["npy", "parquet", "csv"])
@pytest.mark.parametrize(("missing", "any_or_all"), [("drop", np.any), ("median", np.all)])
def test_columns_come_as_asked_for_and_rows_with_gaps_are_left_out(
    tmp_path, X, suffix, missing, any_or_all
):
    X = X[:200].copy()
    X[7, 1] = X[9] = np.nan
    write(tmp_path / f"rows.{suffix}", X)
    with open_table(tmp_path / f"rows.{suffix}") as table:
        rows = file.FileRows(table, ["x3", "x2"], missing=missing)
        expected = X[~any_or_all(np.isnan(X[:, [2, 1]]), axis=1)][:, [2, 1]]
        assert_array_equal(rows.map(lambda block: block.X), expected)


def test_large_results_are_in_a_temporary_file(tmp_path, monkeypatch, X):
    monkeypatch.setattr(file, "_HELD_BYTES", 1000)
    np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / "rows.npy")
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    assert isinstance(model.labels_, np.memmap)
    in_memory = FuzzyCMeans(3, random_state=0).fit(ArrayRows(X))
    assert_array_equal(model.labels_, in_memory.labels_)


def test_a_file_that_changes_between_passes_is_refused(tmp_path, X):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    rows = open_rows(path)
    np.save(path, X[:500])
    with pytest.raises(TableError, match="changed"):
        FuzzyCMeans(3).fit(rows)


# ---- parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 22, 39])
def test_tree_sum_adds_neighbours_whatever_comes_next(n):
    sums = TreeSum()
    for part in range(n):
        sums.add(str(part) if n < 2 else f"({part}")
    level = [str(part) if n < 2 else f"({part}" for part in range(n)]
    while len(level) > 1:
        even = len(level) // 2 * 2
        level = [a + b for a, b in zip(level[0:even:2], level[1:even:2], strict=True)] + level[
            even:
        ]
    assert sums.total() == level[0]


@pytest.mark.parametrize("at_most", [10, 100, 5000])
def test_samples_of_blocks_are_the_sample_of_all_rows(rng, at_most):
    X = rng.integers(0, 40, size=(3000, 2)).astype(float)
    weight = rng.integers(0, 3, size=3000).astype(float)
    whole = DistinctRows.of(X, weight, at_most=at_most)
    parts = ArrayRows(X, weight, (1000, 1001, 2500)).fold(
        lambda b: DistinctRows.of(b.X, b.weight, at_most=at_most, first_row=b.start)
    )
    assert_array_equal(parts.rows, whole.rows)
    assert_array_equal(parts.weight, whole.weight)
    assert_array_equal(X[parts.index], whole.rows)
    assert parts.n_distinct == whole.n_distinct
