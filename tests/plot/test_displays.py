"""What holds for all pictures: where they are drawn, what they refuse, what they load."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plot.models import fitted, rows
from typicality import FuzzyCMeans, OneClusterPCM
from typicality.plot import (
    ClusterTreeDisplay,
    MembershipContourDisplay,
    MembershipHistogramDisplay,
    PValueDisplay,
)

FLAT = {
    "contour": lambda ax: MembershipContourDisplay.from_estimator(
        fitted("alpha-cut"), rows(), grid_resolution=20, ax=ax
    ),
    "histogram": lambda ax: MembershipHistogramDisplay.from_estimator(
        fitted("fuzzy"), rows(), ax=ax
    ),
    "numbers": lambda ax: MembershipHistogramDisplay([0.1, 0.4]).plot(ax=ax),
    "tree": lambda ax: ClusterTreeDisplay.from_estimator(fitted("alpha-cut"), ax=ax),
    "p-values": lambda ax: PValueDisplay([0.01, 0.4]).plot(ax=ax),
}


@pytest.mark.parametrize("draw", FLAT.values(), ids=FLAT)
def test_display_draws_where_it_is_told_and_nowhere_else(draw, ax):
    before = dict(plt.rcParams)
    display = draw(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before
    assert {tuple(other.get_position().bounds) for other in ax.figure.axes} == {
        tuple(ax.get_position().bounds)  # at most a second scale, on the same place
    }


@pytest.mark.parametrize("display", [MembershipContourDisplay, MembershipHistogramDisplay])
def test_display_needs_a_fit_and_memberships(display):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        display.from_estimator(FuzzyCMeans(2), rows())
    kmeans = KMeans(2, n_init=1).fit(rows())
    with pytest.raises(ValueError, match="neither memberships nor typicalities"):
        display.from_estimator(kmeans, rows())
    with pytest.raises(TypeError, match="not an estimator"):
        display.from_estimator(rows(), rows())


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.arange(9.0)[:, None], {}, "has 1 feature.*MembershipHistogramDisplay"),
        (np.eye(4), {"features": (0, 4)}, "by number from 0 to 3.*got .0, 4."),
        (np.eye(4), {"features": ("a", 1)}, "X has no names.*'a'"),
        (np.eye(4), {"features": (2, 2)}, "two different features"),
        (np.eye(4), {"features": 1}, "two different features"),
        (np.eye(4), {"grid_resolution": 1}, "grid_resolution must be a whole number"),
        (np.eye(4), {"cluster": 1}, "they are numbered from 0 to 0.; got 1"),
    ],
)
def test_planes_are_checked(X, options, message):
    model = OneClusterPCM(sigma=1.0).fit(X)
    with pytest.raises(ValueError, match=message):
        MembershipContourDisplay.from_estimator(model, X, **options)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("display", [MembershipContourDisplay, MembershipHistogramDisplay])
def test_pipelines_are_seen_in_the_units_of_the_data(display, ax):
    X = rows() * [1.0, 1000.0]
    pipeline = make_pipeline(StandardScaler(), FuzzyCMeans(3, random_state=0)).fit(X)
    model = pipeline[-1]
    drawn = display.from_estimator(pipeline, X, ax=ax)
    same = display.from_estimator(model, pipeline[0].transform(X), ax=ax)
    kept = {MembershipContourDisplay: "membership", MembershipHistogramDisplay: "values"}[display]
    np.testing.assert_allclose(getattr(drawn, kept), getattr(same, kept), rtol=1e-9)


def test_display_names_the_package_to_install_when_there_is_no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"PValueDisplay .*pip install matplotlib"):
        PValueDisplay([0.1]).plot()
