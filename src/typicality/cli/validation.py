"""What `typicality validate` measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from typicality.validation import OutlierStability
from typicality.validation.outliers import n_rejected
from typicality.validation.recommendation import Recommendation, recommend
from typicality.validation.sigma_grid import NamedSigma

OURS, SVM = "one-cluster", "one-class svm"


@dataclass(frozen=True, eq=False)
class Validation:
    """The stability of outlier detection over bandwidths and rates.

    Parameters
    ----------
    n_rows : int
        How many rows of the file could be used.
    seed : int
        The seed of the sample and the splits.
    sigmas : tuple of NamedSigma
        The bandwidths, in rising order.
    default_sigma : float
        The one of them that `typicality outliers` takes by itself.
    ours : tuple of OutlierStability
        Of our detector with each of them.
    svm : tuple of OutlierStability
        Of one-class SVM with the same kernels; empty where it was not asked for.
    warnings : tuple of str
        What the fits warned of.
    seconds : float
        How long all fits took.
    """

    n_rows: int
    seed: int
    sigmas: tuple[NamedSigma, ...]
    default_sigma: float
    ours: tuple[OutlierStability, ...]
    svm: tuple[OutlierStability, ...]
    warnings: tuple[str, ...]
    seconds: float

    @property
    def n_split(self) -> int:
        """How many rows were split in halves."""
        return self.ours[0].n_rows

    @property
    def n_repeats(self) -> int:
        """How often."""
        return self.ours[0].n_repeats

    @property
    def rates(self) -> tuple[float, ...]:
        """The shares of rows flagged."""
        return self.ours[0].rates

    @property
    def transfer(self) -> str:
        """How one half flags rows of the other."""
        return self.ours[0].transfer

    @property
    def n_flagged(self) -> tuple[int, ...]:
        """How many rows of a half are flagged at each rate."""
        n_half = self.n_split - self.n_split // 2
        return tuple(n_rejected(rate, n_half) for rate in self.rates)

    @cached_property
    def recommendation(self) -> Recommendation:
        """What to take."""
        return recommend(
            [named.sigma for named in self.sigmas],
            self.rates,
            np.array([result.scores for result in self.ours]),
            n_flagged=self.n_flagged,
            default_sigma=self.default_sigma,
        )

    @property
    def results(self) -> Iterator[tuple[str, NamedSigma, OutlierStability]]:
        """Every detector with every bandwidth."""
        for detector, results in ((OURS, self.ours), (SVM, self.svm)):
            for named, result in zip(self.sigmas, results, strict=bool(results)):
                yield detector, named, result

    @property
    def table(self) -> Iterator[dict[str, Any]]:
        """A row for every detector, bandwidth and rate."""
        for detector, named, result in self.results:
            errors, quartiles = result.standard_error.tolist(), result.quartiles.tolist()
            for number, rate in enumerate(self.rates):
                yield {
                    "detector": detector,
                    "sigma": named.sigma,
                    "rule": named.rule,
                    "rate": rate,
                    "n_flagged": self.n_flagged[number],
                    "n_repeats": result.n_repeats,
                    "mean": float(result.mean[number]),
                    "standard_error": errors[number],
                    "lower_quartile": quartiles[0][number],
                    "median": quartiles[1][number],
                    "upper_quartile": quartiles[2][number],
                }
