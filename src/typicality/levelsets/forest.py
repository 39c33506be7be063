"""Maximum spanning forests that know at which level two rows are joined."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality._threads import over_ranges
from typicality.levelsets.graphs import Pairs
from typicality.levelsets.landscape import Doubles

_PAIRS_OF_A_TASK = 2**14


@dataclass(frozen=True, eq=False)
class Forest:
    """The edges of a maximum spanning forest, by falling height, and who was joined to whom.

    Where two components meet, the root of the smaller one is hung below that of the larger: so no
    row is deeper than log2(n), and the way up from two rows to where they meet tells at which level
    they are joined.

    Parameters
    ----------
    pairs : array of shape (m, 2)
        The edges.
    saddles : array of shape (m,)
        Their heights.
    above : array of shape (n,)
        The row each is hung below; itself for roots.
    level : array of shape (n,)
        The height of the edge that joined it there; minus infinity for roots.
    """

    pairs: Pairs
    saddles: Doubles
    above: NDArray[np.intp]
    level: Doubles

    @classmethod
    def bare(cls, n_rows: int) -> Self:
        """No edge at all."""
        no_pairs, no_heights = np.empty((0, 2), np.intp), np.empty(0)
        return cls(no_pairs, no_heights, np.arange(n_rows), np.full(n_rows, -np.inf))

    def joined_by(self, pairs: Pairs, heights: Doubles) -> Self:
        """The maximum spanning forest of these edges and other ones; ties go to earlier edges."""
        return self._grown(pairs, heights)[0]

    def promising(self, pairs: Pairs, bounds: Doubles) -> NDArray[np.intp]:
        """Which of some edges would belong to the forest, if they were as high as their bounds."""
        return self._grown(pairs, bounds)[1]

    def _grown(self, pairs: Pairs, heights: Doubles) -> tuple[Self, NDArray[np.intp]]:
        from typicality.levelsets.merging import grow  # numba takes a second to load

        every_pair = np.concatenate([self.pairs, pairs])
        every_height = np.concatenate([self.saddles, heights])
        order = np.argsort(-every_height, kind="stable")
        n_rows = len(self.above)
        above, level = np.arange(n_rows), np.full(n_rows, -np.inf)
        chosen = np.empty(n_rows, np.intp)
        chosen = chosen[: grow(every_pair, every_height, order, above, level, chosen)]
        forest = type(self)(every_pair[chosen], every_height[chosen], above, level)
        return forest, chosen[chosen >= len(self.pairs)] - len(self.pairs)

    def joined_at(self, pairs: Pairs) -> Doubles:
        """The level at which the two rows of each pair are joined; minus infinity for never."""
        from typicality.levelsets.merging import meet  # numba takes a second to load

        levels = np.empty(len(pairs))

        def look(first: int, last: int) -> None:
            meet(self.above, self.level, pairs, first, last, levels)

        over_ranges(look, len(pairs), at_least=_PAIRS_OF_A_TASK)
        return levels
