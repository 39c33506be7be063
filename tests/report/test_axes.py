"""The axes a page opens with: outliers stand out, and maps lie as maps do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors

from reference.page_labels import decode
from typicality import FuzzyCMeans, OneClusterPCM
from typicality.report.axes import find_map
from typicality.report.payload import build_payload

N_ROWS = 600


def with_one_far_value(rng):
    """Correlated skewed columns, one wild value in the fourth of them."""
    size = rng.lognormal(0.0, 0.5, N_ROWS)
    X = np.column_stack([size * rng.lognormal(0.0, 0.05, N_ROWS) for _ in range(6)])
    X[77, 3] = 40.0
    return X


def with_a_broken_rule(rng):
    """Two columns go together; one row has ordinary values of both that do not."""
    X = rng.uniform(-1, 1, size=(N_ROWS, 3))
    X[:, 2] = X[:, 1] + rng.uniform(-0.05, 0.05, size=N_ROWS)
    X[77, 1], X[77, 2] = 0.6, -0.6
    return X


def with_a_hole(rng):
    """A ring, and one row in its middle."""
    angle = rng.uniform(0, 2 * np.pi, N_ROWS)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(4.8, 5.2, (N_ROWS, 1))
    X[77] = 0.0
    return X


def with_a_combination(rng):
    """A sum of four columns is constant but for one row: no two columns show that."""
    X = rng.uniform(-1, 1, size=(N_ROWS, 4))
    X[:, 3] = -X[:, :3].sum(axis=1) + rng.uniform(-0.01, 0.01, size=N_ROWS)
    X[77] = 0.35
    return X


def axes_of(payload):
    """The values along the two axes that the page opens with; the strength is the last one."""
    values = [decode(axis["values"]) for axis in payload["axes"]] + [decode(payload["strength"])]
    return np.column_stack([values[k] for k in payload["start_axes"]])


@pytest.mark.parametrize(
    ("make", "axes", "sigma"),
    [
        (with_one_far_value, [3], "auto"),
        (with_a_broken_rule, [1, 2], 0.2),
        (with_a_hole, [0, 1], 0.5),
        (with_a_combination, None, 0.2),
    ],
)
def test_the_worst_outlier_is_outside_of_the_crowd(make, axes, sigma):
    X = make(np.random.default_rng(0))
    payload = build_payload(OneClusterPCM(contamination=0.02, sigma=sigma).fit(X), X)
    assert decode(payload["outliers"]["index"])[0] == 77
    assert set(axes or [len(payload["axes"])]) <= set(payload["start_axes"])
    plane = axes_of(payload)
    # Far values closer, as the page draws them; then by the distance to the tenth nearest row.
    quarters = np.subtract(*np.quantile(plane, [0.75, 0.25], axis=0)) / 2
    drawn = np.arcsinh((plane - np.median(plane, axis=0)) / quarters)
    reach = NearestNeighbors(n_neighbors=11).fit(drawn).kneighbors()[0][:, -1]
    assert np.mean(reach < reach[77]) >= 0.99


def test_a_missing_value_does_not_hide_the_worst_outlier():
    X = with_one_far_value(np.random.default_rng(0))
    display = X.copy()
    display[77, [0, 1]] = np.nan
    payload = build_payload(OneClusterPCM(contamination=0.02).fit(X), X, display=display)
    assert np.isfinite(axes_of(payload)[77]).all()


# ---- maps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["latitude", "longitude"], (1, 0)),
        (["price", "Lat", "LON"], (2, 1)),
        (["start_lat", "end_lon", "start_lng", "end_lat"], (2, 0)),
        (["decimalLatitude", "decimalLongitude"], (1, 0)),
        (["flat", "along"], None),
        (["lat", "size"], None),
    ],
)
def test_longitude_and_latitude_are_found_by_name(names, found):
    values = np.random.default_rng(0).uniform(-80, 80, size=(20, len(names)))
    assert find_map(names, values) == found


def test_a_map_comes_before_principal_axes():
    rng = np.random.default_rng(0)
    columns = {
        "lat": rng.normal(47, 1, 90),
        "height": rng.normal(size=90),
        "lon": rng.normal(8, 2, 90),
    }
    frame = pd.DataFrame(columns)
    assert build_payload(FuzzyCMeans(2, random_state=0).fit(frame), frame)["start_axes"] == [2, 0]
