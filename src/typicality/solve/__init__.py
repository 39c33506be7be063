"""Solving: the Picard loop, its step, starts and restarts."""

from typicality.solve.alternation import Alternation, ClusterState
from typicality.solve.picard import PicardResult, Status, picard
from typicality.solve.restarts import best_of

__all__ = ["Alternation", "ClusterState", "PicardResult", "Status", "best_of", "picard"]
