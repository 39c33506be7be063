"""How products with a kernel matrix are computed, one method a file."""

from typicality.operators.base import Operator
from typicality.operators.blocked import Blocked
from typicality.operators.columns import Columns, Evaluated, GivenKernel, GivenSqdist
from typicality.operators.dense import Dense
from typicality.operators.planning import choose_operator
from typicality.operators.tiles import Tiles

__all__ = [
    "Blocked",
    "Columns",
    "Dense",
    "Evaluated",
    "GivenKernel",
    "GivenSqdist",
    "Operator",
    "Tiles",
    "choose_operator",
]
