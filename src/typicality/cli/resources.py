"""How much of the machine a run may use."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn import config_context
from threadpoolctl import threadpool_limits

_MIB_IN_A_GB = 1e9 / 2**20


@contextmanager
def within(*, jobs: int | None, memory: float | None) -> Iterator[None]:
    """A context in which fits keep to a number of threads and to so many gigabytes a step.

    Both settings are scikit-learn's, which the whole library reads: its `working_memory`, and the
    threads of its pools.

    Parameters
    ----------
    jobs : int or None
        The number of threads; None leaves it as it is.
    memory : float or None
        Gigabytes beyond rows and results; None leaves scikit-learn's `working_memory`.
    """
    settings = {} if memory is None else {"working_memory": memory * _MIB_IN_A_GB}
    with config_context(**settings), threadpool_limits(jobs):
        yield
