"""Run compiled code that releases the interpreter lock on all cores.

Plain threads, because numba's own thread pools end the process when two threads of the user enter
them at once, or after a fork. The number of threads is scikit-learn's: it follows
`OMP_NUM_THREADS` and `threadpoolctl.threadpool_limits`. It changes no result: work is cut by the
shape of the data, and BLAS computes in one thread.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

from typicality._typing import Places

Item = TypeVar("Item")
Result = TypeVar("Result")
Sum = TypeVar("Sum")  # whatever has `a + b`

_MOST_STREAMING = 4  # threads: one reads the stream, more cannot outrun it and hold more items
_TASKS_PER_THREAD = 3  # a core that was busy elsewhere is then made up for by the others


_here = threading.local()  # `in_pool`: whether this is a thread of the pool


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    # The process is part of the key: a forked child has the object but not its threads.
    mark = partial(setattr, _here, "in_pool", True)
    return ThreadPoolExecutor(n_threads, thread_name_prefix="typicality", initializer=mark)


def _n_threads() -> int:
    """The threads to use: one in a thread of the pool, and while the interpreter shuts down.

    A file is read before scikit-learn is loaded, so that what is wrong with it is told at once.
    """
    if getattr(_here, "in_pool", False) or not threading.main_thread().is_alive():
        return 1
    if "sklearn" in sys.modules:
        from typicality._compat import effective_n_threads

        return effective_n_threads()
    limit = os.environ.get("OMP_NUM_THREADS", "")
    n_cores = os.cpu_count() or 1
    return max(1, min(int(limit), n_cores)) if limit.isdecimal() else n_cores


def _submit(
    pool: ThreadPoolExecutor, task: Callable[..., Result], *arguments: Any
) -> Future[Result]:
    """Run a task in the pool, with the caller's settings of NumPy for errors.

    It runs in this thread if the interpreter has begun to shut down.
    """
    try:
        return pool.submit(copy_context().run, task, *arguments)
    except RuntimeError:
        return _done(task, *arguments)


def _done(task: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """A task that ran in this thread, with its result or its error."""
    future: Future[Result] = Future()
    try:
        future.set_result(task(*arguments))
    except BaseException as error:  # the caller asks for it by `result`
        future.set_exception(error)
    return future


def over_ranges(task: Callable[[int, int], None], n_items: int, *, at_least: int = 1) -> None:
    """Call `task(first, last)` on ranges that cover `range(n_items)`, in threads.

    Parameters
    ----------
    task : callable
        Must release the interpreter lock and write only what belongs to its items.
    n_items : int
        The number of items.
    at_least : int, default=1
        A range has at least so many items: smaller ones are not worth a thread.
    """
    n_threads = _n_threads() if n_items // at_least > 1 else 1
    n_ranges = min(n_threads * _TASKS_PER_THREAD, n_items // at_least)
    if n_threads == 1 or n_ranges <= 1:
        task(0, n_items)
        return
    bounds = [n_items * i // n_ranges for i in range(n_ranges + 1)]
    pool = _pool(n_threads - 1, os.getpid())  # this thread works too
    ranges = list(pairwise(bounds))
    futures = [_submit(pool, task, *each) for each in ranges]
    _here.in_pool = True
    for i in reversed(range(n_ranges)):
        if futures[i].cancel():  # no other thread has begun with it
            futures[i] = _done(task, *ranges[i])
    _here.in_pool = False
    wait(futures)
    for future in futures:  # the error of the first range, if there are several
        future.result()


def over_blocks(task: Callable[[slice], Result], n_items: int, block_items: int) -> list[Result]:
    """The results of a task for blocks of a fixed size, in their order, computed in threads.

    The blocks follow from the number of items alone, so sums of the results have the same bits for
    any number of threads.

    Parameters
    ----------
    task : callable
        Must release the interpreter lock for most of its time and write only what belongs to its
        block.
    n_items, block_items : int
        The number of items, and of those of a block; the last one has the rest.
    """
    blocks = [slice(i, min(i + block_items, n_items)) for i in range(0, n_items, block_items)]
    if len(blocks) <= 1:  # the case of small fits, hundreds of times in each
        return [task(block) for block in blocks]
    results: list[Any] = [None] * len(blocks)

    def run(first: int, last: int) -> None:
        for number in range(first, last):
            results[number] = task(blocks[number])

    over_ranges(run, len(blocks))
    return results


class TreeSum(Generic[Sum]):
    """Add up parts as they come, in a tree that depends on their number alone.

    Neighbours are added, then neighbouring sums, and so on. At most log2(n) sums are kept.
    """

    def __init__(self) -> None:
        self._sums: list[tuple[int, Sum]] = []  # how many parts each has: falling powers of two

    def add(self, part: Sum) -> None:
        size = 1
        while self._sums and self._sums[-1][0] == size:
            _, before = self._sums.pop()
            part, size = before + part, 2 * size  # type: ignore[operator]
        self._sums.append((size, part))

    def total(self) -> Sum:
        (_, total), *before = reversed(self._sums)
        for _, sum_ in before:
            total = sum_ + total  # type: ignore[operator]
        return total


def tree_sum(part: Callable[[int], Sum], n_parts: int) -> Sum:
    """The sum of `part(0)`, ..., `part(n_parts - 1)` in the order of `TreeSum`, in threads.

    A thread adds up a whole branch of the tree, so the sum has the same bits for any number of
    threads, and few parts are in memory.
    """
    size, n_branches = 1, _TASKS_PER_THREAD * _n_threads()
    while size * n_branches < n_parts:
        size *= 2

    def branch(numbers: slice) -> Sum:
        return added(part(number) for number in range(numbers.start, numbers.stop))

    return added(over_blocks(branch, n_parts, size))


def added(parts: Iterable[Sum]) -> Sum:
    """The sum of some parts in the order of `TreeSum`."""
    sums = TreeSum[Sum]()
    for part in parts:
        sums.add(part)
    return sums.total()


def over_pairs(task: Callable[[int], None], pairs: Places) -> None:
    """Call `task(i)` for all pairs of groups, in threads; those of a group in the order of `pairs`.

    A pair waits for the earlier pairs of its two groups and for no others, so that threads seldom
    wait: no round has to end before the next one begins.

    Parameters
    ----------
    task : callable
        Must release the interpreter lock and write only what belongs to the two groups of pair i.
    pairs : array of shape (n_pairs, 2)
        The groups of each pair, which may be the same.
    """
    n_threads = min(_n_threads(), len(pairs))
    if n_threads <= 1:
        for i in range(len(pairs)):
            task(i)
        return
    groups = [tuple(sorted(set(pair))) for pair in pairs.tolist()]
    counts: dict[int, int] = {}
    before = []  # how many pairs of each of its groups come earlier
    for own in groups:
        before.append([counts.get(group, 0) for group in own])
        counts.update((group, counts.get(group, 0) + 1) for group in own)
    done = dict.fromkeys(counts, 0)
    failed: list[bool] = []
    numbers, changed = iter(range(len(pairs))), threading.Condition()

    def can_begin(i: int) -> bool:
        return bool(failed) or [done[group] for group in groups[i]] == before[i]

    def work() -> None:
        while True:
            with changed:
                i = next(numbers, None)
                if i is None:
                    return
                changed.wait_for(partial(can_begin, i))
                if failed:
                    return
            try:
                task(i)
            except BaseException:
                with changed:
                    failed.append(True)
                    changed.notify_all()
                raise
            with changed:
                for group in groups[i]:
                    done[group] += 1
                changed.notify_all()

    pool = _pool(n_threads - 1, os.getpid())
    others = [_submit(pool, work) for _ in range(n_threads - 1)]
    try:
        work()  # this thread works too
    finally:
        wait(others)
    for future in others:
        future.result()


def stream_in_threads(task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results of a task for the items of a stream, in their order and as they come.

    Only a few items are read ahead, so that memory does not grow with their number. An error of a
    task comes before those of later items, whether of their tasks or of the stream.

    Parameters
    ----------
    task : callable
        Must release the interpreter lock for most of its time.
    items : iterable
        What it is called with.
    """
    n_threads = min(_n_threads(), _MOST_STREAMING)
    if n_threads == 1:
        yield from map(task, items)
        return
    call = task
    if "sklearn" in sys.modules:
        from sklearn import config_context, get_config

        settings = get_config()  # like the limit of threads, they are those of one thread only

        def call(item: Item) -> Result:
            with config_context(**settings):
                return task(item)

    stream, waiting, end = iter(items), deque[Future[Result]](), None
    limit = partial(threadpool_limits, n_threads, "openmp")
    with ThreadPoolExecutor(n_threads, "typicality-stream", initializer=limit) as pool:
        try:
            while waiting or end is None:
                try:
                    while end is None and len(waiting) <= n_threads:
                        waiting.append(_submit(pool, call, next(stream)))
                except Exception as error:  # the end of the stream, or an error in it
                    end = error
                if waiting:
                    yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
    if end is not None and not isinstance(end, StopIteration):
        raise end


