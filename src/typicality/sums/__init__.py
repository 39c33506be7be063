"""How products with a kernel matrix are computed, one method a file."""

from typicality.sums.base import Expansion, Operator
from typicality.sums.choice import EXACT, Tolerance, are_few, choose_operator
from typicality.sums.columns import (
    Columns,
    KernelColumns,
    PrecomputedKernel,
    PrecomputedSqdist,
    has_compiled_sums,
)
from typicality.sums.dense import Dense, DenseSums
from typicality.sums.fourier import Nufft
from typicality.sums.fused import Fused
from typicality.sums.landmarks import compressed
from typicality.sums.tiles import Tiles
from typicality.sums.torch_blocked import TorchBlocked
