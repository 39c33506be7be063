"""Figure 4: stability of 1-PCM less that of KDE, over the multiplier of the spread."""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from filippone2010.boxes import draw_boxes
from filippone2010.detectors import kde, pcm, svm_gamma
from filippone2010.figure_2 import SEED
from regenerating import Setting, markdown_table
from typicality.datasets import make_gaussian_and_outliers
from typicality.exceptions import ClusteringWarning
from typicality.stability import OutlierStability, outlier_stability

SIGMA = 1.0
GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RATES = (0.01, 0.1)

_SPLITS = 2
_PLAIN_ITERATIONS = 30

Doubles = NDArray[np.float64]


class Gammas(NamedTuple):
    """Stabilities over the same splits, and how concentrated the weights are."""

    kde: OutlierStability
    of_gamma: dict[float, OutlierStability]
    largest_weight: dict[float, float]  # of a fit on all rows
    vanishing: list[float]  # the gammas at which Table I, coded plainly, ends in 0 / 0

    def differences(self, rate: float) -> Doubles:
        """Of the scores, of shape (n_repeats, n_gammas)."""
        column = RATES.index(rate)
        ours = [found.scores[:, column] for found in self.of_gamma.values()]
        return np.column_stack(ours) - self.kde.scores[:, [column]]

    def mean_difference(self, rate: float) -> dict[float, float]:
        """The mean of the differences, by gamma."""
        means = self.differences(rate).mean(axis=0).tolist()
        return dict(zip(self.of_gamma, means, strict=True))


def measure(setting: Setting) -> Gammas:
    """Split and fit, with every multiplier."""
    X, _ = make_gaussian_and_outliers(random_state=SEED)
    common = {
        "rates": RATES,
        "n_repeats": setting.pick(1000, 12),
        "random_state": _SPLITS,
        "n_jobs": setting.n_jobs,
    }
    gammas = setting.pick(GAMMAS, (0.01, 0.1, 1.0, 10.0))
    with warnings.catch_warnings():  # of a row that has all the weight: that is the point
        warnings.simplefilter("ignore", ClusteringWarning)
        return Gammas(
            outlier_stability(kde(SIGMA), X, **common),
            {g: outlier_stability(pcm(SIGMA, g), X, **common) for g in gammas},
            {g: float(pcm(SIGMA, g).fit(X).weights_.max()) for g in gammas},
            [g for g in GAMMAS if _vanishes(X, g)],
        )


def _vanishes(X: Doubles, gamma: float) -> bool:
    """Whether the squared sum of the memberships, the divisor in eq. (26), underflows to zero."""
    K, u, eta = rbf_kernel(X, gamma=svm_gamma(SIGMA)), np.full(len(X), 1.0 / len(X)), 0.0
    for _ in range(_PLAIN_ITERATIONS):
        total = u.sum()
        if total**2 == 0:
            return True
        sqdist = 1.0 - 2.0 * K @ u / total + u @ K @ u / total**2
        eta = eta or gamma * float(sqdist.mean())
        u = np.exp(-sqdist / eta)
    return False


def picture(found: Gammas, setting: Setting) -> Path:
    """Boxes of the differences, a panel for each rate."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
    names = [f"{gamma:g}" for gamma in found.of_gamma]
    for place, rate in zip(axes, RATES, strict=True):
        draw_boxes(place, {"": found.differences(rate)}, names)
        place.axhline(0.0, color="grey", linewidth=0.8)
        place.set(title=f"{rate:.0%} rejected", xlabel="$\\gamma$")
        place.set(ylabel="stability of 1-PCM less that of KDE")
    return setting.save(figure, "figure_4")


def table(found: Gammas) -> str:
    """Mean differences, and the largest weight of a row."""
    header = ("gamma", *(f"{gamma:g}" for gamma in found.of_gamma))
    rows = [
        (f"{rate:.0%} rejected", *(f"{v:+.3f}" for v in found.mean_difference(rate).values()))
        for rate in RATES
    ]
    weights = ("largest weight of a row", *(f"{w:.3f}" for w in found.largest_weight.values()))
    return markdown_table(header, [*rows, weights])
