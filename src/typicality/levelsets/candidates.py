"""Edges that may belong to the tree, as far as they have been looked at."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality.levelsets.graphs import Pairs
from typicality.levelsets.landscape import Doubles, Landscape
from typicality.levelsets.segments import lengths_of, lowest_in_round, points_on, rounds_of


@dataclass(eq=False)
class Candidates:
    """Edges with bounds on their heights, the shortest first.

    Every height on an edge is a bound on the smallest one. Bounds come down round by round, each
    with twice as many points, and are the heights of the edges after the last round.

    Parameters
    ----------
    landscape : Landscape
        The heights between rows.
    pairs : array of shape (m, 2)
        The edges.
    bounds : array of shape (m,)
        The smallest height of each that was met so far.
    n_points : array of shape (m,)
        How many points there are to look at.
    rounds : array of shape (m,)
        How many rounds it was looked at.
    """

    landscape: Landscape
    pairs: Pairs
    bounds: Doubles
    n_points: NDArray[np.intp]
    rounds: NDArray[np.intp]

    @classmethod
    def of(cls, pairs: Pairs, landscape: Landscape, heights: Doubles, *, labelling: str) -> Self:
        """Edges of which the ends are known."""
        starts, stops = landscape.rows[pairs[:, 0]], landscape.rows[pairs[:, 1]]
        lengths = lengths_of(landscape, starts, stops)
        # Of many ways up from a row, the shortest is least likely to lead through a valley.
        order = np.argsort(lengths, kind="stable")
        n_points = points_on(landscape, lengths[order], labelling=labelling)
        bounds = np.minimum(heights[pairs[:, 0]], heights[pairs[:, 1]])
        rounds = np.zeros(len(pairs), np.intp)
        return cls(landscape, pairs[order], bounds[order], n_points, rounds)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which bounds are the heights of the edges, as far as heights are known."""
        all_seen = self.rounds == rounds_of(self.n_points)
        return np.asarray(all_seen | (self.bounds <= self.landscape.rtol))

    def look_closer(self, some: NDArray[np.intp] | None = None) -> None:
        """Bring down the bounds by one more round, of some edges or of all."""
        some = np.flatnonzero(~self.known) if some is None else some[~self.known[some]]
        # Sums at points that follow one another are quicker where these are near in space.
        some = some[np.argsort(self.pairs[some, 0], kind="stable")]
        self.rounds[some] += 1
        starts, stops = (self.landscape.rows[end] for end in self.pairs[some].T)
        way = self.n_points[some], self.rounds[some]
        lowest = lowest_in_round(self.landscape, starts, stops, *way)
        self.bounds[some] = np.minimum(self.bounds[some], lowest)

    def taken(self, which: NDArray[np.bool_]) -> Self:
        """Some of the edges."""
        return type(self)(
            self.landscape,
            self.pairs[which],
            self.bounds[which],
            self.n_points[which],
            self.rounds[which],
        )
