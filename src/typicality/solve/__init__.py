"""Solving: the Picard loop, its step, starts and restarts."""

from typicality.solve.alternation import Alternation, ClusterState
from typicality.solve.annealing import anneal, rising_path
from typicality.solve.criteria import ByMemberships, ByWeights, WatchedState
from typicality.solve.indices import (
    PartitionIndex,
    calinski_harabasz,
    partition_index,
    pooled_bic,
)
from typicality.solve.lambda_path import LambdaPath, follow_path, lambda_grid
from typicality.solve.picard import PicardResult, Status, picard
from typicality.solve.restarts import best_of
from typicality.solve.sequential import GrownState, Sequential

__all__ = [
    "Alternation",
    "ByMemberships",
    "ByWeights",
    "ClusterState",
    "GrownState",
    "LambdaPath",
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
    "partition_index",
    "picard",
    "pooled_bic",
    "rising_path",
]
