"""The share of rows whose cluster is matched with their class."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from typicality._arguments import check_choice, check_same_length
from typicality.metrics.partitions import check_labels


def success_rate(labels_true: Any, labels_pred: Any, *, matching: str = "greedy") -> float:
    """The fraction of rows that are in the cluster matched with their class.

    Each cluster is matched with at most one class, and each class with at most one cluster:

        SR = (1 / n) * sum over matched (class, cluster) of the rows that are in both,

    The rate is in [0, 1]; larger is better. It is 1 if the labels are the same except for the names
    of the clusters, and no row has the label -1.

    Implements SR of :cite:`xenaki2014`, section 4.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Labels: integers or text. Rows with the label -1 (unassigned) in either argument are
        failures. If noise is a class that should be found, give it another number in both
        arguments.
    matching : {"greedy", "optimal"}, default="greedy"
        "greedy" matches the class and the cluster that share most rows, removes both, and repeats
        this. Ties are resolved in the order of the labels, so the result can depend on their names.
        "optimal" maximises the sum (Hungarian method), so its rate is never smaller.

    Returns
    -------
    float
        The success rate.

    Examples
    --------
    >>> from typicality.metrics import success_rate
    >>> success_rate([0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, -1])
    0.6666666666666666
    """
    check_choice(matching, "matching", ("greedy", "optimal"))
    true = check_labels(labels_true, "labels_true")
    pred = check_labels(labels_pred, "labels_pred")
    check_same_length(len(true), "labels_true", len(pred), "labels_pred")
    somewhere = _somewhere(true) & _somewhere(pred)
    if not somewhere.any():
        return 0.0
    matched = _matched_optimally if matching == "optimal" else _matched_greedily
    return matched(true[somewhere], pred[somewhere]) / len(true)


def _somewhere(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    numbers = labels.dtype.kind in "iuf"
    return labels != -1 if numbers else np.ones(len(labels), np.bool_)


def _matched_greedily(true: Any, pred: Any) -> int:
    shared = contingency_matrix(true, pred, sparse=True).tocoo()
    taken_classes: set[int] = set()
    taken_clusters: set[int] = set()
    matched = 0
    for cell in np.lexsort((shared.col, shared.row, -shared.data)):
        row, column = int(shared.row[cell]), int(shared.col[cell])
        if row not in taken_classes and column not in taken_clusters:
            taken_classes.add(row)
            taken_clusters.add(column)
            matched += int(shared.data[cell])
    return matched


def _matched_optimally(true: Any, pred: Any) -> int:
    shared = contingency_matrix(true, pred)
    return int(shared[linear_sum_assignment(shared, maximize=True)].sum())
