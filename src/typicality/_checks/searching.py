"""What is given to clusterings by halves, and to searches for the most stable setting."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import get_tags

from typicality._checks.validating import check_detector, check_estimator

Labels = NDArray[np.int_]

_SIMILARITIES = ("precomputed", "precomputed_nearest_neighbors")


def check_predicting_clusterer(clusterer: Any) -> None:
    """An estimator that can label rows it was not fitted on."""
    check_estimator(clusterer, "clusterer")
    if is_outlier_detector(clusterer):
        raise ValueError(
            f"{clusterer!r} tells outliers, and no clusters: outlier_stability is for it."
        )
    if not hasattr(clusterer, "predict"):
        raise ValueError(
            f"{clusterer!r} has no predict to label new rows with. Wrap it: "
            f"PredictByNearest({clusterer!r}), from typicality.validation."
        )


def check_row_labels(clusterer: Any, n_rows: int) -> Labels:
    """The labels that a fitted clusterer gives the rows it was fitted on."""
    labels = np.asarray(getattr(clusterer, "labels_", None))
    if labels.shape != (n_rows,):
        raise ValueError(
            f"{clusterer!r} has no labels_ of the {n_rows} rows it was fitted on. Wrap a clusterer "
            "of rows; of a Pipeline its last step alone: "
            "make_pipeline(StandardScaler(), PredictByNearest(HDBSCAN()))."
        )
    return labels


def check_distances_or_rows(clusterer: Any, metric: Any) -> None:
    """A matrix of distances is one for the clusterer and for its neighbours, or for neither."""
    parameters = clusterer.get_params(deep=False)
    is_pairwise = get_tags(clusterer).input_tags.pairwise
    # Not all clusterers of scikit-learn that take distances say so by their tags.
    takes_matrix = is_pairwise or parameters.get("metric") == "precomputed"
    if any(parameters.get(name) in _SIMILARITIES for name in ("affinity", "kernel")):
        raise ValueError(
            f"{clusterer!r} takes a matrix of similarities, in which the nearest rows of a new row "
            "cannot be sought. Pass rows, or a clusterer that takes distances."
        )
    if takes_matrix and metric != "precomputed":
        raise ValueError(
            f"{clusterer!r} takes a square matrix of distances, and neighbours are sought among "
            f"rows (metric={metric!r}). Pass metric='precomputed'."
        )
    if metric == "precomputed" and not takes_matrix:
        raise ValueError(
            "metric='precomputed' takes X for a square matrix of distances, and the clusterer "
            "takes it for rows. Set both, or neither."
        )


def check_searchable(estimator: Any, kind: str) -> str:
    """What an estimator is judged as, "clusters" or "outliers", and that it can be."""
    if kind == "auto":
        kind = _kind_of(estimator)
    if kind == "clusters":
        check_predicting_clusterer(estimator)
    else:
        check_detector(estimator, None)
    return kind


def _kind_of(estimator: Any) -> str:
    if is_classifier(estimator) or is_regressor(estimator):
        raise ValueError(
            f"estimator is {estimator!r}, which learns from known answers: take "
            "sklearn.model_selection.GridSearchCV for it. Stability is for clusterers and for "
            "detectors of outliers."
        )
    scores = hasattr(estimator, "score_samples") or hasattr(estimator, "decision_function")
    is_density = scores and not hasattr(estimator, "predict")
    return "outliers" if is_outlier_detector(estimator) or is_density else "clusters"


def check_settings(estimator: Any, settings: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The estimator in every setting; names of parameters that it does not have are an error."""
    return [clone(estimator).set_params(**clone(dict(setting), safe=False)) for setting in settings]
