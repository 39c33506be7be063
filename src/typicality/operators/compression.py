"""Sums over many training rows, made small for prediction."""

from typicality.operators import nufft
from typicality.operators.base import Expansion, Floats
from typicality.operators.columns import Evaluated
from typicality.operators.nufft import Nufft
from typicality.operators.reduced_set import reduced_set


def compressed(columns: Evaluated, weights: Floats, *, rtol: float) -> Expansion:
    """Sums with a promise that need no training rows, or only a few.

    Gaussian sums in up to three dimensions become Fourier coefficients where these are fewer
    numbers than the rows; all others a reduced set of rows.

    Parameters
    ----------
    columns : Evaluated
        A kernel of a distance against the training rows.
    weights : array of shape (n, c)
        The weights.
    rtol : float
        The promise.
    """
    if nufft.refusal(columns.kernel_object, columns.training, rtol) is None:
        small = Nufft(columns, rtol=rtol).expansion(weights)
        if small.n_bytes < columns.training.nbytes:
            return small
    return reduced_set(columns, weights, rtol=rtol)
