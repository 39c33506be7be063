"""The quickest way that keeps the promise within the memory, and a sentence that says so."""

import numpy as np
import pytest
from sklearn import config_context

from typicality.geometry import KernelSpace
from typicality.kernels import Cauchy, Gaussian, Laplacian, Linear
from typicality.operators import (
    ALGORITHMS,
    EXACT,
    KernelColumns,
    Nystroem,
    Tolerance,
    choose_operator,
    plan,
)
from typicality.operators.base import Problem, seconds_for
from typicality.operators.nystroem import NotLowRankError

CASES = [
    (Gaussian(0.5), 2, 20_000, "nufft"),
    (Gaussian(0.5), 3, 20_000, "nufft"),
    (Gaussian(1e-4), 2, 20_000, "truncated"),
    (Gaussian(1e-4), 3, 20_000, "truncated"),
    (Cauchy(1.0), 3, 20_000, "blocked"),
    (Laplacian(1e-3), 2, 20_000, "truncated"),
    (Gaussian(4.0), 16, 5_000, "dense"),
    (Gaussian(4.0), 16, 6_000, "blocked"),
    (Gaussian(20.0), 300, 5_000, "dense"),
    (Gaussian(8.0), 64, 12_000, "blocked"),
    (Gaussian(1.0), 2, 2_000, "dense"),
    (Linear(), 2, 3_000, "dense"),
]


@pytest.mark.parametrize(("kernel", "d", "n", "method"), CASES, ids=str)
def test_the_quickest_way(rng, kernel, d, n, method):
    chosen = plan(kernel, rng.normal(size=(n, d)))
    assert chosen.method == method
    assert str(chosen).startswith(f"{method}: ")
    assert f"{n:,}" in chosen.reason
    assert chosen.product_seconds > 0


def test_no_tree_is_made_where_near_pairs_alone_take_too_long(rng, monkeypatch):
    monkeypatch.setattr("typicality.operators.planning._WORTH_ASKING", 0.0)
    wide, narrow = (
        KernelColumns(Gaussian(sigma), rng.normal(size=(20_000, 3))) for sigma in (0.5, 1e-3)
    )
    tolerance = Tolerance(1e-6, 1e-8, 1e-6)
    for columns in (wide, narrow):
        choose_operator(columns, columns.training, tolerance)
    assert "tree" not in vars(wide)
    assert "tree" in vars(narrow)


def test_smooth_kernels_have_few_landmarks(rng):
    X = rng.normal(size=(60_000, 5))
    assert plan(Gaussian(20.0), X, rtol=1e-3).method == "nystroem"


@pytest.mark.parametrize("mebibytes", [1, 8, 64, 512])
@pytest.mark.parametrize("d", [1, 3, 5])
@pytest.mark.parametrize("sigma", [0.01, 0.5, 20.0])
def test_the_memory_limit_is_kept(rng, mebibytes, d, sigma):
    X = rng.normal(size=(6_000, d))
    assert plan(Gaussian(sigma), X, memory=mebibytes * 2**20).working_memory <= mebibytes * 2**20


def test_the_limit_of_scikit_learn(rng):
    X = rng.normal(size=(2000, 2))
    columns = KernelColumns(Gaussian(1.0), X)
    for mebibytes, method in ((1024, "dense"), (64, "blocked"), (123, "dense")):
        with config_context(working_memory=mebibytes):
            chosen = choose_operator(columns, X)[1]
        assert chosen.method == method
    with config_context(working_memory=64):
        assert "set_config(working_memory=123)" in str(choose_operator(columns, X)[1])


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
def test_methods_by_name_keep_the_promise(rng, algorithm):
    X, W = rng.normal(size=(700, 2)), rng.random((700, 3))
    columns = KernelColumns(Gaussian(1.5), X)
    operator, chosen = choose_operator(columns, X, Tolerance(1e-5, 1e-5, 1e-5), algorithm=algorithm)
    assert operator.method == chosen.method == algorithm
    exact = columns.kernel(X) @ W
    off = np.abs(operator @ W - exact) / np.abs(W).sum(axis=0)
    assert off.max() <= operator.rtol + 1e-13
    assert operator.rtol <= chosen.rtol <= 2e-5
    at = np.abs(operator.expansion(W).at(X) - exact) / np.abs(W).sum(axis=0)
    assert at.max() <= 1e-5 + 1e-13


@pytest.mark.parametrize(
    ("kernel", "d", "algorithm", "why"),
    [
        (Gaussian(1.0), 4, "nufft", "4 features, more than 3"),
        (Laplacian(1.0), 2, "nufft", "[Gg]aussian"),
        (Linear(), 2, "truncated", "gaussian, laplacian and cauchy"),
        (Linear(), 2, "nystroem", "kernel that depends only on the distance"),
        (Gaussian(1e-3), 2, "nystroem", "not smooth enough"),
    ],
)
def test_what_cannot_be_used_is_refused(rng, kernel, d, algorithm, why):
    X = rng.normal(size=(6000, d))
    with pytest.raises(ValueError, match=rf"algorithm='{algorithm}' cannot .*{why}"):
        choose_operator(
            KernelColumns(kernel, X), X, Tolerance(1e-6, 1e-6, 1e-6), algorithm=algorithm
        )


