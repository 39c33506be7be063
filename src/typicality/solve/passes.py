"""k-means||: a start by passes over all rows, where there are more than a sample holds.

A pass keeps a few rows: those that come first in some order. The order depends on the content of a
row alone, so every engine chooses the same rows, and a row of weight k is the same as k rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from typicality._typing import Doubles, Floats, Places
from typicality.membership.hard import Hard
from typicality.rows import Block, DistinctRows, content_hash, row_blocks
from typicality.spaces import Centroids, Euclidean

_ROUNDS = 3
_OVERSAMPLING = 2  # rows for each cluster that are added in a round

Order = Callable[[Doubles, Floats], Doubles]  # squared distances to the nearest prototype, and rows


@dataclass(frozen=True, eq=False)
class FirstRows:
    """The distinct rows of positive weight with the smallest keys; those of two blocks add up.

    Parameters
    ----------
    keys : array of shape (m,)
        What they are ordered by, rising.
    rows : array of shape (m, d)
        The rows.
    index : array of shape (m,)
        Where one copy of each stands among all rows.
    at_most : int
        The largest number of rows this may hold.
    """

    keys: Doubles
    rows: Floats
    index: Places
    at_most: int

    @classmethod
    def of(cls, prototypes: Centroids, order: Order, at_most: int, block: Block) -> "FirstRows":
        """Those of a block; `order(sqdist, rows)` are the keys, infinite for rows left out."""
        found = cls(np.empty(0), block.X[:0], np.empty(0, np.intp), at_most)
        for some in row_blocks(len(block.X)):
            X = block.X[some]
            keys = order(prototypes.sqdist(X).min(axis=1), X)
            if block.weight is not None:
                keys = np.where(block.weight[some] > 0, keys, np.inf)
            few = np.flatnonzero(keys < np.inf)
            if len(few) > at_most:  # copies of a row have the same key: all of them are kept
                few = few[keys[few] <= np.partition(keys[few], at_most - 1)[at_most - 1]]
            found += cls(keys[few], X[few], block.start + some.start + few, at_most)
        return found

    def __add__(self, other: "FirstRows") -> "FirstRows":
        keys = np.concatenate([self.keys, other.keys])
        rows = np.concatenate([self.rows, other.rows])
        index = np.concatenate([self.index, other.index])
        _, distinct = np.unique(content_hash(rows), return_index=True)  # in the order of the hashes
        first = distinct[np.argsort(keys[distinct], kind="stable")[: self.at_most]]
        return FirstRows(keys[first], rows[first], index[first], self.at_most)


def parallel_rows(
    space: Euclidean, rows: Floats, index: Places, rng: np.random.RandomState
) -> DistinctRows:
    r"""Candidates of k-means||: rows far from those already chosen are likely to be taken.

    Implements :cite:`bahmani2012`, algorithm 2, up to step 7. Differs from the paper: it begins
    with a row for each cluster, and each of three rounds takes exactly two more rows for each
    cluster. A row is drawn if its :math:`-\log(u) / d^2` is among the smallest, with u a hash of
    its content, so that a round is one pass.

    Parameters
    ----------
    space : Euclidean
        The space of all rows.
    rows, index : arrays of shape (c, d) and (c,)
        The rows to begin with, and their numbers.
    rng : RandomState
        It chooses the hashes.

    Returns
    -------
    candidates : DistinctRows
        Their weights are those of the rows nearest to each.
    """
    n_more = _OVERSAMPLING * len(rows)
    for _ in range(_ROUNDS):
        order = partial(_drawn, rng.randint(2**31))
        found = first_rows(space, rows, order, n_more)
        rows = np.concatenate([rows, found.rows])
        index = np.concatenate([index, found.index])
    mass = space.fold(Hard(), space.at(rows)).mass
    return DistinctRows(rows, mass, index, len(rows))


def first_rows(space: Euclidean, chosen: Floats, order: Order, at_most: int) -> FirstRows:
    """One pass: the rows that come first, by their distance to the nearest of some points."""
    return space.rows.fold(partial(FirstRows.of, space.at(chosen), order, at_most))


def _drawn(seed: int, sqdist: Doubles, rows: Floats) -> Doubles:
    """Keys whose smallest ones are rows drawn with probabilities in proportion to `sqdist`."""
    hashes = content_hash(np.column_stack([rows, np.full(len(rows), seed, np.float64)]))
    uniform = (hashes.astype(np.float64) + 0.5) / 2.0**64
    with np.errstate(divide="ignore"):
        return np.where(sqdist > 0, -np.log(uniform) / sqdist, np.inf)
