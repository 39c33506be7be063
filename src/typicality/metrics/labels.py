"""Agreement of two labellings, and of two sets of outliers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from typicality._arguments import check_choice, check_same_length
from typicality.metrics.partitions import check_labels


def _check_two(labels_true: Any, labels_pred: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    true = check_labels(labels_true, "labels_true")
    pred = check_labels(labels_pred, "labels_pred")
    check_same_length(len(true), "labels_true", len(pred), "labels_pred")
    return true, pred


# ---- pairs of rows: who is put together with whom ------------------------------------------------


@dataclass(frozen=True)
class PairConfusion:
    """The numbers of pairs of rows that are together in the truth and in the prediction.

    There are n (n - 1) / 2 pairs for n rows. If there are no pairs to divide by, precision, recall
    and F1 are 1.

    Parameters
    ----------
    true_positives : int
        Pairs that are together in both.
    false_positives : int
        Pairs that are together in the prediction only.
    false_negatives : int
        Pairs that are together in the truth only.
    true_negatives : int
        Pairs that are together in neither.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def precision(self) -> float:
        """The fraction of pairs together in the prediction that are together in the truth."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """The fraction of pairs together in the truth that are together in the prediction."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN)."""
        wrong = self.false_positives + self.false_negatives
        return _share(2 * self.true_positives, 2 * self.true_positives + wrong)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def pair_confusion(labels_true: Any, labels_pred: Any) -> PairConfusion:
    """Count the pairs of rows that are together in the truth and in the prediction.

    The result has precision = TP / (TP + FP), recall = TP / (TP + FN), and F1 = 2 TP / (2 TP + FP +
    FN). All are in [0, 1]; larger is better. Very small clusters have a high precision, and very
    large ones a high recall, so check both. The counts are exact up to 3e9 rows. Pairs are counted
    from the table of classes and clusters, so the time is linear in n.

    Implements :cite:`lecture20`, section 20.3.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Labels: integers or text. -1 (unassigned) is a class like any other, as in
        :func:`sklearn.metrics.rand_score`.

    Returns
    -------
    PairConfusion
        The four counts, with `precision`, `recall` and `f1`.

    Examples
    --------
    >>> from typicality.metrics import pair_confusion
    >>> pairs = pair_confusion([0, 0, 0, 1, 1], [2, 2, 3, 3, 3])
    >>> pairs
    PairConfusion(true_positives=2, false_positives=2, false_negatives=2, true_negatives=4)
    >>> pairs.precision, pairs.recall, pairs.f1
    (0.5, 0.5, 0.5)
    """
    true, pred = _check_two(labels_true, labels_pred)
    codes = [np.unique(labels, return_inverse=True)[1] for labels in (true, pred)]
    ordered = pair_confusion_matrix(*codes)
    (neither, pred_only), (true_only, both) = (ordered // 2).tolist()
    return PairConfusion(both, pred_only, true_only, neither)


# ---- clusters matched with classes ---------------------------------------------------------------


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
    true, pred = _check_two(labels_true, labels_pred)
    somewhere = _somewhere(true) & _somewhere(pred)
    if not somewhere.any():
        return 0.0
    if matching == "greedy":
        return _matched_greedily(true[somewhere], pred[somewhere]) / len(true)
    shared = contingency_matrix(true[somewhere], pred[somewhere])
    return int(shared[linear_sum_assignment(shared, maximize=True)].sum()) / len(true)


def _somewhere(labels: NDArray[Any]) -> NDArray[np.bool_]:
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


# ---- sets of outliers ----------------------------------------------------------------------------


def jaccard_score(flags_a: Any, flags_b: Any) -> float:
    r"""The Jaccard index of two sets of outliers.

    .. math:: J(A, B) = \frac{|A \cap B|}{|A \cup B|}

    is the number of rows that are in both sets, divided by the number of rows that are in at least
    one set. It is in [0, 1]; larger values mean more agreement. It is 1 if both sets are empty.
    Rows in neither set have no effect.

    Implements the Jaccard coefficient of :cite:`filippone2010`, eq. (37).

    Parameters
    ----------
    flags_a, flags_b : array-like of shape (n,)
        Flags of the rows: booleans, with True for outliers; or the values +1 and -1 that `predict`
        of an outlier detector returns, with -1 for outliers. The two arguments can have different
        forms.

    Returns
    -------
    float
        The index.

    Examples
    --------
    >>> from typicality.metrics import jaccard_score
    >>> jaccard_score([True, True, False, False], [-1, 1, -1, 1])
    0.3333333333333333
    """
    a, b = check_flags(flags_a, "flags_a"), check_flags(flags_b, "flags_b")
    check_same_length(len(a), "flags_a", len(b), "flags_b")
    either = int(np.count_nonzero(a | b))
    return int(np.count_nonzero(a & b)) / either if either else 1.0


def check_flags(flags: Any, name: str) -> NDArray[np.bool_]:
    """Outlier flags: truth values, or +1 and -1 as `predict` gives them, where -1 is an outlier."""
    array = np.asarray(flags)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} has shape {array.shape}, expected one flag for each row, and at least one row."
        )
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "if" and np.isin(array, (-1, 1)).all():
        return array == -1
    sample = ", ".join(map(repr, array[:3].tolist())) + ", ..." * (len(array) > 3)
    raise ValueError(
        f"{name} must be boolean, True for an outlier, or +1 and -1 as predict returns, "
        f"-1 for an outlier; it holds {sample}. If 1 marks an outlier and 0 an inlier, "
        f"pass {name} == 1."
    )
