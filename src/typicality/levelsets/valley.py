"""Where a histogram of typicalities has its valley."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality.bandwidth import bandwidth
from typicality.kernels import Gaussian
from typicality.operators import Blocked, KernelColumns

Doubles = NDArray[np.float64]

_GRID = 1000  # points at which the density is looked at


class Valley(NamedTuple):
    """Where the density is lowest between two peaks, and how far it lies below the lower one.

    The depth is relative to the highest density; 0 where there is one peak only.
    """

    place: float
    depth: float


def deepest_valley(values: Doubles, weight: Doubles) -> Valley:
    """The most persistent valley of the density of some values.

    The density is a Gaussian kernel density estimate with Silverman's bandwidth. A valley lies
    below the highest peaks to its left and to its right; the lower of the two is where it would
    overflow.

    Implements :cite:`filippone2007`, section 5: "the value of membership separating the two modes
    of the histogram". Differs from the paper, which reads it off a picture.

    Parameters
    ----------
    values : array of shape (n,)
        Typicalities.
    weight : array of shape (n,)
        How many copies of each there are.
    """
    column = values[:, None]
    width = bandwidth("silverman", column, weight)
    if width == 0:
        return Valley(float(values[0]), 0.0)
    at = np.linspace(values.min(), values.max(), _GRID)
    density = (Blocked(KernelColumns(Gaussian(width), column), at[:, None]) @ weight[:, None])[:, 0]
    left = np.maximum.accumulate(density)
    right = np.maximum.accumulate(density[::-1])[::-1]
    depths = np.minimum(left, right) - density
    lowest = int(depths.argmax())
    return Valley(float(at[lowest]), float(depths[lowest] / density.max()))
