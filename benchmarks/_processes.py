"""Measurements that need a process of their own: memory, the first fit, another environment.

Run as a script, `_processes.py NAME FOLDER`, it prints the memory of one contestant as JSON.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from _memory import Memory, measure_memory

__all__ = ["Peer", "first_fit", "json_from", "memory_of", "peer_python"]

_HERE = Path(__file__).resolve().parent
_VENV = _HERE.parent / ".venv-peers"
_WORKER = _HERE / "peers" / "fuzzy_c_means_worker.py"
_PEER_IMPORTS = "import fcmeans, hdbscan, psutil, pandas, pyod, skfuzzy"
_WARM_ROWS = 1000  # compiles or loads all code, starts no thread

_FIRST_FIT = """
import json, time
marks = [time.perf_counter()]
import typicality
marks.append(time.perf_counter())
from typicality import FuzzyCMeans
import numpy as np
X = np.random.default_rng(0).standard_normal((1000, 4)) + 4 * (np.arange(1000) % 3)[:, None]
marks.append(time.perf_counter())
FuzzyCMeans(n_clusters=3, random_state=0).fit(X)
marks.append(time.perf_counter())
print(json.dumps([b - a for a, b in zip(marks, marks[1:])]))
"""


def json_from(*command: str) -> Any:
    """What a command prints, read as JSON."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def first_fit() -> tuple[float, float, float]:
    """Seconds of a fresh process: importing the package, the estimator, the first fit."""
    package, estimator, fit = json_from(sys.executable, "-c", _FIRST_FIT)
    return package, estimator, fit


def memory_of(name: str, folder: Path) -> Memory:
    """The memory of the long run of a contestant, on the problem saved in a folder."""
    return Memory(*json_from(sys.executable, __file__, name, str(folder)))


def _print_memory(name: str, folder: str) -> None:
    from _contestants import build
    from _problem import Problem

    problem = Problem.load(Path(folder))
    warm = build(name, problem.head(_WARM_ROWS))
    warm.seconds(1)
    contestant = build(name, problem)
    print(json.dumps(measure_memory(lambda: contestant.seconds(contestant.long))))


# ---- the peer that needs an older numpy ---------------------------------------------------------


def peer_python() -> str:
    """The interpreter of `.venv-peers`, which is made when it is not there or not complete."""
    python = _VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not _succeeds(str(python), "-c", _PEER_IMPORTS):
        _make_environment(str(python))
    return str(python)


def _make_environment(python: str) -> None:
    # Debian's python3 may lack venv.
    makers = [
        [sys.executable, "-m", name, "--clear", str(_VENV)] for name in ("venv", "virtualenv")
    ]
    if not any(_succeeds(*maker) for maker in makers):
        raise RuntimeError("neither venv nor virtualenv could make .venv-peers")
    requirements = str(_WORKER.with_name("requirements.txt"))
    if not _succeeds(python, "-m", "pip", "install", "-q", "-r", requirements):
        raise RuntimeError("pip could not install benchmarks/peers/requirements.txt")


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Peer:
    """A worker in `.venv-peers` that answers requests, each a line of JSON."""

    def __init__(self, python: str, folder: Path, n_clusters: int) -> None:
        self._process = subprocess.Popen(
            [python, str(_WORKER), str(folder / "X.npy"), str(n_clusters)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_HERE)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, what: str, n_iter: int) -> Any:
        """The answer to a request: "seconds", "memory", "still_moving" or "labels"."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([what, n_iter]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


if __name__ == "__main__":
    _print_memory(*sys.argv[1:])
