"""Rows with known outliers among them: drawn, and real ones where they are at hand."""

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from typicality.datasets import (
    load_breast_cancer_original,
    load_ionosphere,
    make_gaussian_and_outliers,
)

__all__ = ["REAL", "SYNTHETIC"]

Doubles = NDArray[np.float64]
Judged = tuple[Doubles, NDArray[np.bool_]]

_RATE = 0.1  # of outliers among real rows


def _figure_2(seed: int) -> Judged:
    X, y = make_gaussian_and_outliers(random_state=seed)
    return X, y == -1


def _blobs_in_noise(seed: int) -> Judged:
    rng = np.random.default_rng(seed)
    blobs, _ = make_blobs(360, centers=rng.uniform(-10, 10, (4, 2)), random_state=seed)
    noise = rng.uniform(-14, 14, (40, 2))
    return np.concatenate([blobs, noise]), np.arange(400) >= 360


def _far_group(seed: int) -> Judged:
    """Outliers that are near each other."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(380, 5)), rng.normal(3.0, 0.3, size=(20, 5))])
    return X, np.arange(400) >= 380


def _some_of(X: Doubles, is_outlier: NDArray[np.bool_], seed: int) -> Judged:
    """All normal rows, and as many outliers as make a tenth of all; features scaled."""
    rng = np.random.default_rng(seed)
    normal, others = np.flatnonzero(~is_outlier), np.flatnonzero(is_outlier)
    n_others = min(len(others), round(_RATE / (1 - _RATE) * len(normal)))
    kept = np.concatenate([normal, rng.permutation(others)[:n_others]])
    return StandardScaler().fit_transform(X[kept]), is_outlier[kept]


def _breast(seed: int) -> Judged:
    X, y = load_breast_cancer_original()
    return _some_of(X, y == 1, seed)


def _ionosphere(seed: int) -> Judged:
    X, y = load_ionosphere()
    varying = np.ptp(X, axis=0) > 0
    return _some_of(X[:, varying], y == 1, seed)


def _iris(seed: int) -> Judged:
    X, y = load_iris(return_X_y=True)
    return _some_of(X, y == 2, seed)


SYNTHETIC = {
    "filippone2010, Fig. 2": _figure_2,
    "blobs in uniform noise": _blobs_in_noise,
    "a far group": _far_group,
    "Iris, virginica out": _iris,
}
REAL = {"Breast, malignant out": _breast, "Ionosphere, bad out": _ionosphere}
