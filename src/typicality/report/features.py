"""The features of rows, as the user sees them and as they can be compared, and groups of rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import check_array

from typicality._arguments import check_same_length
from typicality._cached import cached_property
from typicality._compat import feature_names
from typicality._typing import Doubles, Floats, Places
from typicality.explain import CategoryColumns, robust_scale


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The features of all rows.

    Parameters
    ----------
    names : list of str
        What they are called.
    shown : array of shape (n, d)
        Their values in the units of the user; NaN where one is missing.
    measured : array of shape (n, d)
        The values in which the model saw them, where those are at hand; else what is shown, with
        medians for missing values, and zero for a feature without any value.
    of_model : bool, default=True
        Whether `measured` is what the model saw.
    categories : CategoryColumns, optional
        The categories among the columns of `rows`, behind the features.
    mixed : array of shape (n, D), optional
        All columns that the model saw, where there are categories among them.
    """

    names: list[str]
    shown: Floats
    measured: Floats
    of_model: bool = True
    categories: CategoryColumns | None = None
    mixed: Floats | None = None

    @property
    def rows(self) -> Floats:
        """All columns that can be compared: the features, and categories where there are some."""
        return self.measured if self.mixed is None else self.mixed

    @classmethod
    def of(cls, model: Any, rows: Floats, display: Any) -> Self:
        """The features of rows, from what is to be displayed or from the rows themselves."""
        pairwise = model.__sklearn_tags__().input_tags.pairwise
        if display is None and pairwise:
            name = "metric" if getattr(model, "metric", None) == "precomputed" else "kernel"
            raise ValueError(
                f"The model was fitted with {name}={getattr(model, name)!r}: X holds values "
                "for pairs of rows, and a report has no features to draw. Pass them as display."
            )
        values, names = rows, None
        if display is not None:
            names = feature_names(display)
            values = check_array(
                display, dtype=np.float64, ensure_all_finite="allow-nan", input_name="display"
            )
            check_same_length(len(values), "display", len(rows), "X")
        same = not pairwise and values.shape == rows.shape
        if names is None:
            names = getattr(model, "feature_names_in_", None) if same else None
        if names is None:
            names = [f"column {j}" for j in range(values.shape[1])]
        measured = rows if same else values
        if np.isnan(measured).any():
            imputer = SimpleImputer(strategy="median", keep_empty_features=True)
            measured = imputer.fit_transform(measured)
        return cls([*map(str, names)], values, measured, same)

    @cached_property
    def scale(self) -> Doubles:
        """The spread of each feature in `measured`."""
        return robust_scale(self.measured)

    @cached_property
    def standardised(self) -> Doubles:
        """The features in units of their spread, about their medians."""
        middle = np.median(self.measured, axis=0)
        return np.asarray((self.measured - middle) / self.scale, dtype=np.float64)


# ---- groups of rows, and the features that stand out ---------------------------------------------


def rows_by_label(labels: NDArray[np.int32], n_labels: int) -> list[Places]:
    """The rows of each label from 0 on, in order."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(n_labels + 1)))[1:-1]


def group_means(values: Floats, labels: NDArray[np.int32]) -> Doubles:
    """The means of the rows of each label; NaN where there are none."""
    means = np.full((labels.max(initial=-1) + 1, values.shape[1]), np.nan)
    for label, rows in enumerate(rows_by_label(labels, len(means))):
        if len(rows):
            means[label] = values[rows].mean(axis=0, dtype=np.float64)
    return means


def cross_counts(labels: NDArray[Any], codes: NDArray[Any], shape: tuple[int, int]) -> Places:
    """How often each code occurs with each label; -1 is left out in both."""
    known = (labels >= 0) & (codes >= 0)
    places = np.ravel_multi_index((labels[known], codes[known]), shape)
    return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)


def largest(deviations: Doubles, n: int) -> tuple[Places, Doubles]:
    """The n largest deviations of each row and where they are; -1 where there are fewer."""
    order = np.argsort(-np.abs(deviations), axis=1, kind="stable")[:, :n]
    values = np.take_along_axis(deviations, order, axis=1)
    missing = n - order.shape[1]
    order = np.pad(np.where(values == 0.0, -1, order), ((0, 0), (0, missing)), constant_values=-1)
    return order, np.pad(values, ((0, 0), (0, missing)))


def times_named(deviations: Doubles, n: int) -> Places:
    """How often each feature is among the n largest deviations of a row."""
    named = largest(deviations, n)[0]
    return np.bincount(named[named >= 0], minlength=deviations.shape[1])
