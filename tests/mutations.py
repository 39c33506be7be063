"""Deliberate bugs, one at a time: does a test fail? `python tests/mutations.py [--jobs N] [WORDS]`.

Each bug of mutations.txt replaces one piece of text in a copy of the source, and runs the tests
that should notice it. WORDS choose bugs by their heading. A bug that survives needs a test.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "typicality"
_BUG = re.compile(r"^(\S+): (.*) \((.*)\)\n- (.*)\n\+ (.*)$", re.MULTILINE)


class Bug(NamedTuple):
    """A piece of text of a file, what takes its place, and the tests that should notice."""

    file: str
    what: str
    tests: str
    right: str
    wrong: str


def bugs(words: Sequence[str] = ("",)) -> list[Bug]:
    """The bugs of mutations.txt with one of these words; each must find its text once."""
    text = (TESTS / "mutations.txt").read_text("utf-8")
    found = [Bug(*(part.replace("\\n", "\n") for part in bug)) for bug in _BUG.findall(text)]
    found = [bug for bug in found if any(word in f"{bug.file}: {bug.what}" for word in words)]
    for bug in found:
        count = (SOURCE / bug.file).read_text("utf-8").count(bug.right)
        if count != 1:
            raise SystemExit(f"{bug.file} has {count} times {bug.right!r}: correct mutations.txt.")
    return found


def survives(bug: Bug) -> bool:
    """Whether the tests pass although the bug is there."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "typicality"
        shutil.copytree(SOURCE, source)
        text = (source / bug.file).read_text("utf-8")
        (source / bug.file).write_text(text.replace(bug.right, bug.wrong), "utf-8")
        options = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0"]
        tests = [str(TESTS / name) for name in bug.tests.split()]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=TESTS.parent,
            env=os.environ | {"PYTHONPATH": folder, "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{bug.file}: {bug.what}\n{done.stdout}{done.stderr}")
        return done.returncode == 0


def main() -> None:
    """Try the bugs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    chosen = bugs(given.words or [""])
    n_caught = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for bug, lives in zip(chosen, pool.map(survives, chosen), strict=True):
            verdict = "SURVIVES" if lives else "caught"
            sys.stdout.write(f"| {bug.file} | {bug.what} | {verdict} |\n")
            sys.stdout.flush()
            n_caught += not lives
    sys.stdout.write(f"{n_caught} of {len(chosen)} bugs were caught.\n")


if __name__ == "__main__":
    main()
