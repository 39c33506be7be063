"""filippone2007, Possibilistic Clustering in Feature Space: Fig. 1 and the claims of the text."""

from filippone2007.page import make

__all__ = ["make"]
