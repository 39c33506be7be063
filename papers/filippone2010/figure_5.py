"""Figure 5: stability and accuracy of 1-SVM, 1-PCM and KDE on three real sets."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from filippone2010.accuracy import Accuracy, Task, accuracy
from filippone2010.boxes import draw_boxes
from filippone2010.detectors import KDE, PCM, SVM, kde, pcm, svm
from filippone2010.figure_3 import RATES, cells, compare, one_legend
from filippone2010.protocol import ByMethod, by_decision
from regenerating import Setting, markdown_table
from typicality.datasets import load_breast_cancer_original, load_ionosphere
from typicality.exceptions import FeatureWarning

_DRAWS = 3  # seed of the rows that are flagged

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]


class RealSet(NamedTuple):
    """A set, its outliers, and the paper's settings."""

    name: str
    load: Callable[[], tuple[Doubles, Flags]]
    sigma: float
    nu: float
    sizes: tuple[int, ...]


class OnSet(NamedTuple):
    """What was measured on a set."""

    real: RealSet
    stability: ByMethod  # as the paper: as many rows as 1-SVM rejects
    nominal_stability: ByMethod
    accuracy: dict[str, Accuracy]  # at the rate of the one-class SVM's `predict`, as in the paper
    nominal: dict[str, Accuracy]  # at the rate nu itself
    flagged: Doubles  # the share of its training rows that `predict` flags, for each size

    def accuracies(self, size: int) -> tuple[float, ...]:
        """The mean accuracies of the three methods."""
        column = self.real.sizes.index(size)
        return tuple(float(self.accuracy[name].mean[column]) for name in (SVM, PCM, KDE))


class RealSets(NamedTuple):
    """All sets that are there, and what is said of those that are not."""

    found: dict[str, OnSet]
    lacking: list[str]


def _breast() -> tuple[Doubles, Flags]:
    X, y = load_breast_cancer_original()
    return X, y == 1


def _ionosphere() -> tuple[Doubles, Flags]:
    X, y = load_ionosphere()
    return X, y == 1


def _iris() -> tuple[Doubles, Flags]:
    X, y = load_iris(return_X_y=True)
    return X, y == 2


BREAST = RealSet("Breast", _breast, 10.0, 0.1, (10, 20, 50, 100, 200, 300))
IONOSPHERE = RealSet("Ionosphere", _ionosphere, 1.0, 0.2, (10, 20, 50, 100, 150))
IRIS = RealSet("Iris", _iris, 0.5, 0.2, (10, 20, 40, 60, 80))
SETS = (BREAST, IONOSPHERE, IRIS)


def measure(setting: Setting) -> RealSets:
    """Measure on each set that can be loaded."""
    found, lacking = {}, []
    for real in SETS:
        try:
            X, is_outlier = real.load()
        except FileNotFoundError as missing:
            lacking.append(f"{real.name} in Fig. 5. {missing}")
            continue
        smaller = real._replace(sizes=setting.pick(real.sizes, (real.sizes[0], real.sizes[-1])))
        with warnings.catch_warnings():  # of features that are constant in the rows of a draw
            warnings.simplefilter("ignore", FeatureWarning)
            found[real.name] = _on_set(smaller, X, is_outlier, setting)
    return RealSets(found, lacking)


def _on_set(real: RealSet, X: Doubles, is_outlier: Flags, setting: Setting) -> OnSet:
    rates = setting.pick(RATES, (0.01, 0.1))
    n_splits, n_draws, n_nominal = setting.pick((500, 500, 200), (6, 12, 6))
    reference = svm(real.sigma, real.nu)
    three = {SVM: reference, PCM: pcm(real.sigma), KDE: kde(real.sigma)}
    tasks = {name: Task(X, is_outlier, real.sizes, detector) for name, detector in three.items()}
    matched = {name: task._replace(matched_to=reference) for name, task in tasks.items()}
    matched[SVM] = tasks[SVM]  # rejects by `predict`
    stability, _ = by_decision(X, real.sigma, rates=rates, n_repeats=n_splits, setting=setting)
    return OnSet(
        real,
        stability,
        compare(X, real.sigma, rates=rates, n_repeats=n_splits, n_jobs=setting.n_jobs),
        {name: accuracy(task, n_draws, setting) for name, task in matched.items()},
        {
            name: accuracy(task._replace(rate=real.nu), n_nominal, setting)
            for name, task in tasks.items()
        },
        _flagged(real, X[~is_outlier], n_nominal),
    )


def _flagged(real: RealSet, normal: Doubles, n_draws: int) -> Doubles:
    """The mean share of the training rows that the one-class SVM flags, for each size."""
    rng = np.random.RandomState(_DRAWS)
    shares = [
        [
            (svm(real.sigma, real.nu).fit_predict(normal[rng.permutation(len(normal))[:size]]) < 0)
            for _ in range(n_draws)
        ]
        for size in real.sizes
    ]
    return np.array([np.mean([flags.mean() for flags in of_size]) for of_size in shares])


# ---- the picture and the tables -----------------------------------------------------------------


def picture(found: RealSets, setting: Setting) -> Path:
    """Stability above, accuracy below, a column for each set."""
    import matplotlib.pyplot as plt

    n_sets = len(found.found)
    size = (4.2 * n_sets, 6.0)
    figure, axes = plt.subplots(2, n_sets, figsize=size, layout="constrained", squeeze=False)
    for (above, below), on_set in zip(axes.T, found.found.values(), strict=True):
        real = on_set.real
        rates = on_set.stability[SVM].rates
        draw_boxes(above, {name: r.scores for name, r in on_set.stability.items()}, rates)
        above.set(title=f"{real.name}, $\\sigma$ = {real.sigma:g}: stability")
        above.set(xlabel="nu of 1-SVM", ylabel="Jaccard index", ylim=(-0.03, 1.03))
        draw_boxes(below, {name: r.scores for name, r in on_set.accuracy.items()}, real.sizes)
        below.set(title=f"accuracy, $\\nu$ = {real.nu:g}", ylim=(-0.03, 1.03))
        below.set(xlabel="rows of training", ylabel="Jaccard index with the truth")
    one_legend(figure, axes.flat)
    return setting.save(figure, "figure_5")


def stability_table(found: RealSets) -> str:
    """Mean stabilities, 1-SVM / 1-PCM / KDE."""
    rates = next(iter(found.found.values())).stability[SVM].rates
    header = ("set", *(f"{rate:g}" for rate in rates))
    rows = []
    for name, on_set in found.found.items():
        rows.append((name, *cells(on_set.stability)))
        rows.append((f"{name}, nominal rates", *cells(on_set.nominal_stability)))
    return markdown_table(header, rows)


def accuracy_table(on_set: OnSet) -> str:
    """Mean accuracies of a set by size, at the SVM's rate and at the nominal one."""
    header = (on_set.real.name, *(f"n = {size}" for size in on_set.real.sizes))
    share = [f"{value:.2f}" for value in on_set.flagged]
    rows = [
        ("as in the paper: 1-SVM / 1-PCM / KDE", *cells(on_set.accuracy)),
        (f"at the nominal rate {on_set.real.nu:g}", *cells(on_set.nominal)),
        ("training rows that `predict` of 1-SVM flags", *share),
    ]
    return markdown_table(header, rows)
