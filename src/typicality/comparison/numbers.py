"""The number of clusters for methods that must be told: what a careful user would give them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_score

from typicality._typing import Doubles
from typicality.comparison.methods import Method
from typicality.geometry.rows import count_distinct_rows

MOST_CLUSTERS = 20
CHOICE_ROWS = 5_000  # the number is chosen on at most so many rows
_SILHOUETTE_ROWS = 2_000  # its cost grows with the square
_ROWS_A_CLUSTER = 5


class NumberChoice(NamedTuple):
    """A number of clusters, and the largest that was tried."""

    n_clusters: int
    most: int


def choose_number(method: Method, X: Doubles, *, seed: int) -> NumberChoice:
    """The number of clusters with the best silhouette, or with the smallest BIC.

    Tried are 2 (1 for the BIC, which knows of it) to 20, and no more than a fifth of the rows. The
    silhouette is a mean over at most 2,000 rows; numbers that the method does not come up with,
    because prototypes meet, do not count. Of equally good numbers the smallest is taken.

    Parameters
    ----------
    method : Method
        One with a `number_rule`.
    X : array of shape (n, d)
        The rows.
    seed : int
        The seed of the fits and of the sample.

    Returns
    -------
    NumberChoice
    """
    most = min(MOST_CLUSTERS, max(2, len(X) // _ROWS_A_CLUSTER))
    most = min(most, count_distinct_rows(X, None, most))
    by_silhouette = method.number_rule == "silhouette"
    numbers = range(2 if by_silhouette else 1, most + 1)
    rows = np.random.RandomState(seed).permutation(len(X))[:_SILHOUETTE_ROWS]
    losses = []
    for number in numbers:
        model = method.configured(seed=seed, rate=0.0, n_clusters=number).fit(X)
        if by_silhouette:
            losses.append(-_silhouette(X[rows], labels_of(model, X)[rows], number))
        else:
            losses.append(model.bic(X))
    return NumberChoice(numbers[int(np.argmin(losses))], most)


def _silhouette(X: Doubles, labels: NDArray[Any], number: int) -> float:
    n_labels = len(np.unique(labels))
    if n_labels != number or n_labels == len(X):
        return -1.0
    return float(silhouette_score(X, labels))


def labels_of(model: Any, X: Doubles) -> NDArray[np.int64]:
    """The labels of the rows a model was fitted on."""
    labels = model.labels_ if hasattr(model, "labels_") else model.predict(X)
    return np.asarray(labels, dtype=np.int64)
