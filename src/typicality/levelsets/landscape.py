"""The surface whose level sets are the clusters."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.kernel_prototypes import KernelPrototypes
from typicality.geometry.nearest import NearestRows
from typicality.operators import Expansion, KernelColumns, Tolerance, Truncated, has_compiled_sums

Doubles = NDArray[np.float64]
Floats = NDArray[np.floating]


class Joined(NamedTuple):
    """The training row each new row would join, the lowest height on the way, and its own."""

    node: NDArray[np.intp]
    entry: Doubles
    height: Doubles


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
    columns : KernelColumns
        A kernel of a distance against the training rows.
    weights : array of shape (n,), float64
        The weights of the training rows; they sum to one.
    energy : float
        :math:`w^\top E w`.
    eta : float
        The spread.
    sums : Expansion
        The heights of any points, with the promise of an operator.
    """

    columns: KernelColumns
    weights: Doubles
    energy: float
    eta: float
    sums: Expansion

    @classmethod
    def of(cls, mean: KernelPrototypes, tolerance: Tolerance, *, eta: float) -> Self:
        """The landscape of the mean of training rows, in heights known as a tolerance says.

        Where the iterations went over all pairs, points that are no rows have sums over near rows.
        """
        operator: Any = mean.operator
        if operator.over_all_pairs and has_compiled_sums(operator.columns):
            operator = Truncated(operator.columns, rtol=tolerance.absolute, single=False)
        sums = operator.expansion(mean.weights)
        weights, energy = mean.weights[:, 0], float(mean.energy[0])
        return cls(operator.columns, weights, energy, eta, sums)

    @property
    def rtol(self) -> float:
        """How far a height may be off."""
        return self.sums.rtol

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
        return self.columns.kernel_function

    def heights(self, points: Floats) -> Doubles:
        """Heights of points; each gets the same number in any batch."""
        return np.asarray(self.sums.at(points)[:, 0], dtype=np.float64)

    def typicality(self, heights: Doubles) -> Doubles:
        """The typicality at given heights."""
        return typicality_at(heights, self.energy, self.eta)


def typicality_at(heights: Doubles, energy: float, eta: float) -> Doubles:
    r"""The typicality :math:`u(s) = e^{-(2 (1 - s) - w^\top E w) / \eta}` at given heights."""
    sqdist = (2.0 * (1.0 - heights) - energy).clip(min=0.0)
    return np.asarray(np.exp(-sqdist / eta))
