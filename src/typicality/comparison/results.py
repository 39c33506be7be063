"""What a comparison found out about each method."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles
from typicality.comparison.stability import Repeats
from typicality.metrics.partitions import count_clusters


@dataclass(frozen=True, eq=False)
class ClustererResult:
    """What a clusterer made of the rows.

    Parameters
    ----------
    name : str
        The method.
    estimator : str
        The estimator that was fitted, as Python writes it.
    labels : array of shape (n,) or None
        The cluster of each row that was compared, -1 for rows that belong nowhere; None where the
        method failed.
    number_from : {"found", "given", "silhouette", "BIC"}
        Where the number of clusters comes from: the method found it, it was given, or it is the one
        with the best silhouette or the smallest BIC.
    seconds : float
        The time of a fit, the number of clusters known.
    seconds_choosing : float
        The time it took to choose the number.
    stability : Repeats or None
        The adjusted Rand index of every two refits on the rows they share.
    refit_n_clusters : tuple of int
        The number of clusters in each refit.
    warnings : tuple of str
        What the method warned about.
    failure : str or None
        Why it failed.
    """

    name: str
    estimator: str
    labels: NDArray[np.int64] | None
    number_from: str
    seconds: float
    seconds_choosing: float
    stability: Repeats | None
    refit_n_clusters: tuple[int, ...]
    warnings: tuple[str, ...]
    failure: str | None

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters; rows of -1 are none."""
        return None if self.labels is None else count_clusters(self.labels)

    @property
    def left_out(self) -> float | None:
        """The share of rows that belong nowhere."""
        return None if self.labels is None else float(np.mean(self.labels < 0))

    @property
    def may_find_one(self) -> bool:
        """Whether the method could have said that there is only one cluster."""
        return self.number_from in ("found", "BIC")

    def to_dict(self) -> dict[str, Any]:
        """All but the labels, ready for JSON."""
        return {
            "kind": "clusterer",
            "method": self.name,
            "estimator": self.estimator,
            "n_clusters": self.n_clusters,
            "number_from": self.number_from,
            "left_out": self.left_out,
            **_stability(self.stability),
            "refit_n_clusters": list(self.refit_n_clusters),
            **_times(self),
            "seconds_choosing": self.seconds_choosing,
            **_remarks(self),
        }


@dataclass(frozen=True, eq=False)
class DetectorResult:
    """What a detector of outliers made of the rows.

    Parameters
    ----------
    name : str
        The method.
    estimator : str
        The estimator that was fitted, as Python writes it.
    scores : array of shape (n,) or None
        The decision on each row that was compared, a score minus its threshold: larger is more
        typical, negative is an outlier. None where the method failed.
    flagged : array of shape (n,) of bool or None
        Whether the row is an outlier.
    rate : float or None
        The nominal rate it was told; None for estimators of the user, which keep their own.
    n_fitted : int
        The number of rows it was fitted on.
    held_out : Repeats or None
        The share flagged of the rows that a refit had not seen, for each refit.
    seconds : float
        The time to fit and to flag all rows.
    stability : Repeats or None
        The Jaccard index of the rows flagged by every two refits, among the rows they share.
    warnings : tuple of str
        What the method warned about.
    failure : str or None
        Why it failed.
    """

    name: str
    estimator: str
    scores: Doubles | None
    flagged: NDArray[np.bool_] | None
    rate: float | None
    n_fitted: int
    held_out: Repeats | None
    seconds: float
    stability: Repeats | None
    warnings: tuple[str, ...]
    failure: str | None

    @property
    def flagged_share(self) -> float | None:
        """The share of the rows that is flagged."""
        return None if self.flagged is None else float(np.mean(self.flagged))

    def to_dict(self) -> dict[str, Any]:
        """All but scores and flags, ready for JSON."""
        return {
            "kind": "detector",
            "method": self.name,
            "estimator": self.estimator,
            "rate": self.rate,
            "flagged": self.flagged_share,
            "held_out": None if self.held_out is None else self.held_out.mean,
            **_stability(self.stability),
            "n_fitted": self.n_fitted,
            **_times(self),
            **_remarks(self),
        }


def _stability(stability: Repeats | None) -> dict[str, float | None]:
    if stability is None:
        return {"stability": None, "stability_deviation": None}
    return {"stability": stability.mean, "stability_deviation": stability.deviation}


def _times(result: ClustererResult | DetectorResult) -> dict[str, float | None]:
    return {"seconds": None if result.failure else result.seconds}


def _remarks(result: ClustererResult | DetectorResult) -> dict[str, Any]:
    return {"warnings": list(result.warnings), "failure": result.failure}
