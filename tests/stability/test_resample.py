"""The same work many times over: seeds, processes and threads, failures."""

import itertools
import threading
import time
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_info

from sklearn_checks import VERSION
from typicality.exceptions import ClusteringWarning
from typicality.stability import _repeat as repeat


def itself(seed):
    return seed


def warns(seed):
    warnings.warn("Too few rows.", ClusteringWarning, stacklevel=2)
    return seed


def repeated(work, n_repeats, random_state=0, n_jobs=None):
    return repeat(work, n_repeats, random_state=random_state, n_jobs=n_jobs)


def test_repetitions_draw_their_seeds_from_one_seed():
    first, again, other = (repeated(itself, 5, random_state=seed) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert len(set(first)) == 5
    assert repeated(itself, 5, random_state=np.random.RandomState(0)) == first


@pytest.mark.xdist_group("processes")
@pytest.mark.skipif(
    parse_version("1.7") > VERSION, reason="scikit-learn before 1.7 does not pass on filters"
)
def test_processes_have_the_filters_of_warnings():
    """Warnings are errors there, too."""
    with pytest.raises(ClusteringWarning, match="Too few rows"):
        repeated(warns, 2, n_jobs=2)


def test_threads_leave_the_pools_of_threads_as_they_were():
    meeting, places = threading.Barrier(2, timeout=300), itertools.count()

    def work(seed):
        place = next(places)
        meeting.wait()
        time.sleep(0.05 * place)  # the first to come is the first to leave
        return [pool["num_threads"] for pool in threadpool_info()]

    before = threadpool_info()
    with parallel_config(backend="threading"):
        of_each = repeated(work, 2, n_jobs=2)
    assert threadpool_info() == before
    assert_array_equal(of_each, 1)
