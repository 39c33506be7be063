"""Stability of outlier detection and of clusterings, by splitting the rows and fitting again."""

from typicality.validation.accuracy import NoveltyAccuracy, novelty_accuracy
from typicality.validation.outliers import OutlierStability, outlier_stability
from typicality.validation.results import RepeatedScores

__all__ = [
    "NoveltyAccuracy",
    "OutlierStability",
    "RepeatedScores",
    "novelty_accuracy",
    "outlier_stability",
]
