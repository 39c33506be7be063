"""Fitted models to draw, small ones; each is fitted once."""

from functools import cache

import numpy as np

from typicality import (
    AlphaCutClustering,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
)

ESTIMATORS = {
    "alpha-cut": AlphaCutClustering(),
    "alpha-cut at a level": AlphaCutClustering(alpha=0.315, min_cluster_size=5),
    "alpha-cut, all rows": AlphaCutClustering(assign="all"),
    "one cluster": OneClusterPCM(),
    "fuzzy": FuzzyCMeans(3, random_state=0),
    "possibilistic": PossibilisticCMeans(3, random_state=0, eta_scale=0.05),
    "sequential": SequentialPCM(lam=0.05),
}


@cache
def rows():
    """Three round clusters of 40 rows in the plane, and three rows far out."""
    rng = np.random.default_rng(0)
    centers = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 40, axis=0)
    outliers = [[6.0, 6.0], [9.0, 8.0], [-4.0, -3.0]]
    return np.vstack([centers + rng.normal(scale=0.6, size=(120, 2)), outliers])


@cache
def fitted(name):
    """A model of the rows."""
    return ESTIMATORS[name].fit(rows())
