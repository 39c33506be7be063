"""How long a fit is expected to take, and how far it is."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    open_rows,
)
from typicality._progress import advance, counter, followed_by, part
from typicality.cluster import _callbacks
from typicality.kernels import Gaussian
from typicality.levelsets.scales import expected_seconds
from typicality.operators import plan
from typicality.plan import Plan

ESTIMATORS = [
    FuzzyCMeans(3, n_init=2, random_state=0),
    EntropyCMeans(3, init="annealing", random_state=0),
    PossibilisticCMeans(3, random_state=0),
    AdaptivePCM(6),
    SequentialPCM(),
    OneClusterPCM(),
    FuzzyCMeans(3, kernel="gaussian", random_state=0),
    AlphaCutClustering(),
    AlphaCutClustering(sigma=1.0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


class Recorder:
    """Keeps what it is told."""

    def __init__(self):
        self.seconds, self.shares = [], []

    def expect(self, seconds):
        self.seconds.append(seconds)

    def show(self, share):
        self.shares.append(share)


# ---- seconds -------------------------------------------------------------------------------------


def test_a_fit_takes_its_products_and_the_rest():
    planned = Plan("other", 0, "", product_seconds=3.0, n_products=7, other_seconds=5.0)
    assert planned.seconds_in(1) == pytest.approx(4 * (3.0 * 7 + 5.0))
    assert planned.fit_seconds == planned.seconds_in(4)
    assert replace(planned, product_seconds=None).seconds_in(1) == pytest.approx(20.0)
    assert Plan("other", 0, "").fit_seconds is None


@pytest.mark.parametrize("method", ["dense", "blocked", "nufft", "nystroem", "local"])
def test_threads_shorten_a_fit_but_for_its_serial_part(method):
    seconds = [Plan(method, 0, "", 1.0).seconds_in(n) for n in (1, 2, 16, 10**9)]
    assert seconds == sorted(seconds, reverse=True)
    assert 0.5 < seconds[1] / seconds[0] < 0.7
    assert 0.0 < seconds[3] < seconds[2]


def test_threads_do_not_shorten_work_of_a_gpu():
    assert Plan("fused", 0, "", 1.0).seconds_in(1) == Plan("fused", 0, "", 1.0).seconds_in(16)


@pytest.mark.parametrize("d", [2, 8])
def test_more_rows_and_features_take_longer(rng, d):
    X = rng.normal(size=(40_000, d))
    seconds = [plan(Gaussian(0.3), X[:n]).fit_seconds for n in (10_000, 20_000, 40_000)]
    assert seconds == sorted(seconds)
    trees = [sum(expected_seconds(n, d)) for n in (10**3, 10**4, 10**5, 10**6)]
    assert trees == sorted(trees)
    assert sum(expected_seconds(10**5, d)) < sum(expected_seconds(10**5, d + 1))


def test_sweeps_are_counted_by_iterations_and_starts(rng):
    X = rng.normal(size=(500, 2))
    once, twice = (FuzzyCMeans(2, n_init=n, random_state=0).fit(X).plan_ for n in (1, 2))
    assert twice.n_products == 2 * once.n_products
    assert twice.product_seconds == once.product_seconds
    capped = FuzzyCMeans(2, tol=1e9, max_iter=3, random_state=0).fit(X).plan_
    assert capped.n_products == 3


@every_estimator
def test_plan_of_a_fit_has_its_seconds(estimator, blobs):
    recorder = Recorder()
    with followed_by(recorder):
        model = estimator.fit(blobs[0])
    assert model.plan_.fit_seconds > 0
    assert len(recorder.seconds) == 1  # said once, before the work
    assert recorder.seconds[0] > 0


@pytest.mark.parametrize(
    ("estimator", "share_of_iterations"),
    [
        (FuzzyCMeans(3, random_state=0), 0.9),
        (AdaptivePCM(6), 0.9),
        (OneClusterPCM(sigma=1.0), 0.7),
        (FuzzyCMeans(3, kernel="gaussian", sigma=1.0, random_state=0), 0.9),
    ],
    ids=str,
)
def test_seconds_of_a_fit_by_blocks_follow_from_its_second_iteration(
    estimator, share_of_iterations, blobs, tmp_path, monkeypatch
):
    np.save(tmp_path / "rows.npy", blobs[0])
    ticks = itertools.count(step=1000.0)  # so long seems every iteration
    monkeypatch.setattr(_callbacks, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    recorder = Recorder()
    with followed_by(recorder):
        model = estimator.fit(open_rows(tmp_path / "rows.npy"))
    assert model.plan_.fit_seconds is None  # files of a model must not depend on the clock
    of_iterations = 1000.0 * model.plan_.n_products
    assert recorder.seconds == pytest.approx([of_iterations / share_of_iterations])


# ---- progress ------------------------------------------------------------------------------------


@every_estimator
def test_a_fit_reports_how_far_it_is(estimator, blobs):
    recorder = Recorder()
    with followed_by(recorder):
        estimator.fit(blobs[0])
    assert len(recorder.shares) >= 3
    assert 0.0 < min(recorder.shares) < max(recorder.shares) <= 1.0
    assert max(recorder.shares) > 0.3


def test_every_tree_moves_the_bar(blobs):
    recorder = Recorder()
    with followed_by(recorder):
        AlphaCutClustering().fit(blobs[0])
    assert recorder.shares == sorted(recorder.shares)
    assert len(set(recorder.shares)) > 6
    assert recorder.shares[-1] == 1.0


def test_methods_that_are_compared_are_parts_of_the_whole(blobs):
    recorder = Recorder()
    with followed_by(recorder):
        AutoClustering(random_state=0).fit(blobs[0])
    alone = Recorder()
    with followed_by(alone):
        AlphaCutClustering().fit(blobs[0])
    first = np.array(recorder.shares[: len(alone.shares)])
    assert first == pytest.approx(0.7 * np.array(alone.shares))
    assert min(recorder.shares[len(first) :]) >= first[-1]
    assert recorder.shares[-1] == 1.0


def test_parts_are_nested():
    recorder = Recorder()
    with followed_by(recorder):
        with part(0.5, 1.0):
            advance(0.5)
            with part(0.0, 0.5):
                advance(1.0)
                count = counter(2)
                count()
        advance(2.0)
    assert recorder.shares == pytest.approx([0.75, 0.75, 0.625, 0.75, 1.0, 1.0])
    advance(0.5)  # nobody follows
    assert len(recorder.shares) == 6


def test_nobody_need_follow(blobs):
    X, _ = blobs
    recorder = Recorder()
    with followed_by(recorder):
        watched = AlphaCutClustering().fit(X)
    assert np.array_equal(watched.labels_, AlphaCutClustering().fit(X).labels_)
