"""Which operator computes the products of a fit."""

from typicality._typing import Floats
from typicality.sums.base import Operator
from typicality.sums.columns import Columns, KernelColumns, has_compiled_sums
from typicality.sums.dense import Dense
from typicality.sums.fourier import Nufft, can_be_summed
from typicality.sums.fused import Fused, can_be_fused
from typicality.sums.tiles import Tiles
from typicality.sums.tolerance import EXACT, Tolerance, are_few
from typicality.sums.torch_blocked import TorchBlocked, log_profile

_PAIRS_OF_A_MODE = 256  # that are computed in the time a mode of a Fourier series takes


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
