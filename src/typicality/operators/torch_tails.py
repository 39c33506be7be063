"""Sums at points that have next to no row near, on a torch device: exact, however small."""

import math
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
WHOLE_WEIGHT = 1.0 - 1e-12  # without a row of this weight nothing would be left
_LONG = 64  # rows with nearly the same projection: then equal rows are put together first


class _Sorted(NamedTuple):
    """Training rows in the order of a projection, with their weights and copies, shape (n, 2).

    `across` is another projection.
    """

    along: "Tensor"
    across: "Tensor"
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

        placed = on_device(points, self.device)
        log_sums = over_blocks(logarithm, placed, self._training, self.columns.kernel_function)
        return log_sums[:, 0].cpu().numpy(), *self.coincidences(points)

    def coincidences_of_rows(self) -> tuple[Doubles, Doubles]:
        """Weight and copies of the rows that coincide with each training row."""
        return self.coincidences(self.columns.given)

    def coincidences(self, points: Floats) -> tuple[Doubles, Doubles]:
        """Weight and copies of the rows that coincide with each point."""
        weight, copies = self._coincidences(on_device(points, self.device)).T.cpu().numpy()
        return weight, copies

    def quantile_by_products(self, products: "Tensor", rate: float, least: float) -> float | None:
        """The leave-one-out score below which a share of the training rows is, all of weight one.

        Sums are one minus products of the last iteration. None where sums below `least`, of which
        nothing is known, decide it.
        """
        import torch

        unit, copies = self._coincidences(self._training).T
        unit = unit / copies.clamp(min=1.0)
        unit = torch.where(unit >= WHOLE_WEIGHT, 0.0, unit)
        apart = products / (1.0 - unit)
        scores = torch.where(1.0 - apart > least, -apart, -1.0).log1p().sort()[0]
        # As `weighted_quantile` of the host.
        position = min(max(rate * (len(scores) + 1.0) - 1.0, 0.0), len(scores) - 1.0)
        below = math.floor(position)
        low, high = scores[[below, math.ceil(position)]].tolist()
        quantile = low + (position - below) * (high - low)
        return quantile if math.log(least) < quantile else None

    def _coincidences(self, at: "Tensor") -> "Tensor":
        import torch

        counts = torch.zeros((len(at), 2), dtype=torch.float64, device=self.device)
        if self.nearest >= 0:
            along, apart = self._along(at), self._apart
            known = self._rows
            low, high = _window(known.along, along, apart)
            if len(at) and int((high - low).max()) > _LONG:
                known = self._distinct_rows
                low, high = _window(known.along, along, apart)
            active, across = torch.arange(len(at), device=self.device), self._across(at)
            while len(active):
                active = active[low[active] < high[active]]
                place = low[active]
                # Few rows are near in both projections, and only these are looked at.
                both = ((across[active] - known.across[place]).abs() <= apart).nonzero()[:, 0]
                some, place = active[both], place[both]
                near = self._coincide(at[some], known.rows[place])
                counts[some] += known.weights[place] * near[:, None]
                low[active] += 1
        return counts

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
    def _training(self) -> "Tensor":
        return on_device(self.columns.given, self.device)

    @cached_property
    def _centre(self) -> "Tensor":
        return self._training.mean(dim=0)

    @cached_property
    def _direction(self) -> "Tensor":
        import torch

        # No lattice is regular along this direction.
        d = len(self._centre)
        return torch.arange(2.0, 2.0 + d, dtype=torch.float64, device=self.device).sqrt()

    def _along(self, points: "Tensor") -> "Tensor":
        return ((points - self._centre) * self._direction).sum(dim=1)

    def _across(self, points: "Tensor") -> "Tensor":
        """A projection on another direction of the same length."""
        signs = self._direction.new_ones(len(self._direction))
        signs[1::2] = -1.0
        return ((points - self._centre) * (signs * self._direction)).sum(dim=1)

    @property
    def _apart(self) -> float:
        """How far apart the projections of rows that coincide may be."""
        d = self._training.shape[1]
        squared = self.columns.kernel_function.metric != "cityblock"
        reach = np.sqrt(self._reach) if squared else self._reach
        farthest = float(self._rows.along.abs().max())
        return float(np.sqrt(np.arange(2.0, 2.0 + d).sum()) * reach + 16 * _ROUNDING * farthest)

    @cached_property
    def _rows(self) -> _Sorted:
        import torch

        parts = [on_device(part, self.device) for part in (self.weights, self.sample_weight)]
        return self._sorted(self._training, torch.stack(parts, dim=1))

    @cached_property
    def _distinct_rows(self) -> _Sorted:
        import torch

        known = self._rows
        rows, group = torch.unique(known.rows, dim=0, return_inverse=True)
        weights = torch.zeros((len(rows), 2), dtype=torch.float64, device=self.device)
        return self._sorted(rows, weights.index_add_(0, group, known.weights))

    def _sorted(self, rows: "Tensor", weights: "Tensor") -> _Sorted:
        along, order = self._along(rows).sort()
        in_order = rows[order]
        return _Sorted(along, self._across(in_order), in_order, weights[order])


def _window(known: "Tensor", along: "Tensor", apart: float) -> "tuple[Tensor, Tensor]":
    """The first place of rows within reach of each point, and the place after the last."""
    import torch

    low = torch.searchsorted(known, along - apart)
    return low, torch.searchsorted(known, along + apart, right=True)
