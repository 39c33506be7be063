"""The data that all contestants get: blobs that overlap, and a start."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_CLUSTERS", "N_FEATURES", "Problem"]

N_CLUSTERS = 10
N_FEATURES = 8

_SEPARATION = 1.5  # of the blobs, in standard deviations: k-means does not converge for long
_JITTER = 0.01  # keeps the start off the rows, where some formulas divide by zero


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of unit noise about blob centres, and prototypes to start from."""

    X: NDArray[np.float64]
    start: NDArray[np.float64]

    @classmethod
    def draw(cls, n_samples: int, seed: int = 0) -> Self:
        """A problem of so many rows, the same in each run."""
        rng = np.random.default_rng(seed)
        blobs = _SEPARATION * rng.standard_normal((N_CLUSTERS, N_FEATURES))
        X = rng.standard_normal((n_samples, N_FEATURES)) + blobs[rng.integers(N_CLUSTERS, size=n_samples)]
        rows = rng.choice(n_samples, N_CLUSTERS, replace=False)
        return cls(X, X[rows] + _JITTER * rng.standard_normal((N_CLUSTERS, N_FEATURES)))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        return cls(np.load(folder / "X.npy"), np.load(folder / "start.npy"))

    def save(self, folder: Path) -> None:
        """Write the arrays for another process."""
        np.save(folder / "X.npy", self.X)
        np.save(folder / "start.npy", self.start)

    def head(self, n_samples: int) -> Self:
        """The first rows with the same start."""
        return type(self)(self.X[:n_samples].copy(), self.start)

    @property
    def scale(self) -> float:
        """The root mean square distance of the rows to their mean."""
        return float(np.sqrt(self.X.var(axis=0).sum()))
