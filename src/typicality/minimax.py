"""Minimax distances: how long a jump one must dare to get from row to row.

Two rows are near when a chain of short edges leads from one to the other, however long it is.

No merge tree is needed. Walk through the rows, each time on to the one nearest to all those visited
(the order of Prim's algorithm), and note that distance as a gap. The walk leaves a set of rows that
hang together by edges of at most h only when the whole set is visited, and then by a gap above h.
So the distance of two rows is the largest gap between them on the walk.
"""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.spatial.distance import cdist

from typicality._typing import Doubles, Floats, Index, Places

_BLOCK_ENTRIES = 2**21  # 16 MB of distances at a time


@dataclass(frozen=True, eq=False)
class MinimaxPaths:
    r"""Minimax distances to the training rows, an ultrametric on them.

    .. math:: d(i, j) = \min_{\text{paths } i \to j} \; \max_{(a, b) \in \text{path}} \|x_a - x_b\|

    These are the path-based distances of :cite:`fischer2003` and the cophenetic distances of single
    linkage. They only compare Euclidean distances, so each is one of those, without further
    rounding. Equal rows have distance 0.

    Parameters
    ----------
    rows : array of shape (n, d), float64
        The training rows.
    order : array of shape (n,)
        The walk: each row is the nearest to all those before it.
    gaps : array of shape (n,), float64
        The distance of each row of the walk to those before it; 0 for the first.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.minimax import MinimaxPaths
    >>> paths = MinimaxPaths.of(np.array([[0.0], [1.0], [2.0], [5.0]]))
    >>> paths.distances()[0]
    array([0., 1., 1., 3.])
    >>> paths.distances_to(np.array([[7.0]]))
    array([[3., 3., 3., 2.]])
    """

    rows: Annotated[Doubles, "_walked d"]
    order: Annotated[Places, "_walked", Index("_walked")]
    gaps: Annotated[Doubles, "_walked"]

    @classmethod
    def of(cls, X: Floats) -> Self:
        """Walk through the rows of X. Costs n²/2 Euclidean distances and memory for n."""
        rows = np.array(X, np.float64, order="C")
        return cls(rows, *_walk(rows))

    def distances(self) -> Doubles:
        """Distances among the training rows, shape (n, n). Costs O(n²)."""
        n_rows = len(self.rows)
        distances = np.zeros((n_rows, n_rows))
        largest_since = np.zeros(n_rows)
        for k in range(1, n_rows):
            here, before = self.order[k], self.order[:k]
            np.maximum(largest_since[:k], self.gaps[k], out=largest_since[:k])
            distances[here, before] = largest_since[:k]
            distances[before, here] = largest_since[:k]
        return distances

    def distances_to(self, X: Floats) -> Doubles:
        r"""Distances of new rows to the training rows, shape (m, n). Costs O(m n d).

        .. math:: d(x, i) = \min_j \max(\|x - x_j\|, d(j, i))

        The path of a new row leads through training rows only: new rows do not see each other, and
        each gets the same numbers in any batch. A training row gets those of :meth:`distances`.
        """
        new = np.ascontiguousarray(X, np.float64)
        walked = self.rows[self.order]
        distances = np.empty((len(new), len(walked)))
        length = max(1, _BLOCK_ENTRIES // len(walked))
        for start in range(0, len(new), length):
            # not by a matrix product, whose rounding depends on the shape of the block
            block = cdist(walked, new[start : start + length])
            self._shorten(block)
            distances[start : start + length, self.order] = block.T
        return distances

    def _shorten(self, reach: Doubles) -> None:
        """Turn direct distances to the rows of the walk, shape (n, m), into those by any path.

        A path goes straight to some row and on along the walk: one pass forwards for paths that
        come from before, one backwards for those that come from behind.
        """
        detour = np.empty(reach.shape[1])
        for k in range(1, len(reach)):
            np.maximum(reach[k - 1], self.gaps[k], out=detour)
            np.minimum(reach[k], detour, out=reach[k])
        for k in range(len(reach) - 1, 0, -1):
            np.maximum(reach[k], self.gaps[k], out=detour)
            np.minimum(reach[k - 1], detour, out=reach[k - 1])


def _walk(X: Doubles) -> tuple[Places, Doubles]:
    """The order in which the rows are visited from the first on, and the gap before each.

    Visited rows stand before `k`; of those behind, `gaps` is the distance to the nearest visited.
    """
    rows, order, gaps = X.copy(), np.arange(len(X)), np.full(len(X), np.inf)
    for k in range(1, len(rows)):
        np.minimum(gaps[k:], cdist(rows[k - 1 : k], rows[k:])[0], out=gaps[k:])
        pair = np.array([k, k + np.argmin(gaps[k:])])
        for array in (rows, order, gaps):
            array[pair] = array[pair[::-1]]
    gaps[0] = 0.0
    return order, gaps
