"""Stability of results under resampling, and comparison with other methods.

The functions measure how much outliers and clusters change between random halves of the rows, for
any scikit-learn estimator, and choose parameters by this stability. Others compare methods on the
same rows, or compute p-values for any outlier detector.
"""

from typicality.stability.agreement import (
    AgreementMatrix,
    Repeats,
    agreement_matrix,
    agreement_of_refits,
    placed_rows_agreement,
    rank_agreement,
    shared_rows_agreement,
)
from typicality.stability.clusters import ClusteringStability, clustering_stability
from typicality.stability.compare import Comparison, compare_methods
from typicality.stability.conformal import cross_conformal_p_values
from typicality.stability.methods import ClustererResult, DetectorResult
from typicality.stability.nearest import PredictByNearest
from typicality.stability.novelty import NoveltyAccuracy, novelty_accuracy
from typicality.stability.outliers import OutlierStability, outlier_stability
from typicality.stability.resample import draw_subsamples
from typicality.stability.results import RepeatedScores
from typicality.stability.search import StabilitySearch, select_by_stability

__all__ = [
    "AgreementMatrix",
    "ClustererResult",
    "ClusteringStability",
    "Comparison",
    "DetectorResult",
    "NoveltyAccuracy",
    "OutlierStability",
    "PredictByNearest",
    "RepeatedScores",
    "Repeats",
    "StabilitySearch",
    "agreement_matrix",
    "agreement_of_refits",
    "clustering_stability",
    "compare_methods",
    "cross_conformal_p_values",
    "draw_subsamples",
    "novelty_accuracy",
    "outlier_stability",
    "placed_rows_agreement",
    "rank_agreement",
    "select_by_stability",
    "shared_rows_agreement",
]
