"""Compiled code in threads: from several threads of the user, after a fork, with errors."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from typicality import FuzzyCMeans
from typicality._threads import over_pairs, over_ranges, stream_in_threads


@pytest.mark.parametrize(("n_items", "at_least"), [(0, 1), (1, 1), (7, 1), (100, 30), (5, 50)])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_ranges_cover_every_item_once(n_items, at_least, n_threads):
    times = np.zeros(n_items, int)

    def count(first, last):
        times[first:last] += 1

    with threadpool_limits(n_threads):
        over_ranges(count, n_items, at_least=at_least)
    assert_array_equal(times, 1)


def test_an_error_in_a_thread_comes_out():
    def fail(first, last):
        raise RuntimeError(f"rows {first} to {last}")

    with threadpool_limits(2), pytest.raises(RuntimeError, match="rows 0 to"):
        over_ranges(fail, 10)


@pytest.mark.parametrize("n_threads", [1, 3, 8])
def test_pairs_of_a_group_come_in_their_order(n_threads, rng):
    pairs = rng.integers(6, size=(400, 2))
    seen = [[] for _ in range(6)]

    def note(i):
        for group in set(pairs[i].tolist()):
            seen[group].append(i)

    with threadpool_limits(n_threads):
        over_pairs(note, pairs)
    expected = [np.flatnonzero((pairs == group).any(axis=1)).tolist() for group in range(6)]
    assert seen == expected


def test_fits_in_several_threads_at_once_give_the_same(rng):
    X = rng.normal(size=(10_000, 4))

    def fit(seed):
        return FuzzyCMeans(5, tol=0, max_iter=8, random_state=seed).fit(X).cluster_centers_

    alone = [fit(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fit, range(4)))
    assert_array_equal(alone, together)


def test_fit_works_after_a_fork():
    code = """
import multiprocessing, numpy as np
from typicality import FuzzyCMeans
from typicality._cached import cached_property
X = np.random.default_rng(0).normal(size=(20_000, 4))
fit = lambda: FuzzyCMeans(5, tol=0, max_iter=5, random_state=0).fit(X).objective_
def child(queue): queue.put(fit())
here = fit()
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=child, args=(queue,))
process.start()
there = queue.get(timeout=200)
process.join()
assert here == there, (here, there)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_results_of_a_stream_come_in_order_with_few_items_ahead():
    read = []

    def items():
        for i in range(50):
            read.append(i)
            yield i

    with threadpool_limits(3):
        results = stream_in_threads(lambda i: i * i, items())
        assert next(results) == 0
        assert len(read) <= 5
        assert list(results) == [i * i for i in range(1, 50)]
