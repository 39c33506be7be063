"""Boxes and curves of scores that were measured many times."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from typicality import OneClusterPCM
from typicality.plot import StabilityDisplay
from typicality.stability import clustering_stability, novelty_accuracy, outlier_stability

SCORES = np.random.RandomState(0).uniform(size=(12, 3))


def result(scores, settings=(0.01, 0.03, 0.1)):
    return SimpleNamespace(
        scores=scores, settings=settings, setting_name="rate", score_name="Jaccard index"
    )


METHODS = {"1-PCM": result(SCORES), "SVM": result(SCORES / 2)}


def test_a_box_for_each_method_and_setting(ax):
    display = StabilityDisplay.from_results(METHODS, ax=ax)
    for name, method in METHODS.items():
        medians = [line.get_ydata()[0] for line in display.boxes_[name]["medians"]]
        assert_allclose(medians, np.median(method.scores, axis=0))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.01", "0.03", "0.1"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(METHODS)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rate", "Jaccard index")


def test_boxes_of_a_setting_stand_side_by_side(ax):
    display = StabilityDisplay.from_results(METHODS, ax=ax)
    extents = [
        [path.get_path().get_extents() for path in display.boxes_[name]["boxes"]]
        for name in METHODS
    ]
    for place, (left, right) in enumerate(zip(*extents, strict=True)):
        assert place - 0.5 < left.x0 < left.x1 < right.x0 < right.x1 < place + 0.5


def test_colours_tell_methods_apart(ax):
    display = StabilityDisplay.from_results(METHODS, ax=ax)
    colours = {to_hex(display.boxes_[name]["medians"][0].get_color()) for name in METHODS}
    assert len(colours) == 2


def test_curves_over_the_settings_of_results(ax):
    display = StabilityDisplay.from_results(METHODS, kind="curve", ax=ax)
    assert_allclose(display.lines_["SVM"].get_ydata(), SCORES.mean(axis=0) / 2)
    assert_allclose(display.lines_["SVM"].get_xdata(), [0.01, 0.03, 0.1])
    band = display.bands_["1-PCM"].get_paths()[0].vertices
    lower, upper = np.percentile(SCORES, (25, 75), axis=0)
    assert_allclose([band[:, 1].min(), band[:, 1].max()], [lower.min(), upper.max()])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(METHODS)


def test_curves_over_a_parameter_in_rising_order(ax):
    grid = {5.0: result(SCORES), 0.1: result(SCORES / 2), 1.0: result(SCORES / 4)}
    display = StabilityDisplay.from_grid(grid, ax=ax)
    assert list(display.lines_) == ["rate 0.01", "rate 0.03", "rate 0.1"]
    line = display.lines_["rate 0.03"]
    assert_allclose(line.get_xdata(), [0.1, 1.0, 5.0])
    assert_allclose(line.get_ydata(), SCORES[:, 1].mean() * np.array([0.5, 0.25, 1.0]))
    assert (ax.get_xlabel(), ax.get_xscale()) == ("sigma", "log")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.1", "1", "5"]


def test_a_parameter_without_numbers_has_no_axis():
    with pytest.raises(ValueError, match=r"settings must be numbers; got \['auto'\]"):
        StabilityDisplay.from_grid({"auto": result(SCORES)})


def test_a_single_curve_needs_no_legend_and_near_settings_no_logarithm(ax):
    StabilityDisplay.from_results({"1-PCM": METHODS["1-PCM"]}, kind="curve", ax=ax)
    assert ax.get_legend() is None
    assert ax.get_xscale() == "linear"


def test_results_draw_themselves(ax):
    X = np.random.RandomState(0).normal(size=(30, 2))
    X[24:] *= 5
    detector = OneClusterPCM(sigma=2.0)
    stability = outlier_stability(detector, X, rates=(0.1, 0.3), n_repeats=3, random_state=0)
    display = stability.plot(ax=ax)
    assert len(display.boxes_[""]["boxes"]) == 2
    assert ax.get_legend() is None
    accuracy = novelty_accuracy(
        detector, X, np.arange(30) >= 24, sizes=(5, 20), rate=0.1, n_repeats=3, random_state=0
    )
    curve = StabilityDisplay.from_results({"1-PCM": accuracy}, kind="curve", ax=ax)
    assert_allclose(curve.lines_["1-PCM"].get_ydata(), accuracy.mean)
    assert ax.get_xlabel() == "training rows"


@pytest.fixture(scope="module")
def clusterings():
    X = np.random.RandomState(0).normal(size=(30, 2))
    return {
        k: clustering_stability(KMeans(k, n_init=1), X, n_repeats=3, random_state=0) for k in (2, 3)
    }


def test_clusterings_are_drawn_whatever_number_of_clusters_they_have(clusterings, ax):
    curve = StabilityDisplay.from_grid(clusterings, setting_name="n_clusters", ax=ax)
    assert_allclose(curve.lines_["stability"].get_xdata(), [2, 3])
    expected = [result.stability for result in clusterings.values()]
    assert_allclose(curve.lines_["stability"].get_ydata(), expected)
    StabilityDisplay.from_results(clusterings, ax=ax)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2, 3"]


def test_repetitions_that_say_nothing_are_not_drawn(clusterings, ax):
    scores = np.array([[0.2], [np.nan], [0.6]])
    display = replace(clusterings[2], scores=scores).plot(ax=ax)
    assert_allclose(display.boxes_[""]["medians"][0].get_ydata(), 0.4)
    of_nothing = replace(clusterings[3], scores=np.full((3, 1), np.nan))
    grid = {2: replace(clusterings[2], scores=scores), 3: of_nothing}
    curve = StabilityDisplay.from_grid(grid, ax=ax)
    assert_allclose(curve.lines_["stability"].get_ydata(), [0.4, np.nan])
    with pytest.raises(ValueError, match="are all NaN: there is nothing to draw"):
        of_nothing.plot()


@pytest.mark.parametrize("make", [StabilityDisplay.from_results, StabilityDisplay.from_grid])
@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({}, "results must be a mapping"),
        ([result(SCORES)], "results must be a mapping"),
        ({"a": SCORES}, r"results\['a'\] is not a result of typicality.stability"),
        (
            {"a": result(SCORES), "b": result(SCORES, (0.1, 0.2, 0.3))},
            r"have different settings: rate \(0.01, 0.03, 0.1\) and rate \(0.1, 0.2, 0.3\)",
        ),
    ],
)
def test_bad_results_are_refused(make, results, message):
    with pytest.raises(ValueError, match=message):
        make(results)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "scores must be a mapping"),
        ({"a": [[1.0]]}, r"scores\['a'\] has shape \(1, 1\), expected \(n_repeats, 2\)"),
        ({"a": np.ones((0, 2))}, r"scores\['a'\] has shape \(0, 2\)"),
        ({"a": [[np.inf, 1.0]]}, "with NaN or infinity"),
        ({"a": [[np.nan, np.nan]]}, "all NaN"),
    ],
)
def test_bad_scores_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        StabilityDisplay(scores, settings=[1.0, 2.0])


# ---- a list of scores for each setting -----------------------------------------------------------

LISTS = {"narrow": [0.9, 0.8, 0.95, 0.9], "wide": np.array([0.2, 0.6], np.float32), "one": [1]}


def test_every_score_is_shown_with_its_median(ax):
    display = StabilityDisplay.from_scores(LISTS, ax=ax)
    drawn = [dots.get_xdata() for dots in display.dots_[""]]
    for values, expected in zip(drawn, LISTS.values(), strict=True):
        assert_array_equal(values, expected)
    medians = [line.get_xdata()[0] for line in display.boxes_[""]["medians"]]
    assert_allclose(medians, [np.median(values) for values in LISTS.values()])


def test_settings_are_listed_from_top_to_bottom(ax):
    StabilityDisplay.from_scores(LISTS, score_name="Jaccard", ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(LISTS)
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlabel() == "Jaccard"


def test_scores_of_several_methods_are_listed_below_each_other(ax):
    display = StabilityDisplay.from_results(METHODS, kind="scores", ax=ax)
    names = [f"{method} {rate}" for method in METHODS for rate in (0.01, 0.03, 0.1)]
    assert [text.get_text() for text in ax.get_yticklabels()] == names
    assert_array_equal(display.dots_["SVM"][2].get_xdata(), SCORES[:, 2] / 2)


def test_two_drawings_are_the_same(ax):
    first, second = (StabilityDisplay.from_scores(LISTS, ax=ax) for _ in range(2))
    assert_array_equal(first.dots_[""][0].get_ydata(), second.dots_[""][0].get_ydata())
    assert len(np.unique(first.dots_[""][0].get_ydata())) == 4


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "scores must be a mapping"),
        ([0.1, 0.2], "scores must be a mapping"),
        (0.1, "scores must be a mapping"),
        ({"a": []}, r"scores\['a'\] must be a list of one or more finite numbers"),
        ({"a": [np.nan]}, "with NaN or infinity"),
        ({"a": 0.3}, r"got shape \(\)"),
    ],
)
def test_bad_lists_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        StabilityDisplay.from_scores(scores)


def test_kind_must_be_known():
    with pytest.raises(
        ValueError, match="kind must be one of 'boxes', 'scores', 'curve'; got 'pie'"
    ):
        StabilityDisplay.from_scores(LISTS, kind="pie")
