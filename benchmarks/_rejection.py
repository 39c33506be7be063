"""Nominal and actual rates of rejection, on new rows from the source of the training rows."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from typicality import OneClusterPCM
from typicality.exceptions import ClusteringWarning

__all__ = ["N_NEW", "OURS", "RATES", "WAYS", "Case", "actual_rates"]

OURS = "calibrated"
WAYS = (OURS, "plain typicality", "KDE", "isolation forest", "one-class SVM")
RATES = (0.01, 0.05, 0.1)
N_NEW = 5000

_SIZES = (500, 2000)
_WIDTHS: tuple[float | str, ...] = ("auto", 0.3)
_CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])
_SPREADS = np.array([0.5, 1.0, 0.7])

Doubles = NDArray[np.float64]
Source = Callable[[int, np.random.Generator], Doubles]


@dataclass(frozen=True)
class Case:
    """A source, a number of training rows, a width, a nominal rate; `actual` by way, by draw."""

    source: str
    n_training: int
    sigma: float | str
    nominal: float
    actual: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})

    @property
    def sampling_error(self) -> float:
        """The standard error of one rate: of a quantile of the training scores, and of the test."""
        variance = self.nominal * (1 - self.nominal)
        return float(np.sqrt(variance * (1 / self.n_training + 1 / N_NEW)))

    def mean(self, way: str) -> float:
        """The mean rate over the draws."""
        return float(np.mean(self.actual[way]))

    def standard_error(self, way: str) -> float:
        """The standard error of the mean, from the spread of the draws."""
        rates = self.actual[way]
        return float(np.std(rates, ddof=1) / np.sqrt(len(rates)))

    @property
    def z(self) -> float:
        """The error of our mean rate in units of its sampling error."""
        off = self.mean(OURS) - self.nominal
        return off / self.sampling_error * float(np.sqrt(len(self.actual[OURS])))

    @property
    def n_near(self) -> int:
        """How many draws are within two sampling errors of the nominal rate."""
        errors = np.abs(np.array(self.actual[OURS]) - self.nominal)
        return int(np.sum(errors <= 2 * self.sampling_error))


def _normal(n_features: int) -> Source:
    return lambda n_rows, rng: rng.standard_normal((n_rows, n_features))


def _clusters(n_rows: int, rng: np.random.Generator) -> Doubles:
    cluster = rng.integers(len(_CENTERS), size=n_rows)
    return _CENTERS[cluster] + _SPREADS[cluster, None] * rng.standard_normal((n_rows, 2))


_SOURCES: dict[str, Source] = {
    "normal, d=2": _normal(2),
    "normal, d=10": _normal(10),
    "clusters, d=2": _clusters,
}


def actual_rates(n_draws: int, progress: Callable[[str], None]) -> Iterator[Case]:
    """All cases, with the rates of every way of flagging."""
    for source in _SOURCES:
        for n_training in _SIZES:
            progress(f"rates of rejection: {source}, {n_training} training rows")
            yield from _cases(source, n_training, n_draws)


def _cases(source: str, n_training: int, n_draws: int) -> list[Case]:
    cases = [Case(source, n_training, sigma, rate) for sigma in _WIDTHS for rate in RATES]
    for draw in range(n_draws):
        rng = np.random.default_rng([*source.encode(), n_training, draw])
        X, new = _SOURCES[source](n_training, rng), _SOURCES[source](N_NEW, rng)
        others = {rate: _without_sigma(X, new, rate, draw) for rate in RATES}
        for sigma in _WIDTHS:
            of_sigma = [case for case in cases if case.sigma == sigma]
            _with_sigma(X, new, of_sigma)
            for case in of_sigma:
                _record(case, others[case.nominal])
    return cases


def _record(case: Case, rates: dict[str, float]) -> None:
    for way, rate in rates.items():
        case.actual[way].append(rate)


def _with_sigma(X: Doubles, new: Doubles, cases: list[Case]) -> None:
    """Scores and typicalities of new rows do not depend on the rate: they are computed once."""
    first, *rest = [_fit(X, case) for case in cases]
    scores, typicality = first.score_samples(new), first.predict_typicality(new)
    density = KernelDensity(bandwidth=first.sigma_).fit(X)
    trained, fresh = density.score_samples(X), density.score_samples(new)
    for case, model in zip(cases, [first, *rest], strict=True):
        rates = {
            OURS: float(np.mean(scores < model.offset_)),
            "plain typicality": _below(first.typicality_, typicality, case.nominal),
            "KDE": _below(trained, fresh, case.nominal),
        }
        _record(case, rates)


def _fit(X: Doubles, case: Case) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)  # 0.3 is too narrow in ten dimensions
        return OneClusterPCM(sigma=case.sigma, contamination=case.nominal).fit(X)


def _below(training: Doubles, new: Doubles, rate: float) -> float:
    """The share of new values below a quantile of the training values."""
    return float(np.mean(new < np.quantile(training, rate)))


def _without_sigma(X: Doubles, new: Doubles, rate: float, seed: int) -> dict[str, float]:
    forest = IsolationForest(contamination=rate, random_state=seed).fit(X)
    machine = OneClassSVM(nu=rate).fit(X)
    return {
        "isolation forest": float(np.mean(forest.predict(new) < 0)),
        "one-class SVM": float(np.mean(machine.predict(new) < 0)),
    }
