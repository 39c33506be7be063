"""The data sets of the four experiments, and the measures a table prints."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine

from typicality.datasets import load_s2, make_three_gaussians
from typicality.metrics import generalized_rand_score, rand_score, success_rate
from xenaki2014.adaptive_rows import Outcome

__all__ = ["LOADERS", "N_CLASSES", "Data", "Result", "measured"]

Data = tuple[NDArray[np.float64], NDArray[np.int_]]
Result = tuple[int, float, float | None, float]

LOADERS: dict[str, Callable[[], Data]] = {
    "Iris": lambda: load_iris(return_X_y=True),
    "Wine": lambda: load_wine(return_X_y=True),
    "S2": load_s2,
    "three Gaussians": lambda: make_three_gaussians(random_state=0),
}
N_CLASSES = {"Iris": 3, "Wine": 3, "S2": 15, "three Gaussians": 3}


def measured(truth: NDArray[np.int_], found: Outcome) -> Result:
    """The number of clusters and the measures, as a table prints them."""
    u = found.memberships
    grm = None if u is None else generalized_rand_score(truth, u)
    scores = rand_score(truth, found.labels), grm, success_rate(truth, found.labels)
    rm, grm, sr = (score if score is None else round(100 * score, 2) for score in scores)
    return found.n_clusters, rm, grm, sr
