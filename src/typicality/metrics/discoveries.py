"""Which hypotheses to reject, given p-values, at a rate of false discoveries."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

from typicality._typing import Doubles

_METHODS = ("bh", "by", "storey")
_LAMBDA = 0.5  # p-values above it are taken for those of true hypotheses
_ROUNDING = 1e-12


def select_discoveries(
    p_values: ArrayLike, *, fdr: float = 0.1, method: str = "bh"
) -> NDArray[np.bool_]:
    r"""The p-values that are rejected at a false discovery rate.

    Sort the m p-values in increasing order, and find the largest k with

    .. math:: p_{(k)} \le \frac{k}{m} \frac{\alpha}{c}, \qquad
        c = 1, \quad \sum_{i=1}^m \frac1i, \quad
        \frac{1 + \#\{p > \frac12\}}{m / 2}

    with these values of c for "bh" (:cite:`benjamini1995`), "by" (:cite:`benjamini2001`) and
    "storey" (:cite:`storey2004`). The k smallest p-values are rejected. On average, at most a
    fraction :math:`\alpha` of the rejected hypotheses is true. For "by", this holds for all valid
    p-values. For "bh", it holds if they are independent or positively dependent, as with split
    conformal detectors (:cite:`bates2023`). For "storey", it holds if they are independent.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        The p-values, in [0, 1].
    fdr : float, default=0.1
        The rate :math:`\alpha`, between 0 and 1.
    method : {"bh", "by", "storey"}, default="bh"
        The procedure. "storey" estimates the number of true hypotheses. It rejects more than "bh"
        if many hypotheses are false, but no p-value above 1/2.

    Returns
    -------
    rejected : array of shape (m,), bool

    Examples
    --------
    >>> from typicality.metrics import select_discoveries
    >>> select_discoveries([0.001, 0.8, 0.02, 0.3])
    array([ True, False,  True, False])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(
            "p_values must be numbers from 0 to 1, one for each row; their shape is "
            f"{p.shape}" + ("." if p.ndim != 1 else ", and some are NaN or outside this range.")
        )
    if not 0 < fdr < 1:
        raise ValueError(f"fdr must be above 0 and below 1, got {fdr!r}.")
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}.")
    if len(p) == 0:
        return np.zeros(0, dtype=bool)
    adjusted = false_discovery_control(p, method="bh")
    rejected: NDArray[np.bool_] = adjusted * penalty(p, method) <= fdr * (1.0 + _ROUNDING)
    return rejected & (p <= _LAMBDA) if method == "storey" else rejected


def penalty(p_values: Doubles, method: str) -> float:
    """The factor c by which a procedure divides the rate."""
    m = len(p_values)
    if method == "by":
        return float(np.sum(1.0 / np.arange(1, m + 1)))
    if method == "storey":
        return float((1 + np.sum(p_values > _LAMBDA)) / (m * (1.0 - _LAMBDA)))
    return 1.0
