"""The warnings and errors of typicality; each says what was found and what to do about it.

Failure to converge uses :class:`sklearn.exceptions.ConvergenceWarning`.
"""

import sys
import warnings
from types import FrameType

from typicality._words import one_line

__all__ = [
    "BandwidthWarning",
    "CalibrationWarning",
    "ClusteringWarning",
    "CoincidentClustersWarning",
    "CollapsedMembershipsWarning",
    "DegenerateSpreadWarning",
    "EmptyClustersWarning",
    "FeatureWarning",
    "FragmentedClustersWarning",
    "IndefiniteKernelWarning",
    "ModelFileError",
    "RepetitionError",
    "TableError",
]


class TableError(ValueError):
    """A file of rows that cannot be used; the message names the file, the place and the remedy.

    Parameters
    ----------
    message : str
        One or two sentences. They may quote the file: control characters become escapes.
    line : int, optional
        The line of the file, counted from 1, where there are lines.
    column : str, optional
        The name of the column.
    """

    def __init__(self, message: str, *, line: int | None = None, column: str | None = None) -> None:
        super().__init__(one_line(message))
        self.line = line
        self.column = column


class ClusteringWarning(UserWarning):
    """A result or an input that deserves a second look; the base of all warnings here."""


class CollapsedMembershipsWarning(ClusteringWarning):
    """All memberships are alike: the prototypes have met at the centre of the data."""


class CoincidentClustersWarning(ClusteringWarning):
    """Several prototypes describe the same cluster; they share one label."""


class EmptyClustersWarning(ClusteringWarning):
    """Some prototypes are preferred by no row."""


class DegenerateSpreadWarning(ClusteringWarning):
    """A spread eta is zero, or so small that a prototype reaches no row."""


class FeatureWarning(ClusteringWarning):
    """A feature is constant, or the features live on very different scales."""


class BandwidthWarning(ClusteringWarning):
    """The kernel is so wide or so narrow that it says little, or its width was not used."""


class CalibrationWarning(ClusteringWarning):
    """The reference rows are too few for p-values as small as a decision needs."""


class FragmentedClustersWarning(ClusteringWarning):
    """Most clusters are single rows."""


class IndefiniteKernelWarning(ClusteringWarning):
    """The kernel is not a scalar product: some squared distances are negative."""


class ModelFileError(ValueError):
    """A folder is no model that can be used, or a model cannot be kept in one.

    Parameters
    ----------
    message : str
        What is wrong. It may quote the folder: control characters become escapes.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class RepetitionError(RuntimeError):
    """One of many repetitions failed; the message names it, its seed and the cause."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the caller outside of this package and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and _package(frame) in ("typicality", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]
