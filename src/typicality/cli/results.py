"""What a fitted model says about rows, as columns beside those of the file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Floats
from typicality.report.findings import Findings, chosen_method

Columns = dict[str, NDArray[Any]]

_DIGITS = 9  # enough to tell numbers of single precision apart


def columns_of_fit(model: Any, found: Findings) -> Columns:
    """The columns for the rows a model was fitted on; what the fit has kept is not computed anew.

    Parameters
    ----------
    model : estimator
        The fitted estimator.
    found : Findings
        What it says of its training rows.
    """
    model = chosen_method(model)
    if found.kind == "typicality":
        return _of_detector(model, model.typicality_, found.strength)
    if found.kind == "tree":
        return {"label": model.labels_, "typicality": model.typicality_}
    return _of_prototypes(model, found.labels, model.memberships_)


def columns_of_new_rows(model: Any, Z: Floats) -> Columns:
    """The columns for any rows.

    Parameters
    ----------
    model : estimator
        The fitted estimator.
    Z : array of shape (n, d)
        The rows, scaled as its training rows were.
    """
    model = chosen_method(model)
    if hasattr(model, "score_samples"):
        return _of_detector(model, model.predict_typicality(Z), model.score_samples(Z))
    if hasattr(model, "tree_"):
        return {"label": model.predict(Z), "typicality": model.predict_typicality(Z)}
    return _of_prototypes(model, model.predict(Z), model.predict_memberships(Z))


def column_names(model: Any) -> list[str]:
    """The names of the columns, in order."""
    model = chosen_method(model)
    if hasattr(model, "score_samples"):
        return ["typicality", "score", "outlier"]
    if hasattr(model, "tree_"):
        return ["label", "typicality"]
    names = [str(name) for name in model.get_feature_names_out()]
    shares = names[:1] == ["membership_0"]  # typicalities where all clusters have vanished
    return ["label", "membership" if shares else "typicality", *names]


def _of_detector(model: Any, typicality: Floats, scores: Floats) -> Columns:
    outlier = (scores < model.offset_).astype(np.int8)
    return {"typicality": typicality, "score": scores, "outlier": outlier}


def _of_prototypes(model: Any, labels: NDArray[np.integer], memberships: Floats) -> Columns:
    values = (labels, memberships.max(axis=1, initial=0.0), *memberships.T)
    return dict(zip(column_names(model), values, strict=True))


def as_cells(columns: Mapping[str, NDArray[Any]], kept: NDArray[np.bool_]) -> dict[str, list[str]]:
    """Columns as text for all rows of a file; empty for rows that were left out.

    Parameters
    ----------
    columns : mapping of str to array of shape (n_kept,)
        The values for the rows that were kept.
    kept : array of shape (n,), bool
        Which rows those are.
    """
    return {name: _spread(_texts(values), kept) for name, values in columns.items()}


def _texts(values: NDArray[Any]) -> list[str]:
    if np.issubdtype(values.dtype, np.integer):
        return [str(value) for value in values.tolist()]
    return [f"{value:.{_DIGITS}g}" for value in values.tolist()]


def _spread(texts: list[str], kept: NDArray[np.bool_]) -> list[str]:
    if kept.all():
        return texts
    following = iter(texts)
    return [next(following) if here else "" for here in kept.tolist()]
