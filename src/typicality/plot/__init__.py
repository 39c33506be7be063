"""Plots of results, as Display objects like those of scikit-learn.

They need matplotlib (``pip install matplotlib``). Each display draws on the axes `ax`, or on a new
figure, and keeps the drawn artists as attributes.
"""

from typicality.plot.cluster_tree import ClusterTreeDisplay
from typicality.plot.membership_contour import MembershipContourDisplay
from typicality.plot.membership_histogram import MembershipHistogramDisplay
from typicality.plot.p_values import PValueDisplay

__all__ = [
    "ClusterTreeDisplay",
    "MembershipContourDisplay",
    "MembershipHistogramDisplay",
    "PValueDisplay",
]
