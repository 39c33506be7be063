"""The warnings and errors of typicality.

If iterations do not converge, the warning is :class:`sklearn.exceptions.ConvergenceWarning`.
"""

import sys
import warnings
from types import FrameType
from typing import Any

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
    """A file of rows cannot be used; the message names the file, the place and the remedy.

    Parameters
    ----------
    message : str
        The message. Control characters in it are escaped.
    line : int, optional
        The line of the file, counted from 1, if it has lines.
    column : str, optional
        The name of the column.
    """

    def __init__(self, message: str, *, line: int | None = None, column: str | None = None) -> None:
        super().__init__(one_line(message))
        self.line = line
        self.column = column


class ClusteringWarning(UserWarning):
    """A result or an input that should be checked; the base class of all warnings here."""


class CollapsedMembershipsWarning(ClusteringWarning):
    """All memberships are equal, because all prototypes have moved to the mean of the data."""


class CoincidentClustersWarning(ClusteringWarning):
    """Several prototypes describe the same cluster and share its label."""


class EmptyClustersWarning(ClusteringWarning):
    """Some clusters have no rows."""


class DegenerateSpreadWarning(ClusteringWarning):
    """A spread eta is zero, or so small that a prototype reaches no row."""


class FeatureWarning(ClusteringWarning):
    """A feature is constant, or the features have very different scales."""


class BandwidthWarning(ClusteringWarning):
    """The kernel is too wide or too narrow for the data, or its width was not used."""


class CalibrationWarning(ClusteringWarning):
    """There are too few reference rows for small p-values."""


class FragmentedClustersWarning(ClusteringWarning):
    """Most clusters are single rows."""


class IndefiniteKernelWarning(ClusteringWarning):
    """The kernel is not a scalar product: some squared distances are negative."""


class ModelFileError(ValueError):
    """A model cannot be loaded from a folder, or cannot be saved.

    Parameters
    ----------
    message : str
        The message. Control characters in it are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class RepetitionError(RuntimeError):
    """One of many repetitions failed; the message names the repetition, its seed and the cause."""


def warn(seen: str, remedy: str, category: type[Warning], finding: str, /, **fields: Any) -> None:
    """Warn at the line of the caller outside of this package and scikit-learn.

    The warning has attributes for readers who want other words: `seen`, what was observed and what
    it means; `remedy`, one thing to try; `finding`, the name of what was observed; and `fields`,
    the numbers and names in its message.
    """
    warning: Any = category(f"{seen} {remedy}".rstrip())
    warning.seen, warning.remedy = seen, remedy
    warning.finding, warning.fields = finding, fields
    warn_again(warning)


def warn_again(warning: Warning) -> None:
    """Warn of what another fit has warned of."""
    level, frame = 1, sys._getframe()
    while frame.f_back and _package(frame) in ("typicality", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, type(warning), stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]
