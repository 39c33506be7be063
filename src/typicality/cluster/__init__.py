"""scikit-learn estimators: parameters in, attributes out, no mathematics."""

from typicality.cluster._reasons import Reasons
from typicality.cluster.adaptive import AdaptivePCM
from typicality.cluster.alpha_cut import AlphaCutClustering
from typicality.cluster.auto import AutoClustering
from typicality.cluster.entropy import EntropyCMeans
from typicality.cluster.fuzzy import FuzzyCMeans
from typicality.cluster.one_cluster import OneClusterPCM
from typicality.cluster.possibilistic import PossibilisticCMeans
from typicality.cluster.sequential import SequentialPCM
from typicality.cluster.sparse_adaptive import SparseAdaptivePCM

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
