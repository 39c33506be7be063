"""filippone2010, Possibilistic c-means in kernel-induced spaces: Figs. 1-5 and the conclusions."""

from filippone2010.page import make

__all__ = ["make"]
