"""Spaces in which prototypes are weighted means of rows: the input space, and that of a kernel."""

from typicality.spaces.base import Members, Outcome, Prototypes, Space, Sweep
from typicality.spaces.ellipsoids import Ellipsoidal, Ellipsoids
from typicality.spaces.euclidean import Centroids, Euclidean
from typicality.spaces.gram import ExpandedPrototypes, Gram, KernelPrototypes
from typicality.spaces.partial import Partial, PartialCentroids
from typicality.spaces.sample import Gaps, Sample
