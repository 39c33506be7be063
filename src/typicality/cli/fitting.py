"""Fitting a model to rows, with its warnings in words."""

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from typicality.cli.errors import UnusableError
from typicality.preprocessing import ColumnScaler

__all__ = ["FittedModel", "fit_rows"]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted pipeline, and what there is to say about the fit.

    Parameters
    ----------
    pipeline : Pipeline
        The steps "columns" (a ColumnScaler) and "model" (the estimator).
    warnings : tuple of str
        One paragraph for each warning, columns called by their names.
    seconds : float
        How long the fit took.
    """

    pipeline: Pipeline
    warnings: tuple[str, ...]
    seconds: float

    @property
    def model(self) -> Any:
        """The estimator."""
        return self.pipeline["model"]


def fit_rows(
    estimator: Any,
    X: NDArray[np.float64],
    *,
    names: Sequence[str],
    scale: str,
    fill_in: bool,
) -> FittedModel:
    """Scale the columns and fit the estimator.

    Parameters
    ----------
    estimator : estimator
        The model to fit.
    X : array of shape (n, d)
        The rows, in the units of the user.
    names : sequence of str
        The names of the columns.
    scale : {"robust", "standard", "none"}
        How columns are scaled.
    fill_in : bool
        Whether missing values become the median of their column.

    Raises
    ------
    UnusableError
        The estimator refuses the rows; its reason, columns called by their names.
    """
    scaler = ColumnScaler(scale=scale, missing="median" if fill_in else "error")
    pipeline = Pipeline([("columns", scaler), ("model", estimator)])
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pipeline.fit(X)
        except ValueError as error:
            raise UnusableError(_with_names(str(error), names)) from error
    seconds = time.perf_counter() - began
    scaler.feature_names_in_ = np.asarray(names, dtype=object)
    return FittedModel(pipeline, _paragraphs(caught, names), seconds)


def _paragraphs(caught: Sequence[warnings.WarningMessage], names: Sequence[str]) -> tuple[str, ...]:
    texts = [_with_names(str(warning.message), names) for warning in caught]
    return tuple(dict.fromkeys(texts))  # each once, in order


def _with_names(text: str, names: Sequence[str]) -> str:
    """A message about "feature 2" or "column 2" with the name the column has in the file."""

    def name(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"column {names[number]!r}" if number < len(names) else match[0]

    return re.sub(r"\b(?:feature|column) (\d+)\b", name, text)
