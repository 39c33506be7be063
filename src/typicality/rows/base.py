"""Where the rows are: what every engine offers, and what follows from it.

An engine (an array, a file larger than memory, a Dask collection) cuts the rows into blocks and
implements `fold` and `map`. Everything else, such as features, samples and single rows, is a fold.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from typicality._cached import cached_property
from typicality._sparse import stack_rows
from typicality._typing import Floats, Places
from typicality.rows.distinct import LARGEST_SAMPLE, DistinctRows
from typicality.rows.features import Features

Sum = TypeVar("Sum")  # whatever has `a + b`

BLOCK_ROWS = 8192  # of arrays, sparse matrices and files
_ENOUGH = 1.25  # times the rows of a sample: so many small hashes hold it, if rows are distinct


def row_blocks(n_rows: int) -> Iterator[slice]:
    """Slices that cover the rows, a few thousand at a time, for work that would copy them."""
    return (slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS))


class Block(NamedTuple):
    """Some consecutive rows.

    Parameters
    ----------
    X : array of shape (n, d), C-contiguous, float32 or float64, or SparseArray
        The rows.
    weight : array of shape (n,), optional
        Their sample weights.
    start : int
        The number of the first of them among all rows.
    """

    X: Floats
    weight: Floats | None
    start: int


class Additive:
    """A dataclass of sums over rows: those of two sets of rows add up, field by field."""

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in names))


class Rows(ABC):
    """All rows of a data set, wherever they are.

    A fold has the same bits for any number of threads or workers, as long as the blocks are the
    same.

    Attributes
    ----------
    n_rows, n_features : int
        How many there are.
    dtype : dtype
        float32 or float64.
    weighted : bool
        Whether rows have sample weights.
    in_memory : bool
        Whether blocks are there at no cost; otherwise each pass reads or computes them again.
    lazy : bool
        Whether `map` computes nothing until its result is asked for.
    names : list of str or None
        The names of the features, where they have some.
    """

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]
    weighted: bool
    in_memory: bool = False
    lazy: bool = False
    names: list[str] | None = None

    @abstractmethod
    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        """The sum of the results of a function of a block, in the order of `TreeSum`.

        Empty blocks are skipped. The function must be picklable by cloudpickle.
        """

    @abstractmethod
    def map(self, function: Callable[[Block], Any]) -> Any:
        """One result for each row, in the kind the rows came in.

        `function(block)` returns an array with as many rows as the block, whose type and other
        dimensions are the same for all blocks.
        """

    @property
    def resident(self) -> "Rows":
        """These rows where sums over them are quickest: a tensor has blocks on its device."""
        return self

    def gather(self, function: Callable[[Block], Sum]) -> Sum:
        """As `fold`, for results that do not depend on the blocks, which are as large as can be."""
        return self.fold(function)

    def reweighted(self, weigh: Callable[[Block], Floats]) -> "Rows":
        """The same rows with other weights: `weigh(block)` returns those of a block."""
        return View(self, lambda block: block._replace(weight=weigh(block)), weighted=True)

    def moved(self, move: Callable[[Floats], Floats]) -> "Rows":
        """Other rows in the place of these: `move(X)` returns those of a block."""
        change = lambda block: block._replace(X=move(block.X))  # noqa: E731
        return View(self, change, weighted=self.weighted)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    def take(self, index: Places) -> Floats:
        """Some rows by their numbers, in that order."""
        known = self._known
        if known is not None and np.isin(index, known.index).all():
            order = np.argsort(known.index)
            return known.rows[order[np.searchsorted(known.index, index, sorter=order)]]
        wanted = np.unique(index)

        def found(block: Block) -> Floats:
            low, high = np.searchsorted(wanted, [block.start, block.start + len(block.X)])
            return block.X[wanted[low:high] - block.start]

        taken: Floats = stack_rows(self.gather(lambda block: [found(block)]))
        return taken[np.searchsorted(wanted, index)]

    @cached_property
    def features(self) -> Features:
        """Means, variances and ranges of the features, by one fold."""
        with np.errstate(over="ignore"):  # judged by `check_magnitudes`
            return self.fold(Features.of_block)

    @property
    def total_weight(self) -> float:
        """The sum of the weights; the number of rows where there are none."""
        return self.features.total if self.weighted else float(self.n_rows)

    _known: DistinctRows | None = None

    def sample(self, at_most: int = LARGEST_SAMPLE) -> DistinctRows:
        """At most so many distinct rows of positive weight, with the weight of all their copies.

        They are those whose hash is smallest: the same for every engine, order and split. (Sparse
        rows have other hashes.)
        """
        largest = max(at_most, LARGEST_SAMPLE)
        known = self._known
        if known is None or (len(known.rows) < known.n_distinct and len(known.rows) < largest):
            share = _ENOUGH * largest / self.n_rows
            known = self._distinct(largest, share) if share < 1.0 else None
            if known is None or known.n_distinct <= largest:  # many rows are equal
                known = self._distinct(largest)
            self._known = known
        return known.smallest(at_most)

    def _distinct(self, at_most: int, share: float = 1.0) -> DistinctRows:
        limits: Any = {"at_most": at_most, "share": share}
        return self.gather(
            lambda block: DistinctRows.of(block.X, block.weight, first_row=block.start, **limits)
        )


class View(Rows):
    """The rows of others, changed block by block, in each pass."""

    def __init__(self, rows: Rows, change: Callable[[Block], Block], *, weighted: bool) -> None:
        self._rows, self._change = rows, change
        self.n_rows, self.n_features, self.dtype = rows.n_rows, rows.n_features, rows.dtype
        self.weighted, self.lazy = weighted, rows.lazy

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        change = self._change
        return self._rows.fold(lambda block: function(change(block)))

    def map(self, function: Callable[[Block], Any]) -> Any:
        change = self._change
        return self._rows.map(lambda block: function(change(block)))


def count_distinct_rows(X: Floats | Rows, sample_weight: Floats | None, enough: int) -> int:
    """The number of distinct rows of positive weight, or some number that is `enough`.

    More than 131,072 are estimated from the smallest hashes.
    """
    if isinstance(X, Rows):
        return X.sample().n_distinct
    for n_rows in (max(1024, 4 * enough), len(X)):  # most often, the first rows are enough
        weight = None if sample_weight is None else sample_weight[:n_rows]
        n_distinct = DistinctRows.of(X[:n_rows], weight).n_distinct
        if n_distinct >= enough:
            break
    return n_distinct


def is_blockwise(X: Any) -> bool:
    """Whether rows are opened rows or a Dask collection, and not something array-like."""
    return isinstance(X, Rows) or is_dask(X)


def is_dask(X: Any) -> bool:
    """Whether an object is a Dask collection; Dask is not imported for that."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def as_rows(X: Any, sample_weight: Any = None) -> Rows:
    """Opened rows or a Dask collection as rows, with the weights of the user."""
    if is_dask(X):
        from typicality.rows.dask import dask_rows

        return dask_rows(X, sample_weight)
    rows: Rows = X
    if sample_weight is None:
        return rows
    if np.shape(sample_weight) != (rows.n_rows,):
        raise ValueError(
            f"sample_weight.shape == {np.shape(sample_weight)}, expected {(rows.n_rows,)}: pass "
            "one weight for each row of X."
        )
    weight = np.ascontiguousarray(sample_weight, rows.dtype)
    return rows.reweighted(lambda block: weight[block.start : block.start + len(block.X)])
