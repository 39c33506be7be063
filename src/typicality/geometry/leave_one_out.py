"""Scores of rows in which no row speaks for itself."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats
from typicality.geometry.distinct import content_hash
from typicality.geometry.kernel_prototypes import KernelPrototypes
from typicality.operators import Blocked
from typicality.operators.base import row_sums

__all__ = ["LeaveOneOut"]

_WHOLE_WEIGHT = 1.0 - 1e-12  # without a row of this weight nothing would be left


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    r"""One weighted mean of training rows, and scores of rows against it.

    A new row is scored plainly. A row that equals a training row is scored without one unit of the
    weight of that row,

    .. math:: s(x) = \frac{\sum_r w_r K(x, x_r) - w K(x, x)}{1 - w},

    where w is the weight of one copy: so a training row gets its leave-one-out score, alone or in
    any batch, and training rows and new rows of one source have the same distribution of scores.
    (A weight below one is left out as a whole; a row that has all the weight is not left out.)

    Original to typicality, see docs/theory.

    Parameters
    ----------
    mean : KernelPrototypes
        The mean, a single prototype.
    keys : array of shape (n,)
        The content of each training row, as a number.
    distinct : array of shape (k,)
        The sorted keys of rows of positive weight.
    own, unit : arrays of shape (k,)
        The weight of all copies of each, and the part of it that is left out.
    """

    mean: KernelPrototypes
    keys: NDArray[np.uint64]
    distinct: NDArray[np.uint64]
    own: NDArray[np.float64]
    unit: NDArray[np.float64]

    @classmethod
    def of(cls, mean: KernelPrototypes, rows: Floats, sample_weight: Floats | None) -> Self:
        """For the mean of the given training rows."""
        keys = content_hash(rows)
        distinct, copy_of = np.unique(keys, return_inverse=True)
        copies = np.bincount(copy_of, weights=sample_weight)
        own = np.bincount(copy_of, weights=mean.weights[:, 0]).astype(np.float64)
        one_copy = own / np.maximum(copies, 1.0)
        unit = np.where(one_copy < _WHOLE_WEIGHT, one_copy, 0.0)
        return cls(mean.for_prediction(), keys, distinct, own, unit)

    def scores(self, rows: Floats, eta: float) -> NDArray[np.float64]:
        """Log s where rows lie on a sphere, else the logarithm of the typicality, -d / eta."""
        if self.mean.columns.on_sphere:
            return self.log_similarity(rows)
        return -self.sqdist(rows) / eta

    def log_similarity(self, rows: Floats) -> NDArray[np.float64]:
        """Log s, in the domain of logarithms: far rows are still told apart."""
        blocked = Blocked(self.mean.columns, rows)
        return np.asarray(blocked.gather(self._log_similarity), dtype=np.float64)

    def sqdist(self, rows: Floats) -> NDArray[np.float64]:
        """Squared distances to the mean without the row.

        Without a weight w of the row itself the mean moves away from it by the factor 1 / (1 - w).
        """
        _, unit = self._known(rows)
        return np.asarray(self.mean.sqdist(rows)[:, 0] / (1.0 - unit) ** 2, dtype=np.float64)

    def _known(self, rows: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weight of the training rows that equal each row, and the part that is left out."""
        wanted = content_hash(rows)
        found = np.searchsorted(self.distinct, wanted).clip(max=len(self.distinct) - 1)
        known = self.distinct[found] == wanted
        return np.where(known, self.own[found], 0.0), np.where(known, self.unit[found], 0.0)

    def _log_similarity(self, rows: Floats) -> NDArray[np.float64]:
        own, unit = self._known(rows)
        log_kernel = self.mean.columns.log_kernel(rows)
        # The row's own weight is put in afterwards: taking it out of a sum would lose the tail.
        weights = self.mean.weights[:, 0]
        others = (self.keys != content_hash(rows)[:, None]) & (weights > 0)
        log_others = _log_sum(np.where(others, log_kernel, -np.inf), weights)
        with np.errstate(divide="ignore"):
            log_own = np.log(np.maximum(own - unit, 0.0))
        return np.asarray(np.logaddexp(log_others, log_own) - np.log1p(-unit))


def _log_sum(exponents: Floats, weights: NDArray[np.float64]) -> Any:
    """Log of the weighted sums of exponentials along rows, each row by itself."""
    highest = exponents.max(axis=1)
    finite = np.where(np.isfinite(highest), highest, 0.0)
    sums = row_sums(np.exp(exponents - finite[:, None]), weights[:, None])[:, 0]
    with np.errstate(divide="ignore"):
        return finite + np.log(sums)
