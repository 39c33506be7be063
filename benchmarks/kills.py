"""Kill commands at random moments, and look whether their results are whole each time.

`python benchmarks/kills.py [--kills N]` kills (SIGKILL) `typicality cluster --force`, `typicality
outliers --force` and `typicality.save(overwrite=True)` N times each, and prints how often the old
results stood, how often the new ones, and how often anything else (0 is the target). Half of the
moments are drawn from the whole time of a run, half from its last fifth, where files are written.
Two files take turns, so that old and new results can be told apart.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import typicality
from typicality._files import files_in, sha256_of

_SAVE = """
import sys, typicality
from typicality import FuzzyCMeans
import numpy as np
X = np.random.default_rng(0).normal(size=(20_000, 4))
models = [FuzzyCMeans(k, random_state=0, max_iter=3).fit(X) for k in (2, 3)]
print("ready", flush=True)
for i in range(10_000):
    typicality.save(models[i % 2], sys.argv[1], overwrite=True)
"""


def write_rows(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2000, 3)) + 9.0 * rng.integers(2, size=2000)[:, None]
    np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="")


def state_of_run(folder: Path) -> str:
    """The file whose results are in a folder, where all of them are there; else what is wrong."""
    if not folder.is_dir():
        return "broken: no folder"
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    found = {file: sha256_of(folder / file) for file in files_in(folder) if file != "run.json"}
    if found != record["files"]:
        return "broken: files are not those of the record"
    typicality.load(folder / "model")
    return str(record["data"]["file"])


def kill_at(command: list[str], delay: float) -> bool:
    """Start a command and kill it and its children; False where it had ended before."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **silent)
    try:
        process.wait(delay)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def kill_runs(command: list[str], n_kills: int, folder: Path, draw: random.Random) -> Counter[str]:
    files = [folder / "one.csv", folder / "two.csv"]
    for seed, file in enumerate(files):
        write_rows(file, seed)
    results = folder / "results"
    call = [sys.executable, "-m", "typicality", *command, "-o", str(results), "--force"]
    subprocess.run([*call, str(files[0]), "-q"], check=True)
    began = time.perf_counter()
    subprocess.run([*call, str(files[0]), "-q"], check=True)
    seconds = time.perf_counter() - began
    counts: Counter[str] = Counter()
    before = files[0]
    while counts["killed"] < n_kills:
        new = files[1] if before == files[0] else files[0]
        low = 0.8 if draw.random() < 0.5 else 0.0
        counts["killed"] += kill_at([*call, str(new), "-q"], draw.uniform(low, 1.02) * seconds)
        state = state_of_run(results)
        now = next((file for file in files if file.name in state), None)
        counts["old" if now == before else "new" if now == new else state] += 1
        before = now or before
    counts["left behind"] = len(list(folder.glob(".typicality-*")))
    return counts


def kill_saves(n_kills: int, folder: Path, draw: random.Random) -> Counter[str]:
    path, counts = folder / "model", Counter[str]()
    for _ in range(n_kills):
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", _SAVE, str(path)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        while not path.exists():
            time.sleep(0.001)
        time.sleep(draw.uniform(0.0, 0.3))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        counts["killed"] += 1
        counts[f"whole, of {typicality.load(path).n_clusters} clusters"] += 1
    counts["left behind"] = len(list(folder.glob(".typicality-*")))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", choices=("save", "cluster", "outliers"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    n_kills = arguments.kills
    works: dict[str, Callable[[Path], Counter[str]]] = {
        "save(overwrite=True)": lambda folder: kill_saves(n_kills, folder, draw),
        "cluster --force": lambda folder: kill_runs(["cluster"], n_kills, folder, draw),
        "outliers --force": lambda folder: kill_runs(["outliers"], n_kills, folder, draw),
    }
    for name, work in works.items():
        if arguments.only and not name.startswith(arguments.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            counts = work(Path(folder))
        print(f"{name}: " + ", ".join(f"{key} {counts[key]}" for key in counts), flush=True)


if __name__ == "__main__":
    main()
