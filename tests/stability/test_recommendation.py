"""What is recommended, and in which words, for stabilities that are made up."""

import numpy as np
import pytest

from typicality.stability.recommendation import recommend

SIGMAS, RATES = (0.5, 1.0, 2.0, 4.0), (0.01, 0.05, 0.1)
N_FLAGGED = (10, 50, 100)
DEFAULT = 2.0


def scores_around(means, noise=0.02, n_repeats=20):
    """Scores with given means, a line for each sigma and a column for each rate."""
    rng = np.random.default_rng(0)
    means = np.asarray(means, dtype=float)
    wiggle = rng.normal(size=(len(means), n_repeats, means.shape[1]))
    return means[:, None, :] + noise * (wiggle - wiggle.mean(axis=1, keepdims=True))


def advice(means, *, noise=0.02, n_flagged=N_FLAGGED, **options):
    scores = scores_around(means, noise=noise)
    return recommend(SIGMAS, RATES, scores, n_flagged=n_flagged, default_sigma=DEFAULT, **options)


WINNER = [[0.2, 0.3, 0.4], [0.6, 0.8, 0.85], [0.3, 0.5, 0.6], [0.3, 0.5, 0.6]]
ALL_EQUAL = np.full((4, 3), 0.6)
ALL_LOW = np.full((4, 3), 0.12)
DEFAULT_BEST = [[0.2, 0.3, 0.3], [0.3, 0.4, 0.4], [0.6, 0.75, 0.7], [0.3, 0.4, 0.5]]
WIDEST = [[0.1, 0.1, 0.2], [0.2, 0.3, 0.4], [0.3, 0.5, 0.6], [0.5, 0.9, 0.95]]
SMALL_RATE = [[0.1, 0.1, 0.2], [0.9, 0.5, 0.4], [0.95, 0.5, 0.6], [0.9, 0.5, 0.5]]


def test_a_clear_winner_is_taken_at_the_default_rate():
    found = advice(WINNER)
    assert not found.keeps_default
    assert (found.chosen.sigma, found.chosen.rate) == (1.0, 0.05)
    assert found.sentences[0] == (
        "Use sigma 1 instead of the default, 2, at a rate of 0.05: of the rows that at least one "
        "of two halves flags, both flag 80 %, and with the default 50 % (a difference of 0.30 ± "
        "0.01 on the same halves)."
    )
    assert found.sentences[1] == (
        "The most stable setting is sigma 1 at a rate of 0.1 (0.85 ± 0.00), but larger rates are "
        "usually more stable."
    )
    assert "would also be flagged with another sample" in found.sentences[2]
    assert found.warnings == ()


def test_recommendation_keeps_the_default_of_equal_settings():
    found = advice(ALL_EQUAL)
    assert found.keeps_default
    assert found.sentences[0].startswith("Keep the default, sigma 2, at a rate of 0.05: ")
    assert "the most certain outliers are those with the lowest scores" in found.sentences[2]
    assert "do not find outliers better" in found.sentences[3]


def test_recommendation_warns_of_what_is_low_everywhere():
    found = advice(ALL_LOW)
    assert found.keeps_default
    assert found.sentences[2].startswith("No setting that was tried is stable")
    assert "Do not rely on single flagged rows" in found.sentences[2]


def test_recommendation_says_what_is_low_at_the_chosen_rate():
    means = np.tile([0.1, 0.2, 0.6], (4, 1))
    assert advice(means).sentences[2].startswith("A stability below 0.3 is low: ")


def test_the_best_default_is_said_to_be_the_best():
    found = advice(DEFAULT_BEST)
    assert found.keeps_default
    assert found.sentences[1] == "No setting that was tried is more stable."


def test_a_wider_kernel_is_recommended_with_a_caveat():
    found = advice(WIDEST)
    assert (found.chosen.sigma, found.chosen.rate) == (4.0, 0.05)
    assert "Compare the rows that both flag before you leave the default" in found.sentences[3]


def test_a_smaller_rate_that_is_more_stable_is_recommended():
    found = advice(SMALL_RATE)
    assert (found.chosen.sigma, found.chosen.rate) == (2.0, 0.01)
    assert found.sentences[0].startswith(
        "Use a rate of 0.01 instead of 0.05, and the default sigma, 2: "
    )


