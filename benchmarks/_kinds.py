"""Generated data of many kinds, with the clusters that were put in; -1 where a row belongs nowhere.

Centres of blobs are drawn anew for each seed, so far apart that the clusters can be told apart. The
last kinds are nulls: one cluster is the right answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.datasets import make_circles, make_moons

from typicality.datasets import make_dense_regions, make_discs_banana_ring

__all__ = ["KINDS", "Kind"]

Doubles = NDArray[np.float64]
Labelled = tuple[Doubles, NDArray[np.int_]]

_STRETCH = np.array([[0.6, -0.6], [-0.4, 0.8]])  # 6 to 1


@dataclass(frozen=True)
class Kind:
    """A source of data, and how many clusters are in it."""

    name: str
    draw: Callable[[int], Labelled]
    n_clusters: int

    @property
    def is_null(self) -> bool:
        """Whether there is nothing to tell apart, so that an index of agreement has no meaning."""
        return self.n_clusters == 1


def _labelled(parts: Sequence[Doubles]) -> Labelled:
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _with_noise(clean: Labelled, n_noise: int, rng: np.random.Generator) -> Labelled:
    """Noise uniform over the box of the rows."""
    X, y = clean
    noise = rng.uniform(X.min(axis=0), X.max(axis=0), size=(n_noise, X.shape[1]))
    return np.concatenate([X, noise]), np.append(y, np.full(n_noise, -1))


# ---- blobs --------------------------------------------------------------------------------------


def _blobs(
    sizes: Sequence[int],
    spreads: Sequence[float],
    rng: np.random.Generator,
    *,
    gap: float,
    n_features: int = 2,
) -> Labelled:
    """Normal clusters whose centres are at least `gap` apart."""
    centers = _centers(len(sizes), gap, rng, n_features=n_features)
    return _labelled(
        [
            center + spread * rng.standard_normal((size, n_features))
            for size, spread, center in zip(sizes, spreads, centers, strict=True)
        ]
    )


def _centers(n_centers: int, gap: float, rng: np.random.Generator, *, n_features: int) -> Doubles:
    side = 1.5 * gap * n_centers ** (1 / n_features) * np.sqrt(2 / n_features)  # not much room
    while True:
        centers = rng.uniform(0.0, side, size=(n_centers, n_features))
        if pdist(centers).min() >= gap:
            return centers


def _equal_blobs(seed: int) -> Labelled:
    return _blobs([200] * 5, [1.0] * 5, np.random.default_rng(seed), gap=5.0)


def _blobs_of_unequal_size(seed: int) -> Labelled:
    return _blobs([600, 200, 100, 50, 25], [1.0] * 5, np.random.default_rng(seed), gap=6.0)


def _blobs_of_unequal_density(seed: int) -> Labelled:
    return _blobs([300] * 3, [0.3, 1.0, 2.5], np.random.default_rng(seed), gap=10.0)


def _stretched_blobs(seed: int) -> Labelled:
    X, y = _blobs([250] * 3, [1.0] * 3, np.random.default_rng(seed), gap=6.0)
    return X @ _STRETCH, y


def _noisy_blobs(seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    return _with_noise(_blobs([180] * 5, [1.0] * 5, rng, gap=6.0), 100, rng)


def _blobs_in_10_dimensions(seed: int) -> Labelled:
    return _blobs([200] * 5, [1.0] * 5, np.random.default_rng(seed), gap=8.0, n_features=10)


# ---- curves -------------------------------------------------------------------------------------


def _polar(radius: Doubles, angle: Doubles) -> Doubles:
    X: Doubles = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X


def _moons(seed: int) -> Labelled:
    X, y = make_moons(600, noise=0.08, random_state=seed)
    return X, y


def _circles(seed: int) -> Labelled:
    X, y = make_circles(800, factor=0.5, noise=0.05, random_state=seed)
    return X, y


def _three_rings(seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    return _labelled([_noisy_circle(200 * radius, radius, rng) for radius in (1, 2, 3)])


def _noisy_circle(n_rows: int, radius: float, rng: np.random.Generator) -> Doubles:
    return _polar(rng.normal(radius, 0.12, n_rows), rng.uniform(0.0, 2 * np.pi, n_rows))


def _waves(seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    return _labelled([_wave(300, 1.5 * level, rng) for level in range(3)])


def _wave(n_rows: int, level: float, rng: np.random.Generator) -> Doubles:
    x = rng.uniform(0.0, 10.0, n_rows)
    return np.column_stack([x, rng.normal(np.sin(x) + level, 0.12)])


def _spirals(seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    return _labelled([_spiral(300, arm / 3, rng) for arm in range(3)])


def _spiral(n_rows: int, turn: float, rng: np.random.Generator) -> Doubles:
    """One turn from radius 1 to 4, of about the same density all along."""
    t = np.sqrt(rng.uniform(1.0, 16.0, n_rows))
    X = _polar(t, 2 * np.pi * (t / 3 + turn))
    return X + 0.1 * rng.standard_normal(X.shape)


# ---- nulls --------------------------------------------------------------------------------------


def _square(seed: int) -> Labelled:
    return _labelled([np.random.default_rng(seed).uniform(size=(1000, 2))])


def _gaussian(seed: int) -> Labelled:
    return _labelled([np.random.default_rng(seed).standard_normal((1000, 2))])


def _thick_ring(seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    radius = np.sqrt(rng.uniform(1.5**2, 2.5**2, 1000))  # uniform by area
    return _labelled([_polar(radius, rng.uniform(0.0, 2 * np.pi, 1000))])


KINDS = [
    Kind("blobs", _equal_blobs, 5),
    Kind("unequal sizes", _blobs_of_unequal_size, 5),
    Kind("unequal densities", _blobs_of_unequal_density, 3),
    Kind("stretched blobs", _stretched_blobs, 3),
    Kind("noisy blobs", _noisy_blobs, 5),
    Kind("blobs in 10-D", _blobs_in_10_dimensions, 5),
    Kind("moons", _moons, 2),
    Kind("circles", _circles, 2),
    Kind("three rings", _three_rings, 3),
    Kind("waves", _waves, 3),
    Kind("spirals", _spirals, 3),
    Kind("dense regions", lambda seed: make_dense_regions(random_state=seed), 3),
    Kind("six shapes", lambda seed: make_discs_banana_ring(random_state=seed), 6),
    Kind("null: square", _square, 1),
    Kind("null: Gaussian", _gaussian, 1),
    Kind("null: thick ring", _thick_ring, 1),
]
