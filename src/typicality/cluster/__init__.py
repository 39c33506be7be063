"""scikit-learn estimators: parameters in, attributes out, no mathematics."""

from typicality.cluster.adaptive import AdaptivePCM, SequentialPCM, SparseAdaptivePCM
from typicality.cluster.alpha_cut import AlphaCutClustering
from typicality.cluster.auto import AutoClustering
from typicality.cluster.fuzzy import EntropyCMeans, FuzzyCMeans
from typicality.cluster.mixture import JoinedMixture
from typicality.cluster.one_cluster import OneClusterPCM, Reasons
from typicality.cluster.possibilistic import PossibilisticCMeans

__all__ = [
    "AdaptivePCM",
    "AlphaCutClustering",
    "AutoClustering",
    "EntropyCMeans",
    "FuzzyCMeans",
    "JoinedMixture",
    "OneClusterPCM",
    "PossibilisticCMeans",
    "Reasons",
    "SequentialPCM",
    "SparseAdaptivePCM",
]
