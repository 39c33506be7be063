"""Bandwidths of the rules, and some between them."""

import numpy as np
import pytest

from typicality import OneClusterPCM
from typicality.bandwidth import bandwidth, median_distance, neighbour_distance
from typicality.validation.sigma_grid import named_sigmas

RNG = np.random.default_rng(0)
FLAT = RNG.normal(size=(300, 2))
HIGH = RNG.normal(size=(300, 40))
FEW = np.vstack([RNG.normal(size=(8, 2)), RNG.normal(size=(3, 2)) + 100])  # h is the way to others
ALL = {"flat": FLAT, "high": HIGH, "few": FEW}


@pytest.mark.parametrize("X", ALL.values(), ids=ALL)
def test_sigma_grid_has_seven_values_in_rising_order_with_the_default(X):
    named = named_sigmas(X)
    sigmas = [one.sigma for one in named]
    assert len(set(sigmas)) == 7
    assert sigmas == sorted(sigmas)
    (default,) = [one.sigma for one in named if one.rule == "auto (M / 2)"]
    assert default == bandwidth("auto", X) == OneClusterPCM().fit(X).sigma_
    assert named[-1].sigma == pytest.approx(median_distance(X), rel=1e-3)


def test_sigma_grid_begins_at_half_the_neighbour_distance():
    first, *others = named_sigmas(FLAT)
    h = neighbour_distance(FLAT)
    assert first.rule == "h / 2"
    assert first.sigma == pytest.approx(h / 2, rel=1e-3)
    (neighbour,) = [one.sigma for one in others if one.rule == "knn (h)"]
    assert neighbour == pytest.approx(h, rel=1e-3)


@pytest.mark.parametrize("X", [HIGH, FEW], ids=["high", "few"])
def test_sigma_grid_begins_at_a_quarter_of_the_median_where_neighbours_are_far(X):
    first = named_sigmas(X)[0]
    assert first == (pytest.approx(median_distance(X) / 4, rel=1e-3), "M / 4")
    assert neighbour_distance(X) > median_distance(X) / 2


def test_sigma_grid_steps_are_no_wider_than_need_be():
    sigmas = np.array([one.sigma for one in named_sigmas(FLAT)])
    steps = np.diff(np.log(sigmas))
    assert steps.max() < 2.5 * steps.mean()


def test_sigma_grid_values_are_used_as_printed():
    for one in named_sigmas(FLAT):
        assert one.rule == "auto (M / 2)" or float(f"{one.sigma:.4g}") == one.sigma
