"""The study of bandwidths and rates."""

import doctest
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.svm import OneClassSVM

from typicality import OneClusterPCM
from typicality.bandwidth import bandwidth, median_distance, neighbour_distance
from typicality.stability import outlier_stability, outlier_study, study
from typicality.stability.study import named_sigmas

RNG = np.random.default_rng(0)
FLAT = RNG.normal(size=(300, 2))
HIGH = RNG.normal(size=(300, 40))
FEW = np.vstack([RNG.normal(size=(8, 2)), RNG.normal(size=(3, 2)) + 100])  # h is the way to others
QUICK = {"n_repeats": 4, "rates": [0.1, 0.05], "random_state": 3}
ALL = {"flat": FLAT, "high": HIGH, "few": FEW}


@pytest.mark.parametrize("X", ALL.values(), ids=ALL)
def test_sigma_grid_has_seven_values_in_rising_order_with_the_default(X):
    named = named_sigmas(X)
    sigmas = [one.sigma for one in named]
    assert len(set(sigmas)) == 7
    assert sigmas == sorted(sigmas)
    (default,) = [one.sigma for one in named if one.rule == "auto (M / 2)"]
    assert default == bandwidth("auto", X) == OneClusterPCM().fit(X).sigma_
    assert named[-1].sigma == pytest.approx(median_distance(X), rel=1e-3)


def test_sigma_grid_begins_at_half_the_neighbour_distance():
    first, *others = named_sigmas(FLAT)
    h = neighbour_distance(FLAT)
    assert first.rule == "h / 2"
    assert first.sigma == pytest.approx(h / 2, rel=1e-3)
    (neighbour,) = [one.sigma for one in others if one.rule == "knn (h)"]
    assert neighbour == pytest.approx(h, rel=1e-3)


@pytest.mark.parametrize("X", [HIGH, FEW], ids=["high", "few"])
def test_sigma_grid_begins_at_a_quarter_of_the_median_where_neighbours_are_far(X):
    first = named_sigmas(X)[0]
    assert first == (pytest.approx(median_distance(X) / 4, rel=1e-3), "M / 4")
    assert neighbour_distance(X) > median_distance(X) / 2


def test_sigma_grid_steps_are_no_wider_than_need_be():
    sigmas = np.array([one.sigma for one in named_sigmas(FLAT)])
    steps = np.diff(np.log(sigmas))
    assert steps.max() < 2.5 * steps.mean()


def test_sigma_grid_values_are_used_as_printed():
    for one in named_sigmas(FLAT):
        assert one.rule == "auto (M / 2)" or float(f"{one.sigma:.4g}") == one.sigma


# ---- the study -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared():
    return outlier_study(FLAT, sigmas=[0.4, "knn"], compare=True, **QUICK)


def test_study_measures_each_bandwidth_on_the_same_halves(compared):
    options = {"rates": (0.05, 0.1), "n_repeats": 4, "random_state": 3}
    assert [named.rule for named in compared.sigmas] == ["knn", "", "auto (M / 2)"]
    for (sigma, _), ours, svm in zip(compared.sigmas, *compared.results.values(), strict=True):
        alone = outlier_stability(OneClusterPCM(sigma=sigma), FLAT, **options)
        machine = OneClassSVM(gamma=0.5 / sigma**2)
        other = outlier_stability(machine, FLAT, rate_parameter="nu", **options)
        assert_array_equal(ours.scores, alone.scores)
        assert_array_equal(svm.scores, other.scores)


def test_study_adds_the_default_bandwidth_once(compared):
    assert compared.default_sigma == bandwidth("auto", FLAT)
    again = outlier_study(FLAT, sigmas=float(f"{compared.default_sigma:.4g}"), **QUICK)
    assert [named.sigma for named in again.sigmas] == [compared.default_sigma]
    assert len(outlier_study(FLAT, n_repeats=2, rates=0.1, random_state=0).sigmas) == 7


