"""A backend without windows, and a look at what figures are left."""

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: no pictures")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _no_figures_left():
    plt.close("all")  # of tests elsewhere
    yield
    plt.close("all")


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know."""
    return matplotlib.figure.Figure().add_subplot()
