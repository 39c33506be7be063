"""Tables 1 to 4 of xenaki2014 next to what comes out here, row by row, and its claims."""

from xenaki2014.page import make

__all__ = ["make"]
