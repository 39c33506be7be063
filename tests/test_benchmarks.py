"""What the benchmarks print about the machine."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmarks are not in the package")
def test_machine_names_peers_that_are_absent(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from _report import machine

    libraries = machine("numpy", "no-such-peer")[1]
    assert libraries.endswith("no-such-peer (not installed)")
    assert "scikit-fuzzy " in libraries
