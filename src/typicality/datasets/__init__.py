"""Data sets of the papers: generators and loaders, as in :mod:`sklearn.datasets`.

Each function returns the rows and their labels; -1 is the label of noise. Generated rows are in the
order of their labels, with noise last. The loaders read data sets that are not part of this
package, from a folder of yours or from OpenML.
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
