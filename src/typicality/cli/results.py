"""What a fitted model says about rows, as columns beside those of the file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowResults", "as_cells", "results_of_fit", "results_of_new_rows"]

Floats = NDArray[np.floating]

_DIGITS = 9  # as many as single precision has, with one to spare


@dataclass(frozen=True, eq=False)
class RowResults:
    """What a model says about each row.

    Parameters
    ----------
    labels : array of shape (n,), int
        The cluster of each row; -1 for rows that belong nowhere, and for outliers.
    strength : array of shape (n,)
        How typical each row is: its typicality, or its largest membership.
    columns : dict of str to array of shape (n,)
        The columns that are written, in order, `labels` and `strength` among them.
    """

    labels: NDArray[np.integer]
    strength: Floats
    columns: dict[str, NDArray[Any]]


def results_of_fit(model: Any, Z: Floats) -> RowResults:
    """What a model says about the rows it was fitted on; what the fit has kept is not computed anew.

    Parameters
    ----------
    model : estimator
        The fitted estimator.
    Z : array of shape (n, d)
        Its training rows, scaled.
    """
    if hasattr(model, "score_samples"):
        return _of_detector(model, model.typicality_, model.score_samples(Z))
    if hasattr(model, "tree_"):
        return _of_regions(model.labels_, model.typicality_)
    kept = getattr(model, "memberships_", None)
    memberships = model.predict_memberships(Z) if kept is None else kept
    return _of_prototypes(model, model.labels_, memberships)


def results_of_new_rows(model: Any, Z: Floats) -> RowResults:
    """What a model says about any rows.

    Parameters
    ----------
    model : estimator
        The fitted estimator.
    Z : array of shape (n, d)
        The rows, scaled as its training rows were.
    """
    if hasattr(model, "score_samples"):
        return _of_detector(model, model.predict_typicality(Z), model.score_samples(Z))
    if hasattr(model, "tree_"):
        return _of_regions(model.predict(Z), model.predict_typicality(Z))
    return _of_prototypes(model, model.predict(Z), model.predict_memberships(Z))


def _of_detector(model: Any, typicality: Floats, scores: Floats) -> RowResults:
    outlier = scores < model.offset_
    columns = {"typicality": typicality, "score": scores, "outlier": outlier.astype(np.int8)}
    return RowResults(np.where(outlier, -1, 0), typicality, columns)


def _of_regions(labels: NDArray[np.integer], typicality: Floats) -> RowResults:
    return RowResults(labels, typicality, {"label": labels, "typicality": typicality})


def _of_prototypes(model: Any, labels: NDArray[np.integer], memberships: Any) -> RowResults:
    if not isinstance(memberships, np.ndarray):
        memberships = memberships.toarray()
    names = [str(name) for name in model.get_feature_names_out()]
    largest = memberships.max(axis=1)
    columns = {"label": labels, names[0].rpartition("_")[0]: largest}
    columns |= dict(zip(names, memberships.T, strict=True))
    return RowResults(labels, largest, columns)


def as_cells(
    columns: Mapping[str, NDArray[Any]], kept: NDArray[np.bool_]
) -> dict[str, Sequence[str]]:
    """Columns as text for all rows of a file; empty for rows that were left out.

    Parameters
    ----------
    columns : mapping of str to array of shape (n_kept,)
        The values of the rows that were kept.
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
