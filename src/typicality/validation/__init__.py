"""Stability of outlier detection and of clusterings, by splitting the rows and fitting again."""

from typicality.validation.outliers import OutlierStability, outlier_stability
from typicality.validation.results import RepeatedScores

__all__ = ["OutlierStability", "RepeatedScores", "outlier_stability"]
