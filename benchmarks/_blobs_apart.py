"""Blobs in known number, whose centres are some standard deviations apart."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs

__all__ = ["KINDS", "Kind", "draw_blobs"]

_N_FEATURES = (2, 3, 5, 10)
_N_ROWS = 100  # for each blob
_PATIENCE, _MORE_ROOM = 1000, 1.05


class Kind(NamedTuple):
    """Blobs of one kind: how near centres may be, how much room there is, how widths differ."""

    name: str
    gap: float
    room: float = 2.0
    widths: tuple[float, float] = (1.0, 1.0)


KINDS = (
    Kind("apart", 6.0),
    Kind("near", 4.0, room=0.7),
    Kind("touching", 3.0, room=0.7),
    Kind("overlapping", 2.0, room=0.7),
    Kind("of unlike widths", 6.0, widths=(0.3, 1.5)),
)


def draw_blobs(kind: Kind, n_blobs: int, seed: int) -> NDArray[np.float64]:
    """Normal blobs; seeds go through 2, 3, 5 and 10 features, and equal and unequal sizes.

    Unequal ones have 25 to 200 rows. The least distance of two centres is `kind.gap`, the standard
    deviation of a blob being 1 unless widths differ. Where there is little room, most centres
    have neighbours at about that distance.
    """
    rng = np.random.default_rng([n_blobs, seed])
    n_features = _N_FEATURES[seed % len(_N_FEATURES)]
    unequal = (seed + seed // len(_N_FEATURES)) % 2 == 1
    sizes = rng.integers(_N_ROWS // 4, 2 * _N_ROWS, n_blobs) if unequal else [_N_ROWS] * n_blobs
    rows: NDArray[np.float64] = make_blobs(
        [int(size) for size in sizes],
        centers=_centres(n_blobs, n_features, kind, rng),
        cluster_std=rng.uniform(*kind.widths, n_blobs),
        random_state=seed,
    )[0]
    return rows


def _centres(
    n_centres: int, n_features: int, kind: Kind, rng: np.random.Generator
) -> NDArray[np.float64]:
    side = kind.room * kind.gap * n_centres ** (1 / n_features)
    for attempt in range(1, 1_000_000):
        centres: NDArray[np.float64] = rng.uniform(0.0, side, (n_centres, n_features))
        if pdist(centres).min() >= kind.gap:
            return centres
        if attempt % _PATIENCE == 0:
            side *= _MORE_ROOM
    raise RuntimeError(f"No room for {n_centres} centres in {n_features} dimensions.")
