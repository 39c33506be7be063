"""Figure 1 of filippone2007: the histogram of typicalities, and their contour at alpha = .3667.

`python papers/filippone2007/figure_1.py` prints the numbers over several draws, and draws the
middle one to `papers/results/filippone2007_figure_1.png`.
"""

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from typicality import OneClusterPCM
from typicality.datasets import SIDE, make_dense_regions

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parents[1] / "results"
_N_DRAWS = 10
_GRID = 1000  # points at which the density of typicalities is looked at
_PIXELS = 200
_BINS = 60
_ALPHA = 0.3667  # the level in the paper

Doubles = NDArray[np.float64]


class Run(NamedTuple):
    """A draw of the data, the model, and the level of the valley."""

    X: Doubles
    y: NDArray[np.int_]
    model: OneClusterPCM
    valley: float


def run(seed: int) -> Run:
    """Fit a draw with the paper's settings."""
    X, y = make_dense_regions(random_state=seed)
    model = OneClusterPCM(sigma=0.5, criterion="memberships", tol=0.01).fit(X)
    return Run(X, y, model, find_valley(model.typicality_))


def find_valley(typicality: Doubles) -> float:
    """The most persistent valley of the density of typicalities, by Silverman's bandwidth."""
    at = np.linspace(typicality.min(), typicality.max(), _GRID)
    density = gaussian_kde(typicality, "silverman")(at)
    return float(at[_persistence(density).argmax()])


def _persistence(density: Doubles) -> Doubles:
    """How far each point lies below the lower of the highest peaks to its left and right."""
    left = np.maximum.accumulate(density)
    right = np.maximum.accumulate(density[::-1])[::-1]
    return np.minimum(left, right) - density


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
    axes.axvline(found.valley, color="tab:blue", linestyle="--", label=f"valley {found.valley:.4f}")
    axes.axvline(_ALPHA, color="tab:red", linestyle=":", label=f"paper {_ALPHA:.4f}")
    axes.set(xlabel="typicality", ylabel="density", title="(a) Typicalities of the rows")
    axes.legend(loc="upper right", frameon=False)


def _draw_plane(found: Run, axes: Any) -> None:
    x, y, typicality = _surface(found.model)
    noise = found.y < 0
    axes.scatter(*found.X[noise].T, s=4, color="0.65", label="noise")
    axes.scatter(*found.X[~noise].T, s=4, color="black", label="dense regions")
    axes.contour(x, y, typicality, levels=[_ALPHA], colors="tab:red")
    axes.plot([], [], color="tab:red", label=f"typicality {_ALPHA:.4f}")
    axes.set(aspect="equal", xlim=(0, SIDE), ylim=(0, SIDE), title="(b) Data space")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, frameon=False)


def _surface(model: OneClusterPCM) -> tuple[Doubles, Doubles, Doubles]:
    x, y = np.meshgrid(*[np.linspace(0, SIDE, _PIXELS)] * 2)
    typicality = model.predict_typicality(np.column_stack([x.ravel(), y.ravel()]))
    return x, y, typicality.reshape(x.shape)


# ---- the numbers --------------------------------------------------------------------------------


def show(runs: list[Run]) -> None:
    """A line for each draw, and one for all."""
    print("draw  iterations  typicalities  valley  dense rows above it  noise above it")
    for seed, found in enumerate(runs):
        u, above = found.model.typicality_, found.model.typicality_ > found.valley
        dense, noise = above[found.y >= 0].mean(), above[found.y < 0].mean()
        print(f"{seed:4}  {found.model.n_iter_:10}  {u.min():.4f}-{u.max():.4f}", end="")
        print(f"  {found.valley:.4f}  {dense:19.1%}  {noise:14.1%}")
    valleys = [found.valley for found in runs]
    print(f"valley {np.mean(valleys):.4f}, standard deviation {np.std(valleys, ddof=1):.4f}")


def main() -> None:
    runs = [run(seed) for seed in range(_N_DRAWS)]
    show(runs)
    in_the_middle = sorted(runs, key=lambda found: found.valley)[_N_DRAWS // 2]
    draw(in_the_middle, _RESULTS / "filippone2007_figure_1.png")


if __name__ == "__main__":
    main()
