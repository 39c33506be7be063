"""Shared data."""

import os

import numpy as np
import pytest
from hypothesis import settings

import network
from typicality.compiled import small
from typicality.datasets import load_breast_cancer_original, load_ionosphere, load_s2

settings.register_profile("typicality", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("typicality")
network.block()


@pytest.fixture
def compiling(monkeypatch):
    """Compiled code for work of any size."""
    monkeypatch.setattr(small, "_LONGEST", -1.0)


@pytest.fixture(scope="module")
def module_compiling():
    """The same for all tests of a module; Hypothesis wants no fixture for each test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "_LONGEST", -1.0)
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20261115)


@pytest.fixture
def blobs(rng):
    """Three round clusters of 60 points in the plane, and their labels."""
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    labels = np.repeat(np.arange(3), 60)
    return centers[labels] + rng.normal(scale=0.6, size=(180, 2)), labels


@pytest.fixture
def many_dimensions():
    """Ten blobs in fifty dimensions: the standard case of centre collapse at m = 2."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 100)
    return rng.normal(scale=1.0, size=(10, 50))[labels] + rng.normal(
        scale=1.0, size=(1000, 50)
    ), labels


FOLDER_VARIABLE = "TYPICALITY_DATA"


def loaded_or_skipped(load):
    """A set that the project does not ship, from a folder or from scikit-learn's cache."""
    try:
        return load()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def s2():
    """The set S2."""
    return loaded_or_skipped(load_s2)


@pytest.fixture(scope="session")
def breast_cancer():
    """Breast Cancer Wisconsin (Original), the complete rows."""
    return loaded_or_skipped(load_breast_cancer_original)


@pytest.fixture(scope="session")
def ionosphere():
    """Ionosphere."""
    return loaded_or_skipped(load_ionosphere)


def has_gpu():
    """Whether torch sees a GPU."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


NO_GPU = "torch sees no GPU"
NO_INTERPRETER = "Triton 3.9 or newer is not installed: no fused kernel was interpreted"


SKIPPED = "typicality/skipped"  # in the cache of pytest: what the last whole run left out


def pytest_addoption(parser):
    """Add an option for a second run, after optional parts were installed."""
    parser.addoption(
        "--skipped-before",
        action="store_true",
        help="run only the tests that the last run without this option skipped",
    )


def pytest_collection_modifyitems(config, items):
    """Skip what needs a GPU where there is none; keep to what was skipped, where that is asked."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not has_gpu():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=NO_GPU))
    if config.getoption("--skipped-before"):
        places = tuple(config.cache.get(SKIPPED, []))
        others = [item for item in items if not item.nodeid.startswith(places)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.nodeid.startswith(places)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With --dist loadgroup, a process runs whole files, so that what they share is made once.

    Groups that are marked begin first: they are long, and should not be left over at the end.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).partition("::")[0]

        def _assign_work_unit(self, node):
            for unit in [unit for unit in self.workqueue if not unit.endswith(".py")][:1]:
                self.workqueue.move_to_end(unit, last=False)
            super()._assign_work_unit(node)

    return ByFile(config, log)


def pytest_report_header():
    """Say which folder of real data is in use."""
    return f"{FOLDER_VARIABLE}: {os.environ.get(FOLDER_VARIABLE, 'not set')}"


def pytest_terminal_summary(terminalreporter, config):
    """Say how many tests want real data or a GPU that are not here, and how to have them run."""
    cache = getattr(config, "cache", None)  # -p no:cacheprovider takes it away
    if cache is not None and not config.getoption("--skipped-before"):
        skipped = terminalreporter.stats.get("skipped", [])
        cache.set(SKIPPED, sorted({report.nodeid for report in skipped}))
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    n_without_data = sum(FOLDER_VARIABLE in reason for reason in reasons)
    if n_without_data:
        terminalreporter.write_line(
            f"Tests skipped for want of real data: {n_without_data}. Set {FOLDER_VARIABLE} to the "
            "folder with s2.csv, ionosphere.csv and breast_cancer_wisconsin_original_*.csv.",
            yellow=True,
        )
    n_without_gpu = sum(NO_GPU in reason for reason in reasons)
    if n_without_gpu:
        terminalreporter.write_line(
            f"Tests skipped for want of a GPU: {n_without_gpu}. benchmarks/gpu.py runs them.",
            yellow=True,
        )
    if any(NO_INTERPRETER in reason for reason in reasons):
        terminalreporter.write_line(f"{NO_INTERPRETER}. pip install triton", yellow=True)
