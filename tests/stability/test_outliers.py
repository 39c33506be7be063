"""Stability of outlier detection."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from reference.stability import one_cluster_scores, seeds_of, stability_of_a_split
from typicality import OneClusterPCM
from typicality.datasets import make_gaussian_and_outliers
from typicality.exceptions import ClusteringWarning
from typicality.stability import outlier_stability


@pytest.fixture(scope="module")
def few():
    """As many rows as show that halves need not be equal."""
    return make_gaussian_and_outliers(50, 4, 3, random_state=1)[0]


@pytest.mark.parametrize("transfer", ["threshold", "rank"])
@pytest.mark.parametrize("sigma", [1.5, 5.0])
def test_table_2_to_the_last_digit(few, sigma, transfer):
    result = outlier_stability(
        OneClusterPCM(sigma=sigma, tol=1e-10),
        few,
        rates=(0.02, 0.1, 0.3),
        transfer=transfer,
        n_repeats=6,
        random_state=3,
    )
    expected = [
        [
            stability_of_a_split(lambda X: one_cluster_scores(X, sigma), few, seed, rate, transfer)
            for rate in result.rates
        ]
        for seed in seeds_of(3, 6)
    ]
    assert_array_equal(result.scores, expected)
    assert len(np.unique(result.scores)) > 3
    assert_allclose(result.mean, np.mean(expected, axis=0))
    assert_allclose(result.standard_error, np.std(expected, axis=0, ddof=1) / np.sqrt(6))
    assert f"{result.mean[1]:.3f}" in str(result)
    assert_allclose(result.to_pandas().loc[0.1, "mean"], result.mean[1])


def test_a_random_state_of_the_detector_is_kept(few):
    def seeds_seen(detector):
        seen = []
        outlier_stability(
            detector,
            few,
            n_repeats=2,
            random_state=0,
            score=lambda model, rows: seen.append(model.random_state) or rows[:, 0],
        )
        return set(seen)

    assert seeds_seen(IsolationForest(n_estimators=2, random_state=7)) == {7}
    seeded = seeds_seen(IsolationForest(n_estimators=2))
    assert len(seeded) == 4  # one for each half of each repetition
    assert None not in seeded


def test_the_parameter_of_the_rate_is_set(few):
    seen = []

    def score(model, rows):
        seen.append(model.nu)
        return model.score_samples(rows)

    outlier_stability(
        OneClassSVM(), few, rates=(0.1, 0.3), rate_parameter="nu", n_repeats=1, score=score
    )
    assert seen == [0.1] * 3 + [0.3] * 3


def test_outlier_stability_takes_rows_of_any_kind(few):
    detector = OneClassSVM(gamma=0.5, nu=0.2)
    options = {"rates": 0.1, "n_repeats": 4, "random_state": 0}
    expected = outlier_stability(detector, few, **options).scores
    kernel = rbf_kernel(few, gamma=0.5)
    for X in (pd.DataFrame(few), coo_array(few), few.tolist()):
        found = outlier_stability(detector, X, score="decision_function", **options)
        assert_allclose(found.scores, expected)
    square = OneClassSVM(kernel="precomputed", nu=0.2)
    assert_allclose(outlier_stability(square, kernel, **options).scores, expected)


def test_scores_that_are_all_alike_are_told_and_not_taken_for_stable(few):
    with pytest.warns(ClusteringWarning, match="same score.*arbitrary"):
        result = outlier_stability(
            OneClusterPCM(),
            few,
            rates=0.1,
            transfer="rank",
            n_repeats=9,
            random_state=0,
            score=lambda model, rows: np.zeros(len(rows)),
        )
    assert result.mean < 0.3


@pytest.mark.parametrize(
    ("detector", "options", "message"),
    [
        (LocalOutlierFactor(), {}, "no score_samples and no decision_function.*novelty=True"),
        (StandardScaler(), {}, "or pass score=, a function"),
        (OneClusterPCM(), {"score": "score"}, "has no score to score new rows with"),
        (OneClusterPCM(), {"score": lambda model, X: np.full(len(X), np.nan)}, "gives NaN as the"),
        (OneClusterPCM(), {"rates": 0.0}, "above 0 and at most 0.5; got 0.0"),
        (OneClusterPCM(), {"rates": []}, "at most 0.5; got 0"),
        (OneClusterPCM(), {"transfer": "ranks"}, "transfer must be one of 'threshold', 'rank'"),
        (OneClassSVM(), {"rate_parameter": "nuu"}, "Invalid parameter 'nuu'"),
        (OneClusterPCM(), {"n_repeats": 0}, "n_repeats must be a whole number, 1 or more"),
    ],
)
def test_bad_input_is_refused(detector, options, message, few):
    with pytest.raises(ValueError, match=message):
        outlier_stability(detector, few, **options)
