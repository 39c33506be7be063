"""Files that are not held in memory: several files, blocks, samples, Dask, devices."""

import re
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli.conftest import record_of, words
from typicality.cli import run as running
from typicality.cli import writing
from typicality.exceptions import TableError
from typicality.tables import columns

TEXT = {"encoding": "utf-8"}
SIZES = (400, 0, 350)
NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def write(folder, suffix, *, gaps=False):
    """Three files of one table, one without rows; with `gaps`, cells are missing in the last."""
    folder.mkdir()
    rng = np.random.default_rng(4)
    for part, n_rows in enumerate(SIZES):
        centres = rng.choice([[0.0, 0.0], [9.0, 1.0]], n_rows)
        X = (rng.normal(size=(n_rows, 2)) + centres).round(6)
        if gaps and part == 2:
            X[7, 1] = X[11, 0] = X[11, 1] = np.nan
        words = np.where(centres[:, 0] > 0, "right", "left")
        path = folder / f"part-{part}.{suffix}"
        if suffix == "parquet":
            pq.write_table(pa.table({"x": X[:, 0], "y": X[:, 1], "side": words}), path)
            continue
        lines = [f"{x},{y},{word}" for (x, y), word in zip(X, words, strict=True)]
        path.write_text("\n".join(["x,y,side", *lines, ""]), **TEXT)


def table_of(folder, name):
    if (folder / f"{name}.parquet").exists():
        return pq.read_table(folder / f"{name}.parquet").to_pydict()
    lines = (folder / f"{name}.csv").read_text(**TEXT).splitlines()
    cells = [line.split(",") for line in lines]
    return {head: list(column) for head, *column in zip(*cells, strict=True)}


def labels_of(folder):
    return [
        int(label) if label not in ("", None) else None
        for label in table_of(folder, "labels")["label"]
    ]


@pytest.fixture
def parts(tmp_path):
    write(tmp_path / "parts", "csv")
    return tmp_path / "parts"


@pytest.mark.parametrize(
    ("suffix", "method"),
    [
        ("parquet", ("fcm", "-k", 2)),
        ("csv", ("sequential",)),
        ("parquet", ("pcm", "-k", 2, "--param", "kernel=gaussian")),
    ],
)
def test_labels_in_blocks_are_those_in_memory(run, in_blocks, tmp_path, suffix, method):
    write(tmp_path / "parts", suffix)
    options = [tmp_path / "parts", "--no-report", "--method", *method, "-o"]
    in_blocks = in_blocks("cluster", *options, tmp_path / "blocks")
    assert in_blocks.exit_code == 0, in_blocks.stderr
    assert run("cluster", *options, tmp_path / "memory").exit_code == 0
    assert labels_of(tmp_path / "blocks") == labels_of(tmp_path / "memory")
    for folder in ("blocks", "memory"):  # parquet in gives parquet out
        assert (tmp_path / folder / f"labels.{suffix}").exists()
    found = record_of(tmp_path / "blocks")["results"]
    expected = record_of(tmp_path / "memory")["results"]
    assert found["sizes"] == expected["sizes"]
    assert (found["n_shown"], expected["n_shown"]) == (750, None)


@pytest.mark.parametrize(
    ("suffix", "method", "most"),
    [("parquet", "auto", 300), ("csv", "alpha-cut", 300), ("csv", "alpha-cut", 1000)],
)
def test_methods_for_rows_in_memory_are_fitted_on_all_rows_or_a_sample(
    run, in_blocks, tmp_path, suffix, method, most
):
    write(tmp_path / "parts", suffix)
    options = [tmp_path / "parts" / "part-*.*", "--method", method, "--max-rows", most, "-o"]
    done = in_blocks("cluster", *options, tmp_path / "blocks")
    assert done.exit_code == 0, done.stderr
    is_sample = "Fitted on a random sample of 300 of the 750 rows" in words(done)
    assert is_sample == (most < 750)
    assert run("cluster", *options, tmp_path / "memory").exit_code == 0
    assert labels_of(tmp_path / "blocks") == labels_of(tmp_path / "memory")


