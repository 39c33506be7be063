"""Fused kernels under Triton's interpreter: machines without a GPU test their arithmetic."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from conftest import NO_INTERPRETER

pytest.importorskip("torch")


def interprets():
    """Whether Triton is installed, in a version whose interpreter works with NumPy 2.4."""
    try:
        return tuple(map(int, version("triton").split(".")[:2])) >= (3, 9)
    except PackageNotFoundError:
        return False


@pytest.mark.skipif(not interprets(), reason=NO_INTERPRETER)
def test_fused_kernels_keep_their_bounds_when_interpreted():
    """The bound of each sum, for every layout, and the sums of a sweep."""
    folder = Path(__file__).parents[1]
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "sums.interpreted"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    errors = json.loads(done.stdout)
    assert len(errors) == 18
    assert {name: error for name, error in errors.items() if not error < 1.0} == {}
