"""The warnings and errors of typicality.

If iterations do not converge, the warning is :class:`sklearn.exceptions.ConvergenceWarning`.
"""

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from typicality._words import one_line, shown

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
    "TableError",
]


class Remedy(NamedTuple):
    """A parameter that helps.

    Parameters
    ----------
    parameter : str
        The name of the parameter.
    value : object
        The value to pass; None if only the user knows it.
    words : str
        A sentence with {} in place of the parameter and its value.
    """

    parameter: str
    value: Any
    words: str

    def sentence(self, option_of: "OptionOf | None" = None) -> str:
        """The words, with the parameter and its value as `option_of` writes them."""
        return self.words.replace("{}", (option_of or as_argument)(self.parameter, self.value))


OptionOf = Callable[[str, Any], str]  # writes a parameter and its value, or None


def as_argument(parameter: str, value: Any) -> str:
    """A parameter as Python writes it: ``decimal=','``, or ``columns=`` without a value."""
    return f"{parameter}=" if value is None else f"{parameter}={value!r}"


class TableError(ValueError):
    """A file of rows cannot be used; the message names the file, the place and the remedy.

    Parameters
    ----------
    reason : str
        What is wrong, and what to do about it. Control characters in the message are escaped.
    source : str, optional
        The file. If it is given, the message begins with the file, the line or row, and the column.
    line : int, optional
        The line of the file, counted from 1, if it has lines.
    row : int, optional
        The row of a file without lines, counted from 0.
    column : str, optional
        The name of the column.
    remedy : Remedy, optional
        A parameter that helps; its sentence follows the reason.
    """

    def __init__(
        self,
        reason: str,
        *,
        source: str | None = None,
        line: int | None = None,
        row: int | None = None,
        column: str | None = None,
        remedy: Remedy | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.source = reason, source
        self.line, self.row, self.column = line, row, column
        self.remedy = remedy

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, option_of: OptionOf | None = None) -> str:
        """The whole message, with the parameter of the remedy as `option_of` writes it."""
        place = [] if self.source is None else [self.source]
        if place and self.line is not None:
            place.append(f"line {self.line}")
        if place and self.row is not None:
            place.append(f"row {self.row} counted from 0")
        if place and self.column is not None:
            place.append(f"column {shown(self.column)}")
        remedy = "" if self.remedy is None else f" {self.remedy.sentence(option_of)}"
        return one_line(f"{', '.join(place)}{': ' if place else ''}{self.reason}{remedy}")


class ColumnError(ValueError):
    """A column of an array cannot be used; `column` is its number.

    If one value is the reason, `row` is its row, and `what` what is wrong with it.
    """

    def __init__(
        self, message: str, column: int, *, row: int | None = None, what: str = ""
    ) -> None:
        super().__init__(message)
        self.column, self.row, self.what = column, row, what


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
    level, _ = _caller()
    warnings.warn(warning, type(warning), stacklevel=level)


def place_of_caller() -> tuple[str, int]:
    """The file and the line of the caller outside of this package and scikit-learn."""
    _, frame = _caller()
    return frame.f_code.co_filename, frame.f_lineno


def _caller() -> tuple[int, FrameType]:
    """The caller outside of this package and scikit-learn, as level and frame of who asks."""
    level, frame = 0, sys._getframe()
    while frame.f_back and _package(frame) in ("typicality", "sklearn", "joblib"):
        level, frame = level + 1, frame.f_back
    return level, frame


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]
