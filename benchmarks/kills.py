"""Kill commands at random moments, and look whether their results are whole each time.

`python benchmarks/kills.py [--kills N] [--only NAMES]` kills (SIGKILL)

- `typicality cluster --force` and `typicality outliers --force`, with two files that take turns, so
  that old and new results can be told apart;
- `typicality.save(overwrite=True)` of two models that take turns;
- `cluster --checkpoint` and `outliers --checkpoint` by several methods, where the same command goes
  on and is killed again. Whenever it comes to its end, its results must be the same files, byte for
  byte, as those of a run that nobody has killed.

Moments are drawn over the time that the command takes, which is measured first; half of those of
`--force` from its last fifth, where files are written. Without --kills it is 40 for `cluster`, 40
for `outliers`, 20 for `save` and 20 for checkpoints. Printed are the kills, how often the old
results stood and how often the new ones, temporary files that were left behind and those that the
next run did not remove, and what was broken. The exit code is 1 if anything was.

A command runs in a process of its own, forked from one that has loaded the libraries.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import typicality
import typicality.cli.run
import typicality.cli.summary
import typicality.report
from typicality import AutoClustering, FuzzyCMeans, OneClusterPCM, _files
from typicality._files import files_in, sha256_of
from typicality.cli import main as typicality_command
from typicality.persistence import checkpoint

Counts = Counter[str]
Work = Callable[[], object]
_KILLS = {"cluster": 40, "outliers": 40, "save": 20, "checkpoint": 20}
_QUICK = {"cluster": " --method fcm --clusters 3 --no-report", "outliers": " --no-report"}
_LOADED = (AutoClustering, FuzzyCMeans, OneClusterPCM, typicality.report.Report)
_RESUMED = (  # one run of many iterations; many runs; trees and mixtures; a kernel; outliers
    "cluster --method fcm --clusters 5 --param tol=1e-13 --param max_iter=3000",
    "cluster --method sequential",
    "cluster --method auto",
    "cluster --method pcm --clusters 3 --kernel gaussian --param algorithm=blocked",
    "outliers --param tol=1e-13",
)


def started(work: Work) -> int:
    """The number of a process that does some work and prints nothing."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        _files._ABANDONED = 0.0  # of those that were killed before: nobody waits for a minute here
        checkpoint._EVERY, checkpoint._SHARE = 0.05, 2
        work()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def finished(work: Work) -> float:
    """The seconds that some work takes in a process of its own."""
    began = time.perf_counter()
    code = os.waitstatus_to_exitcode(os.waitpid(started(work), 0)[1])
    if code:
        raise RuntimeError(f"a run that nobody has killed ended with {code}")
    return time.perf_counter() - began


def killed(work: Work, delay: float) -> bool:
    """Start some work and kill it; False where it had ended before."""
    began, pid = time.perf_counter(), started(work)
    while time.perf_counter() - began < delay:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def left_in(folder: Path) -> int:
    """How many temporary files and folders there are."""
    return len(list(folder.glob(".typicality-*")))


def command(words: str, *more: object) -> Work:
    arguments = [*words.split(), *map(str, more), "--quiet"]
    return lambda: typicality_command(arguments)


def write_rows(path: Path, n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 3)) + 6.0 * rng.integers(3, size=n_rows)[:, None]
    np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="", fmt="%.5f")


def hashes_of(folder: Path) -> dict[str, str]:
    """The files of results but run.json, which tells the time it took."""
    return {file: sha256_of(folder / file) for file in files_in(folder) if file != "run.json"}


# ---- what is killed ------------------------------------------------------------------------------


def kill_runs(words: str, n_kills: int, folder: Path, draw: random.Random) -> Counts:
    """Kill a command that replaces its results; each time they are the old or the new ones."""
    files, results = (folder / "one.csv", folder / "two.csv"), folder / "results"
    works, whole = {}, {}
    for seed, file in enumerate(files):
        write_rows(file, 300, seed)
        works[file.name] = command(words, file, "-o", results, "--force")
        seconds = finished(works[file.name])
        whole[file.name] = hashes_of(results)
    before = files[1].name
    counts = Counts({"kills": 0, "old": 0, "new": 0, "left behind": 0})
    while counts["kills"] < n_kills:
        new = files[before == files[0].name].name
        low = 0.8 if draw.random() < 0.5 else 0.0
        was_killed = killed(works[new], draw.uniform(low, 1.02) * seconds)
        found = hashes_of(results) if results.is_dir() else {}
        now = next((file for file, hashes in whole.items() if hashes == found), None)
        if was_killed:
            counts["kills"] += 1
            counts["left behind"] += left_in(folder)
            counts["old" if now == before else "new"] += now is not None
        counts["broken"] += now is None or (now == before and not was_killed)
        if now is not None:
            typicality.load(results / "model")
            before = now
    finished(works[before])
    counts["not removed"] = left_in(folder)
    return counts


