"""Solving: the Picard loop, its step, starts and restarts."""

from typicality.solve.alternation import Alternation, ClusterState
from typicality.solve.annealing import anneal, rising_path
from typicality.solve.criteria import ByMemberships, ByWeights, WatchedState
from typicality.solve.indices import NoiseBIC, PartitionIndex, calinski_harabasz, partition_index
from typicality.solve.lambda_path import LambdaPath, follow_path, lambda_grid, one_cluster
from typicality.solve.picard import PicardResult, Status, picard
from typicality.solve.restarts import best_of
from typicality.solve.sequential import Sequential

__all__ = [
    "Alternation",
    "ByMemberships",
    "ByWeights",
    "ClusterState",
    "LambdaPath",
    "NoiseBIC",
    "PartitionIndex",
    "PicardResult",
    "Sequential",
    "Status",
    "WatchedState",
    "anneal",
    "best_of",
    "calinski_harabasz",
    "follow_path",
    "lambda_grid",
    "one_cluster",
    "partition_index",
    "picard",
    "rising_path",
]
