"""Stability of outlier detection."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from reference.stability import one_cluster_scores, seeds_of, stability_of_a_split
from typicality import OneClusterPCM
from typicality.datasets import make_gaussian_and_outliers
from typicality.exceptions import ClusteringWarning
from typicality.stability import outlier_stability

RATES = (0.01, 0.03, 0.1)
WIDE = 5.0
GAMMA = 1 / (2 * WIDE**2)  # of the same kernel, in scikit-learn


@pytest.fixture(scope="module")
def figure_2():
    return make_gaussian_and_outliers(random_state=0)[0]


@pytest.fixture(scope="module")
def few():
    """As many rows as show that halves need not be equal."""
    return make_gaussian_and_outliers(50, 4, 3, random_state=1)[0]


@pytest.mark.parametrize("transfer", ["threshold", "rank"])
@pytest.mark.parametrize("sigma", [1.5, WIDE])
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


@pytest.mark.parametrize("transfer", ["threshold", "rank"])
def test_1pcm_is_more_stable_than_the_one_class_svm(figure_2, transfer):
    options = {"rates": RATES, "transfer": transfer, "n_repeats": 25, "random_state": 0}
    svm = outlier_stability(OneClassSVM(gamma=GAMMA), figure_2, rate_parameter="nu", **options)
    pcm = outlier_stability(OneClusterPCM(sigma=WIDE), figure_2, **options)
    assert (pcm.mean - svm.mean >= [0.3, 0.3, 0.05]).all()


DETECTORS = {
    "1-PCM": OneClusterPCM(),
    "local factor": LocalOutlierFactor(5, novelty=True),
    "envelope": EllipticEnvelope(support_fraction=0.9),
    "density": KernelDensity(),
    "mixture": GaussianMixture(2, reg_covar=0.1),
    "pipeline": make_pipeline(StandardScaler(), IsolationForest(n_estimators=8)),
}


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_any_detector_and_every_seed_again(detector, few):
    options = {"rates": 0.1, "n_repeats": 3, "transfer": "rank"}
    first, second = (
        outlier_stability(detector, few, random_state=seed, **options)
        for seed in (0, np.random.RandomState(0))
    )
    assert first.scores.shape == (3, 1)
    assert_array_equal(first.scores, second.scores)
    assert 0 < first.scores.max() <= 1


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
        assert_allclose(outlier_stability(detector, X, **options).scores, expected)
    square = OneClassSVM(kernel="precomputed", nu=0.2)
    assert_allclose(outlier_stability(square, kernel, **options).scores, expected)


def test_scores_by_name_and_by_function(few):
    options = {"rates": 0.1, "n_repeats": 3, "random_state": 0}
    detector = OneClusterPCM(sigma=1.0)
    by_name = outlier_stability(detector, few, score="predict_typicality", **options)
    by_function = outlier_stability(
        detector, few, score=lambda model, rows: model.predict_typicality(rows), **options
    )
    assert_array_equal(by_name.scores, by_function.scores)
    assert not np.array_equal(by_name.scores, outlier_stability(detector, few, **options).scores)


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


def test_missing_values_and_scores_are_refused(few):
    with_hole = few.copy()
    with_hole[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row"):
        outlier_stability(OneClusterPCM(), with_hole, n_repeats=2, random_state=0)
    with pytest.raises(ValueError, match="The detector gives NaN as the score of 57 of 57"):
        outlier_stability(
            OneClusterPCM(),
            np.vstack([few, few]),
            n_repeats=2,
            score=lambda model, rows: np.full(57, np.nan),
        )


@pytest.mark.parametrize(
    ("detector", "options", "message"),
    [
        (LocalOutlierFactor(), {}, "no score_samples and no decision_function.*novelty=True"),
        (StandardScaler(), {}, "or pass score=, a function"),
        (OneClusterPCM(), {"score": "score"}, "has no score to score new rows with"),
        (OneClusterPCM(), {"rates": 0.0}, "above 0 and at most 0.5; got 0.0"),
        (OneClusterPCM(), {"rates": []}, "at most 0.5; got 0"),
        (OneClusterPCM(), {"transfer": "ranks"}, "transfer must be one of 'threshold', 'rank'"),
        (OneClassSVM(), {"rate_parameter": "nuu"}, "Invalid parameter 'nuu'"),
        (OneClusterPCM(), {"n_repeats": 0}, "n_repeats must be a whole number, 1 or more"),
    ],
)
def test_bad_input_is_refused_before_any_work(detector, options, message, few):
    with pytest.raises(ValueError, match=message):
        outlier_stability(detector, few, **options)


@pytest.fixture(scope="module")
def result(few):
    return outlier_stability(
        OneClusterPCM(sigma=2.0), few, rates=(0.05, 0.2), n_repeats=8, random_state=0
    )


def test_outlier_stability_result_says_what_it_is(result):
    scores = result.scores
    assert_allclose(result.mean, scores.mean(axis=0))
    variance = ((scores - result.mean) ** 2).sum(axis=0) / 7
    assert_allclose(result.standard_error**2, variance / 8)
    frame = result.to_pandas()
    assert frame.index.tolist() == [0.05, 0.2]
    assert_allclose(frame["mean"], result.mean)
    assert f"{result.mean[1]:.3f}" in str(result)