def kill_saves(n_kills: int, folder: Path, draw: random.Random) -> Counts:
    """Kill a process that saves one of two models after the other; each time one can be loaded."""
    rows = np.random.default_rng(0).normal(size=(2000, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [FuzzyCMeans(k, random_state=0, max_iter=3).fit(rows) for k in (2, 3)]
    path, counts = folder / "model", Counts()

    def save(times: int = 10**6) -> None:
        for i in range(times):
            typicality.save(models[i % 2], path, overwrite=True)

    finished(lambda: save(1))
    while counts["kills"] < n_kills:
        counts["kills"] += killed(save, draw.uniform(0.02, 0.3))
        counts["left behind"] += left_in(folder)
        try:
            counts[f"of {typicality.load(path).n_clusters} clusters"] += 1
        except (OSError, ValueError):
            counts["broken"] += 1
    finished(lambda: save(1))
    counts["not removed"] = left_in(folder)
    return counts


def kill_and_resume(
    words: str, n_kills: int, folder: Path, draw: random.Random, *, n_rows: int
) -> Counts:
    """Kill a command and let it go on, until it was killed so often; compare all that it writes."""
    file, results, state = folder / "rows.csv", folder / "results", folder / "state"
    write_rows(file, n_rows, seed=0)
    for _ in range(2):  # the first time may compile something
        shutil.rmtree(results, ignore_errors=True)
        seconds = finished(command(words, file, "-o", results))
    whole = hashes_of(results)
    shutil.rmtree(results)
    resumed = command(words, file, "-o", results, "--checkpoint", state)
    counts = Counts({"kills": 0, "with a checkpoint": 0, "same results": 0, "left behind": 0})

    def compare() -> None:
        same = hashes_of(results) == whole
        counts["same results" if same and not state.exists() else "broken"] += 1
        shutil.rmtree(results)

    while counts["kills"] < n_kills:
        if killed(resumed, draw.uniform(0.1, 1.0) * seconds):
            counts["kills"] += 1
            counts["with a checkpoint"] += state.exists()
            counts["left behind"] += left_in(folder)
        if results.exists():
            state.unlink(missing_ok=True)  # killed between the results and the end
            compare()
    finished(resumed)
    compare()
    counts["not removed"] = left_in(folder)
    return counts


def works(arguments: argparse.Namespace) -> dict[str, Callable[[Path, random.Random], Counts]]:
    """What is done for each of the options --only, by a title."""
    found: dict[str, Callable[[Path, random.Random], Counts]] = {}
    for name in arguments.only or _KILLS:
        n_kills = arguments.kills or _KILLS[name]
        if name == "save":
            found["save(overwrite=True)"] = partial(kill_saves, n_kills)
        elif name == "checkpoint":
            commands, n_rows = (_RESUMED[:2], 300) if arguments.quick else (_RESUMED, 3000)
            for i, words in enumerate(commands):
                n = len(range(i, n_kills, len(commands)))
                work = partial(kill_and_resume, words, n, n_rows=n_rows)
                found[f"{words} --checkpoint"] = work
        else:
            words = f"{name}{_QUICK[name] if arguments.quick else ''}"
            found[f"{words} --force"] = partial(kill_runs, words, n_kills)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, help="of each kind")
    parser.add_argument("--only", choices=_KILLS, nargs="+")
    parser.add_argument("--quick", action="store_true", help="few rows, quick methods, no page")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draw, total = random.Random(arguments.seed), Counts()
    for title, work in works(arguments).items():
        with tempfile.TemporaryDirectory() as folder:
            counts = work(Path(folder), draw)
        counts["broken"] += counts["not removed"]
        total.update({key: counts[key] for key in ("kills", "broken")})
        words = (f"{key} {n}" for key, n in counts.items() if key != "broken")
        print(f"{title}: {', '.join(words)}, broken {counts['broken']}", flush=True)
    print(f"all: kills {total['kills']}, broken {total['broken']}")
    return int(total["broken"] > 0)


if __name__ == "__main__":
    sys.exit(main())
