"""The number of threads changes no bit: of models, of predictions, of the files of a run."""

import hashlib
import json
from functools import partial
from threading import Barrier, Thread

import numpy as np
import pytest
from click.testing import CliRunner
from threadpoolctl import threadpool_info, threadpool_limits

from test_properties import PUBLIC, estimator_for
from typicality import AlphaCutClustering, EntropyCMeans, FuzzyCMeans, OneClusterPCM, save
from typicality._threads import one_blas_thread
from typicality.cli import main

pytestmark = [
    pytest.mark.xdist_group("same bits"),  # long: it begins first
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
JOBS = (1, 4)  # a choice that two threads would change, four change too


def numbers(model, X):
    """The degrees that a model gives rows: memberships, or scores."""
    ask = getattr(model, "predict_memberships", None) or model.score_samples
    return np.asarray(ask(X), dtype=np.float64)


def hashes_of(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def assert_same_models(build, X, folder):
    """Models are saved to the same bytes, and predict the same bits, for any number of threads."""
    found = []
    for n_jobs in JOBS:
        with threadpool_limits(n_jobs):
            model = build().fit(X)
            save(model, folder / str(n_jobs))
            answers = [model.predict(X).tobytes(), numbers(model, X).tobytes()]
            found.append((hashes_of(folder / str(n_jobs)), answers))
    assert found[0] == found[1]


MODELS = {
    **{name: (partial(estimator_for, name, 2), 3000, 3) for name in PUBLIC},
    "compiled sweeps": (partial(FuzzyCMeans, 4, random_state=0), 40_000, 3),
    # Here the quickest operator was another one with two threads than with one.
    "alpha-cut, few rows": (partial(AlphaCutClustering, sigma=0.5), 2500, 4),
    "Fourier series, several blocks": (OneClusterPCM, 150_000, 2),
    "alpha-cut of a sample": (AlphaCutClustering, 21_000, 4),
    "exact sums": (partial(OneClusterPCM, rtol=0.0), 6000, 8),
    "blocks": (partial(EntropyCMeans, 2, kernel="polynomial", random_state=0), 1500, 6),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_are_the_same_for_any_number_of_threads(name, rng, tmp_path):
    build, n_rows, n_features = MODELS[name]
    X = rng.normal(size=(n_rows, n_features)) + 6.0 * rng.integers(2, size=n_rows)[:, None]
    assert_same_models(build, X, tmp_path)


@pytest.mark.parametrize(
    ("command", "n_rows"),
    [
        (["cluster", "--method", "auto"], 800),  # more of them are above, without files
        (["cluster", "--method", "fcm", "-k", "2"], 2500),
        (["cluster", "--method", "alpha-cut", "--sigma", "0.5"], 2500),
        (["outliers"], 2500),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else str(value),
)
def test_files_of_a_run_are_the_same_for_any_jobs(command, n_rows, rng, tmp_path):
    file = tmp_path / "rows.csv"
    X = rng.normal(size=(n_rows, 4)) + 8.0 * rng.integers(2, size=n_rows)[:, None]
    np.savetxt(file, X, delimiter=",", header="a,b,c,d", comments="")
    hashes, records = [], []
    for n_jobs in JOBS:
        folder = tmp_path / "results"  # its name is in the command
        done = CliRunner().invoke(
            main, [*command, str(file), "-o", str(folder), "--jobs", str(n_jobs), "--force"]
        )
        assert done.exit_code == 0, done.output
        page = folder / "report.html"  # it shows the command
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(f"--jobs {n_jobs}", "--jobs"), encoding="utf-8")
        files = hashes_of(folder)
        del files["run.json"]
        hashes.append(files)
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        machine = record.pop("machine")
        assert machine.pop("jobs") == n_jobs
        assert set(machine.values()) == {None}
        for name in ("seconds", "command", "arguments", "checksum"):  # they know the option
            del record[name]
        records.append(record)
    assert "model/model.skops" in hashes[0]
    assert "report.html" in hashes[0]
    assert hashes[0] == hashes[1]
    assert records[0] == records[1]


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_limit_of_blas_lasts_until_the_last_user_is_done():
    both_in, first_out = Barrier(2), Barrier(2)
    seen = []

    def first():
        with one_blas_thread():
            both_in.wait()
        first_out.wait()

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        thread = Thread(target=first)
        thread.start()
        with one_blas_thread():
            both_in.wait()
            first_out.wait()
            seen.append(blas_threads())
        thread.join()
        assert seen == [{1}]
        assert blas_threads() == before == {2}
