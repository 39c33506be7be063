"""Precision, recall and F1 over pairs of rows: who is put together with whom."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.cluster import pair_confusion_matrix

from typicality._arguments import check_same_length
from typicality.metrics.partitions import check_labels


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
    FN). All are in [0, 1]; larger is better. The counts are exact up to 3e9 rows. Pairs are counted
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
    true = check_labels(labels_true, "labels_true")
    pred = check_labels(labels_pred, "labels_pred")
    check_same_length(len(true), "labels_true", len(pred), "labels_pred")
    codes = [np.unique(labels, return_inverse=True)[1] for labels in (true, pred)]
    ordered = pair_confusion_matrix(*codes)
    (neither, pred_only), (true_only, both) = (ordered // 2).tolist()
    return PairConfusion(both, pred_only, true_only, neither)


def pair_precision_score(labels_true: Any, labels_pred: Any) -> float:
    """The pair precision TP / (TP + FP), in [0, 1].

    This is the fraction of pairs together in the prediction that are together in the truth. Larger
    is better. It is 1 if no pair is together in the prediction. Very small clusters have a high
    precision, so check the recall, too. See :func:`pair_confusion`. Implements :cite:`lecture20`,
    section 20.3.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Labels; -1 (unassigned) is a class like any other.
    """
    return pair_confusion(labels_true, labels_pred).precision


def pair_recall_score(labels_true: Any, labels_pred: Any) -> float:
    """The pair recall TP / (TP + FN), in [0, 1].

    This is the fraction of pairs together in the truth that are together in the prediction. Larger
    is better. It is 1 if no pair is together in the truth. Very large clusters have a high recall,
    so check the precision, too. See :func:`pair_confusion`. Implements :cite:`lecture20`, section
    20.3.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Labels; -1 (unassigned) is a class like any other.
    """
    return pair_confusion(labels_true, labels_pred).recall


def pair_f1_score(labels_true: Any, labels_pred: Any) -> float:
    """The harmonic mean of pair precision and pair recall, 2 TP / (2 TP + FP + FN).

    It is in [0, 1]; larger is better, and equal partitions have 1. See :func:`pair_confusion`.
    Implements :cite:`lecture20`, section 20.3.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Labels; -1 (unassigned) is a class like any other.
    """
    return pair_confusion(labels_true, labels_pred).f1
