"""Figure 1: the histogram of typicalities, its valley, and the clusters above it."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde
from sklearn.metrics import adjusted_rand_score

from regenerating import Setting
from regenerating.one_cluster import PaperAlphaCut
from regenerating.stopping import AlphaCutByObjective
from typicality import AlphaCutClustering
from typicality.datasets import SIDE, make_dense_regions
from typicality.plot import MembershipContourDisplay, MembershipHistogramDisplay

SIGMA = 0.5
ALPHA = 0.3667  # the level in the paper
TOL = 0.01  # of its rule to stop
N_CLUSTERS = 3
LEAST = 20  # smaller clusters are a few rows of noise that happen to be near each other

_GRID = 1000  # points at which the density of typicalities is drawn
_PIXELS = 200
_BINS = 60

Doubles = NDArray[np.float64]


class Draw(NamedTuple):
    """A draw of the data, and the model."""

    X: Doubles
    y: NDArray[np.int_]
    model: AlphaCutClustering

    @property
    def dense_inside(self) -> float:
        """The share of the rows of the dense regions that are in clusters."""
        return float((self.model.labels_ >= 0)[self.y >= 0].mean())

    @property
    def noise_inside(self) -> float:
        """The share of the noise that is in clusters."""
        return float((self.model.labels_ >= 0)[self.y < 0].mean())

    @property
    def weight_of_noise(self) -> float:
        """The share of all weight that the noise has in the mean."""
        return float(self.model.weights_[self.y < 0].sum())

    @property
    def ari(self) -> float:
        """The adjusted Rand index at the valley; noise is a class, rejected rows a cluster."""
        return float(adjusted_rand_score(self.y, self.model.labels_))


class Draws(NamedTuple):
    """All draws of the figure, and what is counted over them."""

    all: list[Draw]
    by_objective: list[Draw]  # stopped by the objective, the other rule of the paper
    iterations_to_the_end: list[int]  # with the library's own, stricter rule to stop
    best_aris: list[float]  # the largest adjusted Rand index of any of the levels
    n_levels: int

    @property
    def valleys(self) -> Doubles:
        """The level of each draw."""
        return np.array([float(found.model.alpha_) for found in self.all])

    @property
    def n_right(self) -> int:
        """In how many draws there are three clusters above the valley."""
        return sum(found.model.n_clusters_ == N_CLUSTERS for found in self.all)

    @property
    def n_right_at_printed_level(self) -> int:
        """In how many there are three of 20 rows or more above the level the paper prints."""
        trees = [found.model.tree_ for found in self.all]
        counts = [tree.n_clusters_at(ALPHA, min_cluster_size=LEAST) for tree in trees]
        return sum(count == N_CLUSTERS for count in counts)

    @property
    def iterations(self) -> list[int]:
        """Of each draw, by the paper's rule."""
        return [found.model.n_iter_ for found in self.all]

    @property
    def in_the_middle(self) -> Draw:
        """The draw whose valley is in the middle."""
        return self.all[int(np.argsort(self.valleys)[len(self.all) // 2])]


def fit_draw(
    seed: int,
    *,
    sigma: float = SIGMA,
    n_noise: int = 1000,
    min_cluster_size: int = 1,
    estimator: type[AlphaCutClustering] = PaperAlphaCut,
) -> Draw:
    """Fit a draw with the paper's settings; alpha is the valley."""
    X, y = make_dense_regions(n_noise=n_noise, random_state=seed)
    model = estimator(sigma=sigma, alpha="valley", min_cluster_size=min_cluster_size, tol=TOL)
    return Draw(X, y, model.fit(X))


def measure(setting: Setting) -> Draws:
    """Fit all draws."""
    seeds = setting.pick(range(20), range(1, 5))
    draws = [fit_draw(seed) for seed in seeds]
    by_objective = [fit_draw(seed, estimator=AlphaCutByObjective) for seed in seeds]
    strict = [AlphaCutClustering(sigma=SIGMA, alpha=ALPHA).fit(found.X).n_iter_ for found in draws]
    n_levels = setting.pick(60, 5)
    best = [_best_ari(found, n_levels) for found in draws]
    return Draws(draws, by_objective, strict, best, n_levels)


def _best_ari(found: Draw, n_levels: int) -> float:
    levels = inner_levels(found.model, n_levels)
    return max(float(adjusted_rand_score(found.y, found.model.labels_at(a))) for a in levels)


def inner_levels(model: AlphaCutClustering, n_levels: int) -> Doubles:
    """Levels at equal steps between the least and the largest typicality."""
    u = model.typicality_
    inner: Doubles = np.linspace(u.min(), u.max(), n_levels + 2)[1:-1]
    return inner


# ---- the picture --------------------------------------------------------------------------------


def picture(found: Draw, setting: Setting) -> Path:
    """Both panels of the figure."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    _draw_histogram(found, left)
    _draw_plane(found, right)
    return setting.save(figure, "figure_1")


def _draw_histogram(found: Draw, axes: Any) -> None:
    u = found.model.typicality_
    shown = MembershipHistogramDisplay.from_estimator(found.model, found.X, bins=_BINS, ax=axes)
    at = np.linspace(u.min(), u.max(), _GRID)
    rows_of_a_bin = len(u) * np.diff(shown.bin_edges_)[0]
    density = rows_of_a_bin * gaussian_kde(u, "silverman")(at)
    axes.plot(at, density, color="black", label="density (Silverman)")
    axes.axvline(ALPHA, color="tab:red", linestyle=":", label=f"paper {ALPHA:.4f}")
    axes.set_title("(a) Typicalities of the rows")
    axes.legend(loc="upper right", frameon=False)


def _draw_plane(found: Draw, axes: Any) -> None:
    size = {"grid_resolution": _PIXELS}
    shown = MembershipContourDisplay.from_estimator(found.model, found.X, **size, ax=axes)
    title = f"(b) Data space, and the contour {found.model.alpha_:.4f}:\n{shown.title}"
    axes.set(aspect="equal", xlim=(0, SIDE), ylim=(0, SIDE), title=title)
