"""Fitting a model to rows, with its warnings in words."""

import re
import time
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from typicality._typing import Doubles
from typicality.cli.errors import UnusableError
from typicality.cli.methods import option_for
from typicality.preprocessing import ColumnScaler


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted pipeline, and what there is to say about the fit.

    Parameters
    ----------
    pipeline : Pipeline
        The steps "columns" (a ColumnScaler) and "model" (the estimator), fitted on arrays.
    names : tuple of str
        The columns.
    scaled : array of shape (n, d)
        The rows as the model sees them.
    warnings : tuple of str
        One paragraph for each warning, columns called by their names.
    seconds : float
        How long the fit took.
    """

    pipeline: Pipeline
    names: tuple[str, ...]
    scaled: Doubles
    warnings: tuple[str, ...]
    seconds: float

    @property
    def model(self) -> Any:
        """The estimator."""
        return self.pipeline["model"]

    @property
    def named_pipeline(self) -> Pipeline:
        """The pipeline for data frames: it knows its columns by name."""
        columns = copy(self.pipeline["columns"])
        columns.feature_names_in_ = np.asarray(self.names, dtype=object)
        return Pipeline([("columns", columns), ("model", self.model)])


def fit_rows(
    estimator: Any,
    X: Doubles,
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
            scaled = scaler.fit_transform(X)
            estimator.fit(scaled)
        except ValueError as error:
            raise UnusableError(_with_names(str(error), names)) from error
    seconds = time.perf_counter() - began
    return FittedModel(
        pipeline, tuple(names), scaled, _paragraphs(caught, names, estimator), seconds
    )


def _paragraphs(
    caught: Sequence[warnings.WarningMessage], names: Sequence[str], estimator: Any
) -> tuple[str, ...]:
    """Each warning once, in order, in words that fit the command line."""
    parameters = list(estimator.get_params(deep=False))
    texts = [_with_names(str(warning.message), names) for warning in caught]
    return tuple(dict.fromkeys(text + _how_to_set(text, parameters) for text in texts))


def _how_to_set(text: str, parameters: Sequence[str]) -> str:
    """How parameters that a warning names are set on the command line."""
    words = [option_for(name) for name in parameters if _names(text, name)]
    return f" (On the command line: {', '.join(words)}.)" if words else ""


def _names(text: str, parameter: str) -> bool:
    """Whether a text is about a parameter: words such as kernel mean one only before a sign."""
    pattern = rf"\b{parameter}\b" if "_" in parameter else rf"\b{parameter}="
    return re.search(pattern, text) is not None


def _with_names(text: str, names: Sequence[str]) -> str:
    """A message about "feature 2" or "column 2" with the name the column has in the file."""

    def name(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"column {names[number]!r}" if number < len(names) else match[0]

    return re.sub(r"\b(?:feature|column) (\d+)\b", name, text)
