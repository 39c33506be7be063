"""Rows of several normal blobs."""

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

__all__ = ["N_BLOBS", "blobs", "named"]

N_BLOBS = 8
_CENTRES_SEED = 0


def blobs(
    n_rows: int, n_features: int, *, n_blobs: int = N_BLOBS, seed: int = 0
) -> NDArray[np.float64]:
    """Standard normal blobs, their centres drawn from a cube of side 20; a seed draws rows anew."""
    side = np.random.default_rng(_CENTRES_SEED)
    centres = side.uniform(-10.0, 10.0, (n_blobs, n_features))
    rows: NDArray[np.float64] = make_blobs(n_rows, centers=centres, random_state=seed)[0]
    return rows


def named(shape: tuple[int, int]) -> str:
    """A shape as the tables write it."""
    return f"{shape[0]:,} x {shape[1]}"
