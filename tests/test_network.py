"""The package works without a network, and the tests would notice if it asked for one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import group_lines

BLOCKED = "import network; network.block()"


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Run the command line in a process that has no network from its first line on."""
    folder = tmp_path_factory.mktemp("network")
    (folder / "sitecustomize.py").write_text(BLOCKED, encoding="utf-8")
    (folder / "rows.csv").write_text("\n".join(group_lines()) + "\n", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(Path(__file__).parent), *sys.path])

    def run(*arguments, start=("-m", "typicality")):
        return subprocess.run(
            [sys.executable, *start, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    return run


COMMANDS = [
    "cluster rows.csv -o clusters",
    "outliers rows.csv -o outliers",
    "score clusters rows.csv",
    "explain outliers rows.csv --line 67",
    "report clusters --force",
    "compare rows.csv --methods fcm,k-means",
]


def test_commands_need_no_network(command):
    code = f"""
import contextlib, socket
from typicality.cli import main
with contextlib.suppress(PermissionError):  # which only a process without a network raises
    socket.create_connection(("192.0.2.1", 80), timeout=1)
    raise SystemExit("there is a network")
for line in {COMMANDS}:
    main(line.split(), standalone_mode=False)
"""
    done = command(start=("-c", code))
    assert done.returncode == 0, done.stderr
