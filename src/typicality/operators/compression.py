"""Sums over many training rows, made small for prediction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.operators import nufft
from typicality.operators.base import Expansion, Floats
from typicality.operators.columns import Evaluated
from typicality.operators.nufft import Nufft
from typicality.operators.reduced_set import reduced_set
from typicality.operators.tiles import Tiles

__all__ = ["ReducedSums", "compressed"]


@dataclass(frozen=True, eq=False)
class ReducedSums:
    """Sums over a few rows that stand for those over many.

    Parameters
    ----------
    few : Expansion
        Exact sums over the few rows, with their own weights.
    total : array of shape (c,)
        The sums of the weights of the many.
    rtol : float
        How far the sums are apart at the most, relative to the absolute weights of the many.
    """

    few: Expansion
    total: NDArray[np.float64]
    rtol: float
    relative = 1e-12

    def at(self, points: Floats) -> Floats:
        return self.few.at(points)

    def complement_at(self, points: Floats) -> Floats:
        return self.total - self.few.at(points)

    @property
    def n_bytes(self) -> int:
        return self.few.n_bytes


def compressed(columns: Evaluated, weights: Floats, *, rtol: float) -> Expansion:
    """Sums with a promise that need no training rows, or only a few.

    Gaussian sums in up to three dimensions become Fourier coefficients where these are fewer
    numbers than the rows; all others a reduced set of rows.

    Parameters
    ----------
    columns : Evaluated
        A kernel of a distance against the training rows.
    weights : array of shape (n, c)
        The weights.
    rtol : float
        The promise.
    """
    if nufft.refusal(columns.kernel_object, columns.training, rtol) is None:
        small = Nufft(columns, rtol=rtol).expansion(weights)
        if small.n_bytes < columns.training.nbytes:
            return small
    few = reduced_set(columns, weights, rtol=rtol)
    against = Evaluated(columns.kernel_object, few.rows)
    exact: Any = Tiles(against, rtol=0.0, skip=False, single=False)
    return ReducedSums(exact.expansion(few.weights), weights.sum(axis=0), few.rtol)
