"""Kernel-induced spaces: against the formulas of the papers, and against the input space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from instances import KERNELS, RULE_NAMES, rules
from reference import kernel_space as reference
from typicality.geometry import InputSpace, KernelSpace, kernel_prototypes, kernel_space
from typicality.kernels import Cosine, Gaussian, Linear
from typicality.membership import Entropic, Fuzzy, Possibilistic1993, Possibilistic1996
from typicality.operators import Blocked, PrecomputedKernel, PrecomputedSqdist
from ways import summed_by

every_rule = pytest.mark.parametrize("index", range(len(RULE_NAMES)), ids=RULE_NAMES)
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def sample(rng, n=60, c=3):
    X = rng.normal(size=(n, 2)) + np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]], n // 3, axis=0)
    return X, rng.integers(0, 4, size=n).astype(float), rng.random((n, c)) + 0.1


@every_kernel
@every_rule
def test_sweep_is_the_formula_of_the_papers(rng, kernel, index):
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    space = KernelSpace(kernel, X, weight)
    prototypes = space.prototypes(start)
    sweep = space.sweep(rule, prototypes)
    K = kernel(X, X)
    d, weights, objective = reference.step(rule, K, weight, start * weight[:, None])
    largest = d.max()
    assert_allclose(prototypes.training_sqdist, d, atol=1e-11 * largest)
    assert_allclose(sweep.objective, objective, rtol=1e-7)
    reached = weights.sum(axis=0) > 1e-200
    expected = reference.sqdist(K, K, np.diag(K), np.where(reached, weights, 1.0))[:, reached]
    assert_allclose(
        sweep.prototypes.training_sqdist[:, reached], expected.clip(min=0), atol=1e-6 * largest
    )


@every_rule
def test_kernel_space_is_the_input_space_when_the_kernel_is_linear(rng, index):
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    induced, explicit = KernelSpace(Linear(), X + 100.0, weight), InputSpace(X + 100.0, weight)
    ours, theirs = induced.prototypes(start), explicit.prototypes(start)
    for _ in range(3):
        here, there = induced.sweep(rule, ours), explicit.sweep(rule, theirs)
        reached = there.mass > 1e-250
        assert_allclose(here.objective, there.objective, rtol=1e-9)
        assert_allclose(here.mass, there.mass, rtol=1e-7, atol=1e-250)
        ours, theirs = here.prototypes.take(reached), there.prototypes.take(reached)
        rule = rule.take(reached)
        assert_allclose(ours.sqdist(X), theirs.sqdist(X), rtol=1e-7, atol=1e-9)
        assert_allclose(
            here.within_sqdist[reached], there.within_sqdist[reached], rtol=1e-7, atol=1e-9
        )
    assert_allclose(induced.total_variance, explicit.total_variance, rtol=1e-12)
    assert_allclose(
        induced.memberships(rule, ours), explicit.memberships(rule, theirs), rtol=1e-6, atol=1e-9
    )
    assert_array_equal(induced.labels(rule, ours), explicit.labels(rule, theirs))


def test_relative_move_is_that_of_the_input_space_when_the_kernel_is_linear(rng):
    X, weight, start = sample(rng)
    induced, explicit = KernelSpace(Linear(), X, weight), InputSpace(X, weight)
    here = induced.sweep(Fuzzy(1.5), induced.prototypes(start))
    there = explicit.sweep(Fuzzy(1.5), explicit.prototypes(start))
    assert_allclose(here.relative_move, there.relative_move, rtol=1e-9)
    assert_allclose(
        here.prototypes.mutual_sqdist(), there.prototypes.mutual_sqdist(), rtol=1e-9, atol=1e-13
    )
    assert_allclose(
        induced.largest_moment(normalised=False), explicit.largest_moment(normalised=False)
    )
    assert_allclose(
        induced.largest_moment(normalised=True), explicit.largest_moment(normalised=True)
    )


@every_kernel
def test_prototypes_follow_the_classification_functions_for_new_rows(rng, kernel):
    """miyamoto2003, eq. (11) and (15); filippone2010, eq. (28)."""
    X, weight, start = sample(rng)
    new = rng.normal(size=(7, 2)) + 1.0
    prototypes = KernelSpace(kernel, X, weight).prototypes(start)
    expected = reference.sqdist(
        kernel(X, X), kernel(new, X), kernel.diag(new), start * weight[:, None]
    )
    # For kernels that are no scalar product these can be negative.
    assert_allclose(prototypes.sqdist(new), expected.clip(min=0), rtol=1e-9, atol=1e-9)


@every_rule
def test_memberships_are_the_same_for_training_rows_as_new_rows(rng, index):
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    space = KernelSpace(Gaussian(1.0), X, weight)
    prototypes = space.prototypes(start)
    new = prototypes.for_prediction()
    assert_array_equal(space.memberships(rule, prototypes), new.memberships(rule, X))
    assert_array_equal(space.labels(rule, prototypes), new.labels(rule, X))
    one_by_one = np.concatenate([new.memberships(rule, x[None]) for x in X])
    assert_array_equal(one_by_one, new.memberships(rule, X))
    assert_allclose(
        new.objective(rule, X, weight), space.sweep(rule, prototypes).objective, rtol=1e-12
    )


@every_rule
def test_sweep_counts_weight_k_as_k_copies(rng, index):
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    times = weight.astype(int)
    weighted, repeated = (
        KernelSpace(Gaussian(1.0), X, weight),
        KernelSpace(Gaussian(1.0), np.repeat(X, times, axis=0)),
    )
    here = weighted.sweep(rule, weighted.prototypes(start))
    there = repeated.sweep(rule, repeated.prototypes(np.repeat(start, times, axis=0)))
    assert_allclose(here.objective, there.objective, rtol=1e-10)
    assert_allclose(here.mass, there.mass, rtol=1e-10)
    assert_allclose(here.prototypes.sqdist(X), there.prototypes.sqdist(X), rtol=1e-8, atol=1e-10)


@every_kernel
@every_rule
def test_sweep_never_raises_the_objective(rng, kernel, index):
    """For scalar products; and for all, no number leaves the finite ones."""
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    space = KernelSpace(kernel, X, weight)
    prototypes, objectives = space.prototypes(start), []
    for _ in range(15):
        sweep = space.sweep(rule, prototypes)
        prototypes = sweep.prototypes
        objectives.append(sweep.objective)
    assert np.isfinite(objectives).all()
    allowed = 1e-8 * np.abs(objectives).max() if kernel.positive_semidefinite else np.inf
    assert (np.diff(objectives) <= allowed).all()


def test_relative_move_is_exact_however_small(rng):
    X, _, start = sample(rng)
    space = KernelSpace(Linear(), X)
    prototypes = space.prototypes(start)
    nearby = space.prototypes(start * (1 + 1e-9 * rng.normal(size=start.shape)))
    weights = nearby.weights - prototypes.weights
    expected = np.sum((weights.T @ X) ** 2, axis=1)
    assert_allclose(space._moves(prototypes, nearby), expected, rtol=1e-4)


def test_kernel_space_is_linear_when_the_kernel_is_wide(rng):
    X, _, start = sample(rng)
    wide, plain = KernelSpace(Gaussian(1e7), X), KernelSpace(Linear(), X)
    ratio = wide.prototypes(start).sqdist(X) / plain.prototypes(start).sqdist(X)
    assert_allclose(ratio, 1e-14, rtol=1e-9)


def test_sweep_does_not_depend_on_the_operator(rng):
    X, weight, start = sample(rng)
    with summed_by("blocked"):
        space = KernelSpace(Gaussian(0.8), X, weight)
    assert isinstance(space.operator, Blocked)
    sweep = space.sweep(Fuzzy(1.4), space.prototypes(start))
    expected = KernelSpace(Gaussian(0.8), X, weight)
    there = expected.sweep(Fuzzy(1.4), expected.prototypes(start))
    assert_array_equal(sweep.prototypes.weights, there.prototypes.weights)


def test_sweep_is_the_same_when_matrices_are_given(rng):
    X, weight, start = sample(rng)
    kernel, rule = Gaussian(1.0), Entropic(5.0)
    spaces = [
        KernelSpace(kernel, X, weight),
        KernelSpace(*PrecomputedKernel.of(kernel(X, X)), weight),
        KernelSpace(*PrecomputedSqdist.of(kernel.sqdist(X, X)), weight),
    ]
    sweeps = [space.sweep(rule, space.prototypes(start)) for space in spaces]
    for sweep in sweeps[1:]:
        assert_allclose(sweep.prototypes.weights, sweeps[0].prototypes.weights, atol=1e-13)
        assert_allclose(sweep.objective, sweeps[0].objective, rtol=1e-12)


def test_sweep_ignores_rows_of_weight_zero(rng):
    X, weight, start = sample(rng)
    far = np.vstack([X, [[50.0, 50.0]]])
    with_far = KernelSpace(Linear(), far, np.append(weight, 0.0))
    without = KernelSpace(Linear(), X, weight)
    rule = Possibilistic1996(np.full(3, 1e-3))  # all typicalities of the others underflow
    here = with_far.sweep(rule, with_far.prototypes(np.vstack([start, start[:1]])))
    there = without.sweep(rule, without.prototypes(start))
    assert_allclose(here.prototypes.sqdist(X), there.prototypes.sqdist(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", [Possibilistic1996, lambda eta: Possibilistic1993(eta, 1.01)])
def test_sweep_keeps_weights_when_spreads_are_tiny(rng, rule):
    X, _, start = sample(rng)
    space = KernelSpace(Gaussian(0.5), X)
    sweep = space.sweep(rule(np.full(3, 1e-5)), space.prototypes(start))
    assert_allclose(sweep.prototypes.weights.sum(axis=0), 1.0)


def test_at_places_points_at_the_means_of_their_nearest_rows(rng):
    X, weight, _ = sample(rng)
    far, reached = np.array([[90.0, 90.0]]), X[[0, 20, 40]]
    space = KernelSpace(Gaussian(1.0), X, weight)
    nearest = Gaussian(1.0).sqdist(X, reached).argmin(axis=1)
    expected = space.prototypes(np.eye(3)[nearest])
    ours = space.at(np.vstack([reached, far]))
    assert_allclose(ours.weights[:, :3], expected.weights, rtol=1e-12)
    counted = np.where(weight > 0, Gaussian(1.0).sqdist(X, far)[:, 0], np.inf)
    assert ours.weights[counted.argmin(), 3] == 1.0
    matrix = KernelSpace(*PrecomputedKernel.of(Gaussian(1.0)(X, X)))
    with pytest.raises(TypeError, match="have none"):
        matrix.at(reached)


def test_near_rows_stand_near_rows(rng):
    X, weight, _ = sample(rng)
    space = KernelSpace(Linear(), X, np.maximum(weight, 1.0))
    explicit = InputSpace(X, np.maximum(weight, 1.0))
    index = np.array([3, 30])
    assert_allclose(
        space.near_rows(index).sqdist(X), explicit.near_rows(index).sqdist(X), rtol=1e-9
    )


def test_candidates_are_distinct_rows_of_positive_weight(rng):
    X = np.repeat(rng.normal(size=(5, 2)), 3, axis=0)
    weight = np.ones(15)
    weight[:3] = 0.0
    for space in (
        KernelSpace(Gaussian(1.0), X, weight),
        KernelSpace(*PrecomputedKernel.of(Gaussian(1.0)(X, X)), weight),
    ):
        candidates = space.candidates(2)
        assert len(candidates.index) == 4
        assert_array_equal(candidates.weight, 3.0)
        rows = X[candidates.index]
        assert_allclose(candidates.sqdist_to(1), Gaussian(1.0).sqdist(rows, rows[1:2])[:, 0])


def test_dimension_is_the_effective_dimension(rng):
    round_cloud = KernelSpace(Linear(), rng.normal(size=(400, 3)))
    line = KernelSpace(Linear(), rng.normal(size=(400, 3)) * [1.0, 1e-3, 1e-3])
    assert_allclose(round_cloud.dimension, 3.0, atol=0.15)
    assert_allclose(line.dimension, 1.0, atol=1e-3)


def test_kernel_space_measures_indefinite_kernels(rng):
    X = rng.normal(size=(30, 2))
    definite, indefinite = Gaussian(1.0)(X, X), -(np.abs(Linear().sqdist(X, X)) ** 2)
    assert KernelSpace(*PrecomputedKernel.of(definite)).negative_share < 1e-12
    space = KernelSpace(*PrecomputedKernel.of(indefinite))
    assert 0.01 < space.negative_share < 1.0
    assert space.total_variance > 0
    prototypes = space.prototypes(np.ones((30, 1)))
    by_hand = 2 * prototypes.products - prototypes.energy
    assert space.n_clipped(prototypes) == np.sum(by_hand < 0) > 0
    assert (prototypes.training_sqdist >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
@every_rule
def test_sweep_by_blocks_is_that_of_all_rows(rng, index, weighted, monkeypatch):
    X, weight, start = sample(rng)
    rule = rules(3)[index]
    space = KernelSpace(Gaussian(1.0), X, weight if weighted else None)
    whole = space.sweep(rule, space.prototypes(start))
    for module in (kernel_space, kernel_prototypes):
        monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    sweep = space.sweep(rule, space.prototypes(start))
    assert_allclose(sweep.objective, whole.objective, rtol=1e-12)
    assert_allclose(sweep.mass, whole.mass, rtol=1e-12)
    assert_allclose(sweep.prototypes.weights, whole.prototypes.weights, rtol=1e-12, atol=1e-300)
    assert_allclose(sweep.relative_move, whole.relative_move, rtol=1e-9)


def test_blend_is_linear(rng):
    X, _, start = sample(rng)
    for space in (KernelSpace(Linear(), X), InputSpace(X)):
        one, other = space.prototypes(start), space.prototypes(start[::-1])
        half = one.blend(other, 0.25)
        expected = space.prototypes(
            0.75 * start / start.sum(axis=0) + 0.25 * start[::-1] / start.sum(axis=0)
        )
        assert_allclose(half.sqdist(X), expected.sqdist(X), rtol=1e-9)
        assert_allclose(half.mutual_sqdist(), expected.mutual_sqdist(), rtol=1e-7, atol=1e-12)


def test_kernel_space_keeps_float32(rng):
    X = rng.normal(size=(30, 2)).astype(np.float32)
    space = KernelSpace(Cosine(), X)
    prototypes = space.prototypes(np.ones((30, 2), np.float32))
    rule = Fuzzy(2.0)
    assert space.memberships(rule, prototypes).dtype == np.float32
    assert prototypes.memberships(rule, X).dtype == np.float32
    assert prototypes.sqdist(X).dtype == np.float32


def test_neighbours_are_those_of_rows_with_weight(rng, monkeypatch):
    """Every other row has no weight: those that are looked at must not be these."""
    monkeypatch.setattr(kernel_space, "_MEDIAN_ROWS", 50)
    X, weight = rng.normal(size=(200, 2)), np.tile([0.0, 1.0], 100)
    every = KernelSpace(Gaussian(0.5), X, weight).neighbours
    assert every == pytest.approx(KernelSpace(Gaussian(0.5), X[1::2]).neighbours)
