"""Solving: the Picard loop, its step, starts and restarts."""

from typicality.solve.alternation import Alternation, ClusterState
from typicality.solve.annealing import anneal, rising_path
from typicality.solve.criteria import ByMemberships, ByWeights, WatchedState
from typicality.solve.picard import PicardResult, Status, picard
from typicality.solve.restarts import best_of

__all__ = [
    "Alternation",
    "ByMemberships",
    "ByWeights",
    "ClusterState",
    "PicardResult",
    "Status",
    "WatchedState",
    "anneal",
    "best_of",
    "picard",
    "rising_path",
]
