"""Random problems for sums with a promise, and the sums as NumPy computes them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from typicality.kernels import Cauchy, Gaussian, Laplacian

__all__ = ["Case"]

_ROWS = (40, 1_500)
_MOST_FEATURES = 16
_MOST_FEATURES_OF_FOURIER = 3
_SIGMA = (0.03, 3.0)  # of the median distance of two rows
_RTOL = (1e-12, 1e-2)
_FAR_OFF = 1e4  # how far from zero rows may lie, in units of their spread
_N_POINTS = 150  # of each kind
_APART = 1e-4  # of the median distance: scores leave out a row that a point coincides with
_COPIES = 0.5  # the mesh on which rows coincide

Doubles = NDArray[np.float64]
Rng = np.random.Generator

_KERNELS: list[Any] = [Gaussian, Laplacian, Cauchy]

_ROW_KINDS: dict[str, Callable[[Rng, tuple[int, int]], Doubles]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-2.0, 2.0, shape),
    "blobs": lambda rng, shape: (
        rng.standard_normal(shape) + 8.0 * rng.integers(0, 3, (shape[0], 1))
    ),
    "heavy tails": lambda rng, shape: rng.standard_t(1.5, shape),
    "copies": lambda rng, shape: _COPIES * np.round(rng.standard_normal(shape) / _COPIES),
    "a line": lambda rng, shape: rng.standard_normal((shape[0], 1)) * np.arange(1.0, shape[1] + 1),
    "far off": lambda rng, shape: rng.standard_normal(shape) + _FAR_OFF,
    "two scales": lambda rng, shape: (
        rng.standard_normal(shape) * np.where(np.arange(shape[0]) % 2, 1.0, 1e-3)[:, None]
    ),
}

_WEIGHT_KINDS: dict[str, Callable[[Rng, tuple[int, int]], Doubles]] = {
    "equal": lambda rng, shape: np.full(shape, 1 / shape[0]),
    "positive": lambda rng, shape: rng.uniform(0.0, 1.0, shape),
    "of both signs": lambda rng, shape: rng.standard_normal(shape),
    "very unequal": lambda rng, shape: np.exp(4.0 * rng.standard_normal(shape)),
}


@dataclass(frozen=True, eq=False)
class Case:
    """Rows, weights, a kernel, a promise, and points at which sums are asked for besides."""

    seed: int
    kind: str
    X: NDArray[np.floating]
    weights: Doubles
    kernel: Any
    rtol: float
    points: Doubles

    @classmethod
    def draw(cls, seed: int, *, fourier: bool = False) -> Self:
        """Of any kernel, or one that has a Fourier series in few dimensions."""
        rng = np.random.default_rng(seed)
        kind = str(rng.choice(list(_ROW_KINDS)))
        d = int(rng.integers(1, (_MOST_FEATURES_OF_FOURIER if fourier else _MOST_FEATURES) + 1))
        shape = (int(_log_uniform(rng, *_ROWS)), d)
        X = _ROW_KINDS[kind](rng, shape).astype(rng.choice([np.float64, np.float32], p=[0.8, 0.2]))
        weights = _WEIGHT_KINDS[str(rng.choice(list(_WEIGHT_KINDS)))]
        kernel = Gaussian if fourier else _KERNELS[rng.choice(3, p=[0.6, 0.2, 0.2])]
        scale = float(np.median(cdist(X[:100], X[-100:]))) or 1.0
        sigma = scale * _log_uniform(rng, *_SIGMA)
        new = _ROW_KINDS[kind](rng, (_N_POINTS, d))
        far = X[:_N_POINTS] + 10 * scale * rng.standard_normal((min(_N_POINTS, len(X)), d))
        return cls(
            seed,
            f"{kind}, {shape[0]} x {d}, {X.dtype}",
            X,
            weights(rng, (shape[0], int(rng.integers(1, 4)))),
            kernel(sigma),
            float(_log_uniform(rng, *_RTOL)),
            np.vstack([new, X[:_N_POINTS], far]).astype(np.float64),
        )

    @property
    def name(self) -> str:
        """All that tells what it is."""
        return f"seed {self.seed}: {self.kind}, {self.kernel}, rtol {self.rtol:.1e}"

    @cached_property
    def at_rows(self) -> Doubles:
        """`K(X, X) @ W`."""
        return self.exact(self.X.astype(np.float64), self.weights)

    @cached_property
    def at_points(self) -> Doubles:
        """`K(points, X) @ W`."""
        return self.exact(self.points, self.weights)

    @cached_property
    def new_points(self) -> NDArray[np.floating]:
        """Points in the precision of the rows that do not coincide with any of them."""
        points = self.points.astype(self.X.dtype)
        distances = cdist(points, self.X)
        return points[distances.min(axis=1) > _APART * np.median(distances)]

    def exact(self, points: Doubles, weights: Doubles) -> Doubles:
        """`K(points, X) @ weights`, in double precision."""
        sums: Doubles = _kernel(self.kernel, points, self.X.astype(np.float64)) @ weights
        return sums


def _kernel(kernel: Any, points: Doubles, X: Doubles) -> Doubles:
    if isinstance(kernel, Laplacian):
        return np.exp(-cdist(points, X, "cityblock") / kernel.sigma)
    sqdist = cdist(points, X, "sqeuclidean") / kernel.sigma**2
    return np.exp(-sqdist / 2) if isinstance(kernel, Gaussian) else 1 / (1 + sqdist)


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
