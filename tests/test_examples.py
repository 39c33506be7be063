"""The examples of the gallery: each runs without a warning, draws, asks and answers."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

pytestmark = pytest.mark.xdist_group("examples")  # long: it begins first
FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*/plot_*.py"))


@pytest.fixture
def no_window(monkeypatch):
    """Figures without a screen; none is left open."""
    backend = mpl.get_backend()
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield
    plt.close("all")
    plt.switch_backend(backend)


def test_gallery_has_all_python_files_of_its_folder():
    assert sorted(FOLDER.rglob("*.py")) == EXAMPLES
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws_figures(path, no_window):
    plt.close("all")
    runpy.run_path(str(path), run_name="__main__")
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    for figure in figures:
        figure.canvas.draw()
        assert any(ax.has_data() for ax in figure.axes)
