"""Translate the user's `rtol` into bounds for kernel sums, and choose how these are computed."""

from typing import Any, NamedTuple, Self

import numpy as np

from typicality._typing import Floats
from typicality.sums.base import Operator
from typicality.sums.columns import Columns, KernelColumns, evenly_spaced, has_compiled_sums
from typicality.sums.dense import Dense
from typicality.sums.fourier import Nufft, can_be_summed, has_series
from typicality.sums.fused import Fused, can_be_fused
from typicality.sums.tiles import Tiles
from typicality.sums.torch_blocked import TorchBlocked, log_profile

_PAIRS_OF_A_MODE = 256  # that are computed in the time a mode of a Fourier series takes
_FEW_FOR_SERIES, _FEW = 2048, 5120  # rows: of kernels that have quick Fourier sums, and others
_N_ASKED, _N_SAMPLED = 128, 2048
_LOW = 0.01  # the share of rows that count as low
_SMALLEST = 1e-12  # of the total weight: below is rounding
_FAR_BELOW = 1e-4  # of the height of a low row: then few rows need a second, exact sum
_SHARE_OF_VARIANCE = 1e-3  # that heights may be off by, however low rows may be
_FEW_ROWS = 25.0  # over all: exact sums of a few hundred rows cost as much as the others together
_FEW_NEIGHBOURS = 1e-9  # rows that need a finer promise have few neighbours, and quick exact sums


def are_few(columns: KernelColumns) -> bool:
    """Whether rows are so few that products with the whole matrix are as quick as any."""
    n_rows, n_features = columns.training.shape
    by_series = has_series(columns.kernel_function, n_features)
    return bool(n_rows <= (_FEW_FOR_SERIES if by_series else _FEW))


class Tolerance(NamedTuple):
    """The error that is allowed, relative to the sum of the absolute weights.

    Parameters
    ----------
    absolute : float
        The promise of products.
    tails : float
        The promise for sums of which the smallest matter: scores of rows.
    share : float
        What the promise may be of the variance in the induced space, once that is known.
    """

    absolute: float
    tails: float
    share: float

    def within(self, limit: float) -> Self:
        """The same with no promise above a limit."""
        return self._replace(absolute=min(self.absolute, limit), tails=min(self.tails, limit))

    @classmethod
    def of_distances(
        cls, columns: KernelColumns, sample_weight: Floats | None, rtol: float
    ) -> Self:
        """For squared distances known to `rtol` times the variance in the induced space.

        The promise for tails is far below the heights of all rows but the lowest 1 %, so that few
        need a second, exact sum. Variance and heights are those of a sample.
        """
        if rtol == 0 or not columns.on_sphere:
            return cls(0.0, 0.0, 0.0)
        heights, weight = _sampled_heights(columns, sample_weight)
        low = max(float(np.quantile(heights, _LOW)), 1.0 / len(columns.training))
        allowed = rtol * (1.0 - float(np.average(heights, weights=weight)))
        far_below = min(_FAR_BELOW, _FEW_ROWS / len(columns.training))
        return cls(allowed, min(allowed, max(far_below * low, _FEW_NEIGHBOURS)), rtol)

    @classmethod
    def of_a_row(cls, n_rows: int, sample_weight: Floats | None, rtol: float) -> Self:
        """For heights known to `rtol` even at a row that stands alone; exact for `rtol` 0.

        No operator but an exact one can promise less than 1e-12 of the total weight, which is
        therefore the least that is asked for.
        """
        if rtol == 0:
            return cls(0.0, 0.0, 0.0)
        if sample_weight is None:
            lone = 1.0 / n_rows
        else:
            lone = float(sample_weight.min() / sample_weight.sum())
        allowed = max(rtol * lone, _SMALLEST)
        return cls(allowed, allowed, _SHARE_OF_VARIANCE)


EXACT = Tolerance(0.0, 0.0, 0.0)


def _sampled_heights(columns: KernelColumns, sample_weight: Floats | None) -> tuple[Any, Any]:
    """The mean kernel value of some rows with others, themselves left out; their weights."""
    rows = columns.training
    others = evenly_spaced(len(rows), _N_SAMPLED)
    asked = others[evenly_spaced(len(others), _N_ASKED)]
    weight = np.ones(len(others)) if sample_weight is None else sample_weight[others]
    counted = (asked[:, None] != others) * weight
    values = columns.kernel_function(rows[asked], rows[others])
    total = np.maximum(counted.sum(axis=1), np.finfo(np.float64).tiny)
    own = np.ones(len(asked)) if sample_weight is None else sample_weight[asked].astype(float)
    return (values * counted).sum(axis=1) / total, own if own.any() else own + 1.0


def choose_operator(
    columns: Columns, rows: Floats, tolerance: Tolerance = EXACT, *, device: str | None = None
) -> Operator:
    """The operator of a fit, by the kernel, the shape of the rows and the promise alone.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    rows : array
        The training rows.
    tolerance : Tolerance
        How far sums may be off; not at all when left out.
    device : str, optional
        Where sums are computed, as torch names it. A kernel without a form in torch is computed on
        the CPU all the same.
    """
    if not isinstance(columns, KernelColumns):  # the values are given
        return Dense(columns, rows, keep=False)
    rtol, kernel = tolerance.absolute, columns.kernel_function
    if device is not None and log_profile(kernel) is not None:
        fused = can_be_fused(kernel, device, rtol)
        return (Fused if fused else TorchBlocked)(columns, rows, device, rtol if fused else 0.0)
    if are_few(columns) or not has_compiled_sums(columns):
        return Dense(columns, rows, keep=are_few(columns))
    if can_be_summed(kernel, columns.training, rtol):
        series = Nufft(columns, rtol=rtol)
        if _PAIRS_OF_A_MODE * series.grid.n_modes <= len(rows) ** 2:
            return series
    return Tiles.of(columns, rtol)
