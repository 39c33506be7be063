"""How nearly one-cluster PCM and the kernel density estimate rank rows alike."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from typicality import OneClusterPCM
from typicality.datasets import make_dense_regions

__all__ = ["GAMMAS", "WIDTHS", "rank_correlations"]

GAMMAS = (1.0, 0.5, 0.1)
WIDTHS: tuple[float | str, ...] = (0.5, "auto")


def rank_correlations(sigma: float | str, n_draws: int) -> NDArray[np.float64]:
    """Spearman's coefficient for each draw and each gamma, on the data of filippone2007, Fig. 1."""
    return np.array([_of_draw(sigma, seed) for seed in range(n_draws)])


def _of_draw(sigma: float | str, seed: int) -> list[float]:
    X, _ = make_dense_regions(random_state=seed)
    density = OneClusterPCM(sigma=sigma, weights="uniform").fit(X).score_samples(X)
    return [
        float(
            spearmanr(density, OneClusterPCM(sigma=sigma, gamma=gamma).fit(X).score_samples(X))[0]
        )
        for gamma in GAMMAS
    ]