def test_outliers_of_blocks_are_those_in_memory(run, in_blocks, parts, tmp_path):
    options = [parts, "--max-rows", 300, "--no-report", "-o"]
    words(in_blocks("outliers", *options, tmp_path / "blocks"))
    assert run("outliers", *options, tmp_path / "memory").exit_code == 0
    one, other = (table_of(tmp_path / name, "outliers") for name in ("blocks", "memory"))
    for name in ("score", "typicality"):
        found, expected = (np.array(each[name], dtype=float) for each in (one, other))
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert list(map(int, one["outlier"])) == list(map(int, other["outlier"]))
    assert one["why"] == other["why"]


def test_outliers_of_all_rows_are_found_by_passes(run, in_blocks, parts, tmp_path):
    words(in_blocks("outliers", parts, "--max-rows", 10_000, "-o", tmp_path / "out"))
    record = record_of(tmp_path / "out")
    assert record["results"]["sample"] is None
    assert record["results"]["n_outliers"] == pytest.approx(0.05 * 750, abs=2)
    assert run("score", tmp_path / "out", parts, "-o", tmp_path / "again.csv").exit_code == 0


@pytest.mark.parametrize(
    ("suffix", "missing"), [("parquet", "drop"), ("csv", "drop"), ("csv", "median")]
)
def test_missing_values_in_blocks_are_treated_as_in_memory(
    run, in_blocks, tmp_path, suffix, missing
):
    write(tmp_path / "parts", suffix, gaps=True)
    options = [tmp_path / "parts", "-m", "fcm", "-k", 2, "--missing", missing, "--no-report", "-o"]
    words(in_blocks("cluster", *options, tmp_path / "blocks"))
    assert run("cluster", *options, tmp_path / "memory").exit_code == 0
    labels = labels_of(tmp_path / "blocks")
    assert labels == labels_of(tmp_path / "memory")
    assert labels.count(None) == (2 if missing == "drop" else 1)  # one row has no value at all


