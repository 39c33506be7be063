"""Box plots of scores."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from typicality.plot import StabilityDisplay

SCORES = {"narrow": [0.9, 0.8, 0.95, 0.9], "wide": np.array([0.2, 0.6], np.float32), "one": [1]}


def test_stability_display_shows_every_score_and_its_median(ax):
    display = StabilityDisplay.from_scores(SCORES, ax=ax)
    drawn = [dots.get_xdata() for dots in display.dots_]
    for values, expected in zip(drawn, SCORES.values(), strict=True):
        assert_array_equal(values, expected)
    medians = [line.get_xdata()[0] for line in display.boxes_["medians"]]
    np.testing.assert_allclose(medians, [np.median(values) for values in SCORES.values()])


def test_stability_display_lists_settings_from_top_to_bottom(ax):
    StabilityDisplay.from_scores(SCORES, score_name="Jaccard", ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(SCORES)
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlabel() == "Jaccard"


def test_two_drawings_are_the_same(ax):
    first, second = (StabilityDisplay(SCORES).plot(ax=ax) for _ in range(2))
    assert_array_equal(first.dots_[0].get_ydata(), second.dots_[0].get_ydata())
    assert len(np.unique(first.dots_[0].get_ydata())) == 4


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "scores must be a mapping"),
        ([0.1, 0.2], "scores must be a mapping"),
        (0.1, "scores must be a mapping"),
        ({"a": []}, r"scores\['a'\] must be one finite number or more"),
        ({"a": [np.nan]}, "with NaN or infinity"),
        ({"a": 0.3}, r"got shape \(\)"),
    ],
)
def test_bad_scores_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        StabilityDisplay.from_scores(scores)
