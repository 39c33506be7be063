"""Figure 1 of filippone2010: typicalities at three resolutions, and six clusters of any shape.

`python papers/filippone2010/figure_1.py` prints the numbers over several draws, and draws the first
one to `papers/results/filippone2010_figure_1.png`.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from typicality import AlphaCutClustering
from typicality.datasets import SIDE, make_discs_banana_ring
from typicality.plot import MembershipContourDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parents[1] / "results"
_N_DRAWS = 50
_SIGMA = 0.5  # of the clusters
_REJECTION_RATE = 0.1
_MIN_CLUSTER_SIZE = 5
_PIXELS = 250
_LEVELS = 12

Doubles = NDArray[np.float64]


class Run(NamedTuple):
    """A draw of the data, and the model."""

    X: Doubles
    y: NDArray[np.int_]
    model: AlphaCutClustering

    @property
    def ari(self) -> float:
        """The adjusted Rand index; outliers are a class of their own, and rejected rows too."""
        return float(adjusted_rand_score(self.y, self.model.labels_))

    @property
    def n_large(self) -> int:
        """The number of clusters with ``min_cluster_size=5``."""
        tree, alpha = self.model.tree_, self.model.alpha_
        return tree.n_clusters_at(alpha, min_cluster_size=_MIN_CLUSTER_SIZE)


def run(seed: int, sigma: float = _SIGMA) -> Run:
    """Fit a draw with the paper's settings."""
    X, y = make_discs_banana_ring(random_state=seed)
    model = AlphaCutClustering(
        sigma=sigma, rejection_rate=_REJECTION_RATE, criterion="memberships", tol=0.01
    )
    return Run(X, y, model.fit(X))


# ---- the picture --------------------------------------------------------------------------------


def draw(seed: int, path: Path) -> None:
    """The four panels of the figure."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 9.4), layout="constrained")
    *contours, clusters = axes.flat
    for place, letter, sigma in zip(contours, "abc", (1.0, 2.0, 0.5), strict=True):
        _draw_contours(run(seed, sigma), letter, place)
    _draw_clusters(run(seed), clusters)
    for place in axes.flat:
        place.set(aspect="equal", xlim=(0, SIDE), ylim=(0, SIDE), xticks=[], yticks=[])
        place.set(xlabel="", ylabel="")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_contours(found: Run, letter: str, axes: Any) -> None:
    x, y, grid = _plane()
    u = found.model.predict_typicality(grid).reshape(x.shape)
    axes.contourf(x, y, u, levels=_LEVELS, cmap="Blues", alpha=0.8)
    axes.contour(x, y, u, levels=_LEVELS, colors="tab:blue", linewidths=0.6)
    axes.scatter(*found.X.T, s=5, color="black")
    between = f"{u.min():.2f} to {u.max():.2f}"
    axes.set_title(f"({letter}) $\\sigma$ = {found.model.sigma_:g}: typicalities {between}")


def _draw_clusters(found: Run, axes: Any) -> None:
    model, size = found.model, {"grid_resolution": _PIXELS}
    MembershipContourDisplay.from_estimator(model, found.X, **size, ax=axes)
    rejected = f"{_REJECTION_RATE:.0%} rejected"
    axes.set_title(f"(d) $\\sigma$ = {model.sigma_:g}, {rejected}: {model.n_clusters_} clusters")


def _plane() -> tuple[Doubles, Doubles, Doubles]:
    x, y = np.meshgrid(*[np.linspace(0, SIDE, _PIXELS)] * 2)
    return x, y, np.column_stack([x.ravel(), y.ravel()])


# ---- the numbers --------------------------------------------------------------------------------


def show(runs: list[Run]) -> None:
    """Counts over all draws."""
    print(f"{len(runs)} draws")
    print("clusters", _counts(found.model.n_clusters_ for found in runs))
    print(f"clusters of {_MIN_CLUSTER_SIZE} rows or more", _counts(found.n_large for found in runs))
    print("iterations", _counts(found.model.n_iter_ for found in runs))
    _show_spread("typicality of the cut", [found.model.alpha_ for found in runs])
    _show_spread("adjusted Rand index", [found.ari for found in runs])
    inside = [(found.model.labels_ >= 0)[found.y >= 0].mean() for found in runs]
    _show_spread("share of the rows of the shapes in clusters", inside)
    noise = [(found.model.labels_ >= 0)[found.y < 0].mean() for found in runs]
    _show_spread("share of the outliers in clusters", noise)


def _counts(values: Iterable[int]) -> str:
    return ", ".join(f"{value} in {count}" for value, count in sorted(Counter(values).items()))


def _show_spread(name: str, values: list[float]) -> None:
    print(f"{name}: mean {np.mean(values):.4f}, {np.min(values):.4f} to {np.max(values):.4f}")


def main() -> None:
    runs = [run(seed) for seed in range(_N_DRAWS)]
    show(runs)
    draw(0, _RESULTS / "filippone2010_figure_1.png")


if __name__ == "__main__":
    main()
