"""Rows on a device of torch other than the CPU: their features, distinct rows and distances.

These are the same as on the CPU.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import tensor_of
from typicality._threads import TreeSum
from typicality._typing import Floats
from typicality.rows.array import ArrayRows
from typicality.rows.base import Block, Rows, Sum
from typicality.rows.features import Features

if TYPE_CHECKING:
    from torch import Tensor

_BLOCK_ROWS = 2**20  # of a tensor on a device


class TensorRows(ArrayRows):
    """Rows on a device of torch; sweeps and features run there, and all else on the CPU.

    Parameters
    ----------
    given : OnDevice, or array of shape (n, d), C-contiguous, float32 or float64
        The rows.
    weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    device : str
        The device, as torch names it.
    """

    def __init__(self, given: Any, weight: Floats | None, device: str) -> None:
        self.given, self.weight, self.cuts, self.device = given, weight, (), device
        self.n_rows, self.n_features = given.shape
        self.dtype = given.dtype
        self.weighted = weight is not None

    @cached_property
    def X(self) -> Floats:  # type: ignore[override]  # noqa: N802
        """The rows on the host."""
        return np.asarray(self.given)

    @cached_property
    def resident(self) -> Rows:
        weight: Any = None if self.weight is None else tensor_of(self.weight, self.device)
        cuts = range(_BLOCK_ROWS, self.n_rows, _BLOCK_ROWS)
        return _Resident(tensor_of(self.given, self.device), weight, cuts)

    @cached_property
    def features(self) -> Features:
        resident: Any = self.resident
        return features_of(resident.X, resident.weight)

    def reweighted(self, weigh: Callable[[Block], Floats]) -> Rows:
        return TensorRows(self.given, weigh(self._whole), self.device)

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        return TensorRows(move(self.X), self.weight, self.device)


class _Resident(ArrayRows):
    """Blocks of tensors on a device, which computes one after the other."""

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        sums = TreeSum[Sum]()
        for block in self._blocks:
            sums.add(function(block))
        return sums.total()


# ---- what is asked of rows on a device ----------------------------------------------------------

_ENTRIES_OF_A_BLOCK = 2**25  # in float64 at a time


def _signed(number: int) -> int:
    """An unsigned number of 64 bits as the signed one of the same bits."""
    return number - 2**64 if number >= 2**63 else number


_STEP, _FIRST, _SECOND = map(_signed, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_LOWEST = -(2**63)


def content_keys(X: "Tensor") -> "Tensor":
    """The bits of :func:`~typicality.rows.distinct.content_hash`, as signed numbers."""
    import torch

    mixed = torch.zeros(len(X), dtype=torch.int64, device=X.device)
    for column in X.T:
        mixed ^= (column.double() + 0.0).view(torch.int64)
        mixed += _STEP
        mixed = (mixed ^ _shifted(mixed, 30)) * _FIRST
        mixed = (mixed ^ _shifted(mixed, 27)) * _SECOND
        mixed ^= _shifted(mixed, 31)
    return mixed


def _shifted(numbers: "Tensor", by: int) -> "Tensor":
    """Bits moved to the right, with zeros behind them."""
    return (numbers >> by).bitwise_and(2 ** (64 - by) - 1)


def smallest_keys(X: "Tensor", at_most: int) -> tuple[Any, Any, int, np.uint64 | None]:
    """Copies and first places of the distinct rows with the smallest keys; how many there are.

    The last is the largest key that was kept; None where all were.
    """
    import torch

    # In the order of unsigned numbers.
    ordered, places = torch.sort(content_keys(X) ^ _LOWEST, stable=True)
    differs = torch.ones(len(ordered), dtype=torch.bool, device=X.device)
    differs[1:] = ordered[1:] != ordered[:-1]
    starts = differs.nonzero()[:, 0]
    n_distinct, end, limit = len(starts), len(ordered), None
    if n_distinct > at_most:
        end, starts = int(starts[at_most]), starts[:at_most]
        limit = np.int64(int(ordered[end - 1]) ^ _LOWEST).astype(np.uint64)
    ends = torch.cat([starts[1:], starts.new_tensor([end])])
    return ends - starts, places[starts], n_distinct, limit


def lexicographic_order(rows: "Tensor") -> "Tensor":
    """The places of distinct rows in lexicographic order."""
    import torch

    first, order = torch.sort(rows[:, 0], stable=True)
    if len(first) < 2 or bool((first[1:] > first[:-1]).all()):
        return order
    order = torch.arange(len(rows), device=rows.device)
    for column in reversed(rows.unbind(dim=1)):
        order = order[torch.sort(column[order], stable=True)[1]]
    return order


def median_of_distances(rows: Floats, metric: str, device: str) -> float:
    """The median distance among pairs of rows."""
    import torch

    points = torch.as_tensor(rows, device=device)
    apart = points.new_zeros((len(points), len(points)))
    for column in points.T:
        difference = column[:, None] - column
        apart += difference.abs_() if metric == "cityblock" else difference.square_()
    above = torch.ones_like(apart, dtype=torch.bool).triu_(1)
    ordered = apart[above].sort()[0]
    middle = ordered[[(len(ordered) - 1) // 2, len(ordered) // 2]]
    return float((middle if metric == "cityblock" else middle.sqrt()).mean())


def features_of(X: "Tensor", weight: "Tensor | None") -> Features:
    """What the features look like, rows of weight zero left out."""
    import torch

    if weight is not None:
        taking_part = weight > 0
        X, weight = X[taking_part], weight[taking_part].double()
    step = max(1, _ENTRIES_OF_A_BLOCK // X.shape[1])

    def total(centre: "Tensor | None") -> "Tensor":
        sums = []
        for start in range(0, len(X), step):
            rows = X[start : start + step].double()
            rows = rows if centre is None else (rows - centre).square_()
            if weight is not None:
                rows = rows * weight[start : start + step, None]
            sums.append(rows.sum(dim=0))
        return torch.stack(sums).sum(dim=0)

    mass = float(len(X)) if weight is None else float(weight.sum())
    mean = total(None) / mass
    low, high = X.amin(dim=0), X.amax(dim=0)
    table = torch.stack([mean, total(mean), low.double(), high.double()])
    return Features(mass, *table.cpu().numpy())
