"""The papers' rules to stop, and one-cluster PCM with an eta that is renewed."""

import numpy as np
from numpy.testing import assert_allclose

from regenerating.one_cluster import PaperOneCluster, RenewedEta
from regenerating.stopping import FuzzyByObjective
from typicality import FuzzyCMeans
from typicality.kernels import Gaussian
from typicality.membership import Possibilistic1996
from typicality.solve.step import ClusterState
from typicality.spaces import Gram


def test_residual_is_the_change_of_memberships(rng):
    """The first change is from the start, u = 1; the next between successive memberships."""
    weight = rng.integers(1, 4, size=50).astype(float)
    space = Gram(Gaussian(0.5), rng.normal(size=(50, 2)), weight)
    state = ClusterState(space.mean, Possibilistic1996(np.array([space.total_variance])))
    step = PaperOneCluster()._step(space)
    first = space.outcome(state.rule, state.prototypes).memberships
    state, residual, _ = step(state)
    assert_allclose(residual, weight @ np.abs(first - 1.0)[:, 0])
    second = space.outcome(state.rule, state.prototypes).memberships
    _, residual, _ = step(state)
    assert_allclose(residual, weight @ np.abs(second - first)[:, 0])


def test_renewed_eta_has_the_fixed_point_of_a_gaussian_cluster(rng):
    """eta = (gamma d - 2) s, for a Gaussian cluster of variance s in d dimensions."""
    model = RenewedEta(kernel="linear").fit(rng.normal(size=(300, 12)))
    assert_allclose(model.eta_, 10.0, rtol=0.15)


def test_the_objective_stops_the_fit(blobs):
    """The fit ends at the first iteration that changes the objective by less than `tol`."""
    start = {"m": 2.0, "init": blobs[0][[0, 1, 2]]}
    objectives = FuzzyCMeans(3, **start, tol=1e-12).fit(blobs[0]).objective_path_
    changes = -np.diff(objectives)
    for tol in (1.0, 1e-5):
        model = FuzzyByObjective(3, **start, tol=tol).fit(blobs[0])
        assert model.n_iter_ == np.flatnonzero(changes < tol)[0] + 1
        assert model.status_ == "converged"