def test_a_rate_that_flags_few_rows_is_not_recommended_and_warned_of():
    found = advice(SMALL_RATE, n_flagged=(2, 10, 20))
    assert found.keeps_default
    assert found.sentences[1].endswith("but too few rows are flagged for a decision.")
    assert found.warnings == (
        "At a rate of 0.01 only 2 rows of a half are flagged, so single rows decide the result. "
        "Use larger rates, or more rows.",
    )


def test_the_share_and_the_figure_are_the_same_number():
    scores = np.full((4, 8, 3), 0.225)  # 0.23 with two digits, and 100 times it is 22 with two
    found = recommend(SIGMAS, RATES, scores, n_flagged=N_FLAGGED, default_sigma=DEFAULT)
    assert "both flag 23 % (0.23 ± 0.00)" in found.sentences[0]


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_where_all_are_equal_to_the_digit_none_is_more_stable(score):
    scores = np.full((4, 5, 3), score)
    found = recommend(SIGMAS, RATES, scores, n_flagged=N_FLAGGED, default_sigma=DEFAULT)
    assert found.keeps_default
    assert found.sentences[1] == "No setting that was tried is more stable."


def test_the_same_number_of_rows_is_told_once():
    (warning,) = advice(ALL_EQUAL, n_flagged=(1, 1, 1)).warnings
    assert warning.startswith("At a rate of 0.01, 0.05 and 0.1 only 1 row of a half is flagged, ")


def test_recommendation_calls_one_row_one_row():
    (warning,) = advice(ALL_EQUAL, n_flagged=(1, 7, 14)).warnings
    assert warning.startswith("At a rate of 0.01 only 1 row of a half is flagged, ")


def test_the_default_is_kept_where_it_flags_few_rows_itself():
    found = advice(WINNER, n_flagged=(1, 4, 8))
    assert found.keeps_default
    assert found.sentences[1].endswith("but larger rates are usually more stable.")
    assert "At a rate of 0.01 and 0.05 only 1 and 4 rows" in found.warnings[0]


@pytest.mark.parametrize(
    ("gain", "noise", "keeps"), [(0.04, 0.01, True), (0.1, 0.5, True), (0.1, 0.05, False)]
)
def test_small_and_noisy_gains_do_not_count(gain, noise, keeps):
    means = np.full((4, 3), 0.4)
    means[0, 1] += gain
    assert advice(means, noise=noise).keeps_default == keeps


def test_the_best_of_many_equal_settings_does_not_win_by_luck():
    rng = np.random.default_rng(0)
    options = {"n_flagged": N_FLAGGED, "default_sigma": DEFAULT}
    noise = 0.2 * rng.normal(size=(200, 4, 20, 3))
    left = [not recommend(SIGMAS, RATES, 0.5 + one, **options).keeps_default for one in noise]
    assert np.mean(left) <= 0.04  # 0.025 for any of seven others, not for each


def test_few_repetitions_count_for_less():
    gains = np.array([0.2, 0.0])  # 0.1 ± 0.1 of two, 0.10 ± 0.02 of twenty
    scores = np.full((4, 20, 3), 0.4)
    scores[0, :, 1] += np.tile(gains, 10)
    options = {"n_flagged": N_FLAGGED, "default_sigma": DEFAULT}
    assert recommend(SIGMAS, RATES, scores[:, :4], **options).keeps_default
    assert not recommend(SIGMAS, RATES, scores, **options).keeps_default


def test_noise_that_settings_share_does_not_hide_a_difference():
    shared = np.random.default_rng(1).normal(scale=0.3, size=(20, 1))
    scores = scores_around(WINNER, noise=0.0) + shared
    found = recommend(SIGMAS, RATES, scores, n_flagged=N_FLAGGED, default_sigma=DEFAULT)
    assert found.chosen.sigma == 1.0


def test_of_settings_equal_to_the_best_the_nearest_to_the_default_is_taken():
    means = [[0.8, 0.8, 0.8], [0.79, 0.79, 0.79], [0.3, 0.3, 0.3], [0.3, 0.3, 0.3]]
    assert advice(means).chosen.sigma == 1.0


def test_what_is_taken_instead_of_the_default_is_better_than_it():
    means = [[0.1, 0.48, 0.5], [0.1, 0.44, 0.5], [0.1, 0.4, 0.5], [0.1, 0.1, 0.1]]
    assert advice(means).chosen.sigma == 0.5  # 1.0 is equal to either


def test_the_nearest_rate_stands_for_the_default_one():
    found = advice(ALL_EQUAL, default_rate=0.08)
    assert found.keeps_default
    assert found.default.rate == 0.1
