"""Figure 1 of filippone2007: the histogram of typicalities, its valley, and the clusters above it.

`python papers/filippone2007/figure_1.py` prints the numbers over several draws, and draws the
middle one to `papers/results/filippone2007_figure_1.png`.
"""

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from typicality import AlphaCutClustering
from typicality.datasets import SIDE, make_dense_regions
from typicality.plot import MembershipContourDisplay, MembershipHistogramDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parents[1] / "results"
_N_DRAWS = 20
_GRID = 1000  # points at which the density of typicalities is drawn
_PIXELS = 200
_BINS = 60
_ALPHA = 0.3667  # the level in the paper

Doubles = NDArray[np.float64]


class Run(NamedTuple):
    """A draw of the data, and the model."""

    X: Doubles
    y: NDArray[np.int_]
    model: AlphaCutClustering


def run(seed: int) -> Run:
    """Fit a draw with the paper's settings; alpha is the valley."""
    X, y = make_dense_regions(random_state=seed)
    model = AlphaCutClustering(sigma=0.5, alpha="valley", criterion="memberships", tol=0.01)
    return Run(X, y, model.fit(X))


# ---- the picture --------------------------------------------------------------------------------


def draw(found: Run, path: Path) -> None:
    """Both panels of the figure."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    _draw_histogram(found, left)
    _draw_plane(found, right)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_histogram(found: Run, axes: Any) -> None:
    u = found.model.typicality_
    shown = MembershipHistogramDisplay.from_estimator(found.model, found.X, bins=_BINS, ax=axes)
    at = np.linspace(u.min(), u.max(), _GRID)
    rows_of_a_bin = len(u) * np.diff(shown.bin_edges_)[0]
    density = rows_of_a_bin * gaussian_kde(u, "silverman")(at)
    axes.plot(at, density, color="black", label="density (Silverman)")
    axes.axvline(_ALPHA, color="tab:red", linestyle=":", label=f"paper {_ALPHA:.4f}")
    axes.set_title("(a) Typicalities of the rows")
    axes.legend(loc="upper right", frameon=False)


def _draw_plane(found: Run, axes: Any) -> None:
    size = {"grid_resolution": _PIXELS}
    shown = MembershipContourDisplay.from_estimator(found.model, found.X, **size, ax=axes)
    title = f"(b) Data space, and the contour {found.model.alpha_:.4f}:\n{shown.title}"
    axes.set(aspect="equal", xlim=(0, SIDE), ylim=(0, SIDE), title=title)


# ---- the numbers --------------------------------------------------------------------------------


def show(runs: list[Run]) -> None:
    """A line for each draw, and one for all."""
    print("draw  iterations  typicalities  valley  clusters  dense rows in them  noise in them")
    for seed, found in enumerate(runs):
        u, inside = found.model.typicality_, found.model.labels_ >= 0
        dense, noise = inside[found.y >= 0].mean(), inside[found.y < 0].mean()
        print(f"{seed:4}  {found.model.n_iter_:10}  {u.min():.4f}-{u.max():.4f}", end="")
        print(f"  {found.model.alpha_:.4f}  {found.model.n_clusters_:8}", end="")
        print(f"  {dense:18.1%}  {noise:13.1%}")
    valleys = [found.model.alpha_ for found in runs]
    print(f"valley {np.mean(valleys):.4f}, standard deviation {np.std(valleys, ddof=1):.4f}")
    right = sum(found.model.n_clusters_ == 3 for found in runs)
    print(f"3 clusters in {right} of {len(runs)} draws")


def main() -> None:
    runs = [run(seed) for seed in range(_N_DRAWS)]
    show(runs)
    in_the_middle = sorted(runs, key=lambda found: float(found.model.alpha_))[_N_DRAWS // 2]
    draw(in_the_middle, _RESULTS / "filippone2007_figure_1.png")


if __name__ == "__main__":
    main()
