"""Rows that were given as a tensor on a device other than the CPU."""

from collections.abc import Callable
from typing import Any

from typicality._cached import cached_property
from typicality._tensors import tensor_of
from typicality._typing import Floats
from typicality.rows.array import ArrayRows
from typicality.rows.base import Block, Rows


class TensorRows(ArrayRows):
    """Rows in memory and on a device of torch; sweeps run there, and all else on the CPU.

    Parameters
    ----------
    X : array of shape (n, d), C-contiguous, float32 or float64
        The rows.
    weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    device : str
        The device, as torch names it.
    """

    def __init__(self, X: Floats, weight: Floats | None, device: str) -> None:
        super().__init__(X, weight)
        self.device = device

    @cached_property
    def resident(self) -> Block:
        """All rows as one block of tensors on the device."""
        weight = None if self.weight is None else tensor_of(self.weight, self.device)
        return Block(tensor_of(self.X, self.device), weight, 0)

    def sweep(self, function: Callable[[Block], Any]) -> Any:
        return function(self.resident)

    def reweighted(self, weigh: Callable[[Block], Floats]) -> Rows:
        return TensorRows(self.X, weigh(Block(self.X, self.weight, 0)), self.device)

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        return TensorRows(move(self.X), self.weight, self.device)
