"""Rows, and models of every kind fitted to them."""

import warnings

import numpy as np
import pytest

from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM, SequentialPCM
from typicality.exceptions import ClusteringWarning


@pytest.fixture(scope="session")
def scattered():
    """Three clusters of 120 rows, with copies, in three features, amid 40 rows of noise."""
    rng = np.random.default_rng(5)
    centers = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]])
    clusters = np.repeat(centers, 120, axis=0) + rng.normal(size=(360, 3))
    clusters[::7] = clusters[1::7][: len(clusters[::7])]
    return np.concatenate([clusters, rng.uniform(-6.0, 15.0, (40, 3))])


def fitted(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        return model.fit(rows)


@pytest.fixture(scope="session")
def cutter(scattered):
    return fitted(AlphaCutClustering(), scattered)


@pytest.fixture(scope="session")
def detector(scattered):
    return fitted(OneClusterPCM(), scattered)


@pytest.fixture(scope="session")
def prototypes(scattered):
    return fitted(FuzzyCMeans(3, random_state=0), scattered)


@pytest.fixture(scope="session")
def sequential(scattered):
    return fitted(SequentialPCM(), scattered)
