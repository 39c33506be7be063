"""Where spreads come from."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from typicality.membership import Possibilistic1996
from typicality.membership.spread import (
    AdaptedSpread,
    spread_from_gaps,
    spread_from_partition,
    spread_from_separation,
)


def test_cluster_of_identical_rows_takes_the_median_of_the_others():
    eta, degenerate = spread_from_partition(
        np.array([1.0, 0.0, 3.0]), eta_scale=1.0, total_variance=4.0
    )
    assert_allclose(eta, [1.0, 2.0, 3.0])
    assert degenerate.tolist() == [1]


@pytest.mark.parametrize("total_variance", [4.0, 0.0])
def test_no_spread_at_all_still_gives_a_positive_one(total_variance):
    eta, degenerate = spread_from_partition(
        np.zeros(2), eta_scale=1.0, total_variance=total_variance
    )
    assert (eta > 0).all()
    assert degenerate.tolist() == [0, 1]


def test_adapted_spread_drops_what_no_row_prefers():
    rule = Possibilistic1996(np.array([1.0, 2.0, 3.0]))
    members = SimpleNamespace(mass=np.array([2.0, 0.0, 1.0]), distance=np.array([0.5, 9.0, 0.0]))
    prototypes = SimpleNamespace(take=lambda alive: alive.tolist())
    sweep = SimpleNamespace(prototypes=prototypes, members=members)
    updated, kept = AdaptedSpread(unit=3.0, smallest=1e-3).update(rule, sweep)
    assert kept == [0, 2]
    assert_allclose(updated.eta, [1.5, 1e-3])


def test_spread_from_separation_is_beta_at_half_the_squared_distance():
    sqdist = np.array([[0.0, 4.0, 9.0], [4.0, 0.0, 25.0], [9.0, 25.0, 0.0]])
    eta = spread_from_separation(sqdist, 0.3)
    typicality = Possibilistic1996(eta).memberships(np.array([[2.0, 2.0, 4.5]]))
    assert_allclose(typicality, 0.3)


@pytest.mark.parametrize(
    ("largest", "around", "expected"),
    [
        (0.1, [1.0, 4.0, 25.0, 36.0], 25.0),  # the jump from 2 to 5
        (30.0, [1.0, 4.0, 25.0, 36.0], 30.0),
        (0.1, [4.0], 4.0),
        (0.1, [], 0.1),
    ],
)
def test_spread_from_gaps(largest, around, expected):
    assert spread_from_gaps(largest, np.array(around)) == expected
