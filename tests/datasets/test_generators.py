"""Generators: shapes, labels, seeds, and points where they belong, uniform by area."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import kstest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from typicality.datasets import (
    gaussians,
    make_ball_and_ring,
    make_crescents,
    make_dense_regions,
    make_discs_banana_ring,
    make_gaussian_and_outliers,
    make_s2_like,
    make_three_gaussians,
    shapes,
)

every_generator = pytest.mark.parametrize(
    "generate",
    [
        make_dense_regions,
        make_discs_banana_ring,
        make_gaussian_and_outliers,
        make_ball_and_ring,
        make_crescents,
        make_three_gaussians,
        make_s2_like,
    ],
)


def assert_uniform(values, low, high):
    """Within the bounds, and no sign of another distribution."""
    assert values.min() >= low
    assert values.max() <= high
    assert kstest(values, "uniform", args=(low, high - low)).pvalue > 1e-3


def radii(points, center):
    return np.linalg.norm(points - center, axis=1)


def angles(points, center):
    return np.arctan2(*(points - center).T)


@every_generator
def test_the_seed_fixes_the_draw(generate):
    X, y = generate(random_state=3)
    again, labels = generate(random_state=np.random.RandomState(3))
    assert_array_equal(X, again)
    assert_array_equal(y, labels)
    assert not np.array_equal(X, generate(random_state=4)[0])


@pytest.mark.parametrize(
    ("data", "labels", "counts"),
    [
        (make_dense_regions(random_state=0), [0, 1, 2, -1], [100, 100, 300, 1000]),
        (make_dense_regions(3, 0, 5, random_state=0), [0, 1, -1], [3, 3, 5]),
        (make_discs_banana_ring(random_state=0), [0, 1, 2, 3, 4, 5, -1], [30] * 4 + [60, 80, 30]),
        (make_discs_banana_ring(0, 2, 3, 1, random_state=0), [4, 5, -1], [2, 3, 1]),
        (make_gaussian_and_outliers(random_state=0), [0, -1], [400, 30]),
        (make_gaussian_and_outliers(0, 2, 3, random_state=0), [-1], [5]),
        (make_ball_and_ring(random_state=0), [0, 1], [100, 200]),
        (make_ball_and_ring(0, 7, random_state=0), [1], [7]),
        (make_crescents(random_state=0), [0, 1], [100, 100]),
        (make_crescents(np.int64(5), random_state=0), [0, 1], [3, 2]),
        (make_three_gaussians(random_state=0), [0, 1, 2], [500, 300, 300]),
        (make_three_gaussians(0, 2, random_state=0), [1, 2], [2, 2]),
    ],
)
def test_rows_come_in_the_order_of_labels(data, labels, counts):
    assert_array_equal(data[1], np.repeat(labels, counts))


def test_discs_banana_and_ring_are_uniform_by_area():
    X, y = make_discs_banana_ring(5000, 5000, 5000, 0, random_state=0)
    for label, center in enumerate(shapes.DISC_CENTERS):
        assert_uniform(radii(X[y == label], center) ** 2, 0, 0.8**2)
        assert_uniform(angles(X[y == label], center), -np.pi, np.pi)
    banana, ring = X[y == 4], X[y == 5]
    assert_uniform(radii(banana, shapes.BANANA_CENTER) ** 2, 1.15**2, 1.65**2)
    assert_uniform(angles(banana, shapes.BANANA_CENTER), 0, np.pi)  # from straight up, clockwise
    assert_uniform(radii(ring, shapes.SMALL_RING_CENTER) ** 2, 1.0**2, 1.4**2)
    assert_uniform(angles(ring, shapes.SMALL_RING_CENTER), -np.pi, np.pi)


def test_three_gaussians_have_the_moments_of_the_paper():
    X, y = make_three_gaussians(20_000, 20_000, random_state=0)
    means = [(4.1, 3.7), (2.8, 0.8), (3.5, 5.7)]
    for label, mean in enumerate(means):
        assert_allclose(X[y == label].mean(axis=0), mean, atol=0.02)
        assert_allclose(np.cov(X[y == label].T), 0.4 * np.eye(2), atol=0.01)


def test_the_gaussian_and_its_outliers_are_those_of_the_paper():
    X, _ = make_gaussian_and_outliers(5000, 4000, 3000, random_state=0)
    inner, right, left = X[:5000], X[5000:9000], X[9000:]
    for values in inner.T:
        assert kstest(values, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(inner.T)[0, 1]) < 0.05
    assert_uniform(right[:, 0], 3, 10)
    assert_uniform(left[:, 0], -10, -3)
    assert_uniform(right[:, 1], -10, 10)
    assert_uniform(left[:, 1], -10, 10)


def means_of(X, y):
    return np.array([X[y == label].mean(axis=0) for label in np.unique(y)])


def distances_to_nearest(points):
    return np.sort(cdist(points, points), axis=1)[:, 1]


def long_axes(X, y):
    """Standard deviations along the longer axis of each cluster, and how much longer it is."""
    variances = [np.linalg.eigvalsh(np.cov(X[y == label].T)) for label in np.unique(y)]
    short, long = np.sqrt(variances).T
    return long, long / short


def share_recovered(X, y):
    return QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_draws_are_like_s2(seed):
    X, y = make_s2_like(random_state=seed)
    sizes = np.bincount(y)
    assert (len(sizes), len(y)) == (15, 5000)
    assert sizes.min() >= sizes.max() * 300 / 350 - 1  # rounded
    means = means_of(X, y)
    assert means.min() >= 1.4
    assert means.max() <= 8.6
    assert distances_to_nearest(means).min() >= 1.35
    assert 1.5 < distances_to_nearest(means).mean() < 1.85
    assert 0.97 < share_recovered(X, y) < 0.995


def test_numbers_of_the_generator_are_those_of_s2(s2):
    X, y = s2[0] / 1e5, s2[1]
    sizes, means = np.bincount(y), means_of(X, y)
    long, ratio = long_axes(X, y)
    assert (X.shape, len(sizes), sizes.min(), sizes.max()) == ((5000, 2), 15, 300, 350)
    assert_allclose([means.min(), means.max()], gaussians.S2_MEANS, atol=0.03)
    assert_allclose(distances_to_nearest(means).min(), gaussians.S2_SEPARATION, atol=0.01)
    assert_allclose([long.min(), long.max()], gaussians.S2_LONG_AXIS, atol=0.01)
    ratio = np.sort(ratio)
    assert_allclose(ratio[[0, 11]], gaussians.S2_ROUND, atol=0.03)
    assert_allclose(ratio[[12, 14]], gaussians.S2_ELONGATED, atol=0.05)
    assert round(distances_to_nearest(means).mean(), 2) == 1.82
    assert round(share_recovered(X, y), 3) == 0.976


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_dense_regions(-1), r"n_rectangle must be a whole number, .* got -1"),
        (lambda: make_dense_regions(n_noise=2.5), r"n_noise must be a whole number, .* got 2\.5"),
        (
            lambda: make_dense_regions(0, 0, 0),
            "set n_rectangle or n_ring or n_noise to more than 0",
        ),
        (lambda: make_ball_and_ring(True), "n_ball must be a whole number"),
        (lambda: make_ball_and_ring(ball_radius=-1), "ball_radius must be a finite number"),
        (lambda: make_ball_and_ring(ball_radius=0.4), "ball does not fit inside the ring"),
        (lambda: make_crescents("many"), "n_samples must be a whole number.*'many'"),
        (lambda: make_s2_like(2.5), r"n_samples must be a whole number, .* got 2\.5"),
    ],
)
def test_errors_name_the_parameter(call, message):
    with pytest.raises(ValueError, match=message):
        call()
