"""Annealing: a path of rules from an easy problem to the one that is asked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from typicality.geometry import InputSpace
from typicality.membership import Entropic
from typicality.solve import Alternation, Status, anneal, picard, rising_path


@pytest.mark.parametrize(
    ("last", "lowest", "path"),
    [(9.0, 3.0, [4.0, 6.0, 9.0]), (9.0, 20.0, [9.0]), (9.0, np.inf, [9.0])],
)
def test_the_path_rises_to_the_value_that_is_asked(last, lowest, path):
    assert_allclose(rising_path(last, lowest), path)


def test_stages_follow_each_other(blobs):
    space = InputSpace(blobs[0])
    rules = [Entropic(lam) for lam in (0.01, 0.1, 1.0)]
    seen = []

    def run(state):
        seen.append(state.rule)
        return picard(Alternation(space), state, tol=1e-6, max_iter=500)

    result = anneal(space.near_rows(np.array([0, 70, 140])), rules, run)
    assert seen == rules
    assert result.state.rule is rules[-1]
    assert (result.state.prototypes.mutual_sqdist() > 1).sum() == 6


def test_a_stopped_stage_is_the_last(blobs):
    space = InputSpace(blobs[0])
    stop_at_once = {"tol": 0.0, "max_iter": 5, "callback": lambda n_iter, state: True}
    result = anneal(
        space.near_rows(np.array([0, 70])),
        [Entropic(0.1), Entropic(1.0)],
        lambda state: picard(Alternation(space), state, **stop_at_once),
    )
    assert result.status is Status.STOPPED
    assert result.state.rule == Entropic(0.1)
