"""Where the means live: the geometry of an iteration and its prototypes.

A geometry offers the two halves of a Picard step at once, `sweep(rule, prototypes)`, and places
prototypes from points or from weights. Prototypes answer for any rows, old or new.
"""

from typicality.geometry.base import Gaps, Geometry, LabelledSweep, Members, Prototypes, Sweep
from typicality.geometry.centroids import Centroids, Moments
from typicality.geometry.input_space import InputSpace
from typicality.geometry.kernel_prototypes import ExpandedPrototypes, KernelPrototypes
from typicality.geometry.kernel_space import KernelCandidates, KernelSpace
from typicality.rows import Features

__all__ = [
    "Centroids",
    "ExpandedPrototypes",
    "Features",
    "Gaps",
    "Geometry",
    "InputSpace",
    "KernelCandidates",
    "KernelPrototypes",
    "KernelSpace",
    "LabelledSweep",
    "Members",
    "Moments",
    "Prototypes",
    "Sweep",
]
