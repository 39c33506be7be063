"""Bad input gets an error that names it and says what to do."""

import doctest
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from typicality import metrics

SOFT = np.array([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]])
X = np.arange(6.0).reshape(3, 2)

PARTITIONS = {
    "lengths": ([0, 1], SOFT, "reference has 2 rows, but memberships has 3"),
    "NaN": ([0, 1, 1], np.where(SOFT == 1, np.nan, SOFT), r"value nan in row 2, column 0"),
    "negative": (SOFT - 0.5, SOFT, r"reference has the value -0.3 in row 1, column 0.*\[0, 1\]"),
    "above one": ([0, 1, 1], csr_matrix(3 * SOFT), r"memberships has the value 1.5 in row 0"),
    "fractions": ([0.5, 1, 1], SOFT, r"row 0 is not a whole number.*reshape\(-1, 1\)"),
    "NaN in labels": ([0, np.nan, 1], SOFT, "reference contains NaN or infinity, first in row 1"),
    "mixed labels": (np.array(["a", 1, None], object), SOFT, "labels of several types"),
    "no rows": ([], SOFT, "reference is empty"),
    "no rows of memberships": ([0], np.empty((0, 2)), "memberships has no rows"),
    "too many dimensions": ([0], np.ones((1, 1, 1)), r"shape \(1, 1, 1\), expected \(n_samples"),
    "ragged": ([0, 1], [[1.0], [0.5, 0.5]], "memberships: setting an array element"),
}


@pytest.mark.parametrize("case", PARTITIONS)
def test_measures_refuse_bad_partitions(case):
    reference, memberships, message = PARTITIONS[case]
    with pytest.raises(ValueError, match=message):
        metrics.generalized_rand_score(reference, memberships)


CALLS = {
    "labels with columns": (
        lambda: metrics.pair_confusion(SOFT, [0, 1, 1]),
        r"labels_true has shape \(3, 2\), expected one label for each row.*argmax",
    ),
    "lengths of labels": (
        lambda: metrics.pair_confusion([0, 1, 1], [0, 1]),
        "labels_true has 3 rows, but labels_pred has 2",
    ),
    "matching": (
        lambda: metrics.success_rate([0], [0], matching="hungarian"),
        "matching must be one of 'greedy', 'optimal'; got 'hungarian'",
    ),
    "flags of zeros and ones": (
        lambda: metrics.jaccard_score([0, 1, 1, 0], [True] * 4),
        r"flags_a must be boolean.*holds 0, 1, 1, \.\.\.\. If .* pass flags_a == 1",
    ),
    "scores for flags": (lambda: metrics.jaccard_score([True], [0.3]), "flags_b must be boolean"),
    "pairs": (
        lambda: metrics.generalized_rand_estimate([0, 1, 1], SOFT, n_pairs=1),
        "n_pairs must be a whole number, 2 or more; got 1",
    ),
    "labels for memberships": (
        lambda: metrics.partition_coefficient([0.0, 1.0]),
        r"memberships has shape \(2,\), expected \(n_samples, n_clusters\)",
    ),
    "negative memberships": (lambda: metrics.partition_entropy(-SOFT), "value -0.5 in row 0"),
    "rows of X": (
        lambda: metrics.xie_beni_index(X[:2], X[:2], SOFT),
        "X has 2 rows, but memberships has 3",
    ),
    "centers": (
        lambda: metrics.xie_beni_index(X, X, SOFT),
        r"centers has shape \(3, 2\), expected \(n_clusters, n_features\) = \(2, 2\)",
    ),
    "one cluster": (
        lambda: metrics.xie_beni_index(X, X[:1], SOFT[:, :1]),
        "not defined for one cluster",
    ),
    "m": (lambda: metrics.xie_beni_index(X, X[:2], SOFT, m=0), "m must be a finite number above 0"),
    "NaN in X": (lambda: metrics.xie_beni_index(X * np.nan, X[:2], SOFT), "X contains NaN"),
    "alpha": (
        lambda: metrics.fuzzy_silhouette_score(X, SOFT, alpha="1"),
        "alpha must be a finite number above 0; got '1'",
    ),
    "silhouette of one cluster": (
        lambda: metrics.fuzzy_silhouette_score(X, np.full((3, 2), 0.5)),
        r"put 3 rows into 1 cluster\(s\)",
    ),
    "silhouette without clusters": (
        lambda: metrics.fuzzy_silhouette_score(X, np.empty((3, 0))),
        r"put 0 rows into 0 cluster\(s\)",
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_measures_refuse_bad_calls(case):
    call, message = CALLS[case]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("module", ["generalized_rand", "labels", "validity"])
def test_examples_in_docstrings(module):
    results = doctest.testmod(import_module(f"typicality.metrics.{module}"))
    assert results.attempted > 0
    assert results.failed == 0
