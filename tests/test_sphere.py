"""Latitude and longitude as points on a sphere."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import haversine_distances

from typicality.preprocessing import PlaceScaler


def test_distances_are_those_through_the_earth(rng):
    places = np.column_stack([rng.uniform(-90, 90, 30), rng.uniform(-180, 180, 30)])
    points = PlaceScaler(scale="none").fit_transform(places)
    through = np.linalg.norm(points[:, None] - points, axis=2)
    angle = haversine_distances(np.radians(places))
    assert_allclose(through, 2 * 6371.0 * np.sin(angle / 2), atol=1e-8)


def test_scaled_places_have_the_distances_of_the_sphere_in_one_unit():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=50), rng.uniform(-90, 90, 50), rng.uniform(-180, 180, 50)])
    scaler = PlaceScaler((1, 2), log="all").fit(X)
    Z = scaler.transform(X)
    assert list(scaler.get_feature_names_out()) == ["x0", "x1", "x2", "height"]
    places = PlaceScaler(scale="none").fit_transform(X[:, 1:])
    unit = pdist(places) / pdist(Z[:, 1:])
    assert_allclose(unit, unit[0])
    assert_allclose(scaler.inverse_transform(Z), X)
    assert_allclose(PlaceScaler((1, 2), scale="none").fit_transform(X)[:, 0], X[:, 0])


def test_missing_places_are_filled_and_the_poles_are_places():
    X = [[90.0, 0.0], [89.0, 90.0], [89.0, -90.0], [np.nan, 5.0]]
    Z = PlaceScaler(scale="none", missing="median").fit_transform(X)
    assert np.isfinite(Z).all()
    assert_allclose(Z[0], Z[3], atol=60.0)
    assert_allclose(pdist(Z[1:3]), 2 * 6371 * np.sin(np.radians(1)))
