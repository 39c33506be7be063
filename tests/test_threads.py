"""Compiled code in threads: from several threads of the user, after a fork, with errors."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context, get_config
from threadpoolctl import threadpool_limits

from typicality import FuzzyCMeans
from typicality._cached import cached_property
from typicality._threads import over_ranges, stream_in_threads


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
there = queue.get(timeout=60)
process.join()
assert here == there, (here, there)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_fork_while_another_thread_computes_a_property_does_not_hang():
    code = """
import os, threading
from typicality._cached import cached_property
class Slow:
    @cached_property
    def value(self):
        started.set()
        go_on.wait()
class Quick:
    @cached_property
    def value(self):
        return 1
started, go_on = threading.Event(), threading.Event()
threading.Thread(target=lambda: Slow().value).start()
started.wait()
child = os.fork()
if child == 0:
    os._exit(Quick().value - 1)
assert os.waitpid(child, 0)[1] == 0
go_on.set()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_cached_property_is_computed_once_and_can_be_deleted():
    class Counting:
        times = 0

        @cached_property
        def value(self):
            """What it is."""
            self.times += 1
            return self.times

    counting = Counting()
    assert (counting.value, counting.value) == (1, 1)
    del counting.value
    assert counting.value == 2
    assert Counting.value.__doc__ == "What it is."


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


@pytest.mark.parametrize("n_threads", [1, 3])
def test_error_of_a_task_comes_before_that_of_the_stream(n_threads):
    def items():
        yield from (1, 0, 2)
        raise OSError("the stream")

    with threadpool_limits(n_threads):
        with pytest.raises(ZeroDivisionError):
            list(stream_in_threads(lambda i: 1 // i, items()))
        with pytest.raises(OSError, match="the stream"):
            list(stream_in_threads(str, items()))


def test_tasks_of_a_stream_see_the_settings_of_the_caller():
    with threadpool_limits(2), config_context(working_memory=7):
        found = list(stream_in_threads(lambda _: get_config()["working_memory"], range(4)))
    assert found == [7] * 4
