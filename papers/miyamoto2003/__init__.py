"""Figures 1 to 5 of miyamoto2003, how often they come out, and what they depend on."""

from miyamoto2003.page import make

__all__ = ["make"]
