"""Sums at points that have next to no row near, on a torch device: exact, however small."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats
from typicality.kernels import Cauchy, Laplacian
from typicality.operators.columns import KernelColumns
from typicality.operators.torch_blocked import on_device, over_blocks

if TYPE_CHECKING:
    from torch import Tensor

_ROUNDING = 1e-15
_LONG = 64  # rows with nearly the same projection: then equal rows are put together first


class _Sorted(NamedTuple):
    """Training rows in the order of a projection, with their weights and copies, shape (n, 2)."""

    along: "Tensor"
    rows: "Tensor"
    weights: "Tensor"


@dataclass(frozen=True, eq=False)
class TorchTails:
    """The same as :class:`~typicality.operators.tails.ExactTails`, without a tree.

    Rows that coincide have nearly the same projection on any direction: each point is compared with
    the rows whose projection is within reach. Costs a sort of n numbers, and O(d) for each such
    row; sums cost O(n d) a point.

    Parameters
    ----------
    columns : KernelColumns
        A Gaussian, Laplacian or Cauchy kernel against the training rows.
    weights, sample_weight, nearest
        As there.
    device : str
        The device of torch.
    """

    columns: KernelColumns
    weights: Floats
    sample_weight: Floats
    nearest: float
    device: str

    def log_sums(self, points: Floats) -> tuple[Doubles, Doubles, Doubles]:
        """The logarithm of the sum over the rows elsewhere; weight and copies of those here."""
        import torch

        log_weights = on_device(self.weights, self.device).log()
        nothing = torch.tensor(-np.inf, dtype=torch.float64, device=self.device)

        def logarithm(log_kernel: "Tensor") -> "Tensor":
            here = -torch.expm1(log_kernel) <= self.nearest
            terms = torch.where(here, nothing, log_kernel + log_weights)
            return torch.logsumexp(terms, dim=1, keepdim=True)

        rows = on_device(self.columns.training.T, self.device)
        log_sums = over_blocks(logarithm, points, rows, self.columns.kernel_function)
        return log_sums[:, 0], *self.coincidences(points)

    def coincidences_of_rows(self) -> tuple[Doubles, Doubles]:
        """Weight and copies of the rows that coincide with each training row."""
        return self.coincidences(self.columns.training)

    def coincidences(self, points: Floats) -> tuple[Doubles, Doubles]:
        """Weight and copies of the rows that coincide with each point."""
        import torch

        at = on_device(points, self.device)
        counts = torch.zeros((len(at), 2), dtype=torch.float64, device=self.device)
        if self.nearest >= 0:
            along, apart = self._along(at), self._apart
            known = self._rows
            low, high = _window(known.along, along, apart)
            if len(at) and int((high - low).max()) > _LONG:
                known = self._distinct_rows
                low, high = _window(known.along, along, apart)
            active = torch.arange(len(at), device=self.device)
            while len(active):
                active = active[low[active] < high[active]]
                place = low[active]
                near = self._coincide(at[active], known.rows[place])
                counts[active] += known.weights[place] * near[:, None]
                low[active] += 1
        weight, copies = counts.cpu().numpy().T
        return weight, copies

    def _coincide(self, points: "Tensor", rows: "Tensor") -> "Tensor":
        difference = points - rows
        if self.columns.kernel_function.metric == "cityblock":
            return difference.abs().sum(dim=1) <= self._reach
        return difference.square().sum(dim=1) <= self._reach

    @property
    def _reach(self) -> float:
        """The distance, as the kernel takes it, at which one minus the kernel is `nearest`."""
        kernel, nearest = self.columns.kernel_function, min(self.nearest, 1.0)
        if nearest == 1.0:
            return float("inf")
        if isinstance(kernel, Cauchy):
            return float(kernel.sigma**2 * nearest / (1.0 - nearest))
        unit = kernel.sigma if isinstance(kernel, Laplacian) else 2.0 * kernel.sigma**2
        return float(-unit * np.log1p(-nearest))

    @cached_property
    def _centre(self) -> "Tensor":
        return on_device(self.columns.training, self.device).mean(dim=0)

    def _along(self, points: "Tensor") -> "Tensor":
        import torch

        # No lattice is regular along this direction.
        direction = torch.arange(2.0, 2.0 + points.shape[1], dtype=torch.float64).sqrt()
        return ((points - self._centre) * direction.to(points.device)).sum(dim=1)

    @property
    def _apart(self) -> float:
        """How far apart the projections of rows that coincide may be."""
        d = self.columns.training.shape[1]
        squared = self.columns.kernel_function.metric != "cityblock"
        reach = np.sqrt(self._reach) if squared else self._reach
        farthest = float(self._rows.along.abs().max())
        return float(np.sqrt(np.arange(2.0, 2.0 + d).sum()) * reach + 16 * _ROUNDING * farthest)

    @cached_property
    def _rows(self) -> _Sorted:
        rows = on_device(self.columns.training, self.device)
        weights = on_device(np.column_stack([self.weights, self.sample_weight]), self.device)
        return self._sorted(rows, weights)

    @cached_property
    def _distinct_rows(self) -> _Sorted:
        import torch

        known = self._rows
        rows, group = torch.unique(known.rows, dim=0, return_inverse=True)
        weights = torch.zeros((len(rows), 2), dtype=torch.float64, device=self.device)
        return self._sorted(rows, weights.index_add_(0, group, known.weights))

    def _sorted(self, rows: "Tensor", weights: "Tensor") -> _Sorted:
        along, order = self._along(rows).sort()
        return _Sorted(along, rows[order], weights[order])


def _window(known: "Tensor", along: "Tensor", apart: float) -> "tuple[Tensor, Tensor]":
    """The first place of rows within reach of each point, and the place after the last."""
    import torch

    low = torch.searchsorted(known, along - apart)
    return low, torch.searchsorted(known, along + apart, right=True)
