"""Accuracy of detectors that are trained on normal rows."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from reference.stability import accuracy_of_a_draw, one_cluster_scores, seeds_of
from typicality import OneClusterPCM
from typicality.datasets import make_gaussian_and_outliers
from typicality.stability import novelty_accuracy

IRIS_SIGMA, IRIS_NU = 0.5, 0.2
SVM = OneClassSVM(gamma=1 / (2 * IRIS_SIGMA**2), nu=IRIS_NU)


@pytest.fixture(scope="module")
def known():
    X, y = make_gaussian_and_outliers(50, 8, 6, random_state=2)
    return X, y == -1


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y == 2


def test_accuracy_is_that_of_the_protocol_to_the_last_digit(known):
    result = novelty_accuracy(
        OneClusterPCM(sigma=1.5, tol=1e-10),
        *known,
        sizes=(8, 30),
        rate=0.15,
        n_repeats=5,
        random_state=4,
        score=lambda model, rows: np.exp(model.score_samples(rows)),  # quantiles interpolate
    )
    expected = [
        [
            accuracy_of_a_draw(lambda X: one_cluster_scores(X, 1.5), *known, seed, size, 0.15)
            for size in result.sizes
        ]
        for seed in seeds_of(4, 5)
    ]
    assert_array_equal(result.scores, expected)
    assert len(np.unique(result.scores)) > 5


FIGURE_5 = {  # on Iris, 10 and 80 rows
    "svm": (SVM, {}, (0.40, 0.81)),
    "1-PCM": (
        OneClusterPCM(sigma=IRIS_SIGMA),
        {"matched_to": SVM, "score": "predict_typicality"},
        (0.46, 0.89),
    ),
    "density": (KernelDensity(bandwidth=IRIS_SIGMA), {"matched_to": SVM}, (0.44, 0.88)),
}


@pytest.mark.parametrize(("detector", "options", "expected"), FIGURE_5.values(), ids=FIGURE_5)
def test_accuracy_is_that_of_figure_5_on_iris(iris, detector, options, expected):
    result = novelty_accuracy(
        detector, *iris, sizes=(10, 80), n_repeats=40, random_state=0, **options
    )
    assert (abs(result.mean - expected) <= 0.03).all()


def test_a_matched_rate_is_that_of_the_other(known):
    X, truth = known
    flagged = []

    class Counting(OneClassSVM):
        def predict(self, X):
            flags = super().predict(X)
            flagged.append(float(np.mean(flags == -1)))
            return flags

    options = {"sizes": 30, "n_repeats": 1, "random_state": 0}
    detector = OneClusterPCM(sigma=1.0)
    matched = novelty_accuracy(detector, X, truth, matched_to=Counting(nu=0.3), **options)
    given = novelty_accuracy(detector, X, truth, rate=flagged[0], **options)
    assert 0.1 < flagged[0] < 0.5
    assert_array_equal(matched.scores, given.scores)
    assert "the rate of Counting(nu=0.3)" in str(matched)


def test_scores_may_be_minus_infinity(known):
    X, truth = known

    def score(model, rows):
        far = np.abs(rows - X[~truth].mean(axis=0)).max(axis=1) > 1.5
        return np.where(far, -np.inf, 0.0)

    result = novelty_accuracy(
        OneClusterPCM(), X, truth, sizes=30, rate=0.05, n_repeats=3, random_state=0, score=score
    )
    assert (result.scores > 0.3).all()


def test_flags_of_either_kind_and_the_words(known):
    X, truth = known
    options = {"sizes": [10], "rate": 0.1, "n_repeats": 2, "random_state": 0}
    by_truth = novelty_accuracy(OneClusterPCM(), X, truth, **options)
    by_sign = novelty_accuracy(OneClusterPCM(), X, np.where(truth, -1, 1), **options)
    assert_array_equal(by_truth.scores, by_sign.scores)
    assert (by_truth.n_rows, by_truth.n_outliers) == (64, 14)
    assert "14 outliers in 64 rows, rejection by a rate of 0.1, 2 repetitions" in str(by_truth)
    assert by_truth.to_pandas().index.name == "training rows"


def test_accuracy_is_ready_for_json_with_sizes_of_numpy(known):
    result = novelty_accuracy(
        OneClusterPCM(), *known, sizes=np.array([10, 20]), rate=0.1, n_repeats=2, random_state=0
    )
    assert json.loads(json.dumps(result.to_dict()))["sizes"] == [10, 20]


@pytest.mark.parametrize(
    ("detector", "options", "message"),
    [
        (OneClusterPCM(), {"sizes": 50}, "from 2 to 49: there are 50 normal rows.*got 50"),
        (OneClusterPCM(), {"sizes": [10, 1]}, "got 1"),
        (OneClusterPCM(), {"sizes": 10.5}, "got 10.5"),
        (OneClusterPCM(), {"sizes": []}, "sizes is empty"),
        (OneClusterPCM(), {"rate": 0.7}, "rate: every fraction of rows.*got 0.7"),
        (OneClusterPCM(), {"rate": [0.1]}, r"rate: every fraction of rows.*got \[0.1\]"),
        (OneClusterPCM(), {"rate": 0.1, "matched_to": SVM}, "both set how many rows to reject"),
        (OneClusterPCM(), {"matched_to": KernelDensity()}, "KernelDensity.. has no predict"),
        (OneClusterPCM(), {"matched_to": OneClassSVM}, "matched_to is the class OneClassSVM"),
        (KernelDensity(), {}, "has no predict.*Pass rate="),
        (GaussianMixture(), {}, "has no predict to flag outliers with.*Pass rate="),
        (OneClusterPCM(), {"matched_to": GaussianMixture()}, "has no predict to flag outliers"),
        (OneClusterPCM(), {"n_repeats": -1}, "n_repeats must be"),
    ],
)
def test_bad_input_is_refused(known, detector, options, message):
    with pytest.raises(ValueError, match=message):
        novelty_accuracy(detector, *known, **({"sizes": 10} | options))


def test_accuracy_needs_a_truth_for_every_row(known):
    X, truth = known
    with pytest.raises(ValueError, match="X has 64 rows, but is_outlier has 63"):
        novelty_accuracy(OneClusterPCM(), X, truth[1:], sizes=10)
    with pytest.raises(ValueError, match="is_outlier must be boolean"):
        novelty_accuracy(OneClusterPCM(), X, truth.astype(int), sizes=10)
    with pytest.raises(ValueError, match="At least one row must be an outlier"):
        novelty_accuracy(OneClusterPCM(), X, np.zeros(64, bool), sizes=10)
