"""c-means on a large sparse matrix, beside the k-means of scikit-learn on the same matrix.

`python benchmarks/sparse_rows.py [--rows N] [--features N] [--iterations N]` makes a matrix like
that of tf-idf: 20 different words a row, most of them frequent ones, some those of one of ten
topics, and rows of length one. Each task runs in a process of its own, from the same start: ten
rows, one of each topic. An iteration is the difference of a short and of a long fit. The table goes
to `benchmarks/results/sparse.md`.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from _report import Report, Verdict, machine

_RESULTS = Path(__file__).resolve().parent / "results" / "sparse.md"
_TOPICS, _WORDS = 10, 20
_OWN = 0.5  # of the words belong to the topic of a row
_MEMORY = 1e9  # that a fit may take beyond the matrix


def tf_idf_like(n_rows: int, n_features: int) -> tuple[Any, Any]:
    """Rows of words, and their topics."""
    rng = np.random.default_rng(0)
    topics = rng.integers(0, _TOPICS, n_rows)
    common = (n_features * rng.random((n_rows, _WORDS)) ** 3).astype(np.int64)
    width = n_features // _TOPICS
    of_topic = topics[:, None] * width + (width * rng.random((n_rows, _WORDS)) ** 3).astype(int)
    words = np.where(rng.random((n_rows, _WORDS)) < _OWN, of_topic, common)
    values = rng.uniform(0.5, 1.5, words.size)
    ends = np.arange(0, words.size + 1, _WORDS)
    X = csr_matrix((values, words.ravel(), ends), shape=(n_rows, n_features))
    X.sum_duplicates()
    return normalize(X), topics


def _start(X: Any, topics: Any) -> Any:
    first = [int(np.flatnonzero(topics == topic)[0]) for topic in range(_TOPICS)]
    return X[first].toarray()


def _models(start: Any) -> dict[str, Any]:
    from sklearn.cluster import KMeans, MiniBatchKMeans

    from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans

    ours = {"init": start, "tol": 0.0, "store_memberships": False}
    return {
        "FuzzyCMeans, m = 1.02": FuzzyCMeans(_TOPICS, m=1.02, **ours),
        "EntropyCMeans, lam = 100": EntropyCMeans(_TOPICS, lam=100.0, **ours),
        "PossibilisticCMeans, eta = 0.2": PossibilisticCMeans(_TOPICS, eta=0.2, **ours),
        "KMeans": KMeans(_TOPICS, init=start, n_init=1, tol=0.0, algorithm="lloyd"),
        "MiniBatchKMeans": MiniBatchKMeans(
            _TOPICS, init=start, n_init=1, tol=0.0, max_no_improvement=None, batch_size=4096
        ),
    }


TASKS = tuple(_models(None))


def measure(task: str, n_rows: int, n_features: int, n_iterations: int) -> dict[str, float]:
    """Seconds of an iteration, agreement with the topics, and memory beyond the matrix."""
    X, topics = tf_idf_like(n_rows, n_features)
    start = _start(X, topics)
    model = _models(start)[task].set_params(max_iter=1)
    model.fit(X[:1000])  # imports and compiles
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _status("VmRSS")
    seconds = []
    for n in (1, 1 + n_iterations):
        began = time.perf_counter()
        model.set_params(max_iter=n).fit(X)
        seconds.append(time.perf_counter() - began)
    return {
        "first": seconds[0],
        "iteration": (seconds[1] - seconds[0]) / n_iterations,
        "agreement": float(adjusted_rand_score(topics, model.labels_)),
        "memory": float(_status("VmHWM") - before),
    }


def _status(name: str) -> int:
    """A size in bytes that the system knows of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--task")
    given = parser.parse_args()
    if given.task:
        print(json.dumps(measure(given.task, given.rows, given.features, given.iterations)))
        return
    report = Report()
    for line in machine():
        report.line(line)
    sizes = [f"--{name}={getattr(given, name)}" for name in ("rows", "features", "iterations")]
    found = {}
    for task in TASKS:
        report.progress(task)
        command = [sys.executable, "-W", "ignore", __file__, "--task", task, *sizes]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found[task] = json.loads(done.stdout.splitlines()[-1])
    report.table(
        f"{given.rows:,} x {given.features:,}, {_WORDS} words a row, {_TOPICS} clusters",
        ["task", "fit of one iteration, s", "an iteration, s", "beyond the matrix, MB", "ARI"],
        [
            [
                task,
                f"{one['first']:.2f}",
                f"{one['iteration']:.3f}",
                f"{one['memory'] / 1e6:,.0f}",
                f"{one['agreement']:.3f}",
            ]
            for task, one in found.items()
        ],
    )
    ours = [one["memory"] for task, one in found.items() if "CMeans" in task]
    dense = 8e-9 * given.rows * given.features
    report.verdicts(
        [
            Verdict(
                f"at most {_MEMORY / 1e9:g} GB beyond the matrix (an array takes {dense:,.0f} GB)",
                f"{max(ours) / 1e9:.2f} GB",
                tuple(memory <= _MEMORY for memory in ours),
            )
        ]
    )
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
