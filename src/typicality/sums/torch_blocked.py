"""A block of the matrix at a time in torch: exact, on any device that torch knows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import array_of, is_tensor, resident
from typicality._typing import Doubles, Floats
from typicality.kernels import Cauchy, Gaussian, Laplacian
from typicality.sums.base import Operator, matrix_of
from typicality.sums.columns import KernelColumns
from typicality.sums.tiles import TileExpansion, Tiles

if TYPE_CHECKING:
    from torch import Tensor

_BLOCK_BYTES = {"cpu": 2**22}  # of kernel values at a time
_BLOCK_BYTES_ELSEWHERE = 2**28
_ROUNDING = 1e-14


def log_profile(kernel: Any) -> "Callable[[Tensor], Tensor] | None":
    """The logarithm of a kernel of its distance, in torch and in place; None where there is none.

    A subclass may have another profile.
    """
    if type(kernel) is Gaussian:
        return lambda sqdist: sqdist.mul_(-kernel.gamma)
    if type(kernel) is Laplacian:
        return lambda distance: distance.div_(-kernel.sigma)
    if type(kernel) is Cauchy:
        return lambda sqdist: sqdist.div_(kernel.sigma**2).log1p_().neg_()
    return None


class DeviceOperator(Operator, ABC):
    """What operators on a torch device have in common.

    Parameters
    ----------
    columns : KernelColumns
        A Gaussian, Laplacian or Cauchy kernel against the training rows.
    rows : array, tensor or OnDevice of shape (n, d)
        The rows.
    device : str
        The device of torch.
    rtol : float
        The promise.
    """

    finest = 0.0  # promise

    def __init__(self, columns: KernelColumns, rows: Any, device: str, rtol: float) -> None:
        self.columns, self.device, self.rtol = columns, device, rtol
        self._place(on_device(rows, device))

    @abstractmethod
    def _place(self, rows: "Tensor") -> None:
        """Arrange rows of float64 as the sums take them."""

    @abstractmethod
    def sums(
        self, weights: "Tensor", points: "Tensor | None" = None, *, complement: bool
    ) -> "Tensor":
        """Sums of kernel values, or of one minus these, at points of float64, or at the rows."""

    @abstractmethod
    def error(self, sums: Floats) -> Floats:
        """As that of an expansion."""

    def complement(self, weights: Floats) -> Floats:
        return np.asarray(array_of(self.complement_of(on_device(weights, self.device))))

    def complement_of(self, weights: "Tensor") -> "Tensor":
        """`complement` of a tensor of float64, as one."""
        return self.sums(weights, complement=True)

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> "DeviceSums":
        finer = copy(self)
        finer.rtol = self.rtol if rtol is None else min(self.rtol, max(rtol, self.finest))
        sums = DeviceSums(self.columns, weights, self.device, finer.rtol, type(self))
        vars(sums)["_operator"] = finer  # as long as it is in memory
        return sums


@dataclass(frozen=True, eq=False)
class DeviceSums:
    """Sums over training rows at any points on a torch device.

    Parameters
    ----------
    columns : KernelColumns
        The kernel against the training rows.
    weights : array of shape (n, c)
        The weights.
    device : str
        The device of torch.
    rtol : float
        The promise.
    kind : type
        The class of the operator.
    """

    columns: KernelColumns
    weights: Annotated[Floats, "n c"]
    device: str
    rtol: float
    kind: type[DeviceOperator]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def on_host(self) -> TileExpansion:
        """The same sums by compiled code on the CPU, in double precision: what a file keeps."""
        return Tiles(self.columns).expansion(array_of(self.weights))

    @cached_property
    def _operator(self) -> DeviceOperator:
        return self.kind(self.columns, self.columns.training, self.device, self.rtol)

    @cached_property
    def _weights(self) -> "Tensor":
        return on_device(self.weights, self.device)

    def error(self, sums: Floats) -> Floats:
        return self._operator.error(sums)

    def at(self, points: Floats, *, complement: bool = False) -> Doubles:
        there = on_device(points, self.device)
        sums = self._operator.sums(self._weights, there, complement=complement)
        return np.asarray(array_of(sums))


class TorchBlocked(DeviceOperator):
    """Exact products in double precision, a block of rows at a time, on a torch device.

    All blocks have the same shape, so a row gets the same numbers whatever block it is in: torch
    may add up a row in another order where there are fewer. Costs O(n^2 (d + c)) time a product
    and O(n) memory.
    """

    @property
    def how(self) -> str:
        return (
            f"{matrix_of(self.columns.n_training)} is computed again in each iteration on "
            f"{self.device}, a few rows at a time, in double precision."
        )

    def error(self, sums: Floats) -> Floats:
        return _ROUNDING * sums

    def _place(self, rows: "Tensor") -> None:
        self._rows = rows

    def sums(
        self, weights: "Tensor", points: "Tensor | None" = None, *, complement: bool
    ) -> "Tensor":
        import torch

        (n, d), points = self._rows.shape, self._rows if points is None else points
        step, kernel = _block_rows(n, self.device), self.columns.kernel_function
        log: Any = log_profile(kernel)
        by_feature, block = self._rows.T.contiguous(), self._rows.new_zeros((d, step))
        columns, sums = weights.T.contiguous(), []
        for start in range(0, max(len(points), 1), step):
            some = points[start : start + step]
            block[:, : len(some)] = some.T
            values = log(_distances(block, by_feature, kernel.metric))
            values = values.expm1_().neg_() if complement else values.exp_()
            part = torch.stack([(values * w).sum(dim=1) for w in columns], dim=1)
            sums.append(part[: len(some)])
        return torch.cat(sums)


def _block_rows(n_training: int, device: str) -> int:
    """The rows of a block, whatever the number of points."""
    n_bytes = _BLOCK_BYTES.get(device.partition(":")[0], _BLOCK_BYTES_ELSEWHERE)
    return max(1, min(n_bytes // (8 * n_training), 2**14))


def _distances(points: "Tensor", rows: "Tensor", metric: str) -> "Tensor":
    """Distances by the metric of a kernel, from differences, so that none loses digits."""
    total = points.new_zeros((points.shape[1], rows.shape[1]))
    for point, row in zip(points, rows, strict=True):
        difference = point[:, None] - row
        total += difference.abs_() if metric == "cityblock" else difference.square_()
    return total


def on_device(array: Any, device: str) -> "Tensor":
    """An array, or what is on the device already, as a tensor of float64; it may share memory."""
    import torch

    there: Tensor | None = array if is_tensor(array) else resident(array)
    if there is not None:
        return there.to(device).double()
    if array.size and not any(array.strides):  # one number for all rows
        return torch.full(array.shape, float(array.flat[0]), dtype=torch.float64, device=device)
    return torch.as_tensor(np.require(array, requirements=["C", "W"])).to(device).double()
