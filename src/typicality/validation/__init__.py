"""Stability of outlier detection and of clusterings, by splitting the rows and fitting again."""

from typicality.validation.accuracy import NoveltyAccuracy, novelty_accuracy
from typicality.validation.clusters import ClusteringStability, clustering_stability
from typicality.validation.nearest import PredictByNearest
from typicality.validation.outliers import OutlierStability, outlier_stability
from typicality.validation.results import RepeatedScores
from typicality.validation.search import StabilitySearch, select_by_stability

__all__ = [
    "ClusteringStability",
    "NoveltyAccuracy",
    "OutlierStability",
    "PredictByNearest",
    "RepeatedScores",
    "StabilitySearch",
    "clustering_stability",
    "novelty_accuracy",
    "outlier_stability",
    "select_by_stability",
]
