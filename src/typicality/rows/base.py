"""Where the rows are: what every engine offers, and what follows from it.

An engine (an array, a file larger than memory, a Dask collection) cuts the rows into blocks and
implements `fold` and `map`. Everything else, such as features, samples and single rows, is a fold.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from typicality._cached import cached_property
from typicality._sparse import is_sparse, stack_rows
from typicality._typing import Doubles, Floats, Places
from typicality.rows.distinct import LARGEST_SAMPLE, DistinctRows, content_hash
from typicality.rows.features import Features, FeatureSums

Sum = TypeVar("Sum")  # whatever has `a + b`

_ROWS_AT_A_TIME = 4096
_ENOUGH = 1.25  # times the rows of a sample: so many small hashes hold it, if rows are distinct


def row_blocks(n_rows: int) -> Iterator[slice]:
    """Slices that cover the rows, a few thousand at a time, for work that would copy them."""
    return (slice(start, start + _ROWS_AT_A_TIME) for start in range(0, n_rows, _ROWS_AT_A_TIME))


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


class TreeSum(Generic[Sum]):
    """Add up parts as they come, in a tree that depends on their number alone.

    Neighbours are added, then neighbouring sums, and so on. At most log2(n) sums are kept.
    """

    def __init__(self) -> None:
        self._sums: list[tuple[int, Sum]] = []  # how many parts each has: falling powers of two

    def add(self, part: Sum) -> None:
        size = 1
        while self._sums and self._sums[-1][0] == size:
            _, before = self._sums.pop()
            part, size = before + part, 2 * size  # type: ignore[operator]
        self._sums.append((size, part))

    def total(self) -> Sum:
        (_, total), *before = reversed(self._sums)
        for _, sum_ in before:
            total = sum_ + total  # type: ignore[operator]
        return total


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

    def sweep(self, function: Callable[[Block], Sum]) -> Sum:
        """`fold` for the function that every iteration calls, where the rows can be used quickest.

        The blocks may be tensors on a device.
        """
        return self.fold(function)

    def reweighted(self, weigh: Callable[[Block], Floats]) -> "Rows":
        """The same rows with other weights: `weigh(block)` returns those of a block."""
        return View(self, lambda block: block._replace(weight=weigh(block)), weighted=True)

    def weighted_by(self, weight: Floats) -> "Rows":
        """The same rows with given weights, one for each row."""
        if np.shape(weight) != (self.n_rows,):
            raise ValueError(
                f"sample_weight.shape == {np.shape(weight)}, expected {(self.n_rows,)}: pass one "
                "weight for each row of X."
            )
        weight = np.ascontiguousarray(weight, self.dtype)
        return self.reweighted(lambda block: weight[block.start : block.start + len(block.X)])

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
        taken = self.fold(lambda block: _Taken.of(block, wanted)).rows
        return taken[np.searchsorted(wanted, index)]

    @cached_property
    def features(self) -> Features:
        """Means, variances and ranges of the features, by two folds."""
        sums = self.fold(FeatureSums.of)
        with np.errstate(over="ignore"):  # judged by `check_magnitudes`
            squares: Doubles = self.fold(lambda block: sums.squares(block.X, block.weight))
        return sums.features(squares)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights; the number of rows where there are none."""
        if not self.weighted:
            return float(self.n_rows)
        return self.fold(lambda block: float(np.sum(block.weight, dtype=np.float64)))  # type: ignore[arg-type]

    @cached_property
    def every_row(self) -> bool:
        """Whether no weight is zero."""
        return not self.weighted or self.fold(_zeros) == 0

    _known: DistinctRows | None = None

    def sample(self, at_most: int = LARGEST_SAMPLE) -> DistinctRows:
        """At most so many distinct rows of positive weight, with the weight of all their copies.

        They are those whose hash is smallest: the same for every engine, order and split.
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
        return self.fold(
            lambda block: DistinctRows.of(
                block.X, block.weight, at_most=at_most, first_row=block.start, share=share
            )
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


def _zeros(block: Block) -> int:
    return 0 if block.weight is None else int(np.sum(block.weight == 0))


@dataclass(frozen=True, eq=False)
class _Taken:
    """Rows that were asked for, in their order."""

    rows: Floats

    @classmethod
    def of(cls, block: Block, wanted: Places) -> "_Taken":
        low, high = np.searchsorted(wanted, [block.start, block.start + len(block.X)])
        return cls(block.X[wanted[low:high] - block.start])

    def __add__(self, other: "_Taken") -> "_Taken":
        return _Taken(stack_rows([self.rows, other.rows]))


def count_distinct_rows(
    X: Floats | Rows, sample_weight: Floats | None, enough: int | None = None
) -> int:
    """The number of distinct rows of positive weight, or some number that is `enough`.

    Without `enough`, all rows are counted by a hash of their content: a sort of n integers. Where
    rows are not in memory, more than 131,072 are estimated from the smallest hashes.
    """
    if isinstance(X, Rows):
        return X.sample().n_distinct
    if enough is None or is_sparse(X):
        keys = content_hash(X if sample_weight is None else X[sample_weight > 0])
        return int(np.count_nonzero(np.diff(np.sort(keys)))) + min(len(keys), 1)
    distinct = np.empty((0, X.shape[1]), X.dtype)
    step = max(1024, 4 * enough)
    for start in range(0, len(X), step):
        block = X[start : start + step]
        if sample_weight is not None:
            block = block[sample_weight[start : start + step] > 0]
        distinct = np.unique(np.concatenate([distinct, block]), axis=0)
        if len(distinct) >= enough:
            break
    return len(distinct)
