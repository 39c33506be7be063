"""scikit-learn estimators: parameters in, attributes out, no mathematics."""

from typicality.cluster.adaptive import AdaptivePCM, SparseAdaptivePCM
from typicality.cluster.alpha_cut import AlphaCutClustering
from typicality.cluster.auto import AutoClustering
from typicality.cluster.entropy import EntropyCMeans
from typicality.cluster.fuzzy import FuzzyCMeans
from typicality.cluster.one_cluster import OneClusterPCM, Reasons
from typicality.cluster.possibilistic import PossibilisticCMeans
from typicality.cluster.sequential import SequentialPCM

__all__ = [
    "AdaptivePCM",
    "AlphaCutClustering",
    "AutoClustering",
    "EntropyCMeans",
    "FuzzyCMeans",
    "OneClusterPCM",
    "PossibilisticCMeans",
    "Reasons",
    "SequentialPCM",
    "SparseAdaptivePCM",
]
