"""Histograms of typicalities, and the cut."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from plot.models import fitted, rows
from typicality.plot import MembershipHistogramDisplay, cluster_colour


def draw(name, ax, **options):
    return MembershipHistogramDisplay.from_estimator(fitted(name), rows(), ax=ax, **options)


VALUES = {
    "alpha-cut": lambda model: model.predict_typicality(rows()),
    "one cluster": lambda model: model.score_samples(rows()),
    "fuzzy": lambda model: model.memberships_.max(axis=1),
    "sequential": lambda model: model.memberships_.max(axis=1),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("bins", [30, [-9.0, 0.2, 0.5, 2.0]], ids=str)
def test_counts_are_those_of_numpy(name, bins, ax):
    display = draw(name, ax, bins=bins)
    counts, edges = np.histogram(VALUES[name](fitted(name)), bins=bins)
    np.testing.assert_allclose(display.bin_edges_, edges, rtol=1e-6)
    assert_array_equal(display.counts_, [counts])
    assert_array_equal([bar.get_height() for bar in display.bars_[0]], counts)


def test_histogram_is_stacked_by_cluster(ax):
    display, model = draw("alpha-cut", ax, by_cluster=True), fitted("alpha-cut")
    labels = np.unique(model.labels_)
    assert labels[0] == -1
    for label, bars in zip(labels, display.bars_, strict=True):
        values = display.values[model.labels_ == label]
        counts, _ = np.histogram(values, bins=display.bin_edges_)
        assert_array_equal([bar.get_height() for bar in bars], counts)
    colours = [to_hex(bars[0].get_facecolor()).upper() for bars in display.bars_[1:]]
    assert colours == [cluster_colour(label) for label in labels[1:]]
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"unassigned", "cluster 0", "cluster 1"} <= set(named)


def test_histogram_has_a_level_for_each_cluster(ax):
    display, model = draw("alpha-cut", ax), fitted("alpha-cut")
    drawn = [line.get_xdata()[0] for line in display.level_lines_]
    assert_array_equal(drawn, model.alpha_)
    assert [line.get_color() for line in display.level_lines_] == [
        cluster_colour(label) for label in range(model.n_clusters_)
    ]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([0.1, np.nan], {}, "values contains NaN"),
        ([0.1, 0.2], {"labels": [0]}, "values has 2 rows, but labels has 1"),
    ],
)
def test_bad_numbers_are_refused(values, options, message):
    with pytest.raises(ValueError, match=message):
        MembershipHistogramDisplay(values, **options)
