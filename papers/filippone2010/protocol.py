"""Stability by the paper's protocol: 1-PCM and KDE reject as many rows as 1-SVM rejects."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filippone2010.detectors import KDE, PCM, SVM, kde, pcm, svm
from regenerating import Setting
from typicality.metrics import jaccard_score
from typicality.stability import OutlierStability

_SPLITS = 1  # seed of the splits

Doubles = NDArray[np.float64]
ByMethod = dict[str, OutlierStability]


def by_decision(
    X: Doubles, sigma: float, *, rates: tuple[float, ...], n_repeats: int, setting: Setting
) -> tuple[ByMethod, Doubles]:
    """The stability of the three methods, and the share of rows that 1-SVM rejects at each nu.

    In each half of the rows, 1-PCM and KDE reject as many as `predict` of 1-SVM. The detectors of
    the first half judge the second by their thresholds (Table II).
    """
    seeds = np.random.RandomState(_SPLITS).randint(np.iinfo(np.int32).max, size=n_repeats)
    found = np.array(setting.each(partial(_split_once, X, sigma, rates), seeds.tolist()))
    stability = {
        name: OutlierStability(rates, found[:, :, number])
        for number, name in enumerate((SVM, PCM, KDE))
    }
    return stability, found[:, :, 3].mean(axis=0)


def _split_once(X: Doubles, sigma: float, rates: tuple[float, ...], seed: int) -> list[list[float]]:
    """For each nu the three Jaccard indices, and the share of rows that 1-SVM rejects."""
    order = np.random.RandomState(seed).permutation(len(X))
    first, second = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    scores = [_scores(make(sigma), first, second) for make in (pcm, kde)]
    results = []
    for nu in rates:
        one, two = svm(sigma, nu).fit(first), svm(sigma, nu).fit(second)
        n_first, rejected = _rejected(one, first).sum(), _rejected(two, second)
        indices = [jaccard_score(_rejected(one, second), rejected)]
        for own, transferred, of_second in scores:
            by_first = transferred <= _threshold(own, n_first)
            by_second = of_second <= _threshold(of_second, rejected.sum())
            indices.append(jaccard_score(by_first, by_second))
        results.append([*indices, n_first / len(first)])
    return results


def _scores(detector: Any, first: Doubles, second: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Of the first half by itself, of the second half by the first, and by itself."""
    one = detector.fit(first)
    own, transferred = one.score_samples(first), one.score_samples(second)
    return own, transferred, detector.fit(second).score_samples(second)


def _rejected(detector: Any, rows: Doubles) -> NDArray[np.bool_]:
    return np.asarray(detector.predict(rows) == -1)


def _threshold(scores: Doubles, n_rejected: int) -> float:
    return float(np.sort(scores)[n_rejected - 1]) if n_rejected else -np.inf
