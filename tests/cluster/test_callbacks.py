"""Progress bars and early stopping through sklearn.callback."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
)

ESTIMATORS = [
    FuzzyCMeans(3, n_init=2, random_state=0),
    EntropyCMeans(3, random_state=0),
    PossibilisticCMeans(3, random_state=0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


class Recorder:
    """Keeps what it is told, and stops every run after some iterations."""

    def __init__(self, stop_after=10**9):
        self.stop_after = stop_after
        self.begun, self.ended, self.scores = [], [], []

    def setup(self, estimator, context):
        self.setups = getattr(self, "setups", 0) + 1

    def teardown(self, estimator, context):
        self.teardowns = getattr(self, "teardowns", 0) + 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.ended.append(context.task_name)
        self.scores.append(fitted_estimator.score(X))
        return context.task_name == "iteration" and context.task_id + 1 >= self.stop_after


@every_estimator
def test_tasks_begin_and_end(estimator, blobs):
    X, _ = blobs
    recorder = Recorder()
    model = clone(estimator).set_callbacks(recorder).fit(X)
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert recorder.begun.count("fit") == 1
    assert recorder.begun.count("run") == 2
    assert recorder.begun.count("iteration") >= model.n_iter_
    assert (recorder.setups, recorder.teardowns) == (1, 1)


@every_estimator
def test_callbacks_change_nothing(estimator, blobs):
    X, _ = blobs
    watched, alone = clone(estimator).set_callbacks(Recorder()).fit(X), clone(estimator).fit(X)
    assert np.array_equal(watched.memberships_, alone.memberships_)


@every_estimator
def test_callback_stops_a_run_early(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_callbacks(Recorder(stop_after=1)).fit(X)
    assert model.n_iter_ == 1
    assert model.status_ == "stopped"
    assert np.array_equal(model.labels_, model.predict(X))


def test_the_model_handed_over_scores_as_if_fit_had_ended(blobs):
    X, _ = blobs
    recorder = Recorder()
    model = FuzzyCMeans(3, random_state=0).set_callbacks(recorder).fit(X)
    assert recorder.scores[-1] == model.score(X)
    iterations = recorder.scores[: model.n_iter_]
    assert np.diff(iterations).min() >= -1e-12 * abs(iterations[0])


@every_estimator
def test_progress_bar_of_scikit_learn_works(estimator, blobs, capsys):
    X, _ = blobs
    clone(estimator).set_callbacks(ProgressBar()).fit(X)
    assert type(estimator).__name__ in capsys.readouterr().out


def test_scoring_monitor_of_scikit_learn_works(blobs):
    X, _ = blobs
    monitor = ScoringMonitor(scoring=lambda model, X, y=None: {"score": model.score(X)})
    FuzzyCMeans(3, random_state=0).set_callbacks(monitor).fit(X)
    assert monitor.get_logs() is not None


def test_an_error_in_a_callback_tears_down(blobs):
    X, _ = blobs

    class Broken(Recorder):
        def on_fit_task_begin(self, estimator, context):
            raise RuntimeError("broken")

    broken = Broken()
    with pytest.raises(RuntimeError, match="broken"):
        FuzzyCMeans(3).set_callbacks(broken).fit(X)
    assert broken.teardowns == 1


class Watcher(Recorder):
    """The same for a detector, which has no score but flags rows."""

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.ended.append(context.task_name)
        self.scores.append(np.sum(fitted_estimator.predict(X) == -1))
        return context.task_name == "iteration" and context.task_id + 1 >= self.stop_after


def test_detectors_can_be_watched(blobs):
    X, _ = blobs
    watcher = Watcher()
    model = OneClusterPCM().set_callbacks(watcher).fit(X)
    assert sorted(watcher.begun) == sorted(watcher.ended)
    assert watcher.begun.count("iteration") == model.n_iter_
    assert set(watcher.scores) == {9}  # the nominal rate holds in every iteration
    alone = OneClusterPCM().fit(X)
    assert np.array_equal(alone.typicality_, model.typicality_)


def test_alpha_cuts_can_be_watched_and_stopped(blobs):
    X, _ = blobs
    watcher = Watcher()
    model = AlphaCutClustering(alpha=0.37).set_callbacks(watcher).fit(X)
    assert sorted(watcher.begun) == sorted(watcher.ended)
    assert watcher.begun.count("iteration") == model.n_iter_
    assert len(watcher.scores) > 0  # a model of every iteration has its cut
    alone = AlphaCutClustering(alpha=0.37).fit(X)
    assert np.array_equal(alone.labels_, model.labels_)
    stopped = (
        AlphaCutClustering(kernel="gaussian", tol=0).set_callbacks(Watcher(stop_after=2)).fit(X)
    )
    assert (stopped.n_iter_, stopped.status_) == (2, "stopped")
    assert np.array_equal(stopped.predict(X), stopped.labels_)


def test_detectors_can_be_stopped(blobs):
    model = OneClusterPCM().set_callbacks(Watcher(stop_after=2)).fit(blobs[0])
    assert (model.n_iter_, model.status_) == (2, "stopped")


@pytest.mark.parametrize(
    "estimator", [AdaptivePCM(), SparseAdaptivePCM(), SequentialPCM(lam=0.05), SequentialPCM()]
)
def test_adaptive_estimators_can_be_watched(estimator, blobs):
    X, _ = blobs
    recorder = Recorder()
    model = clone(estimator).set_callbacks(recorder).fit(X)
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert recorder.begun.count("iteration") >= model.n_iter_
    assert np.array_equal(model.labels_, clone(estimator).fit(X).labels_)


# So early many rows belong nowhere yet.
@pytest.mark.filterwarnings(
    "ignore:.* belong to no cluster:typicality.exceptions.ClusteringWarning"
)
@pytest.mark.parametrize("estimator", [SparseAdaptivePCM(), SequentialPCM(lam=0.05)])
def test_adaptive_estimators_can_be_stopped(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_callbacks(Recorder(stop_after=2)).fit(X)
    assert (model.n_iter_, model.status_) == (2, "stopped")
    assert np.array_equal(model.predict(X), model.labels_)


def test_annealing_can_be_watched(blobs):
    recorder = Recorder()
    EntropyCMeans(3, init="annealing", random_state=0).set_callbacks(recorder).fit(blobs[0])
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert recorder.begun.count("run") > 3