class _BlasUsers:
    """How many contexts of `one_blas_thread` are open, in all threads, and the limits before."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_open = 0
        self.before: list[tuple[Any, int]] = []  # libraries and their threads


_blas_users = _BlasUsers()
if hasattr(os, "register_at_fork"):  # another thread may hold the lock just then
    os.register_at_fork(after_in_child=lambda: setattr(_blas_users, "lock", threading.Lock()))


@cache
def _blas(scipy_is_loaded: bool) -> list[Any]:
    """The libraries of BLAS: SciPy brings one of its own."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _limit_blas(limits: Iterable[tuple[Any, int]]) -> None:
    for library, limit in limits:
        # threadpoolctl lets only one thread set the limit of OpenBLAS, until it gives that up.
        give_up = getattr(library, "clear_controlling_thread", lambda force: None)
        give_up(force=True)
        library.set_num_threads(limit)
        give_up(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS computes in the calling thread: its threads would change last bits.

    The setting is one of the process. The first context that is entered limits it, later ones what
    was loaded since, and the last one to be left restores it, in whichever threads these are.
    """
    users = _blas_users
    with users.lock:
        known = {library.filepath for library, _ in users.before}
        new = [each for each in _blas("scipy" in sys.modules) if each.filepath not in known]
        users.before += [(library, library.num_threads) for library in new]
        _limit_blas((library, 1) for library in new)
        users.n_open += 1
    try:
        yield
    finally:
        with users.lock:
            users.n_open -= 1
            if users.n_open == 0:
                _limit_blas(users.before)
                users.before = []