def test_study_table_has_a_row_for_each_detector_bandwidth_and_rate(compared):
    table = compared.to_pandas()
    assert len(table) == len(compared.table) == 2 * 3 * 2
    assert list(table["detector"].unique()) == ["one-cluster", "one-class svm"]
    assert list(table["n_flagged"].unique()) == [8, 15]
    scores = pd.DataFrame(compared.score_table)
    means = scores.groupby(["detector", "sigma", "rate"], sort=False)["jaccard"].mean()
    np.testing.assert_allclose(means, table["mean"])


def test_study_recommends_one_of_its_settings(compared):
    advice = compared.recommendation
    assert advice.chosen in advice.settings
    assert advice.default.sigma == compared.default_sigma
    assert compared.warnings == advice.warnings == ()


def test_study_is_ready_for_json_and_printed(compared):
    told = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert told["recommendation"]["chosen"]["rate"] == compared.recommendation.chosen.rate
    assert len(told["settings"]) == len(compared.table)
    text = repr(compared)
    assert text.startswith("Stability of outlier detection: 4 splits of 300 rows in halves")
    assert "auto (M / 2), default" in text
    assert all(sentence in text for sentence in compared.recommendation.sentences)


def test_study_samples_many_rows_and_keeps_the_bandwidth_of_all(compared):
    sampled = outlier_study(FLAT, sigmas=1.0, max_rows=60, **QUICK)
    assert (sampled.n_rows, sampled.n_split) == (300, 60)
    assert sampled.default_sigma == compared.default_sigma
    assert "only 2 and 3 rows of a half are flagged" in sampled.warnings[0]
    again = outlier_study(FLAT, sigmas=1.0, max_rows=60, **QUICK)
    assert again.table == sampled.table


def test_study_draws_and_keeps_a_seed_when_none_is_given():
    first = outlier_study(FLAT, sigmas=1.0, rates=0.1, n_repeats=2)
    again = outlier_study(FLAT, sigmas=1.0, rates=0.1, n_repeats=2, random_state=first.seed)
    assert again.table == first.table


def test_study_counts_its_fits_to_the_last():
    told = []
    options = QUICK | {"sigmas": [0.3, 1.0], "compare": True}
    outlier_study(FLAT, progress=lambda *step: told.append(step), **options)
    n_ours, n_svm = 3 * 4 * 2, 3 * 4 * 2 * 2  # widths, splits, halves, and rates
    assert told[-1] == (n_ours + n_svm, n_ours + n_svm, "Fits of one-class svm")
    assert [step[0] for step in told] == sorted(step[0] for step in told)


def test_study_names_the_bandwidths_that_fits_warn_of():
    X = np.vstack([FLAT, [[1e4, 1e4]]])
    found = outlier_study(X, sigmas=[1e-3, 1e-4], **QUICK)
    assert any(text.startswith("With sigma 0.0001 and 0.001: ") for text in found.warnings)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (FLAT[:19], {}, "X has 19 row.*at least 20"),
        (np.ones((30, 2)), {}, "All rows of X are the same"),
        (FLAT * 1e200, {}, "too large"),
        (FLAT, {"sigmas": []}, "sigmas is empty"),
        (FLAT, {"sigmas": [0.0]}, "above 0 and finite"),
        (FLAT, {"sigmas": [-1.0]}, "above 0 and finite"),
        (FLAT, {"sigmas": 1e200}, "above 0 and finite"),
        (FLAT, {"sigmas": [None]}, "above 0 and finite"),
        (FLAT, {"sigmas": "wide"}, "'wide' is not a rule"),
        (FLAT, {"rates": 0.7}, "rates"),
        (FLAT, {"n_repeats": 1}, "n_repeats"),
        (FLAT, {"transfer": "score"}, "transfer"),
        (FLAT, {"max_rows": 19}, "max_rows"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_study_refuses_what_it_cannot_use(X, options, words):
    with pytest.raises(ValueError, match=words):
        outlier_study(X, **options)


def test_examples_in_docstrings():
    results = doctest.testmod(study)
    assert results.attempted > 0
    assert results.failed == 0
