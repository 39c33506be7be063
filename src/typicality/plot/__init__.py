"""Pictures of results: Display objects, in the manner of scikit-learn.

They need matplotlib (``pip install matplotlib``), which is loaded when one is drawn. Each
takes `ax`, draws there and nowhere else, and keeps what it drew as attributes; without `ax` it
makes a figure of its own.
"""

from typicality.plot.classification_function import ClassificationFunctionDisplay
from typicality.plot.cluster_tree import ClusterTreeDisplay
from typicality.plot.convergence import ConvergenceDisplay
from typicality.plot.lambda_path import LambdaPathDisplay
from typicality.plot.membership_contour import MembershipContourDisplay
from typicality.plot.membership_histogram import MembershipHistogramDisplay
from typicality.plot.p_values import PValueDisplay
from typicality.plot.stability import StabilityDisplay

__all__ = [
    "ClassificationFunctionDisplay",
    "ClusterTreeDisplay",
    "ConvergenceDisplay",
    "LambdaPathDisplay",
    "MembershipContourDisplay",
    "MembershipHistogramDisplay",
    "PValueDisplay",
    "StabilityDisplay",
]
