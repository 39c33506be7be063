"""p-values of any detector by cross-validation: the formula, validity, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from reference import p_values as reference
from typicality.stability import cross_conformal_p_values

SVM = OneClassSVM(gamma=0.3, nu=0.2)


def kernel_density(rows):
    return lambda x: np.mean(np.exp(-0.5 * ((rows - x) ** 2).sum(axis=1)))


def standardised_distance(rows):
    """Minus the distance to the mean, in standard deviations of each column."""
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    return lambda x: -np.sqrt((((x - centre) / scale) ** 2).sum())


class ToMean(BaseEstimator):
    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def decision_function(self, X):
        return -np.linalg.norm(X - self.mean_, axis=1)


@pytest.mark.parametrize(
    ("detector", "fitted"),
    [
        (KernelDensity(bandwidth=1.0), kernel_density),
        (make_pipeline(StandardScaler(), ToMean()), standardised_distance),
    ],
    ids=["score_samples", "pipeline with decision_function"],
)
@pytest.mark.parametrize("n_splits", [2, 23])
def test_p_values_are_those_of_the_formula(rng, detector, fitted, n_splits):
    X, new = rng.normal(size=(23, 2)) * (1, 4), 2 * rng.normal(size=(30, 2))
    p = cross_conformal_p_values(detector, X, new, n_splits=n_splits, random_state=7)
    folds = np.array_split(np.random.RandomState(7).permutation(23), n_splits)
    assert_array_equal(p, reference.cross_conformal(fitted, X, new, folds))
    assert len(np.unique(p)) > 10


@pytest.mark.parametrize(("detector", "n", "n_splits"), [(SVM, 20, 4), (ToMean(), 10, 10)])
def test_rows_of_the_same_source_have_p_values_that_are_as_small_as_they_say(
    rng, detector, n, n_splits
):
    n_draws, n_new = 50, 40
    p = np.empty((n_draws, n_new))
    for seed in range(n_draws):
        Z = rng.standard_t(4, size=(n + n_new, 2))
        p[seed] = cross_conformal_p_values(
            detector, Z[:n], Z[n:], n_splits=n_splits, random_state=seed
        )
    for rank in (1, 2, 4):
        t = rank / (n + 1)
        alarms = (p <= t + 1e-9).mean(axis=1)
        error = 4 * alarms.std() / np.sqrt(n_draws)
        assert 0.8 * t - error <= alarms.mean() <= t + error


def test_rows_of_every_kind_have_the_same_p_values(rng):
    X, new = rng.poisson(1.0, size=(30, 3)), rng.poisson(2.0, size=(12, 3))
    options = {"n_splits": 5, "random_state": 0}
    expected = cross_conformal_p_values(SVM, X, new, **options)
    as_frame = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(new, columns=list("abc"))
    as_kernel = rbf_kernel(X, gamma=0.3), rbf_kernel(new, X, gamma=0.3)
    precomputed = OneClassSVM(kernel="precomputed", nu=0.2)
    for detector, rows in (
        (SVM, (X.tolist(), new.tolist())),
        (SVM, as_frame),
        (SVM, (sparse.csr_array(X), sparse.csr_array(new))),
        (precomputed, as_kernel),
        (precomputed, (as_kernel[0], pd.DataFrame(as_kernel[1]))),
    ):
        assert_array_equal(cross_conformal_p_values(detector, *rows, **options), expected)


def test_a_row_has_the_same_p_value_alone_and_in_any_batch_though_scores_are_rounded(rng):
    X, new = rng.poisson(2.0, size=(60, 8)).astype(float), rng.poisson(2.0, size=(20, 8))
    detector = make_pipeline(PCA(1, svd_solver="full"), ToMean())
    options = {"n_splits": 3, "random_state": 0}
    both = np.vstack([new, X[:10]])  # rows that have equals in folds
    together = cross_conformal_p_values(detector, X, both, **options)
    alone = [cross_conformal_p_values(detector, X, row[None], **options)[0] for row in both]
    assert_array_equal(alone, together)


@pytest.mark.parametrize("value", [-np.inf, 0.0])
def test_equal_and_infinite_scores_count_as_no_more_typical(rng, value):
    X = rng.normal(size=(10, 1))
    p = cross_conformal_p_values(
        ToMean(), X, X[:3], n_splits=5, score=lambda model, rows: np.full(len(rows), value)
    )
    assert_array_equal(p, 1.0)


ROWS = np.arange(20.0).reshape(10, 2) ** 2


@pytest.mark.parametrize(
    ("detector", "X", "new", "options", "message"),
    [
        (LocalOutlierFactor(), ROWS, ROWS, {}, "novelty=True"),
        (SVM, ROWS[:3], ROWS, {}, "X has 3 row"),
        (SVM, ROWS, ROWS[0], {}, r"X_new has shape \(2,\), expected \(n_new, 2\)"),
        (SVM, ROWS, ROWS[:, :1], {}, r"X_new has shape \(10, 1\), expected \(n_new, 2\)"),
        (SVM, ROWS, ROWS[:0], {}, r"X_new has shape \(0, 2\).*at least one row"),
        (SVM, ROWS, ROWS, {"n_splits": 1}, "n_splits must be a whole number, 2 or more; got 1"),
        (SVM, ROWS, ROWS, {"n_splits": 11}, "at most 10, the number of rows of X; got 11"),
    ],
)
def test_bad_input_is_named_before_any_fit(detector, X, new, options, message):
    with pytest.raises(ValueError, match=message):
        cross_conformal_p_values(detector, X, new, **options)
