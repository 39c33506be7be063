"""Scores of rows in which no row speaks for itself."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats
from typicality.geometry.kernel_prototypes import KernelPrototypes, sqdist_from_products
from typicality.operators import Blocked
from typicality.operators.base import row_sums

__all__ = ["LeaveOneOut"]

_SAME_PLACE = {8: 1e-9, 4: 1e-5}  # of the spread of the data, by the bytes of a number
_WHOLE_WEIGHT = 1.0 - 1e-12  # without a row of this weight nothing would be left


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    r"""One weighted mean of training rows, and scores of rows against it.

    A new row is scored plainly. A row that coincides with a training row is scored without one unit
    of the weight of that row,

    .. math:: s(x) = \frac{\sum_r w_r K(x, x_r) - w K(x, x)}{1 - w},

    where w is the weight of one copy: so a training row gets its leave-one-out score, alone or in
    any batch, and training rows and new rows of one source have the same distribution of scores.
    (A weight below one is left out as a whole; a row that has all the weight is not left out.)

    Original to typicality, see docs/theory.

    Parameters
    ----------
    mean : KernelPrototypes
        The mean, a single prototype.
    sample_weight : array of shape (n,)
        How many copies each training row stands for.
    nearest : float
        Half a squared distance; what is nearer coincides, but for rounding.
    """

    mean: KernelPrototypes
    sample_weight: NDArray[np.float64]
    nearest: float

    @classmethod
    def of(
        cls, mean: KernelPrototypes, sample_weight: Floats | None, *, total_variance: float
    ) -> Self:
        """For a mean of training rows that have the given weights and variance."""
        copies = np.ones(len(mean.weights)) if sample_weight is None else sample_weight
        share = _SAME_PLACE[np.dtype(mean.dtype).itemsize] ** mean.columns.order
        nearest = share * total_variance + mean.columns.rounding
        return cls(mean.for_prediction(), copies.astype(np.float64), nearest)

    def scores(self, rows: Floats, eta: float) -> NDArray[np.float64]:
        """Log s where rows lie on a sphere, else the logarithm of the typicality, -d / eta."""
        if self.mean.columns.on_sphere:
            return self.log_similarity(rows)
        return -self.sqdist(rows) / eta

    def log_similarity(self, rows: Floats) -> NDArray[np.float64]:
        """Log s, in the domain of logarithms: far rows are still told apart."""
        return self._gather(rows, self._log_similarity)

    def sqdist(self, rows: Floats) -> NDArray[np.float64]:
        """Squared distances to the mean without the row.

        Without a weight w of the row itself the mean moves away from it by the factor 1 / (1 - w).
        """
        return self._gather(rows, self._sqdist)

    def _gather(self, rows: Floats, of_rows: Any) -> NDArray[np.float64]:
        return np.asarray(Blocked(self.mean.columns, rows).gather(of_rows), dtype=np.float64)

    @property
    def _weights(self) -> NDArray[np.float64]:
        return self.mean.weights

    def _unit(self, coincides: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The weight of the training rows a row coincides with, and the part that is left out."""
        own = row_sums(coincides.astype(np.float64), self._weights)[:, 0]
        copies = row_sums(coincides.astype(np.float64), self.sample_weight[:, None])[:, 0]
        one = min(1.0, float(self.sample_weight.max()))
        unit = own * np.minimum(1.0, one / np.maximum(copies, one))
        return own, np.where(unit < _WHOLE_WEIGHT, unit, 0.0)

    def _sqdist(self, rows: Floats) -> Floats:
        half_sqdist = self.mean.columns.half_sqdist(rows)
        _, unit = self._unit(half_sqdist <= self.nearest)
        products = row_sums(half_sqdist, self._weights)
        return sqdist_from_products(products, self.mean.energy)[:, 0] / (1.0 - unit) ** 2

    def _log_similarity(self, rows: Floats) -> Floats:
        log_kernel = self.mean.columns.log_kernel(rows)
        known = np.flatnonzero(log_kernel.max(axis=1) >= -self.nearest)
        own, unit = np.zeros(len(rows)), np.zeros(len(rows))
        if len(known):
            coincides = log_kernel[known] >= -self.nearest
            own[known], unit[known] = self._unit(coincides)
            # Their weight is put in afterwards: taken out of a sum it would take the tail along.
            log_kernel[known] = np.where(coincides, -np.inf, log_kernel[known])
        log_kernel[:, self._weights[:, 0] == 0] = -np.inf
        with np.errstate(divide="ignore"):
            log_own = np.log(np.maximum(own - unit, 0.0))
        scores = np.logaddexp(_log_sum(log_kernel, self._weights), log_own) - np.log1p(-unit)
        near = np.flatnonzero(scores > np.log(0.5))
        if len(near):  # one minus a small number: the logarithm of the sum would be rounding
            others = np.where(np.isfinite(log_kernel[near]), log_kernel[near], 0.0)
            apart = row_sums(-np.expm1(others), self._weights)[:, 0]
            scores[near] = np.log1p(-apart / (1.0 - unit[near]))
        return np.asarray(scores)


def _log_sum(exponents: Floats, weights: NDArray[np.float64]) -> Floats:
    """Log of the weighted sums of exponentials along rows, each row by itself."""
    highest = exponents.max(axis=1)
    finite = np.where(np.isfinite(highest), highest, 0.0)
    sums = row_sums(np.exp(exponents - finite[:, None]), weights)[:, 0]
    with np.errstate(divide="ignore"):
        return np.asarray(finite + np.log(sums))
