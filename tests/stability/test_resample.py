"""The same work many times over: seeds, processes and threads, warnings, failures, progress."""

import itertools
import threading
import time
import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_info

from typicality.exceptions import ClusteringWarning, FeatureWarning, RepetitionError
from typicality.stability import outlier_stability
from typicality.stability.resample import progress_reporter, repeat


def itself(seed):
    return seed


def test_repetitions_draw_their_seeds_from_one_seed():
    first, again, other = (repeat(itself, 5, random_state=seed) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert len(set(first)) == 5
    assert repeat(itself, 5, random_state=np.random.RandomState(0)) == first


def warns_of(seed):
    warnings.warn(f"Constant: feature {seed}, feature 'b'. Drop it.", FeatureWarning)
    warnings.warn(f"Constant: feature {seed}, feature 2, feature 3. Drop it.", FeatureWarning)
    return seed


@pytest.mark.xdist_group("processes")  # that all of these tests share
def test_processes_change_nothing():
    X = np.random.RandomState(0).normal(size=(40, 2))
    alone, together = (
        outlier_stability(
            IsolationForest(n_estimators=4), X, n_repeats=6, random_state=0, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    assert_array_equal(alone.scores, together.scores)
    generator = np.random.RandomState(0)
    again = outlier_stability(
        IsolationForest(n_estimators=4), X, n_repeats=6, random_state=generator, n_jobs=2
    )
    assert_array_equal(again.scores, alone.scores)
    with pytest.warns(FeatureWarning, match=r"Constant: feature.*\(In 4 of 4 repetitions.\)") as w:
        repeat(warns_of, 4, n_jobs=2)
    assert len(w) == 1
    with pytest.raises(RepetitionError, match=r"Repetition \d of 4 .*ZeroDivisionError: division"):
        repeat(fails, 4, n_jobs=2)


def fails(seed):
    return seed / 0


def test_a_failure_keeps_its_cause():
    with pytest.raises(RepetitionError, match=r"Repetition 1 of 3 \(seed \d+\) failed") as failed:
        repeat(fails, 3, random_state=0)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)


def test_warnings_that_differ_in_more_than_details_are_told_apart():
    def work(seed):
        warnings.warn(f"{seed} rows are equal.", ClusteringWarning)
        warnings.warn(f"{seed} rows are equal.", FeatureWarning)
        warnings.warn("Nothing else.", ClusteringWarning)

    with pytest.warns(ClusteringWarning) as told:
        repeat(work, 3)
    assert [(w.category, str(w.message).split(" (")[1]) for w in told] == [
        (ClusteringWarning, "In 3 of 3 repetitions.)"),
        (FeatureWarning, "In 3 of 3 repetitions.)"),
        (ClusteringWarning, "In 3 of 3 repetitions.)"),
    ]


def test_warnings_of_threads_are_heard_and_filters_are_left_as_they_were():
    meeting = threading.Barrier(2, timeout=300)

    def work(seed):
        meeting.wait()  # both are listening
        warnings.warn("From a thread.", ClusteringWarning)
        meeting.wait()

    before, way = list(warnings.filters), warnings.showwarning
    with (
        parallel_config(backend="threading"),
        pytest.warns(ClusteringWarning, match=r"From a thread. \(In 2 of 2 repetitions"),
    ):
        repeat(work, 2, n_jobs=2)
    assert list(warnings.filters) == before
    assert warnings.showwarning is way


def test_threads_leave_the_pools_of_threads_as_they_were():
    meeting, places = threading.Barrier(2, timeout=300), itertools.count()

    def work(seed):
        place = next(places)
        meeting.wait()
        time.sleep(0.05 * place)  # the first to come is the first to leave
        return [pool["num_threads"] for pool in threadpool_info()]

    before = threadpool_info()
    with parallel_config(backend="threading"):
        of_each = repeat(work, 2, n_jobs=2)
    assert threadpool_info() == before
    assert_array_equal(of_each, 1)


def test_an_interrupt_ends_all_work():
    done = []

    def work(seed):
        time.sleep(0.01)
        done.append(seed)

    def interrupt(n_done, total, words):
        assert n_done < 2

    with parallel_config(backend="threading"), pytest.raises(AssertionError) as kept:
        repeat(work, 1000, n_jobs=2, progress=interrupt)
    n_done = len(done)
    assert n_done < 1000
    time.sleep(0.3)
    assert len(done) <= n_done + 4  # what was under way goes on to its end
    assert kept.tb is not None  # as in a notebook, which keeps the last traceback


def test_the_configuration_of_scikit_learn_reaches_all_threads():
    def setting(seed):
        return sklearn.get_config()["assume_finite"]

    with sklearn.config_context(assume_finite=True), parallel_config(backend="threading"):
        assert repeat(setting, 4, n_jobs=2) == [True] * 4


def test_progress_is_told():
    told = []
    repeat(itself, 3, progress=lambda done, total, words: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_bar_goes_to_a_terminal_on_stderr(capsys, monkeypatch):
    repeat(itself, 3, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    repeat(itself, 3, progress=True)
    with progress_reporter(True, total=2) as report:
        report(1, 2, "KMeans([/no markup])")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Repetitions" in shown.err
