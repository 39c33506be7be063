"""The loop, on problems that have nothing to do with clusters."""

import math

import numpy as np
import pytest

from typicality.membership import Fuzzy
from typicality.membership.spread import FixedSpread
from typicality.solve.picard import Status, picard
from typicality.solve.step import Alternation, ClusterState
from typicality.spaces import Euclidean


def newton_for_root_two(x):
    following = 0.5 * (x + 2 / x)
    return following, abs(following - x), (x * x - 2) ** 2


def test_picard_converges_to_a_root():
    result = picard(newton_for_root_two, 1.0, tol=1e-12, max_iter=50)
    assert result.status is Status.CONVERGED
    assert result.state == pytest.approx(math.sqrt(2))
    assert result.n_iter == len(result.objectives) == len(result.residuals) < 10
    assert list(result.objectives) == sorted(result.objectives, reverse=True)


def test_picard_runs_to_max_iter_when_tol_is_zero():
    result = picard(newton_for_root_two, 1.0, tol=0.0, max_iter=30)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == 30


@pytest.mark.parametrize("bad", [(1.0, math.nan, 0.0), (1.0, 0.5, math.inf), (1.0, 0.5, math.nan)])
def test_picard_keeps_the_last_finite_state_when_a_step_is_not_finite(bad):
    steps = iter([(5.0, 1.0, 3.0), bad])
    result = picard(lambda state: next(steps), 0.0, tol=1e-6, max_iter=9)
    assert result.status is Status.NONFINITE
    assert result.state == 5.0
    assert result.n_iter == 2


def test_picard_stops_when_the_watch_says_so():
    seen = []

    def stop_at_three(n_iter, residual, state):
        seen.append((n_iter, state))
        return n_iter == 3

    result = picard(lambda x: (x + 1, 1.0, 0.0), 0, tol=0.5, max_iter=9, watch=stop_at_three)
    assert result.status is Status.STOPPED
    assert seen == [(1, 1), (2, 2), (3, 3)]
    assert result.state == 3


def test_a_step_that_drops_a_cluster_has_an_infinite_residual(rng):
    class DropsOne(FixedSpread):
        labelled = False

        def update(self, rule, sweep):
            return rule, sweep.prototypes.take(np.array([0, 1]))

    space = Euclidean(rng.normal(size=(30, 2)))
    state = ClusterState(space.at(space.rows.X[:3]), Fuzzy(2.0))
    following, residual, _ = Alternation(space, DropsOne())(state)
    assert following.prototypes.n_clusters == 2
    assert residual == math.inf


def test_the_width_of_all_clusters_is_weighted_by_their_mass(rng):
    space = Euclidean(rng.normal(size=(30, 2)) + np.repeat([[0.0], [9.0]], [25, 5], axis=0))
    sweep = space.sweep(Fuzzy(2.0), space.at(space.rows.X[[0, 29]]))
    expected = np.average(sweep.within_sqdist, weights=sweep.mass)
    assert math.isclose(sweep.pooled_within_sqdist, expected, rel_tol=1e-12)
