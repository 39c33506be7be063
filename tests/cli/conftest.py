"""A file of two groups and one strange row, and what the commands make of it."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from typicality.cli import main
from typicality.tables import columns


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def words(done):
    """What a command has printed that has worked, whatever the breaks of lines."""
    assert done.exit_code == 0, done.stderr
    return " ".join(done.stdout.split())


def record_of(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def run():
    """Run a command in this process."""
    return invoke


@pytest.fixture(scope="session")
def read_csv():
    def read(path):
        with open(path, encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    return read


def group_lines():
    rng = np.random.default_rng(3)
    groups = rng.uniform(-1, 1, (40, 2)), rng.uniform(9, 11, (25, 2))
    rows = np.vstack([*groups, [[5.0, -20.0]]])
    names = [f"item {i}" for i in range(len(rows))]
    return ["width,height,name,unit"] + [
        f"{x:.6f},{y:.6f},{name},cm" for (x, y), name in zip(rows, names, strict=True)
    ]


@pytest.fixture(scope="session")
def groups(tmp_path_factory):
    """Groups of 40 and 25 rows, and a row in line 67 that belongs to none."""
    path = tmp_path_factory.mktemp("rows") / "groups.csv"
    path.write_text("\n".join(group_lines()) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def gaps(tmp_path_factory):
    """The same with a cell missing in line 4 and one in line 9."""
    lines = group_lines()
    lines[3] = ",0.5,item 2,cm"
    lines[8] = "0.25,NA,item 7,cm"
    path = tmp_path_factory.mktemp("rows") / "gaps.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def clustered(groups):
    """What `cluster` printed, and the folder it has written."""
    folder = groups.parent / "clusters"
    return invoke("cluster", groups, "--output", folder), folder


@pytest.fixture(scope="session")
def flagged(groups):
    """What `outliers` printed, and the folder it has written."""
    folder = groups.parent / "outliers"
    return invoke("outliers", groups, "--rate", 0.05, "--output", folder), folder


@pytest.fixture
def in_blocks(run, monkeypatch):
    """Run a command that may hold no numbers of a file in memory."""

    def invoke(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(columns, "MOST_NUMBERS", 0)
            return run(*arguments)

    return invoke
