"""What every space promises, beside the slow twin on the mapped rows.

A new space enters by one entry in SPACES. `Directions` is such a space, written only here.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from instances import ONE_OF_EACH_RULE, RULE_NAMES, rules
from reference import members as reference
from typicality._sparse import sparse_rows
from typicality.kernels import Linear, Polynomial
from typicality.rows import DistinctRows, rows_in_memory
from typicality.solve.starts import start_rows
from typicality.spaces import Centroids, Ellipsoidal, Euclidean, Gaps, Gram, Partial, Sample, Space
from typicality.spaces.base import is_reached

pytestmark = pytest.mark.usefixtures("module_compiling")


def directions(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class MeanDirections(Centroids):
    """Means of directions."""

    def sqdist(self, X):
        return super().sqdist(directions(X))


class Directions(Space[MeanDirections]):
    """The unit sphere: rows that point the same way coincide."""

    def __init__(self, X, sample_weight=None):
        self.rows = rows_in_memory(X, sample_weight)

    def accumulate(self, block, weights):
        return weights.T @ directions(block.X)

    def means(self, sums, total, unless_empty=None):
        reached = is_reached(total)[:, None]
        kept = np.zeros_like(sums) if unless_empty is None else unless_empty.offsets
        means = np.where(reached, sums / np.where(reached, total[:, None], 1.0), kept)
        return MeanDirections(np.zeros(sums.shape[1]), means)

    def sample(self, at_most=None):
        some = DistinctRows.of(self.X, self.sample_weight, at_most=at_most or len(self.X))
        units = directions(some.rows)
        return Sample(
            some.rows, some.index, some.weight, lambda: cdist(units, units, "sqeuclidean") / 2
        )

    def at(self, points):
        return MeanDirections(np.zeros(points.shape[1]), directions(points))


def squares(X):
    return np.einsum("hi,hj->hij", X, X).reshape(len(X), -1)


def itself(X):
    return X


N_ROWS = 530  # of which compiled code takes more than one tile
SPACES = {  # how to open it, and the map from rows to their places in it
    "input": (Euclidean, itself),
    "balls": (lambda X, weight=None: Ellipsoidal(X, weight, shrinkage=1.0), itself),
    "partial": (Partial, itself),
    "sparse": (lambda X, weight=None: Euclidean(sparse_rows(X), weight), itself),
    "linear kernel": (lambda X, weight=None: Gram(Linear(), X, weight), itself),
    "squares": (lambda X, weight=None: Gram(Polynomial(2, 1.0, 0.0), X, weight), squares),
    "directions": (Directions, directions),
}
every_rule = pytest.mark.parametrize("index", range(len(RULE_NAMES)), ids=RULE_NAMES)
one_of_each_rule = pytest.mark.parametrize("index", ONE_OF_EACH_RULE.values(), ids=ONE_OF_EACH_RULE)


@pytest.fixture(params=SPACES)
def case(request, rng):
    """A way to open a space, its map, rows of which two are equal, and weights."""
    X = rng.normal(size=(N_ROWS, 3)) + rng.choice([-2.0, 2.0], size=(N_ROWS, 1))
    X[7] = X[11]
    return *SPACES[request.param], X, rng.integers(0, 4, size=N_ROWS).astype(float)


def rows_for(space, X):
    return sparse_rows(X) if isinstance(space, Euclidean) and not hasattr(space.X, "mean") else X


@every_rule
def test_a_sweep_is_that_of_the_mapped_rows(case, rng, index):
    open_space, mapped, X, weight = case
    rule, space, Z = rules(4)[index], open_space(X, weight), mapped(X)
    shares = rng.dirichlet(np.ones(4), size=len(X))
    before = space.prototypes(shares)
    start = (shares * weight[:, None]).T @ Z / (shares * weight[:, None]).sum(axis=0)[:, None]
    sqdist = cdist(Z, start, "sqeuclidean")
    memberships = rule.memberships(sqdist)
    weights = rule.weights(memberships) * weight[:, None]
    mass = weights.sum(axis=0)
    means = np.where(mass[:, None] > 0, weights.T @ Z / np.maximum(mass, 1e-300)[:, None], start)

    sweep = space.sweep(rule, before, members=True)

    places = rows_for(space, X)
    after = sweep.prototypes.for_prediction()
    assert_allclose(after.sqdist(places), cdist(Z, means, "sqeuclidean"), rtol=1e-7, atol=1e-9)
    assert_allclose(sweep.mass, mass, rtol=1e-8, atol=1e-10)
    assert_allclose(sweep.objective, weight @ rule.objective(memberships, sqdist), rtol=1e-8)
    within = (weights * cdist(Z, means, "sqeuclidean")).sum(axis=0) / np.maximum(mass, 1e-300)
    assert_allclose(sweep.within_sqdist, within, rtol=1e-7, atol=1e-8)
    moves = ((means - start) ** 2).sum(axis=1)
    assert_allclose(before.sqdist_to(sweep.prototypes), moves, rtol=1e-7, atol=1e-9)
    own_mass, _, distance = reference.members(rule, Z, weight, sqdist)
    assert_allclose(sweep.members.mass, own_mass)
    assert_allclose(sweep.members.distance, distance, rtol=1e-7, atol=1e-7)


@one_of_each_rule
def test_what_a_fit_says_of_its_rows_is_what_prediction_says(case, rng, index):
    open_space, _, X, weight = case
    rule, space = rules(3)[index], open_space(X, weight)
    prototypes = space.prototypes(rng.dirichlet(np.ones(3), size=len(X)))
    outcome, places = space.outcome(rule, prototypes), rows_for(space, X)
    labels, memberships = prototypes.for_prediction().judge(rule, places)
    assert_array_equal(outcome.labels, labels)
    assert_allclose(outcome.memberships, memberships, rtol=1e-9, atol=1e-12)
    assert outcome.tally.rows.sum() == len(X)
    assert_allclose(outcome.tally.weight.sum(), weight.sum())


def test_a_weight_counts_copies_and_the_order_of_rows_does_not_matter(case, rng):
    open_space, _, X, weight = case
    copies = rng.permutation(np.repeat(np.arange(len(X)), weight.astype(int)))
    rule, points = rules(2)[1], X[[3, 4]]
    sweeps = [
        space.sweep(rule, space.at(points))
        for space in (open_space(X, weight), open_space(X[copies]))
    ]
    weighted, repeated = (sweep.prototypes.for_prediction() for sweep in sweeps)
    places = rows_for(open_space(X), X)
    assert_allclose(weighted.sqdist(places), repeated.sqdist(places), rtol=1e-8, atol=1e-10)
    assert_allclose(sweeps[0].objective, sweeps[1].objective)


def test_a_space_knows_its_mean_variance_and_sample(case):
    open_space, mapped, X, weight = case
    space, Z = open_space(X, weight), mapped(X)
    places = rows_for(space, X)
    mean = np.average(Z, axis=0, weights=weight)
    from_mean = ((Z - mean) ** 2).sum(axis=1)
    assert_allclose(space.mean.for_prediction().sqdist(places)[:, 0], from_mean, rtol=1e-7)
    assert_allclose(space.total_variance, np.average(from_mean, weights=weight))
    assert 1.0 <= space.dimension <= Z.shape[1]
    sample = space.sample()
    among = cdist(Z[sample.index], Z[sample.index], "sqeuclidean")
    assert_allclose(2 * sample.half_sqdist, among, rtol=1e-7, atol=1e-9)
    assert_allclose(sample.weight.sum(), weight.sum())
    assert space.rows.sample().n_distinct == len(sample.index)
    spectrum = np.linalg.eigvalsh(np.cov(Z.T, aweights=weight, bias=True))
    assert_allclose(space.largest_moment(normalised=False), spectrum[-1], rtol=1e-6)


def test_starts_are_rows_of_positive_weight(case):
    open_space, mapped, X, weight = case
    space, Z = open_space(X, weight), mapped(X)
    index = start_rows("max-min", space, 4)
    assert (weight[index] > 0).all()
    there = space.near_rows(index, share=0.0)
    sqdist = there.for_prediction().sqdist(rows_for(space, X))
    assert_allclose(sqdist, cdist(Z, Z[index], "sqeuclidean"), rtol=1e-7, atol=1e-9)
    nearer = space.near_rows(index).for_prediction().sqdist(rows_for(space, X))
    mean = np.average(Z, axis=0, weights=weight)
    assert_allclose(
        nearer, cdist(Z, 0.95 * Z[index] + 0.05 * mean, "sqeuclidean"), rtol=1e-7, atol=1e-9
    )
    taken = there.take(np.array([2, 0])).join(there.take(np.array([1])))
    assert_allclose(
        taken.mutual_sqdist(),
        cdist(Z[index[[2, 0, 1]]], Z[index[[2, 0, 1]]], "sqeuclidean"),
        rtol=1e-7,
        atol=1e-9,
    )
    gaps = Gaps(space, space.sample())
    assert gaps.max_gap > 0
    assert weight[gaps.farthest_row(there)] > 0


@one_of_each_rule
def test_no_iteration_raises_the_objective(case, index):
    open_space, _, X, weight = case
    rule, space = rules(2)[index], open_space(X, weight)
    prototypes, objectives = space.near_rows(start_rows("max-min", space, 2)), []
    for _ in range(8):
        sweep = space.sweep(rule, prototypes)
        prototypes = sweep.prototypes
        objectives.append(sweep.objective)
    assert np.diff(objectives).max() <= 1e-9 * abs(objectives[0])