@pytest.mark.parametrize("algorithm", ["truncated", "nufft", "nystroem"])
def test_exact_sums_are_not_promised_by_approximations(rng, algorithm):
    X = rng.normal(size=(100, 2))
    with pytest.raises(ValueError, match="rtol=0 asks for exact sums"):
        choose_operator(KernelColumns(Gaussian(1.0), X), X, EXACT, algorithm=algorithm)


def test_a_sample_that_promised_too_much_is_no_disaster(rng, monkeypatch):
    X = rng.normal(size=(6000, 5))

    def not_after_all(*args, **kwargs):
        raise NotLowRankError("no")

    monkeypatch.setattr(Nystroem, "__init__", not_after_all)
    columns = KernelColumns(Gaussian(30.0), X)
    operator, chosen = choose_operator(columns, X, Tolerance(1e-4, 1e-4, 1e-4))
    assert operator.method == chosen.method != "nystroem"


def test_tolerances_follow_the_variance_and_the_heights(rng):
    X = rng.normal(size=(5000, 2))

    def of(sigma, rtol=1e-6, algorithm="auto", rows=X):
        return Tolerance.of_distances(KernelColumns(Gaussian(sigma), rows), None, rtol, algorithm)

    wide, middle, narrow = of(100.0), of(1.0), of(0.001)
    assert wide.absolute == pytest.approx(1e-6 * 2 / 100**2, rel=0.1)
    assert 1e-7 < middle.absolute < 1e-6
    assert narrow.absolute == pytest.approx(1e-6, rel=1e-3)
    assert narrow.tails == pytest.approx(1e-4 / 5000)
    assert middle.tails <= middle.absolute
    assert of(1.0, rtol=0.0) == of(1.0, rows=X[:500]) == EXACT
    assert not of(1.0, rows=X[:500], algorithm="nufft").is_exact


def test_rows_of_no_weight_do_not_count_in_tolerances(rng):
    X = np.vstack([rng.normal(size=(3000, 2)), rng.normal(500.0, 1.0, size=(3000, 2))])
    columns, weight = KernelColumns(Gaussian(1.0), X), np.repeat([1.0, 0.0], 3000)
    weighted = Tolerance.of_distances(columns, weight, 1e-6, "auto")
    assert 0 < weighted.absolute < 1e-6


def test_a_row_that_stands_alone():
    assert Tolerance.of_a_row(1000, None, 1e-6).absolute == pytest.approx(1e-9)
    weighted = Tolerance.of_a_row(3, np.array([1.0, 2.0, 1.0]), 1e-6)
    assert weighted.absolute == pytest.approx(2.5e-7)


def test_costs_grow_with_the_work(rng):
    X = rng.normal(size=(100, 4))
    few, many = (Problem(KernelColumns(Linear(), X), X, EXACT, 0, c).pairs() for c in (1, 9))
    assert 0 < seconds_for("numpy", **few) <= seconds_for("numpy", **many)


def test_columns_count_in_the_memory(rng):
    X = rng.normal(size=(20_000, 2))
    columns, tolerance = KernelColumns(Laplacian(1e-3), X), Tolerance(1e-6, 1e-6, 1e-6)
    few, many = (
        choose_operator(columns, X, tolerance, memory=2**22, n_columns=c)[1] for c in (1, 50)
    )
    assert (few.method, many.method) == ("truncated", "blocked")
    assert many.working_memory <= 2**22
    assert plan(Gaussian(0.5), X[:3000], memory=2**18).working_memory <= 2**18


def test_the_promise_follows_the_variance_that_was_found(rng):
    """Nearly all weight is in one place, which no sample of the rows can see."""
    X = np.vstack([0.05 * rng.normal(size=(20, 2)), 4 * rng.normal(size=(5000, 2))])
    weight = np.repeat([1e6, 1.0], [20, 5000])
    columns = KernelColumns(Gaussian(1.0), X)
    tolerance = Tolerance.of_distances(columns, weight, 1e-6, "auto")
    for algorithm in ("auto", "truncated"):
        space = KernelSpace(columns, X, weight, tolerance=tolerance, algorithm=algorithm)
        assert space.operator.rtol <= 2e-6 * space.total_variance


def test_coarse_promises_are_fast_ones(rng):
    X = rng.normal(size=(20_000, 2))
    columns = KernelColumns(Gaussian(1.0), X)
    space = KernelSpace(columns, X, tolerance=Tolerance.of_distances(columns, None, 0.01, "auto"))
    assert space.operator.method == "nufft"


def test_refusals_name_the_kernel_before_the_promise(rng):
    class Steep(Gaussian):
        """A profile of its own, perhaps."""

    X = rng.normal(size=(100, 2))
    with pytest.raises(ValueError, match="Steep, not Gaussian"):
        choose_operator(KernelColumns(Steep(1.0), X), X, EXACT, algorithm="nufft")
    with pytest.raises(ValueError, match="kernel that depends only on the distance"):
        choose_operator(KernelColumns(Linear(), X), X, EXACT, algorithm="nystroem")


def test_methods_by_name_stay_within_the_memory(rng):
    X = rng.normal(size=(3000, 2))
    with pytest.raises(
        ValueError, match=r"needs 69 MiB, and 16 MiB are allowed.*working_memory=69"
    ):
        choose_operator(KernelColumns(Gaussian(1.0), X), X, algorithm="dense", memory=2**24)
