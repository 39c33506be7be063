"""The surface whose level sets are the clusters."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.nearest import NearestRows
from typicality.operators import Blocked, Evaluated
from typicality.operators.tiles import TileExpansion, Tiles, has_compiled_sums

__all__ = ["Landscape"]

Doubles = NDArray[np.float64]
Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Landscape:
    r"""Heights above the input space, and the typicality that belongs to each height.

    .. math:: s(x) = \sum_r w_r K(x, x_r), \qquad
        u(s) = e^{-(2 (1 - s) - w^\top E w) / \eta}

    For kernels of a distance the typicality of a point is an increasing function of its height: cut
    one or the other, the rows above are the same.

    Implements :cite:`filippone2010`, eq. (26)-(28), for kernels with K(x, x) = 1.

    Parameters
    ----------
    columns : Evaluated
        A kernel of a distance against the training rows.
    weights : array of shape (n,), float64
        The weights of the training rows; they sum to one.
    energy : float
        :math:`w^\top E w`.
    eta : float
        The spread.
    rtol : float
        How far a height may be off.
    """

    columns: Evaluated
    weights: Doubles
    energy: float
    eta: float
    rtol: float

    @cached_property
    def _near(self) -> TileExpansion:
        tiles = Tiles(self.columns, rtol=self.rtol, skip=True, single=False)
        return tiles.expansion(self.weights[:, None])

    @cached_property
    def nearest(self) -> NearestRows:
        """A search for the nearest training rows, by the norm of the kernel."""
        return NearestRows(self.rows, 1 if self.kernel.metric == "cityblock" else 2)

    @property
    def rows(self) -> Floats:
        """The training rows."""
        return self.columns.training

    @property
    def kernel(self) -> Any:
        """The kernel."""
        return self.columns.kernel_object

    def heights(self, points: Floats) -> Doubles:
        """Heights of points; each gets the same number in any batch.

        Costs the rows within the support of the kernel a point, where compiled sums know it; else a
        sum over all rows.
        """
        if has_compiled_sums(self.columns):
            sums: Floats = self._near.at(points)
        else:
            sums = Blocked(self.columns, points) @ self.weights[:, None]
        return np.asarray(sums[:, 0], dtype=np.float64)

    def typicality(self, heights: Doubles) -> Doubles:
        """The typicality at given heights."""
        sqdist = (2.0 * (1.0 - heights) - self.energy).clip(min=0.0)
        return np.asarray(np.exp(-sqdist / self.eta))
