"""The command as a process: what it imports, signals and pipes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "typicality"]
HEAVY = ["numpy", "scipy", "sklearn", "numba", "pyarrow", "pandas", "matplotlib", "rich"]
HELP = ["--help", "--version", "cluster --help", "compare --help", "score -h"]


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


ERRORS = [
    "clutser rows.csv",
    "cluster nowhere.csv --jobs 2",
    "cluster rows.csv --method fcm",
    "cluster rows.csv --columns c",
    "cluster wrong.csv --columns b",
    "outliers rows.csv --reference nowhere.csv",
    "outliers gaps.csv --missing error",
    "score . nowhere.csv",
    "report nowhere",
    "compare nowhere.csv",
]


def test_error_about_words_or_files_loads_nothing_heavy(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,5\n5,7\n", encoding="utf-8")
    (tmp_path / "gaps.csv").write_text("a,b\n1,2\n3,\n5,7\n", encoding="utf-8")
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n3,five\n5,7\n", encoding="utf-8")
    code = f"""
import json, sys
from typicality.cli import main
found = dict()
for line in {ERRORS}:
    try:
        main(line.split())
    except SystemExit as end:
        heavy = ("scipy", "sklearn", "numba", "matplotlib")
        found[line] = [end.code, *(name for name in heavy if name in sys.modules)]
open("found.json", "w").write(json.dumps(found))
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=tmp_path)
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert list(found) == ERRORS
    assert {line: end for line, end in found.items() if end not in ([2], [3], [4])} == {}


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
        printed, said = process.communicate(timeout=300)
    as_a_shell_sees_it = 128 + number if process.returncode == -number else process.returncode
    assert (as_a_shell_sees_it, printed, said) == (code, "", words)
    assert os.listdir(tmp_path) == []


def wait_for(happened):
    deadline = time.monotonic() + 300  # imports take a minute on a busy machine
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


def shell(line, folder, **environment):
    """The exit code and what was printed of a line for the shell, where T is the command."""
    done = subprocess.run(
        ["sh", "-c", line.replace("T ", f"{sys.executable} -m typicality ")],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("T cluster rows.csv -m fcm -k 2 -o out --no-report >&- 2>&- <&-", 0, ""),
        ("T cluster - <&-", 3, "Error: Standard input is closed"),
        (
            "T cluster rows.csv -m fcm -k 2 -o out --no-report >/dev/full",
            3,
            "Error: out was written and is ",
        ),
        ("T score run rows.csv >/dev/full", 3, "Error: The results could not be written: no "),
    ],
)
def test_streams_that_are_closed_or_full(clustered, groups, tmp_path, line, code, words):
    shutil.copy(groups, tmp_path / "rows.csv")
    shutil.copytree(clustered[1], tmp_path / "run")
    found, printed, said = shell(line, tmp_path)
    assert (found, printed) == (code, "")
    assert said.startswith(words)
    assert said.count("\n") == bool(words)
    assert (tmp_path / "out").exists() == ("-o out" in line)


def test_interrupt_while_a_command_is_imported_is_one_line(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typicality.cli.cluster":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
"""
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    found = shell("T cluster rows.csv", tmp_path, PYTHONPATH=path)
    assert found == (130, "", "Error: Interrupted; nothing was written.\n")


def test_jobs_limits_the_threads_although_libraries_are_loaded_later(groups, tmp_path):
    code = """
import os, sys
from typicality import _threads
from typicality.cli import main
before, found, n_threads = dict(os.environ), set(), _threads._n_threads
_threads._n_threads = lambda: found.add(n_threads()) or n_threads()
main(sys.argv[1:], standalone_mode=False)
print(found, dict(os.environ) == before)
"""
    words = ["cluster", str(groups), "--jobs", "1", "-q", "--no-report", "-o", str(tmp_path / "o")]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "{1} True\n", done.stderr