def test_missing_value_is_named_by_file_and_place(run, in_blocks, tmp_path):
    write(tmp_path / "parts", "csv", gaps=True)
    for call in (run, in_blocks):
        options = ("-m", "fcm", "-k", 2, "--missing", "error", "-o", tmp_path / "out")
        done = call("cluster", tmp_path / "parts", *options)
        assert done.exit_code == 3
        assert "part-2.csv, line 9; leave" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--categorical", "auto"), "categories"),
        pytest.param(
            ("--device", "cpu", "-m", "fcm", "-k", 2), "only on rows in memory", marks=NEEDS_TORCH
        ),
        (("--name", "nobody"), "no column 'nobody'"),
    ],
)
def test_what_needs_all_rows_is_refused_with_a_remedy(in_blocks, parts, tmp_path, options, what):
    done = in_blocks("cluster", parts, *options, "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert what in done.stderr
    assert not (tmp_path / "out").exists()


def test_reference_is_refused_in_blocks(run, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "MOST_NUMBERS", 1200)  # of 1500, and 800 of the reference
    clean = next(parts.glob("part-0.*"))
    done = run("outliers", parts, "--reference", clean, "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert "typicality score" in done.stderr


def test_report_shows_a_sample_and_the_least_typical_rows(in_blocks, tmp_path, monkeypatch):
    write(tmp_path / "parts", "csv")
    with (tmp_path / "parts" / "part-2.csv").open("a", **TEXT) as stream:
        stream.write("300,-500,far\n")
    monkeypatch.setattr(running, "_SHOWN", 100)
    monkeypatch.setattr(writing, "_WORST", 3)
    words(in_blocks("cluster", tmp_path / "parts", "-m", "sequential", "-o", tmp_path / "out"))
    record = record_of(tmp_path / "out")
    assert 100 < record["results"]["n_shown"] <= 103
    assert record["results"]["atypical_rows"][0]["row"] == 750
    assert record["results"]["atypical_rows"][0]["rarer_than"] == 1 - 1 / 751
    assert record["results"]["atypical_rows"][0]["cells"] == {"side": "far"}
    assert sum(record["results"]["sizes"]) + record["results"]["n_unassigned"] == 751
    page = (tmp_path / "out" / "report.html").read_text(**TEXT)
    assert "of the 751 rows: a random sample, and the least typical rows of all" in page


def test_interrupt_leaves_nothing(in_blocks, parts, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.Gathered, "see", interrupt)
    done = in_blocks("cluster", parts, "-m", "fcm", "-k", 2, "-o", tmp_path / "out")
    assert done.exit_code == 130
    assert done.stderr == "Error: Interrupted; nothing was written.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


# ---- Dask ----------------------------------------------------------------------------------------


FITTED = ["-m", "fcm", "-k", 2, "--no-report", "-o"]


@pytest.fixture
def dask_and_blocks(run, in_blocks, tmp_path):
    """Fit with the workers of some options, and in blocks; the files must hold the same.

    To start workers takes seconds, so each test has one format of files.
    """

    def fit(suffix, *workers):
        write(tmp_path / "parts", suffix)
        words(run("cluster", tmp_path / "parts", *FITTED, tmp_path / "dask", *workers))
        assert in_blocks("cluster", tmp_path / "parts", *FITTED, tmp_path / "blocks").exit_code == 0
        assert labels_of(tmp_path / "dask") == labels_of(tmp_path / "blocks")
        dask, blocks = (record_of(tmp_path / name) for name in ("dask", "blocks"))
        assert dask["results"]["clusters"] == blocks["results"]["clusters"]
        return dask["machine"]

    return fit


@pytest.mark.xdist_group("dask")
def test_two_workers_give_the_labels_of_one_process(dask_and_blocks, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    close = distributed.LocalCluster.close

    def late(self, *arguments, **options):
        close(self, *arguments, **options)
        raise TimeoutError  # as Dask does when a process is there 9 s after it was told to end

    monkeypatch.setattr(distributed.LocalCluster, "close", late)
    assert dask_and_blocks("csv", "--workers", 2)["workers"] == "2"


@pytest.mark.xdist_group("dask")
def test_workers_of_a_running_scheduler_give_the_labels_of_one_process(dask_and_blocks):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**size) as cluster:
        address = cluster.scheduler_address
        assert dask_and_blocks("parquet", "--workers", address)["workers"] == address
        with distributed.Client(cluster) as client:  # it goes on, and its workers have worked
            counts = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert len(counts) == 2
    assert min(counts.values()) > 0


def test_scheduler_that_does_not_answer_is_named(run, parts, tmp_path, monkeypatch):
    dask = pytest.importorskip("typicality.rows.dask", reason="Dask is not installed")
    monkeypatch.setattr(dask, "_PATIENCE", 1)
    done = run("cluster", parts, "--workers", "tcp://127.0.0.1:9", "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert "tcp://127.0.0.1:9 cannot be reached within 1 s" in done.stderr


def test_file_that_a_worker_cannot_read_is_named(parts):
    dask = pytest.importorskip("typicality.rows.dask", reason="Dask is not installed")
    from typicality.rows.file import pieces_of
    from typicality.tables import open_table

    with open_table(parts) as table:
        piece = pieces_of(table, ["x", "y"])[-1]
    piece.path.unlink()
    message = f"cannot read {piece.path}: the file does not exist on that machine"
    with pytest.raises(TableError, match=re.escape(message)):
        dask._count(piece)


# ---- devices -------------------------------------------------------------------------------------


@NEEDS_TORCH
@pytest.mark.parametrize("command", [("cluster", "-m", "fcm", "-k", 2), ("outliers",)])
def test_device_of_torch_gives_the_same_files(run, groups, tmp_path, command):
    name, *options = command
    options = [groups, *options, "--no-report", "-o"]
    words(run(name, *options, tmp_path / "torch", "--device", "cpu"))
    assert run(name, *options, tmp_path / "numpy").exit_code == 0
    results = "outliers.csv" if name == "outliers" else "labels.csv"
    one, other = ((tmp_path / each / results).read_bytes() for each in ("torch", "numpy"))
    assert one == other
    assert run("score", tmp_path / "torch", groups, "-o", tmp_path / "scored.csv").exit_code == 0


def test_device_that_is_not_there_is_told_before_any_work(run, groups, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    done = run("cluster", groups, "--device", "cuda", "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert "finds 0 GPUs on this machine" in done.stderr
    assert run("cluster", groups, "--device", "toaster").exit_code == 2
    assert running._device("auto") is None
