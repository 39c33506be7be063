"""--memory is kept, by the peak that the system saw, or refused with the number that would do."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
BASE = 400  # megabytes: Python, the libraries and compiled code

_CHILD = """
import atexit, re, sys
def peak():
    found = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())
    print("peak", int(found[1]) * 1024 // 1_000_000)
atexit.register(peak)
limit = int(sys.argv.pop(1))
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from typicality.cli import main
main()
"""


def run(*arguments, address_space=0):
    """The exit code, the peak in megabytes, and what was printed."""
    command = [sys.executable, "-c", _CHILD, str(address_space), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = re.search(r"^peak (\d+)$", done.stdout, re.MULTILINE)
    return done.returncode, int(found[1]), done.stderr


def test_packed_array_is_refused_by_its_size_not_by_its_contents(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((30_000_000, 2)))
    code, peak, said = run("cluster", tmp_path / "bomb.npz", "--memory", 0.05)
    assert code == 3
    assert "30,000,000 rows of 2 columns" in said
    assert peak < BASE


def test_long_texts_are_not_kept(tmp_path):
    rows = np.random.default_rng(0).normal(size=(40_000, 2))
    with open(tmp_path / "long.csv", "w", encoding="utf-8") as stream:
        stream.write("a,b,text\n")
        for i, (a, b) in enumerate(rows):
            stream.write(f"{a:.4f},{b:.4f},{i} {'x' * 4000}\n")
    options = ["--method", "fcm", "-k", 2, "--memory", 0.05, "--no-report", "-o", tmp_path / "o"]
    code, peak, said = run("cluster", tmp_path / "long.csv", *options)
    assert code == 0, said
    assert peak < BASE + 50


def test_categories_with_long_texts_are_read_in_small_blocks(tmp_path):
    rng, n = np.random.default_rng(0), 20_000
    text = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 20_000])
    table = pa.table({"a": rng.normal(size=n), "b": rng.normal(size=n), "text": text})
    pq.write_table(table, tmp_path / "text.parquet")
    options = ["--method", "fcm", "-k", 2, "--memory", 0.1, "--no-report", "-o", tmp_path / "o"]
    code, peak, said = run("cluster", tmp_path / "text.parquet", *options)
    assert code == 0, said
    assert peak < BASE + 100


@pytest.mark.parametrize(
    ("shape", "method"),
    [((200_000, 10), ("fcm", "-k", 3, "--no-report")), ((5000, 4), ("alpha-cut",))],
)
def test_refusal_names_the_memory_that_is_enough(tmp_path, shape, method):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=shape))
    options = ["--method", *method, "-o", tmp_path / "o"]
    code, _, said = run("cluster", tmp_path / "rows.npy", *options, "--memory", 0.04)
    assert code == 3
    enough = float(re.search(r"take ([\d.]+) GB", said)[1])
    code, peak, said = run("cluster", tmp_path / "rows.npy", *options, "--memory", enough)
    assert code == 0, said
    assert peak < BASE + 1000 * enough


def test_file_that_does_not_fit_is_read_in_blocks(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(600_000, 6)))
    options = ["--method", "fcm", "-k", 3, "--param", "max_iter=5", "-o", tmp_path / "o"]
    code, peak, said = run("cluster", tmp_path / "rows.npy", *options, "--memory", 0.3)
    assert code == 0, said
    assert peak < BASE + 300
    record = json.loads((tmp_path / "o" / "run.json").read_text(encoding="utf-8"))
    assert record["results"]["passes"]["block_rows"] < 600_000
    assert sum(record["results"]["sizes"]) == 600_000


def test_too_little_address_space_is_refused_and_leaves_nothing(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(200_000, 10)))
    options = ["--method", "fcm", "-k", 3, "--no-report", "-o", tmp_path / "o"]
    code, _, said = run("cluster", tmp_path / "rows.npy", *options, address_space=2**31)
    assert code == 3
    assert "ulimit -v" in said
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npy"]


def test_array_file_that_is_cut_while_it_is_read_is_an_error(tmp_path):
    code = """
import sys, numpy as np
from typicality.exceptions import TableError
from typicality.tables import open_table
path = sys.argv[1]
np.save(path, np.random.default_rng(0).normal(size=(400_000, 4)))
with open_table(path) as table:
    blocks = table.blocks()
    next(blocks)
    with open(path, "r+b") as file:
        file.truncate(4096)
    try:
        list(blocks)
    except TableError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "rows.npy")], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "changed while it was read" in done.stdout or "cut off" in done.stdout
