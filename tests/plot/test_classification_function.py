"""The membership of one cluster as a surface."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from plot.models import ESTIMATORS, fitted, rows
from typicality import FuzzyCMeans
from typicality.plot import ClassificationFunctionDisplay
from typicality.plot._colours import cluster_colour


def draw(name, ax, **options):
    return ClassificationFunctionDisplay.from_estimator(
        fitted(name), rows(), grid_resolution=8, ax=ax, **options
    )


@pytest.mark.parametrize("cluster", [0, 2])
@pytest.mark.parametrize("name", ["fuzzy", "entropy", "possibilistic"])
def test_the_surface_is_the_membership(name, cluster, ax_3d):
    display = draw(name, ax_3d, cluster=cluster)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    expected = fitted(name).predict_memberships(grid)[:, cluster]
    assert_array_equal(display.membership.ravel(), expected)
    assert ax_3d.get_zlabel() in {
        f"membership of cluster {cluster}",
        f"typicality of cluster {cluster}",
    }
    assert len(display.surface_.get_array()) == 7 * 7  # every cell of the grid


@pytest.mark.parametrize("name", ["one cluster", "alpha-cut"])
def test_surface_can_be_the_typicality_of_the_whole(name, ax_3d):
    display = draw(name, ax_3d)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert_array_equal(display.membership.ravel(), fitted(name).predict_typicality(grid))
    assert ax_3d.get_zlabel() == "typicality"


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_rows_lie_below_the_surface(name, ax_3d):
    display = draw(name, ax_3d)
    assert sum(len(artist.get_offsets()) for artist in display.rows_) == len(rows())
    first = display.rows_[-1]  # the largest label
    label = len(display.rows_) - 1 - (display.labels.min() < 0)
    assert to_hex(first.get_facecolor()[0]).upper() == cluster_colour(label)
    assert ax_3d.get_zlim()[0] == -1.0


def test_surface_axes_have_the_names_of_a_frame(ax_3d):
    table = pd.DataFrame(rows(), columns=["left", "right"]).astype(np.float32)
    model = FuzzyCMeans(2, random_state=0).fit(table)
    ClassificationFunctionDisplay.from_estimator(model, table, features=("right", "left"), ax=ax_3d)
    assert (ax_3d.get_xlabel(), ax_3d.get_ylabel()) == ("right", "left")
