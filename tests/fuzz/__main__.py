"""Fuzz for some minutes: python -m fuzz --minutes 10 [--targets csv,model] [--seed 1].

Each target runs in processes of its own, so that a crash of the process is found as well; the
input that it was busy with is kept. Prints for each target the number of inputs, of distinct
outcomes and of crashes.
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.contract import outcome_of
from fuzz.targets import NAMES, target_of

ROUND = 60.0  # seconds of a process
HANGING = 300.0  # seconds after its end at which a process is ended
INPUTS = 150  # with one seed of hypothesis
MOST_CRASHES = 3  # of a target; more would be the same
MOST_ADDRESSES = 16 * 2**30  # bytes that a process may ask for
SETTINGS = settings(
    max_examples=INPUTS,
    deadline=None,
    database=None,
    derandomize=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def run_round(name, first_seed, seconds, folder):
    """Fuzz a target in this process; one line of JSON on standard output says what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES,) * 2)
    warnings.simplefilter("ignore")
    target, outcomes, crash = target_of(name), Counter(), None
    work = Path(tempfile.mkdtemp(dir=folder))

    def use(value):
        (folder / "input.pickle").write_bytes(pickle.dumps(value))
        outcomes[outcome_of(target, value, work)] += 1

    end, number = time.monotonic() + seconds, first_seed
    while time.monotonic() < end and crash is None:
        try:
            SETTINGS(seed(number)(given(target.inputs)(use)))()
        except Exception as error:  # the last input was the smallest that hypothesis found
            crash = words_for(error)
        number += 1
    sys.stdout.write(json.dumps({"outcomes": outcomes, "crash": crash, "seed": number}) + "\n")


def words_for(error):
    """The end of a traceback, of one error where there are several, without the input."""
    error = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
    error.__notes__ = []
    return "".join(traceback.format_exception(error, limit=-4, chain=False))


def fuzz(name, number, seconds):
    """Fuzz a target in other processes until the time is over."""
    outcomes, crashes = Counter(), []
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and len(crashes) < MOST_CRASHES:
        with tempfile.TemporaryDirectory() as folder:
            arguments = [name, str(number), str(min(left, ROUND)), folder]
            command = [sys.executable, "-m", "fuzz", "--round", *arguments]
            found = {"outcomes": {}, "seed": number + 1}
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=ROUND + HANGING
                )
            except subprocess.TimeoutExpired:
                found["crash"] = "it does not end\n"
            else:
                found["crash"] = f"exit code {done.returncode}\n{done.stderr[-3000:]}"
                if done.returncode == 0:
                    found = json.loads(done.stdout.splitlines()[-1])
            outcomes.update(found["outcomes"])
            if found["crash"]:
                kept = Path(tempfile.gettempdir()) / f"typicality-fuzz-{name}-{number}.pickle"
                (Path(folder) / "input.pickle").replace(kept)
                crashes.append(f"input in {kept}\n{found['crash'][:3000]}")
            number = found["seed"]
    return outcomes, crashes


def main():
    """Share the time among the targets, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--targets", default=",".join(NAMES))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--round", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.round:
        name, number, seconds, folder = options.round
        return run_round(name, int(number), float(seconds), Path(folder))
    names = options.targets.split(",")
    number = int(time.time()) if options.seed is None else options.seed
    sys.stdout.write(
        f"seed {number}\n{'target':<10} {'inputs':>8} {'outcomes':>9} {'crashes':>8}\n"
    )
    n_inputs = n_crashes = 0
    for name in names:
        outcomes, crashes = fuzz(name, number, 60 * options.minutes / len(names))
        n_inputs, n_crashes = n_inputs + outcomes.total(), n_crashes + len(crashes)
        sys.stdout.write(
            f"{name:<10} {outcomes.total():>8,} {len(outcomes):>9,} {len(crashes):>8,}\n"
        )
        for crash in crashes:
            sys.stdout.write(f"\n{crash}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{'all':<10} {n_inputs:>8,} {'':>9} {n_crashes:>8,}\n")
    return int(n_crashes > 0)


if __name__ == "__main__":
    sys.exit(main())
