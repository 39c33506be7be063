"""Contours of memberships, lines around clusters, rows by label."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from plot.models import ESTIMATORS, fitted, rows
from sklearn_checks import needs_names_of_polars
from typicality import AlphaCutClustering, FuzzyCMeans
from typicality.plot import MembershipContourDisplay, cluster_colour

DETECTORS = {"one cluster"}
DENSITIES = {name for name in ESTIMATORS if name.startswith(("alpha-cut", "one cluster"))}


def draw(name, ax, **options):
    options = {"grid_resolution": 25, **options}
    return MembershipContourDisplay.from_estimator(fitted(name), rows(), ax=ax, **options)


def grid_of(display):
    return np.column_stack([display.xx0.ravel(), display.xx1.ravel()])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_contours_are_those_of_the_model(name, ax):
    display, model = draw(name, ax), fitted(name)
    method = "predict_typicality" if name in DENSITIES else "predict_memberships"
    values = getattr(model, method)(grid_of(display))
    assert_array_equal(display.membership.ravel(), values.reshape(25 * 25, -1).max(axis=1))
    assert display.name in ("largest membership", "typicality")


def test_contours_can_be_those_of_one_cluster(ax):
    display = draw("fuzzy", ax, cluster=2)
    expected = fitted("fuzzy").predict_memberships(grid_of(display))[:, 2]
    assert_array_equal(display.membership.ravel(), expected)
    assert [label for label, _ in display.boundaries] == [2]
    assert display.name == "membership of cluster 2"


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_regions_are_those_of_predict(name, ax):
    display, model = draw(name, ax, grid_resolution=80), fitted(name)
    predicted = model.predict(grid_of(display)).reshape(display.xx0.shape)
    typical = {"one cluster": 1}  # where a detector says so
    assert len(display.boundaries) == len(np.unique(predicted[predicted >= 0]))
    for label, surface in display.boundaries:
        assert np.mean((surface > 0) != (predicted == typical.get(name, label))) < 0.01


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_rows_have_the_colour_of_their_cluster(name, ax):
    display, model = draw(name, ax), fitted(name)
    found = model.predict(rows())
    labels = np.where(found > 0, 0, -1) if name in DETECTORS else found
    assert len(display.rows_) == len(np.unique(labels))
    for label, artist in zip(np.unique(labels), display.rows_, strict=True):
        assert_array_equal(artist.get_offsets(), rows()[labels == label])
        assert to_hex(artist.get_facecolor()[0]).upper() == cluster_colour(label)


@pytest.fixture(scope="module")
def wide():
    """Four features, the two of the rows last but one and first."""
    noise = np.random.default_rng(1).normal(size=(len(rows()), 2))
    return np.column_stack([rows()[:, 1], noise[:, 0], rows()[:, 0], noise[:, 1]])


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(pd.DataFrame, id="pandas"),
        pytest.param(pl.DataFrame, id="polars", marks=needs_names_of_polars),
    ],
)
def test_other_features_are_held_at_their_median(frame, wide, ax):
    table = frame(dict(zip("abcd", wide.T, strict=True)))
    model = FuzzyCMeans(3, random_state=0).fit(table)
    display = MembershipContourDisplay.from_estimator(
        model, table, features=("c", 0), grid_resolution=10, ax=ax
    )
    b, d = np.median(wide[:, 1]), np.median(wide[:, 3])
    first, second = grid_of(display).T
    grid = np.column_stack([second, np.full(100, b), first, np.full(100, d)])
    memberships = model.predict_memberships(frame(dict(zip("abcd", grid.T, strict=True))))
    assert_array_equal(display.membership.ravel(), memberships.max(axis=1))
    assert_array_equal(display.points, wide[:, [2, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    assert "a slice: the 2 other features are at the median" in ax.get_title()
    with pytest.raises(ValueError, match=r"by name \(X has a, b, c, d\); got \('e', 0\)"):
        MembershipContourDisplay.from_estimator(model, table, features=("e", 0))


def test_no_cluster_at_all_is_drawn_without_lines(ax):
    with pytest.warns(match="cluster"):
        model = AlphaCutClustering(alpha=0.99).fit(rows())
    display = MembershipContourDisplay.from_estimator(model, rows(), grid_resolution=9, ax=ax)
    assert display.lines_ == []
    assert display.ax_.get_title().startswith("0 clusters; 123 of 123 rows")
