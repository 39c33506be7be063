"""The command as a process: what it imports, signals and pipes."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "typicality"]
HEAVY = ["numpy", "scipy", "sklearn", "numba", "pyarrow", "pandas", "matplotlib", "rich"]
HELP = [
    "--help",
    "--version",
    "cluster --help",
    "compare --help",
    "validate --help",
    "score -h",
]


def test_help_loads_nothing_heavy():
    code = f"""
import json, sys
from typicality.cli import main
loaded = dict()
for line in {HELP}:
    main(line.split(), standalone_mode=False)
    loaded[line] = [name for name in {HEAVY} if name in sys.modules]
print(json.dumps(loaded))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert {line: names for line, names in loaded.items() if names} == {}


@pytest.fixture(scope="module")
def long_file(tmp_path_factory):
    """Rows enough that all pairs of them, which the test asks for, keep a machine busy."""
    path = tmp_path_factory.mktemp("long") / "rows.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20_000, 12)))
    return path


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "Error: Interrupted; nothing was written.\n"), (signal.SIGTERM, 143, "")],
    ids=["interrupt", "terminate"],
)
def test_signals_leave_nothing_behind(long_file, tmp_path, number, code, words):
    arguments = ["cluster", "-m", "alpha-cut", str(long_file), "--output", str(tmp_path / "out")]
    slow = ["--param", "labelling=complete", "--sigma", "9"]
    with subprocess.Popen(
        [*COMMAND, *arguments, *slow], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        wait_for(lambda: os.listdir(tmp_path))
        time.sleep(0.5)  # into the middle of things
        process.send_signal(number)
        printed, said = process.communicate(timeout=60)
    as_a_shell_sees_it = 128 + number if process.returncode == -number else process.returncode
    assert (as_a_shell_sees_it, printed, said) == (code, "", words)
    assert os.listdir(tmp_path) == []


def wait_for(happened):
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_reader_that_stops_reading_is_no_error(clustered, groups, tmp_path):
    head, *rows = groups.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "many.csv").write_text(head + "".join(rows * 300), encoding="utf-8")
    arguments = [*COMMAND, "score", str(clustered[1]), str(tmp_path / "many.csv")]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().endswith(",label,typicality\n")
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, "")


def test_score_reads_and_writes_through_pipes(clustered, groups):
    with open(groups, "rb") as stream:
        done = subprocess.run(
            [*COMMAND, "score", str(clustered[1]), "-"],
            stdin=stream,
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
        )
    assert done.stdout == (clustered[1] / "labels.csv").read_bytes()
    assert done.stderr == b""
