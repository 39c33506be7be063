"""Level sets of typicality: segment heights, the tree of alpha-cuts, labels at any alpha."""

from typicality.levelsets.landscape import Landscape
from typicality.levelsets.spanning import Branches
from typicality.levelsets.tree import AlphaTree
from typicality.levelsets.valley import Valley, deepest_valley

__all__ = ["AlphaTree", "Branches", "Landscape", "Valley", "deepest_valley"]
