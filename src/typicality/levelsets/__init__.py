"""Level sets of the typicality: the tree of alpha-cuts, and labels at any alpha."""

from typicality.levelsets.heights import Landscape
from typicality.levelsets.tree import AlphaTree, Branches, Cut, Valley, deepest_valley

__all__ = ["AlphaTree", "Branches", "Cut", "Landscape", "Valley", "deepest_valley"]
