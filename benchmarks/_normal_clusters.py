"""Normal clusters in known numbers: after S2, Experiment 1, and blobs in 2 to 10 dimensions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from typicality.datasets import make_s2_like, make_three_gaussians

__all__ = ["S2_LIKE", "SOURCES", "Source"]

Doubles = NDArray[np.float64]
Labelled = tuple[Doubles, NDArray[np.int_]]

_N_FEATURES, _N_BLOBS, _N_ROWS = (2, 10), (3, 12), (50, 300)  # the last for each blob
_SPREADS, _GAPS = (0.6, 1.5), (2.2, 3.5)
_PATIENCE, _MORE_ROOM = 1000, 1.05


@dataclass(frozen=True)
class Source:
    """Draws of one kind, and how many of them are taken."""

    name: str
    draw: Callable[[int], Labelled]
    n_draws: int


def _blobs(seed: int) -> Labelled:
    """Three to twelve round blobs of unequal size and spread, in two to ten dimensions.

    Centres of two blobs are 2.2 to 3.5 times the sum of their standard deviations apart, or more;
    how many times is drawn for each seed.
    """
    rng = np.random.default_rng(seed)
    n_features, n_blobs = (rng.integers(*ends, endpoint=True) for ends in (_N_FEATURES, _N_BLOBS))
    spreads = rng.uniform(*_SPREADS, n_blobs)
    sizes = rng.integers(*_N_ROWS, n_blobs, endpoint=True)
    centers = _centers(n_features, rng.uniform(*_GAPS) * (spreads[:, None] + spreads), rng)
    y = np.repeat(np.arange(n_blobs), sizes)
    return centers[y] + spreads[y, None] * rng.standard_normal((len(y), n_features)), y


def _centers(n_features: int, gaps: Doubles, rng: np.random.Generator) -> Doubles:
    """Centres in a cube with little room to spare, each two at least their gap apart."""
    n_centers = len(gaps)
    side = 1.5 * gaps.mean() * n_centers ** (1 / n_features) * np.sqrt(2 / n_features)
    for attempt in range(1, 1_000_000):
        centers: Doubles = rng.uniform(0.0, side, size=(n_centers, n_features))
        if np.all(pdist(centers) >= gaps[np.triu_indices(n_centers, 1)]):
            return centers
        if attempt % _PATIENCE == 0:
            side *= _MORE_ROOM
    raise RuntimeError(f"No room for {n_centers} centres in {n_features} dimensions.")


S2_LIKE = Source("S2-like", lambda seed: make_s2_like(random_state=seed), 10)

SOURCES = [
    S2_LIKE,
    Source("Experiment 1", lambda seed: make_three_gaussians(random_state=seed), 10),
    Source("blobs", _blobs, 20),
]
