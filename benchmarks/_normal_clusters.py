"""Clusters in known numbers: S2-like, blobs, correlated columns, noise, and single clusters."""

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
_TABLE_FEATURES, _GROUPS, _GROUP_ROWS = (3, 7), (2, 5), (60, 249)
_TABLE_GAPS, _OWN_SHAPE, _MIXING, _UNITS = (4.0, 6.0), 0.3, 0.6, (-2.0, 2.0)
_NOISE_SHARE = 0.2
_NULL_ROWS, _NULL_FEATURES = (100, 5000), (1, 8)


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


def _table(seed: int, *, heavy: bool = False) -> Labelled:
    """Two to five groups in three to seven correlated columns, each in a unit of its own.

    Heavy tails are those of the t distribution of five degrees of freedom.
    """
    rng = np.random.default_rng([seed, heavy])
    n_features, n_groups = (
        int(rng.integers(*ends, endpoint=True)) for ends in (_TABLE_FEATURES, _GROUPS)
    )
    y = np.repeat(np.arange(n_groups), rng.integers(*_GROUP_ROWS, n_groups, endpoint=True))
    mixing = np.eye(n_features) + _MIXING * rng.standard_normal((n_features, n_features))
    gaps = np.full((n_groups, n_groups), rng.uniform(*_TABLE_GAPS))
    centers = _centers(n_features, gaps, rng)
    rows = rng.standard_normal((len(y), n_features))
    if heavy:
        rows /= np.sqrt(rng.chisquare(5, size=(len(y), 1)) / 5)
    own = _OWN_SHAPE * rng.standard_normal((n_groups, n_features, n_features))
    rows += np.einsum("hij,hj->hi", own[y], rows)
    return (centers[y] + rows) @ mixing.T * np.exp(rng.uniform(*_UNITS, n_features)), y


def _with_noise(draw: Callable[[int], Labelled]) -> Callable[[int], Labelled]:
    """A fifth as many rows more, uniform over the range of each feature, with label -1."""

    def noisy(seed: int) -> Labelled:
        X, y = draw(seed)
        n_noise = int(_NOISE_SHARE * len(X))
        rng = np.random.default_rng([seed, n_noise])
        noise = rng.uniform(X.min(axis=0), X.max(axis=0), size=(n_noise, X.shape[1]))
        return np.vstack([X, noise]), np.append(y, np.full(n_noise, -1))

    return noisy


def _null(seed: int, *, uniform: bool) -> Labelled:
    """A single cluster of 100 to 5000 rows in one to eight dimensions."""
    rng = np.random.default_rng([seed, uniform])
    n_rows = int(np.exp(rng.uniform(*np.log(_NULL_ROWS))))
    shape = n_rows, int(rng.integers(*_NULL_FEATURES, endpoint=True))
    mixing = np.eye(shape[1]) + 0.5 * rng.standard_normal((shape[1], shape[1]))
    X = rng.uniform(size=shape) if uniform else rng.standard_normal(shape) @ mixing
    return X, np.zeros(n_rows, dtype=int)


S2_LIKE = Source("S2-like", lambda seed: make_s2_like(random_state=seed), 10)

SOURCES = [
    S2_LIKE,
    Source("Experiment 1", lambda seed: make_three_gaussians(random_state=seed), 10),
    Source("blobs", _blobs, 20),
    Source("table", _table, 10),
    Source("heavy tails", lambda seed: _table(seed, heavy=True), 10),
    Source("blobs + noise", _with_noise(_blobs), 10),
    Source("table + noise", _with_noise(_table), 10),
    Source("S2 + noise", _with_noise(S2_LIKE.draw), 5),
    Source("one Gaussian", lambda seed: _null(seed, uniform=False), 10),
    Source("one uniform", lambda seed: _null(seed, uniform=True), 10),
]
