"""The data that all contestants get: blobs that overlap, and a start."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_CLUSTERS", "N_FEATURES", "WITHIN", "Problem"]

N_CLUSTERS = 10
N_FEATURES = 8

# Two wide features keep fuzzy prototypes from falling together; blobs that overlap keep k-means
# from converging for long.
_STRETCH = np.array([4.0, 3.0] + [1.0] * (N_FEATURES - 2))
WITHIN = float(_STRETCH @ _STRETCH)  # the mean squared distance of a row to the centre of its blob
_JITTER = 0.01  # keeps the start off the rows, where some formulas divide by zero


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows scattered about blob centres, and prototypes to start from."""

    X: NDArray[np.float64]
    start: NDArray[np.float64]

    @classmethod
    def draw(cls, n_samples: int, seed: int = 0) -> Self:
        """A problem of so many rows, the same in each run."""
        rng = np.random.default_rng(seed)
        blobs = rng.standard_normal((N_CLUSTERS, N_FEATURES))
        noise = rng.standard_normal((n_samples, N_FEATURES))
        X = _STRETCH * (noise + blobs[rng.integers(N_CLUSTERS, size=n_samples)])
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
