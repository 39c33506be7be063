"""Annealing, one cluster more at a time, and a path of lambda."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from typicality.membership import SparsePossibilistic
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.sparse import collapse_weight
from typicality.membership.spread import AdaptedSpread
from typicality.solve.indices import PartitionIndex
from typicality.solve.picard import PicardResult, Status, picard
from typicality.solve.schedules import Sequential, follow_path, lambda_grid, rising_path
from typicality.solve.step import Alternation, ClusterState
from typicality.spaces import Euclidean, Gaps


@pytest.mark.parametrize(
    ("last", "lowest", "path"),
    [(9.0, 3.0, [4.0, 6.0, 9.0]), (9.0, 20.0, [9.0]), (9.0, np.inf, [9.0])],
)
def test_rising_path_ends_at_the_last_value(last, lowest, path):
    assert_allclose(rising_path(last, lowest), path)


@pytest.fixture
def sequential(blobs):
    space = Euclidean(blobs[0])
    step = Alternation(space, AdaptedSpread(smallest=1e-12))
    return Sequential(
        space,
        Gaps(space, space.sample()),
        run=partial(picard, step, tol=1e-6, max_iter=500),
        rule=SparsePossibilistic,
        start=space.near_rows(np.array([0, 70]), share=0.0),
        at_most=20,
    )


def test_sequential_tries_the_densest_free_row_when_the_farthest_fails(rng):
    """Rows of noise are far from all clusters and hide the second blob."""
    blobs = np.concatenate([rng.normal(m, 0.2, size=(100, 2)) for m in (2, 5)])
    noise = np.array([[9.0, 0.0], [9.1, 0.1], [8.9, 0.1], [9.0, 0.2]])
    space = Euclidean(np.concatenate([blobs, noise]))
    one = Sequential(
        space,
        Gaps(space, space.sample()),
        run=lambda state: PicardResult(state, Status.CONVERGED, (0.0,), (0.0,)),
        rule=SparsePossibilistic,
        start=space.near_rows(np.array([0]), share=0.0),
        at_most=20,
    )
    state = one.begin(0.05)
    row = one._densest(state)
    assert 100 <= row < 200
    assert one._farthest(state) >= 200
    everywhere = Possibilistic1996(np.ones(1))
    assert one.gaps.densest(everywhere, state.prototypes) is None


def test_an_attempt_that_failed_is_left_out_once_and_then_repeated(sequential):
    """No row begins a cluster that lives: every round returns the clusters before it."""
    attempts = []

    def run(state):
        attempts.append(state.prototypes.n_clusters)
        two = state.prototypes.take(np.arange(2)), state.rule.with_spread(state.rule.eta[:2])
        return PicardResult(ClusterState(*two), Status.CONVERGED, (0.0,), (0.0,))

    stuck, state = replace(sequential, run=run), sequential.begin(0.05)
    follow_path(stuck, np.full(5, 0.05), state, made_up([0.0] * 20), run)
    assert attempts.count(3) == 2 * 3  # at the first, the third and the fifth value; two rows each


def test_lambda_grid_rises_to_the_collapse(sequential):
    space = sequential.space
    grid = lambda_grid(space, 1.0, 0.5)
    spread = np.linalg.norm(space.X - space.X.mean(axis=0), axis=1).mean()
    sqdist = space.total_variance
    largest = max(12.0, 5.0 * sqdist / spread)
    assert (np.diff(grid) > 0).all()
    assert_allclose(grid[0], collapse_weight(spread, 0.5) * np.exp(-largest / 2))
    assert collapse_weight(spread, 0.5) * 0.75 < grid[-1] < collapse_weight(spread, 0.5)
    assert_allclose(lambda_grid(Euclidean(2 * space.X), 2.0, 0.5), grid)


def made_up(values, *, larger_is_better=False):
    following = iter(values)
    return PartitionIndex("made up", larger_is_better, lambda labels: next(following))


def rounds_of_one(sequential):
    """One round a value: the index is asked once at each."""
    return replace(sequential, at_most=2)


@pytest.mark.parametrize("larger_is_better", [True, False])
def test_lambda_path_keeps_the_best_candidate(sequential, larger_is_better):
    few, grid = rounds_of_one(sequential), np.array([0.02, 0.03, 0.04, 0.05, 0.06])
    index = made_up([5.0, 1.0, 9.0, 9.0, 1.0, *[0.0] * 9], larger_is_better=larger_is_better)
    path, result = follow_path(few, grid, few.begin(0.02), index, few.run)
    assert path.chosen == (2 if larger_is_better else 1)
    assert path.index.tolist() == [5.0, 1.0, 9.0, 9.0, 1.0]
    assert path.criterion == "made up"
    assert_allclose(result.state.rule.lam, path.lam[path.chosen])


@pytest.mark.parametrize(
    ("losses", "chosen"),
    [
        ([np.inf, 5.0, 5.0 - 1e-9], 1),  # one cluster has no index; rounding does not choose
        ([-3.0, -3.0 - 1e-9, -4.0], 2),
        ([np.inf, np.inf, np.inf], 0),
    ],
)
def test_lambda_path_does_not_choose_by_rounding(sequential, losses, chosen):
    few, grid = rounds_of_one(sequential), np.array([0.02, 0.03, 0.04])
    path, _ = follow_path(few, grid, few.begin(0.02), made_up([*losses, *[0.0] * 9]), few.run)
    assert path.chosen == chosen


def test_lambda_path_keeps_away_from_cliffs(sequential):
    """The best index is at the last value where clusters live: it is not chosen."""
    few, grid = rounds_of_one(sequential), np.array([0.02, 0.03, 50.0])
    path, _ = follow_path(few, grid, few.begin(0.02), made_up([5.0, 1.0, *[0.0] * 9]), few.run)
    assert path.n_clusters.tolist() == [2, 2, 0]
    assert path.chosen == 0
