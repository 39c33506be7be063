"""Generators of the papers' synthetic data sets, in the manner of :mod:`sklearn.datasets`.

Each returns the rows and their labels; -1 stands for rows that belong nowhere. Rows come in the
order of the labels, noise last. Sets that are not ours to ship are loaded from a folder of
yours, or, where OpenML has them, from there.
"""

from typicality.datasets.files import load_breast_cancer_original, load_ionosphere, load_s2
from typicality.datasets.gaussians import (
    make_gaussian_and_outliers,
    make_s2_like,
    make_three_gaussians,
)
from typicality.datasets.shapes import SIDE as SIDE
from typicality.datasets.shapes import (
    make_ball_and_ring,
    make_crescents,
    make_dense_regions,
    make_discs_banana_ring,
)

__all__ = [
    "load_breast_cancer_original",
    "load_ionosphere",
    "load_s2",
    "make_ball_and_ring",
    "make_crescents",
    "make_dense_regions",
    "make_discs_banana_ring",
    "make_gaussian_and_outliers",
    "make_s2_like",
    "make_three_gaussians",
]
