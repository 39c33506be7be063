"""How products with a kernel matrix are computed, one method a file."""

from typicality.operators.base import Expansion, Operator
from typicality.operators.blocked import Blocked, BlockedSums
from typicality.operators.columns import Columns, Evaluated, GivenKernel, GivenSqdist
from typicality.operators.compression import compressed
from typicality.operators.dense import Dense
from typicality.operators.nufft import Nufft
from typicality.operators.nystroem import Nystroem
from typicality.operators.planning import ALGORITHMS, choose_operator, plan
from typicality.operators.tiles import Tiles, has_compiled_sums
from typicality.operators.tolerance import EXACT, Tolerance

__all__ = [
    "ALGORITHMS",
    "EXACT",
    "Blocked",
    "BlockedSums",
    "Columns",
    "Dense",
    "Evaluated",
    "Expansion",
    "GivenKernel",
    "GivenSqdist",
    "Nufft",
    "Nystroem",
    "Operator",
    "Tiles",
    "Tolerance",
    "choose_operator",
    "compressed",
    "has_compiled_sums",
    "plan",
]
