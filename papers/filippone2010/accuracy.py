"""The accuracy of a detector that is trained on normal rows only (section V-B, figure 5)."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from regenerating import Setting
from typicality.metrics import jaccard_score

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]

_DRAWS = 3  # seed of the training rows: all detectors see the same ones


class Accuracy(NamedTuple):
    """Jaccard indices of the rejected rows and the true outliers."""

    scores: Doubles  # of shape (n_repeats, n_sizes)

    @property
    def mean(self) -> Doubles:
        """The mean at each size."""
        return np.asarray(self.scores.mean(axis=0))


class Task(NamedTuple):
    """What is measured: a row is rejected if its score is at most a quantile of training scores.

    The quantile is at `rate`, or at the share of training rows that `matched_to` flags; without
    both, `predict` of the detector decides.
    """

    X: Doubles
    is_outlier: Flags
    sizes: tuple[int, ...]
    detector: Any
    rate: float | None = None
    matched_to: Any = None


def accuracy(task: Task, n_repeats: int, setting: Setting) -> Accuracy:
    """Train on random normal rows, and judge all other rows, for each size."""
    seeds = np.random.RandomState(_DRAWS).randint(np.iinfo(np.int32).max, size=n_repeats)
    return Accuracy(np.array(setting.each(partial(_train_once, task), seeds.tolist())))


def _train_once(task: Task, seed: int) -> list[float]:
    """The accuracy at each size; a larger training sample contains the smaller ones."""
    order = np.random.RandomState(seed).permutation(np.flatnonzero(~task.is_outlier))
    accuracies = []
    for size in task.sizes:
        training = np.sort(order[:size])
        others = np.delete(np.arange(len(task.X)), training)
        rows, unseen = task.X[training], task.X[others]
        model = clone(task.detector).fit(rows)
        rate = task.rate
        if task.matched_to is not None:
            rate = float(np.mean(clone(task.matched_to).fit(rows).predict(rows) == -1))
        if rate is None:
            rejected = model.predict(unseen) == -1
        else:
            threshold = np.quantile(model.score_samples(rows), rate)
            rejected = model.score_samples(unseen) <= threshold
        accuracies.append(jaccard_score(rejected, task.is_outlier[others]))
    return accuracies
