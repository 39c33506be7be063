"""The rows of Tables 2 to 4 of xenaki2014 that come out in all printed digits."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from typicality.metrics import generalized_rand_score, rand_score, success_rate
from xenaki2014.adaptive_rows import AFTER_STEPS, MAX_ITER, OTHER_COUNT, fitted, key
from xenaki2014.kmeans_single_point import kmeans_single_point
from xenaki2014.other_rows import as_for_kmeans, by_fuzzy_c_means, by_possibilistic_c_means
from xenaki2014.printed import IRIS, S2, WINE

ADAPTIVE = ("APCM", "SAPCM", "SeqSAPCM")
# The others depend on the start: one of sixty finds the row of Wine, none those of S2.
FUZZY = {("Iris", 2), ("Iris", 3), ("Iris", 10), ("Wine", 3), ("Wine", 5), ("S2", 15)}
N_STARTS = 20


@pytest.fixture
def data(request):
    """Rows and classes of the set that a row of a table is about."""
    return {
        "Iris": lambda: load_iris(return_X_y=True),
        "Wine": lambda: load_wine(return_X_y=True),
        "S2": lambda: request.getfixturevalue("s2"),
    }[request.param]()


def over(rows):
    cases = [pytest.param(row, row.data, id=f"{row.data} {row.setting}") for row in rows]
    return pytest.mark.parametrize(("row", "data"), cases, indirect=["data"])


def per_cent(*scores):
    return tuple(np.round(100 * np.array(scores), 2).tolist())


def measures(truth, found):
    return per_cent(
        rand_score(truth, found.labels),
        generalized_rand_score(truth, found.memberships),
        success_rate(truth, found.labels),
    )


# Some end in a cycle, some are looked at before the end.
@pytest.mark.filterwarnings("ignore:Not converged:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::typicality.exceptions.EmptyClustersWarning")
@over(row for row in IRIS + WINE + S2 if row.method in ADAPTIVE)
def test_adaptive_row_comes_out(row, data):
    """The number of clusters, RM, GRM and SR; some rows are printed before the iteration ended."""
    X, truth = data
    found = fitted(row, X, max_iter=AFTER_STEPS.get(key(row), MAX_ITER))
    assert found.n_clusters == OTHER_COUNT.get(key(row), row.m_final)
    assert measures(truth, found) == (row.rm, row.grm, row.sr)


@over(row for row in IRIS + WINE + S2 if row.method == "k-means")
def test_kmeans_row_comes_out(row, data):
    X, truth = data
    labels = kmeans_single_point(as_for_kmeans(row, X), row.m_ini)
    assert per_cent(rand_score(truth, labels), success_rate(truth, labels)) == (row.rm, row.sr)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@over(row for row in IRIS + WINE + S2 if row.method == "FCM" and (row.data, row.m_ini) in FUZZY)
def test_fuzzy_row_comes_out(row, data):
    X, truth = data
    starts = by_fuzzy_c_means(row, X, N_STARTS)
    assert any(measures(truth, found) == (row.rm, row.grm, row.sr) for found in starts)


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@over(row for row in IRIS + WINE + S2 if row.method == "PCM")
def test_possibilistic_row_has_the_printed_number_of_clusters(row, data):
    """All seven, with a fuzzifier of its own for the start; the measures only of one cluster."""
    X, truth = data
    found = by_possibilistic_c_means(row, X)
    assert found.n_clusters == len(found.prototypes) == len(found.radii) == row.m_final
    is_exact = measures(truth, found) == (row.rm, row.grm, row.sr)
    assert is_exact == (row.m_final == 1)
