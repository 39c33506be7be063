"""Agreement of every two methods on the same rows, and of every two refits of a method."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

from typicality._typing import Doubles
from typicality.stability.results import as_json

Measure = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True, eq=False)
class AgreementMatrix:
    """The agreement of all pairs of methods.

    Parameters
    ----------
    names : tuple of str
        The methods.
    values : array of shape (n_methods, n_methods)
        Symmetric, with 1 on the diagonal; NaN if two methods cannot be compared.
    measure : str
        The name of the measure.
    """

    names: tuple[str, ...]
    values: Doubles
    measure: str

    def between(self, first: str, second: str) -> float:
        """The agreement of two methods, by name."""
        return float(self.values[self.names.index(first), self.names.index(second)])

    @property
    def of_pairs(self) -> Doubles:
        """The agreement of all pairs of different methods, without NaN."""
        values = self.values[np.triu_indices(len(self.names), 1)]
        return values[~np.isnan(values)]

    def to_pandas(self) -> Any:
        """The matrix as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.values, index=self.names, columns=self.names)

    def to_dict(self) -> dict[str, Any]:
        """The matrix as a dictionary for JSON; None if two methods cannot be compared."""
        return as_json(measure=self.measure, names=self.names, values=self.values)


def agreement_matrix(
    results: Mapping[str, NDArray[Any]],
    *,
    agree: Measure,
    measure: str,
) -> AgreementMatrix:
    """The agreement of all pairs of results on the same rows.

    Parameters
    ----------
    results : mapping of str to array of shape (n,)
        Labels, flags or scores by the name of their method.
    agree : callable
        A function ``agree(result, result)`` that returns a number.
    measure : str
        The name of the measure.

    Returns
    -------
    AgreementMatrix

    Examples
    --------
    >>> from typicality.stability import agreement_matrix
    >>> from typicality.metrics import jaccard_score
    >>> flags = {"a": [True, True, False], "b": [True, False, False]}
    >>> agreement_matrix(flags, agree=jaccard_score, measure="Jaccard index").between("a", "b")
    0.5
    """
    names = tuple(results)
    values = np.eye(len(names))
    for i, first in enumerate(names):
        for j in range(i):
            values[i, j] = values[j, i] = agree(results[first], results[names[j]])
    return AgreementMatrix(names, values, measure)


def placed_rows_agreement(labels_a: NDArray[Any], labels_b: NDArray[Any]) -> float:
    """The adjusted Rand index on the rows that both labellings put in a cluster.

    Parameters
    ----------
    labels_a, labels_b : array of shape (n,)
        Labels. Rows with -1 in either are not used.

    Returns
    -------
    float
        The index; NaN if both have at most one cluster on these rows.
    """
    a, b = np.asarray(labels_a), np.asarray(labels_b)
    placed = (a >= 0) & (b >= 0)
    a, b = a[placed], b[placed]
    if len(np.unique(a)) < 2 and len(np.unique(b)) < 2:
        return float("nan")
    return float(adjusted_rand_score(a, b))


def rank_agreement(scores_a: NDArray[Any], scores_b: NDArray[Any]) -> float:
    """Spearman's rank correlation; NaN if all scores of one method are equal.

    Parameters
    ----------
    scores_a, scores_b : array of shape (n,)
        Scores of the same rows.

    Returns
    -------
    float
    """
    if np.ptp(scores_a) == 0 or np.ptp(scores_b) == 0:
        return float("nan")
    return float(spearmanr(scores_a, scores_b).statistic)


# ---- refits of one method ------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeats:
    """Repeated measurements of a number.

    Parameters
    ----------
    values : tuple of float, default=()
        The measurements.
    """

    values: tuple[float, ...] = ()

    @property
    def mean(self) -> float:
        """The mean; NaN if there are no values."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def deviation(self) -> float:
        """The standard deviation; 0 for a single value, NaN for none."""
        return float(np.std(self.values)) if self.values else float("nan")


def shared_rows_agreement(
    first: tuple[Any, Any], second: tuple[Any, Any], *, measure: Measure
) -> float:
    """The agreement of two results on the rows that both contain.

    Parameters
    ----------
    first, second : tuple of (rows, result)
        The numbers of the rows (each once), and a label, flag or score for each.
    measure : callable
        A function ``measure(result, result)`` that returns a number, for example
        :func:`sklearn.metrics.adjusted_rand_score` for labels or
        :func:`typicality.metrics.jaccard_score` for flags.

    Returns
    -------
    float
        The agreement; NaN if no row is shared.

    Examples
    --------
    >>> from typicality.stability import shared_rows_agreement
    >>> from typicality.metrics import adjusted_rand_score
    >>> first = [0, 1, 2, 3], [0, 0, 1, 1]
    >>> second = [1, 2, 3, 4], [5, 7, 7, 7]
    >>> float(shared_rows_agreement(first, second, measure=adjusted_rand_score))
    1.0
    """
    (rows_a, result_a), (rows_b, result_b) = first, second
    _, in_a, in_b = np.intersect1d(rows_a, rows_b, assume_unique=True, return_indices=True)
    if len(in_a) == 0:
        return float("nan")
    return float(measure(np.asarray(result_a)[in_a], np.asarray(result_b)[in_b]))


def agreement_of_refits(refits: Sequence[tuple[Any, Any]], *, measure: Measure) -> Repeats:
    """The agreement of all pairs of refits on the rows that they share.

    Parameters
    ----------
    refits : sequence of tuple of (rows, result)
        As in :func:`shared_rows_agreement`.
    measure : callable
        As in :func:`shared_rows_agreement`.

    Returns
    -------
    Repeats
        One value per pair that shares rows.
    """
    pairs = combinations(refits, 2)
    values = [shared_rows_agreement(a, b, measure=measure) for a, b in pairs]
    return Repeats(tuple(value for value in values if not np.isnan(value)))
