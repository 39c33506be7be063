"""Rows that were given as a tensor on a device other than the CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import tensor_of
from typicality._threads import TreeSum
from typicality._typing import Floats
from typicality.rows.array import ArrayRows
from typicality.rows.base import Block, Rows, Sum
from typicality.rows.features import Features

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
        from typicality.rows.torch_distinct import features_of

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
