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

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parents[1] / "results"
_N_DRAWS = 20
_GRID = 1000  # points at which the density of typicalities is drawn
_PIXELS = 200
_BINS = 60
_ALPHA = 0.3667  # the level in the paper
_COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:pink")

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
    at = np.linspace(u.min(), u.max(), _GRID)
    axes.hist(u, bins=_BINS, density=True, color="0.8")
    axes.plot(at, gaussian_kde(u, "silverman")(at), color="black", label="density (Silverman)")
    valley = found.model.alpha_
    axes.axvline(valley, color="tab:blue", linestyle="--", label=f"valley {valley:.4f}")
    axes.axvline(_ALPHA, color="tab:red", linestyle=":", label=f"paper {_ALPHA:.4f}")
    axes.set(xlabel="typicality", ylabel="density", title="(a) Typicalities of the rows")
    axes.legend(loc="upper right", frameon=False)


def _draw_plane(found: Run, axes: Any) -> None:
    x, y = np.meshgrid(*[np.linspace(0, SIDE, _PIXELS)] * 2)
    grid = np.column_stack([x.ravel(), y.ravel()])
    typicality = found.model.predict_typicality(grid).reshape(x.shape)
    regions = found.model.predict(grid).reshape(x.shape)
    n_clusters = found.model.n_clusters_
    labels = found.model.labels_
    axes.scatter(*found.X[labels < 0].T, s=4, color="0.65", label="below the valley")
    for cluster in range(n_clusters):
        colour = _COLOURS[cluster % len(_COLOURS)]
        axes.contourf(x, y, regions == cluster, levels=[0.5, 1.5], colors=[colour], alpha=0.25)
        axes.scatter(*found.X[labels == cluster].T, s=4, color=colour)
    axes.contour(x, y, typicality, levels=[found.model.alpha_], colors="black", linewidths=1)
    axes.plot([], [], color="black", label=f"typicality {found.model.alpha_:.4f}")
    title = f"(b) Data space: {n_clusters} clusters and the regions of their predictions"
    axes.set(aspect="equal", xlim=(0, SIDE), ylim=(0, SIDE), title=title)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, frameon=False)


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
