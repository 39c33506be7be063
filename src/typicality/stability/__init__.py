"""Stability of results under resampling, and comparison with other methods.

The functions measure how much outliers and clusters change between random halves of the rows, for
any scikit-learn estimator, and choose parameters by this stability. Others compare methods on the
same rows, or compute p-values for any outlier detector.
"""

from typicality.stability.choice import StabilityTable, choose_by_stability
from typicality.stability.clusters import ClusteringStability, clustering_stability
from typicality.stability.compare import Comparison, MethodResult, compare_methods
from typicality.stability.conformal import cross_conformal_p_values
from typicality.stability.nearest import PredictByNearest
from typicality.stability.outliers import OutlierStability, outlier_stability

__all__ = [
    "ClusteringStability",
    "Comparison",
    "MethodResult",
    "OutlierStability",
    "PredictByNearest",
    "StabilityTable",
    "choose_by_stability",
    "clustering_stability",
    "compare_methods",
    "cross_conformal_p_values",
    "outlier_stability",
]
