"""The first fit on a machine, with an empty cache: seconds, and what is compiled.

`python benchmarks/first_fit.py` fits in a fresh process for each line and prints seconds of the
first fit beyond imports, of the best of three more fits, and of the compilation of each loop, by
numba's own timers. KMeans and HDBSCAN of scikit-learn are measured in the same way. `--cpu` counts
seconds of the processor, for a machine that is busy with other things.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

_FITS = [
    ("FuzzyCMeans", 1_000, 4, 1.0),
    ("PossibilisticCMeans", 1_000, 4, 1.0),
    ("SequentialPCM", 1_000, 4, 1.0),
    ("AlphaCutClustering", 1_000, 4, 6.0),
    ("OneClusterPCM", 1_000, 4, 1.0),
    ("AlphaCutClustering", 5_000, 2, 6.0),
    ("AlphaCutClustering", 5_000, 8, 6.0),
    ("OneClusterPCM", 5_000, 8, 5.0),
    ("FuzzyCMeans", 100_000, 8, None),
    ("KMeans", 1_000, 4, None),
    ("HDBSCAN", 5_000, 2, None),
]
_WITH_NUMBER = ("FuzzyCMeans", "PossibilisticCMeans", "KMeans")

Clock = Callable[[], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--seconds", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--loops", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    clock = time.process_time if arguments.cpu else time.perf_counter
    if arguments.seconds:
        print(json.dumps(_seconds(_fit_of(*arguments.seconds), clock)))
    elif arguments.loops:
        print(json.dumps(_loops(_fit_of(*arguments.loops), clock)))
    else:
        _print_table(["--cpu"] if arguments.cpu else [])


def _print_table(options: list[str]) -> None:
    print("| fit | rows | first, s | later, s | target, s | compiled, s |")
    print("|---|---|---|---|---|---|")
    for name, n_rows, n_features, target in _FITS:
        what = name, str(n_rows), str(n_features)
        first, later, with_numba = _in_a_fresh_process("--seconds", *what, *options)
        loops = _in_a_fresh_process("--loops", *what, *options) if with_numba else []
        verdict = "" if target is None else f"{target:g}: {'PASS' if first <= target else 'FAIL'}"
        compiled = ", ".join(f"{loop} {seconds:.1f}" for loop, seconds in loops) or "nothing"
        size = f"{n_rows:,} x {n_features}"
        print(
            f"| {name} | {size} | {first:.2f} | {later:.3f} | {verdict} | {compiled} |", flush=True
        )


def _in_a_fresh_process(*arguments: str) -> Any:
    """What this script prints for some arguments, where nothing was compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, __file__, *arguments]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def _fit_of(name: str, n_rows: str, n_features: str) -> Callable[[], object]:
    """A fit, after all imports that it needs."""
    import sklearn.cluster
    from sklearn.datasets import make_blobs

    import typicality

    warnings.simplefilter("ignore")
    X, _ = make_blobs(int(n_rows), int(n_features), centers=4, random_state=0)
    number = {"n_clusters": 4, "random_state": 0} if name in _WITH_NUMBER else {}
    library = sklearn.cluster if name in ("KMeans", "HDBSCAN") else typicality
    estimator = getattr(library, name)(**number)
    return lambda: estimator.fit(X)


def _seconds(fit: Callable[[], object], clock: Clock) -> tuple[float, float, bool]:
    """Seconds of the first fit, of the best of three more, and whether numba was needed."""
    times = []
    for _ in range(4):
        start = clock()
        fit()
        times.append(clock() - start)
    return times[0], min(times[1:]), "numba" in sys.modules


def _loops(fit: Callable[[], object], clock: Clock) -> list[tuple[str, float]]:
    """The loops that a fit compiles and their seconds, with those of the functions they call."""
    from numba.core import event

    loops: dict[str, float] = {}
    depth, began = 0, 0.0

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            nonlocal depth, began
            began = clock() if depth == 0 else began
            depth += 1

        def on_end(self, event: Any) -> None:
            nonlocal depth
            depth -= 1
            if depth == 0:
                name = event.data["dispatcher"].py_func.__name__
                loops[name] = loops.get(name, 0.0) + clock() - began

    event.register("numba:compile", Listener())
    fit()
    return sorted(loops.items(), key=lambda item: -item[1])


if __name__ == "__main__":
    main()
