"""Figure 1: typicalities at three resolutions, and six clusters of any shape."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from filippone2010.detectors import TOL
from regenerating import Setting
from regenerating.one_cluster import PaperAlphaCut
from typicality import AlphaCutClustering
from typicality.datasets import SIDE, make_discs_banana_ring
from typicality.plot import MembershipContourDisplay

SIGMA = 0.5  # of the clusters
SHOWN = (1.0, 2.0, 0.5)  # in the order of the paper
N_CLUSTERS = 6

_REJECTION_RATE = 0.1
_LARGE = 20  # rows of a cluster that is not a chance group of noise
_N_LEVELS = 60
_PIXELS = 200
_N_CONTOURS = 12

Doubles = NDArray[np.float64]


class Draw(NamedTuple):
    """A draw of the data, and the model."""

    X: Doubles
    y: NDArray[np.int_]
    model: AlphaCutClustering

    @property
    def ari(self) -> float:
        """The adjusted Rand index; outliers are a class of their own, and rejected rows too."""
        return float(adjusted_rand_score(self.y, self.model.labels_))

    @property
    def shapes_inside(self) -> float:
        """The share of the rows of the shapes that are in clusters."""
        return float((self.model.labels_ >= 0)[self.y >= 0].mean())

    @property
    def outliers_inside(self) -> float:
        """The share of the outliers that are in clusters."""
        return float((self.model.labels_ >= 0)[self.y < 0].mean())

    @property
    def most_clusters(self) -> int:
        """The most clusters of 20 rows or more that any level has."""
        u = self.model.typicality_
        levels = np.linspace(u.min(), u.max(), _N_LEVELS)
        tree = self.model.tree_
        return max(tree.n_clusters_at(level, min_cluster_size=_LARGE) for level in levels)


class Draws(NamedTuple):
    """All draws at the paper's width, and a few at others."""

    all: list[Draw]
    others: dict[float, list[Draw]]

    @property
    def n_right(self) -> int:
        """In how many draws there are six clusters."""
        return _n_right(self.all)

    @property
    def right_widths(self) -> list[float]:
        """The widths at which all draws have six."""
        return [sigma for sigma, draws in self.others.items() if _n_right(draws) == len(draws)]

    @property
    def resolution(self) -> dict[float, int]:
        """The most clusters at any level of the first draw, for the widths that are shown."""
        return {sigma: self.others[sigma][0].most_clusters for sigma in sorted(SHOWN)}


def _n_right(draws: list[Draw]) -> int:
    return sum(found.model.n_clusters_ == N_CLUSTERS for found in draws)


def fit_draw(seed: int, *, sigma: float = SIGMA) -> Draw:
    """Fit a draw with the paper's settings."""
    X, y = make_discs_banana_ring(random_state=seed)
    model = PaperAlphaCut(sigma=sigma, alpha=0.0, tol=TOL)
    level = np.quantile(model.fit(X).typicality_, _REJECTION_RATE, method="weibull")
    model.set_params(alpha=level)
    return Draw(X, y, model.fit(X))


def measure(setting: Setting) -> Draws:
    """Fit all draws."""
    widths = setting.pick((0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0), (0.4, 0.5, 1.0, 2.0))
    n_others = setting.pick(10, 1)
    return Draws(
        [fit_draw(seed) for seed in range(setting.pick(50, 5))],
        {sigma: [fit_draw(seed, sigma=sigma) for seed in range(n_others)] for sigma in widths},
    )


# ---- the picture --------------------------------------------------------------------------------


def picture(found: Draws, setting: Setting) -> Path:
    """The four panels of the figure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(7.0, 7.4), layout="constrained")
    *contours, clusters = axes.flat
    for place, letter, sigma in zip(contours, "abc", SHOWN, strict=True):
        _draw_contours(found.others[sigma][0], letter, place)
    _draw_clusters(found.all[0], clusters)
    for place in axes.flat:
        place.set(aspect="equal", xlim=(0, SIDE), ylim=(0, SIDE), xticks=[], yticks=[])
        place.set(xlabel="", ylabel="")
        place.title.set_fontsize(10)
    return setting.save(figure, "figure_1")


def _draw_contours(found: Draw, letter: str, axes: Any) -> None:
    x, y = np.meshgrid(*[np.linspace(0, SIDE, _PIXELS)] * 2)
    grid = np.column_stack([x.ravel(), y.ravel()])
    u = found.model.predict_typicality(grid).reshape(x.shape)
    axes.contourf(x, y, u, levels=_N_CONTOURS, cmap="Blues")
    axes.scatter(*found.X.T, s=5, color="black")
    between = f"{u.min():.2f} to {u.max():.2f}"
    axes.set_title(f"({letter}) $\\sigma$ = {found.model.sigma_:g}: typicalities {between}")


def _draw_clusters(found: Draw, axes: Any) -> None:
    model, size = found.model, {"grid_resolution": _PIXELS}
    MembershipContourDisplay.from_estimator(model, found.X, **size, ax=axes)
    rejected = f"{_REJECTION_RATE:.0%} rejected"
    axes.set_title(f"(d) $\\sigma$ = {model.sigma_:g}, {rejected}: {model.n_clusters_} clusters")
