"""scikit-learn estimators: parameters in, attributes out, no mathematics."""

from typicality.cluster.alpha_cut import AlphaCutClustering
from typicality.cluster.entropy import EntropyCMeans
from typicality.cluster.fuzzy import FuzzyCMeans
from typicality.cluster.one_cluster import OneClusterPCM
from typicality.cluster.possibilistic import PossibilisticCMeans

__all__ = [
    "AlphaCutClustering",
    "EntropyCMeans",
    "FuzzyCMeans",
    "OneClusterPCM",
    "PossibilisticCMeans",
]
