"""Which rows a kernel-induced space is learned from, and how all rows are judged afterwards."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from typicality._sparse import is_sparse, stack_rows
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats
from typicality.cluster._inputs import SPECIAL_KERNELS, has_input_space
from typicality.density import Calibration, Scored
from typicality.kernels import Gaussian
from typicality.rows import (
    LARGEST_SAMPLE,
    Block,
    DistinctRows,
    Rows,
    content_hash,
    histogram,
    quantile,
    rows_in_memory,
)
from typicality.rows.quantiles import weighted_quantile

_FEW_COLUMNS = 3  # Gaussian sums by Fourier transforms are linear in the number of rows
_MOST_ROWS = 10_000  # of more columns or other kernels, where sums are over pairs of rows
_READ_BYTES = 2**28  # rows of files and Dask collections that are read at once
_FEWEST_TO_SPLIT, _MOST_TO_SPLIT = 4, 10**8  # rows
_SCORES_IN_MEMORY = 2**25  # rows; the quantile of more scores is found by further passes


class Learned(NamedTuple):
    """The rows that are learned from.

    Parameters
    ----------
    rows : Rows, or array or SparseArray of shape (n, d)
        The rows; `Rows` in the input space, which is learned by passes.
    weight : array of shape (n,), optional
        Their weights; those of all copies of a row, if rows are a sample.
    is_all : bool
        Whether they are all rows that were given, in their order.
    """

    rows: Any
    weight: Floats | None
    is_all: bool


def learned_rows(
    estimator: Any, rows: Any, weight: Floats | None, *, explicit: bool = True
) -> Learned:
    """The rows that an estimator with `kernel` and `max_samples` learns from.

    The input space takes all rows, wherever they are. A kernel-induced space takes rows in memory:
    all of them, or a sample of the distinct rows by a hash of their content, which is the same for
    every order and engine, except that sparse matrices have other hashes.

    Parameters
    ----------
    estimator : estimator
        With `kernel` and `max_samples`.
    rows : Rows, array or SparseArray
        The checked rows; `Rows` where :func:`read_at_once` could not read them.
    weight : array of shape (n,), optional
        The weights of rows in memory.
    explicit : bool, default=True
        Whether the linear kernel opens the input space itself.
    """
    if explicit and has_input_space(estimator.kernel):
        return Learned(rows, weight, True)
    at_most = _most_rows(estimator, rows)
    if isinstance(rows, Rows):
        if estimator.max_samples is None:
            raise ValueError(
                "max_samples=None learns from all rows, but they are not in memory. Leave "
                "max_samples='auto', give a number of rows, or pass an array."
            )
        few = rows.sample(LARGEST_SAMPLE if at_most is None else at_most)
    elif at_most is None or len(rows) <= at_most:
        return Learned(rows, weight, True)
    else:
        few = DistinctRows.of(rows, weight, at_most=at_most)
    return Learned(few.rows, few.weight.astype(rows.dtype), False)


def _most_rows(estimator: Any, rows: Any) -> int | None:
    """How many rows are learned from at the most; None for all of them."""
    kernel, at_most = estimator.kernel, estimator.max_samples
    if isinstance(kernel, str) and kernel in SPECIAL_KERNELS:
        if isinstance(rows, Rows):
            raise ValueError(
                f"kernel={kernel!r} needs all rows in memory. Pass an array, or use another "
                "kernel, e.g. 'gaussian', which can be learned from a sample of the rows."
            )
        return None
    if at_most is None or at_most != "auto":
        return at_most if at_most is None else int(at_most)
    init = getattr(estimator, "init", "")
    if not (isinstance(init, str) or callable(init)) and len(init) == len(rows):
        return None  # memberships of all rows to start from
    is_gaussian = isinstance(kernel, Gaussian) or kernel in ("gaussian", "rbf")
    quick = is_gaussian and not is_sparse(rows) and rows.shape[1] <= _FEW_COLUMNS
    return None if quick else _MOST_ROWS


def read_at_once(rows: Any, weight: Floats | None) -> tuple[Any, Floats | None]:
    """Rows of a file or a Dask collection as an array, in one pass, unless they are too many."""
    if not isinstance(rows, Rows):
        return rows, weight
    if rows.n_rows * rows.n_features * rows.dtype.itemsize > _READ_BYTES:
        return rows, weight
    blocks = rows.gather(lambda block: [(block.X, block.weight)])
    X = stack_rows([X for X, _ in blocks])
    return X, np.concatenate([w for _, w in blocks]) if rows.weighted else None


def how_learned(learned: Learned, n_rows: int, sums: str) -> str:
    """A sentence about the sums of a fit, with the size of the sample, if there is one."""
    n_learned = len(learned.rows)
    if n_learned == n_rows:
        return sums
    return f"learned from a sample of {n_learned:,} distinct rows of {n_rows:,}; {sums}"


def map_rows(rows: Any, function: Callable[[Floats], Any]) -> Any:
    """The results of a function for all rows, in the kind the rows came in."""
    if not isinstance(rows, Rows):
        return function(array_of(rows))
    return rows.map(lambda block: function(block.X))


# ---- thresholds and p-values ---------------------------------------------------------------------


def split_rows(rows: Any, weight: Floats | None, random_state: Any) -> tuple[Any, Any, Rows]:
    """Two random halves of the copies of rows: rows and weights for the fit; rows to compare with.

    Of rows that are not in memory, a hash of the number of a row and the seed decides, whatever the
    row holds: any engine and any blocks give the same halves.
    """
    random = check_random_state(random_state)
    if isinstance(rows, Rows):
        return _halves(rows, float(random.randint(2**31)))
    if weight is not None and (weight != np.floor(weight)).any():
        raise ValueError(
            "calibration='split' draws half of the copies of rows at random, so sample "
            "weights must be whole numbers. Use calibration='leave-one-out'."
        )
    _check_number_to_split(len(rows) if weight is None else float(weight.sum(dtype=np.float64)))
    fitted, held_out = _split_copies(len(rows), weight, random)
    kept = np.flatnonzero(held_out)
    others = rows_in_memory(array_of(rows)[kept], held_out[kept])
    return rows, fitted.astype(rows.dtype), others


def _split_copies(n_rows: int, sample_weight: Floats | None, random: Any) -> tuple[Any, Any]:
    """Two random halves of the rows: how many copies of each row are in the first and the second.

    Places are drawn, whatever the rows hold, so that the halves of exchangeable rows are
    exchangeable for any seed. A row of weight k is drawn like k equal rows that follow one another.
    """
    copies = np.ones(n_rows, np.int64) if sample_weight is None else sample_weight.astype(np.int64)
    total = int(copies.sum())
    drawn = np.repeat(np.arange(n_rows), copies)[random.permutation(total)[: total // 2]]
    second = np.bincount(drawn, minlength=n_rows)
    return copies - second, second.astype(np.float64)


def _check_number_to_split(n_rows: float) -> None:
    """An error about too few or too many rows for two halves."""
    if not _FEWEST_TO_SPLIT <= n_rows <= _MOST_TO_SPLIT:
        raise ValueError(
            f"calibration='split' needs {_FEWEST_TO_SPLIT} to {_MOST_TO_SPLIT:,} rows "
            f"(copies included), because only half of them are fitted; there are {n_rows:,.0f}. "
            "Use calibration='leave-one-out'."
        )


def _halves(rows: Rows, seed: float) -> tuple[Rows, None, Rows]:
    if rows.weighted:
        raise ValueError(
            "calibration='split' takes no sample_weight for rows that are not in memory. Repeat "
            "the rows instead, or use calibration='leave-one-out'."
        )
    _check_number_to_split(rows.n_rows)

    def is_held_out(block: Block) -> Doubles:
        numbers = np.arange(block.start, block.start + len(block.X), dtype=np.float64)
        keys = content_hash(np.column_stack([np.full(len(numbers), seed), numbers]))
        return np.asarray(keys >= 2**63, dtype=block.X.dtype)

    return rows.reweighted(lambda block: 1 - is_held_out(block)), None, rows.reweighted(is_held_out)


def calibrate(
    rows: Rows, judge: Callable[[Floats], Scored], rate: float
) -> tuple[float, Calibration, Doubles | None]:
    """The score below which a share of the rows is, and their sums to compare new rows with.

    Third is `apart` of all rows, if these are in memory, have weights and have it.

    Costs a number per row in memory; of more than 33 million rows, the quantile is found by further
    passes, and p-values compare with a histogram, which can only make them larger.

    Parameters
    ----------
    rows : Rows
        The rows; those of weight zero do not count.
    judge : callable
        `judge(X)` returns scores and their errors.
    rate : float
        The share.
    """
    if rows.n_rows > _SCORES_IN_MEMORY:
        offset = quantile(rows, lambda block: judge(block.X).scores, rate)
        counted = histogram(rows, lambda block: judge(block.X).least)
        copies = counted.weight / counted.unit
        return offset, Calibration(counted.lower_ends, copies, False), None

    def judged(block: Block) -> list[tuple[Any, ...]]:
        weight = np.ones(len(block.X)) if block.weight is None else block.weight
        counted = np.flatnonzero(weight)
        X = block.X if len(counted) == len(weight) else block.X[counted]
        if not len(counted):
            return []
        found = judge(X)
        apart = found.apart if rows.in_memory and len(X) == rows.n_rows else None
        return [(found.scores, found.least, weight[counted].astype(np.float64), apart)]

    parts = rows.gather(judged)
    *columns, apart = zip(*parts, strict=True)
    scores, log_sums, copies = map(np.concatenate, columns)
    offset = weighted_quantile(scores, rate, copies)
    return offset, Calibration(log_sums, copies, False), apart[0]
