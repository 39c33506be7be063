"""The two sides of every edge of a spanning tree: their peaks and sizes, and labels by them."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places
from typicality.levelsets.graphs import Pairs, components


class Sides(NamedTuple):
    """The two sides of each edge of a spanning tree, as ranges of rows in one order.

    The rows of the side with the higher peak are those with places from `first` to `middle`, those
    of the other side go from there to `last`. Between two neighbouring places is one edge.

    Parameters
    ----------
    pairs : array of shape (n - 1, 2)
        The edges.
    peaks, sizes, means : arrays of shape (n - 1, 2)
        The highest row of each side, the higher one first, its number of rows, and its mean height.
    place : array of shape (n,)
        The place of each row.
    first, middle, last : arrays of shape (n - 1,)
        The ranges.
    """

    pairs: Pairs
    peaks: Places
    sizes: Doubles
    means: Doubles
    place: Places
    first: Places
    middle: Places
    last: Places

    @classmethod
    def of(cls, pairs: Pairs, heights: Doubles, counts: Doubles) -> Self:
        """The sides of the edges of a spanning tree, by falling height.

        A row counts as many times as there are copies of it.
        """
        from typicality.levelsets.merging import merge_sides  # numba takes a second to load

        n_rows = len(heights)
        high, low, high_first, low_first, low_rows = np.empty((5, len(pairs)), np.intp)
        sizes, sums = np.empty((2, 2, len(pairs)))
        place, own = np.ones(n_rows, np.intp), np.arange(n_rows)
        nothing = np.full(n_rows, -1, np.intp)
        merge_sides(
            pairs, heights, high, low, high_first, low_first, low_rows, *sizes, *sums,
            counts.astype(np.float64), heights * counts,
            place, own.copy(), own.copy(), own.copy(), nothing,
        )  # fmt: skip
        middle = place[low_first]
        ranges = place[high_first], middle, middle + low_rows
        return cls(pairs, np.column_stack([high, low]), sizes.T, (sums / sizes).T, place, *ranges)

    def label_cores(self, separates: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
        """Label what joins a peak before an edge separates it from another; -1 for all else.

        A separating edge gives a label to the higher peak of either side. Returns the labels and
        their number.
        """
        if not separates.any():
            return np.zeros(len(self.place), np.int64), 1
        n_separating = np.zeros(len(self.place), np.intp)
        n_separating[self.middle] = separates
        n_separating = np.cumsum(n_separating)
        closed = n_separating[self.last - 1] > n_separating[self.first]
        cores = np.zeros(len(self.place), np.intp)
        cores[self.middle] = closed
        cores = np.cumsum(cores)[self.place]
        with_peak = cores[self.peaks[separates]].ravel()
        distinct, at = np.unique(with_peak, return_index=True)
        number = np.full(cores.max() + 1, -1, np.int64)
        number[distinct[np.argsort(at)]] = np.arange(len(distinct))
        return number[cores], len(distinct)

    def fill_along(self, labels: NDArray[np.signedinteger]) -> None:
        """Rows without a label take that of the row by which they join, higher edges first."""
        labelled = labels >= 0
        before = np.zeros(len(labels) + 1, np.intp)  # how many labelled rows have smaller places
        before[self.place + 1] = labelled
        before = np.cumsum(before)
        at_first, at_middle, at_last = before[self.first], before[self.middle], before[self.last]
        joins = (at_first == at_middle) | (at_middle == at_last)
        group = components(len(labels), self.pairs[joins])  # each has one labelled row at the most
        of_group = np.full(len(labels), -1, labels.dtype)
        of_group[group[labelled]] = labels[labelled]
        labels[:] = of_group[group]
