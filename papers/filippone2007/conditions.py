"""What the three clusters of Fig. 1 depend on: the noise, and the width of the kernel."""

import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.neighbors import NearestNeighbors

from filippone2007.figure_1 import LEAST, N_CLUSTERS, SIGMA, TOL, Draw, fit_draw
from regenerating import Setting
from regenerating.one_cluster import PaperOneCluster, RenewedEta
from typicality.datasets import SIDE
from typicality.exceptions import ClusteringWarning

NOISE = (0, 50, 250, 500, 1000, 2000, 4000)
SIGMAS = (0.2, 0.25, 0.3, 0.5, 0.8, 1.0)
WIDE = (2.0, 5.0, 20.0)  # where the width is that of the data

_FAST_NOISE = (0, 250, 1000)
_FAST_SIGMAS = (0.2, 0.5, 1.0)
_N_DENSE = 500


class Condition(NamedTuple):
    """Several draws under one condition."""

    value: float
    n_clusters: list[int]
    dense_inside: float
    weight_of_noise: float
    most_iterations: int

    @property
    def share_right(self) -> float:
        """The share of draws with three clusters."""
        return self.n_clusters.count(N_CLUSTERS) / len(self.n_clusters)

    @property
    def counts(self) -> str:
        """In how many draws each number of clusters came out."""
        counts = sorted(Counter(self.n_clusters).items())
        return ", ".join(f"{value}: {count}" for value, count in counts)

    @property
    def right(self) -> str:
        """In how many draws there are three, in words."""
        return f"in {self.n_clusters.count(N_CLUSTERS)} of {len(self.n_clusters)} draws"


class Conditions(NamedTuple):
    """All of them, and the distances between rows."""

    noise: list[Condition]
    sigma: list[Condition]
    iterations_when_wide: dict[float, int]
    eta_each_step: dict[float, float]  # over the eta that is kept, for wide kernels
    mean_distance: float
    spacing: float  # the root of the area of a row
    nearest_distance: float
    tenth_distance: float

    def at_noise(self, n_noise: int) -> Condition:
        """The condition with so many rows of noise."""
        return next(found for found in self.noise if found.value == n_noise)


def measure(setting: Setting) -> Conditions:
    """Draws with more and less noise, and with wider and narrower kernels."""
    seeds = setting.pick(range(10), range(1, 3))
    noise, sigmas = setting.pick(NOISE, _FAST_NOISE), setting.pick(SIGMAS, _FAST_SIGMAS)
    with warnings.catch_warnings():  # of valleys that there are not, and of eta that vanishes
        warnings.simplefilter("ignore", ClusteringWarning)
        of_noise = [_condition(n, _draws(seeds, n_noise=n)) for n in noise]
        of_sigma = [_condition(s, _draws(seeds, sigma=s)) for s in sigmas]
        X = fit_draw(0).X
        fixed = {s: PaperOneCluster(sigma=s, tol=TOL).fit(X) for s in WIDE}
        renewed = {s: RenewedEta(sigma=s, tol=TOL).fit(X) for s in (WIDE[0], WIDE[-1])}
    near, _ = NearestNeighbors(n_neighbors=10).fit(X).kneighbors()
    return Conditions(
        of_noise,
        of_sigma,
        iterations_when_wide={s: model.n_iter_ for s, model in fixed.items()},
        eta_each_step={s: renewed[s].eta_ / fixed[s].eta_ for s in renewed},
        mean_distance=float(pdist(X).mean()),
        spacing=SIDE / float(np.sqrt(len(X))),
        nearest_distance=float(near[:, 0].mean()),
        tenth_distance=float(near[:, -1].mean()),
    )


def _draws(seeds: range, *, sigma: float = SIGMA, n_noise: int = 1000) -> list[Draw]:
    return [fit_draw(seed, sigma=sigma, n_noise=n_noise, min_cluster_size=LEAST) for seed in seeds]


def _condition(value: float, draws: list[Draw]) -> Condition:
    return Condition(
        value=value,
        n_clusters=[found.model.n_clusters_ for found in draws],
        dense_inside=float(np.mean([found.dense_inside for found in draws])),
        weight_of_noise=float(np.mean([found.weight_of_noise for found in draws])),
        most_iterations=max(found.model.n_iter_ for found in draws),
    )


def share_of_noise(n_noise: float) -> float:
    """The share of all rows that are noise."""
    return n_noise / (n_noise + _N_DENSE)
