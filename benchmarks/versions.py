"""Two versions of the library side by side, with scikit-learn in the same run.

`python benchmarks/versions.py OLD_SRC [NEW_SRC] [--rounds N] [--only TEXT]` fits the same models
with the sources in two folders (`git archive COMMIT src | tar x -C FOLDER` makes one) and prints a
table of seconds and ratios. Each version has a process of its own; they take turns, fit by fit. The
first fit of each is not counted: it compiles. Set the number of cores with `taskset`.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

_SRC = Path(__file__).resolve().parents[1] / "src"
_PEERS = "scikit-learn"


def blobs(n: int, d: int, k: int = 10) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((k, d)) * 4)[rng.integers(k, size=n)] + rng.standard_normal((n, d))


def cases() -> dict[str, tuple[Callable[[], object], Callable[[], object] | None]]:
    """What is timed: a fit of ours, and of scikit-learn where it has one."""
    from sklearn.cluster import HDBSCAN, KMeans
    from sklearn.ensemble import IsolationForest

    import typicality as t

    fixed = {"max_iter": 40, "tol": 0}

    def c_means(n: int, d: int, c: int, **settings: object) -> Callable[[], object]:
        X = blobs(n, d)
        return lambda: t.FuzzyCMeans(c, init=X[:c] + 0.01, **fixed, **settings).fit(X)

    def lloyd(n: int, d: int, c: int) -> Callable[[], object]:
        X = blobs(n, d)
        return lambda: KMeans(c, init=X[:c] + 0.01, n_init=1, **fixed).fit(X)

    def kernel(estimator: object) -> Callable[[], object]:
        X = blobs(3_000, 4, 5)
        return lambda: estimator.set_params(kernel="gaussian", random_state=0).fit(X)

    def novelty(n: int, d: int, estimator: object) -> Callable[[], object]:
        X, new = blobs(n, d), blobs(n, d) + 0.1
        return lambda: estimator.fit(X).predict(new)

    def cut(n: int, d: int, estimator: object) -> Callable[[], object]:
        X = blobs(n, d)
        return lambda: estimator.fit(X)

    found: dict[str, tuple[Callable[[], object], Callable[[], object] | None]] = {
        "FuzzyCMeans m=2, 300,000 x 8, c=10": (
            c_means(300_000, 8, 10, m=2.0),
            lloyd(300_000, 8, 10),
        ),
        "FuzzyCMeans m=1.5": (c_means(300_000, 8, 10, m=1.5), lloyd(300_000, 8, 10)),
        "FuzzyCMeans 300 x 4, c=3": (c_means(300, 4, 3, m=2.0), lloyd(300, 4, 3)),
        "kernel FCM 3,000 x 4, c=5": (kernel(t.FuzzyCMeans(5)), None),
        "kernel entropy 3,000 x 4, c=10": (kernel(t.EntropyCMeans(10)), None),
        "OneClusterPCM 40,000 x 2": (cut(40_000, 2, t.OneClusterPCM()), None),
        "SequentialPCM 1,000 x 2": (cut(1_000, 2, t.SequentialPCM()), None),
        "AdaptivePCM 3,000 x 2": (cut(3_000, 2, t.AdaptivePCM(20)), None),
    }
    for n, d in ((20_000, 10), (20_000, 64), (100_000, 20)):
        found[f"OneClusterPCM novelty, fit and predict, {n:,} x {d}"] = (
            novelty(n, d, t.OneClusterPCM(novelty=True)),
            novelty(n, d, IsolationForest(random_state=0)),
        )
    for n, d in ((1_000, 2), (10_000, 2), (10_000, 5), (100_000, 2)):
        found[f"AlphaCutClustering {n:,} x {d}"] = (
            cut(n, d, t.AlphaCutClustering()),
            cut(n, d, HDBSCAN(min_cluster_size=10, copy=True)),
        )
    for n, d in ((150, 4), (1_000, 5), (10_000, 2)):
        found[f"AutoClustering {n:,} x {d}"] = (cut(n, d, t.AutoClustering(random_state=0)), None)
    return found


def work() -> None:
    """Answer each name of a case on standard input with its seconds."""
    warnings.simplefilter("ignore")
    ours = os.environ["CONTESTANT"] != _PEERS
    acts = {name: pair[0] if ours else pair[1] for name, pair in cases().items()}
    print("|".join(acts), flush=True)
    for line in sys.stdin:
        act = acts[line.strip()]
        start = time.perf_counter()
        if act is not None:
            act()
        print(time.perf_counter() - start if act else "nan", flush=True)


def contestant(name: str, src: Path) -> tuple[list[str], Callable[[str], float]]:
    """The cases, and a process that fits them with the sources of a folder."""
    environment = {**os.environ, "CONTESTANT": name}
    environment["PYTHONPATH"] = os.pathsep.join([str(src), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, __file__, "--work"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )

    names = process.stdout.readline().strip().split("|")

    def seconds(case: str) -> float:
        print(case, file=process.stdin, flush=True)
        return float(process.stdout.readline() or "nan")  # a version that lacks it prints nothing

    return names, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=_SRC)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    sources = {"before": options.old, "after": options.new, _PEERS: options.new}
    found_by = {name: contestant(name, src) for name, src in sources.items()}
    names = found_by["after"][0]
    run = {name: seconds for name, (_, seconds) in found_by.items()}
    print(f"{len(os.sched_getaffinity(0))} cores; seconds, best of {options.rounds}")
    print(f"| fit | {' | '.join(run)} | after / before | after / {_PEERS} |")
    print("|---" * 6 + "|")
    for case in filter(lambda name: options.only in name, names):
        found = dict.fromkeys(run, np.inf)
        for turn in range(options.rounds + 1):
            for name, seconds in run.items():
                took = seconds(case)
                if turn:
                    found[name] = min(found[name], took)
        before, after, peer = found.values()
        cells = [f"{value:.3g}" for value in (before, after, peer, after / before, after / peer)]
        print(f"| {case} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--work"] else main()
