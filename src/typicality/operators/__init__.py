"""How products with a kernel matrix are computed, one method a file."""

from typicality.operators.base import Expansion, Operator
from typicality.operators.choice import choose_operator
from typicality.operators.columns import (
    Columns,
    KernelColumns,
    PrecomputedKernel,
    PrecomputedSqdist,
    has_compiled_sums,
)
from typicality.operators.dense import Dense, DenseSums
from typicality.operators.fourier import Nufft
from typicality.operators.fused import Fused
from typicality.operators.landmarks import compressed
from typicality.operators.tiles import Tiles
from typicality.operators.tolerance import EXACT, Tolerance
from typicality.operators.torch_blocked import TorchBlocked

__all__ = [
    "EXACT",
    "Columns",
    "Dense",
    "DenseSums",
    "Expansion",
    "Fused",
    "KernelColumns",
    "Nufft",
    "Operator",
    "PrecomputedKernel",
    "PrecomputedSqdist",
    "Tiles",
    "Tolerance",
    "TorchBlocked",
    "choose_operator",
    "compressed",
    "has_compiled_sums",
]
