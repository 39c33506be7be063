"""One cluster more at a time, at one lambda and along a path."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality.geometry import InputSpace
from typicality.membership import SparsePossibilistic
from typicality.membership.sparse import collapse_weight
from typicality.membership.spread import AdaptedSpread
from typicality.solve import (
    Alternation,
    GrownState,
    PartitionIndex,
    PicardResult,
    Sequential,
    Status,
    calinski_harabasz,
    follow_path,
    lambda_grid,
    picard,
)
from typicality.solve.sequential import _tried


@pytest.fixture
def sequential(blobs):
    space = InputSpace(blobs[0])
    step = Alternation(space, AdaptedSpread(smallest=1e-12))
    return Sequential(
        space,
        space.gaps(),
        run=partial(picard, step, tol=1e-6, max_iter=500),
        rule=SparsePossibilistic,
        start=space.near_rows(np.array([0, 70]), share=0.0),
        at_most=20,
    )


def test_finds_all_clusters_from_two(sequential):
    result = sequential.fit(0.05)
    assert result.status is Status.CONVERGED
    assert result.state.prototypes.n_clusters == 3
    assert len(result.residuals) == len(result.objectives) > 10
    assert result.state.tried.n_clusters == 1  # the row that brought no fourth cluster


def test_stops_at_the_most_clusters(sequential):
    few = replace(sequential, at_most=2)
    assert few.fit(0.05).state.prototypes.n_clusters == 2


def test_a_stopped_run_ends_the_rounds(sequential):
    def stopped(state):
        return PicardResult(state, Status.STOPPED, (1.0,), (0.0,))

    once = replace(sequential, run=stopped)
    assert len(once.fit(0.05).residuals) == 1


def test_resumes_from_a_result(sequential):
    cold = sequential.fit(0.05)
    warm = sequential.fit(0.05, cold.state)
    found, before = (np.sort(r.state.prototypes.centers, axis=0) for r in (warm, cold))
    assert_allclose(found, before, atol=1e-3)
    assert warm.state.tried.n_clusters == 2  # another row had its turn
    again = sequential.fit(0.05, warm.state)
    assert again.state.tried is None  # and from now on the first may be tried again


def test_rows_take_turns(sequential):
    space = sequential.geometry
    rows = [space.near_rows(np.array([i]), share=0.0) for i in range(3)]
    tried = _tried(None, rows[0])
    assert_array_equal(tried.offsets, rows[0].offsets)
    assert _tried(tried, rows[1]).n_clusters == 2
    assert _tried(_tried(tried, rows[1]), rows[2]) is None


def test_grid_rises_to_the_collapse(sequential):
    space = sequential.geometry
    grid = lambda_grid(space, 1.0, 0.5)
    spread = np.linalg.norm(space.X - space.X.mean(axis=0), axis=1).mean()
    assert (np.diff(grid) > 0).all()
    assert_allclose(grid[0], collapse_weight(spread, 0.5) * np.exp(-6))
    assert collapse_weight(spread, 0.5) * 0.9 < grid[-1] < collapse_weight(spread, 0.5)
    assert_allclose(lambda_grid(space, 2.0, 0.5), grid / 2)


@pytest.mark.parametrize("larger_is_better", [True, False])
def test_path_keeps_the_best(sequential, larger_is_better):
    values = iter([5.0, 1.0, 9.0, 9.0, 1.0])
    index = PartitionIndex("made up", larger_is_better, lambda space, members: next(values))
    space = sequential.geometry
    path, result = follow_path(space, [0.02, 0.03, 0.04, 0.05, 0.06], sequential.fit, index)
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
def test_path_does_not_choose_by_rounding(sequential, losses, chosen):
    values = iter(losses)
    index = PartitionIndex("made up", False, lambda space, members: next(values))
    path, _ = follow_path(sequential.geometry, [0.02, 0.03, 0.04], sequential.fit, index)
    assert path.chosen == chosen


def test_path_ends_where_no_cluster_is_left(sequential):
    index = PartitionIndex("CH", True, calinski_harabasz)
    space = sequential.geometry
    path, result = follow_path(space, [0.05, 50.0, 60.0], sequential.fit, index)
    assert path.n_clusters.tolist() == [3, 0]
    assert np.isnan(path.index[-1])
    assert path.chosen == 0
    assert result.state.prototypes.n_clusters == 3


def test_path_without_any_cluster_says_so(sequential):
    index = PartitionIndex("CH", True, calinski_harabasz)
    path, result = follow_path(sequential.geometry, [50.0], sequential.fit, index)
    assert path.n_clusters.tolist() == [0]
    assert isinstance(result.state, GrownState)
    assert result.state.prototypes.n_clusters == 0
