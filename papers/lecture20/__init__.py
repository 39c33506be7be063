"""Chapter 20 of the lecture notes: fuzzy c-means, mixtures by EM, the Rand index and its kin."""

from lecture20.page import make

__all__ = ["make"]
