"""Progress bars and early stopping through sklearn.callback."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

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

callback = pytest.importorskip(
    "sklearn.callback", reason=f"scikit-learn {sklearn.__version__} has no callbacks; 1.9 has"
)

ESTIMATORS = [
    FuzzyCMeans(3, n_init=2, random_state=0),
    EntropyCMeans(3, random_state=0),
    EntropyCMeans(3, init="annealing", random_state=0),
    PossibilisticCMeans(3, random_state=0),
    AdaptivePCM(),
    SparseAdaptivePCM(),
    SequentialPCM(lam=0.05),
    SequentialPCM(),
    OneClusterPCM(),
    AlphaCutClustering(kernel="gaussian"),
    AlphaCutClustering(alpha=0.35),
]


class Recorder:
    """Keeps what it is told, and stops every run after some iterations."""

    def __init__(self, stop_after=10**9):
        self.stop_after = stop_after
        self.begun, self.ended, self.answers = [], [], []
        self.n_setups = self.n_teardowns = 0

    def setup(self, estimator, context):
        self.n_setups += 1

    def teardown(self, estimator, context):
        self.n_teardowns += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.ended.append(context.task_name)
        ask = getattr(fitted_estimator, "score", None) or fitted_estimator.predict
        self.answers.append(ask(X))
        return context.task_name == "iteration" and context.task_id + 1 >= self.stop_after


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_callbacks_see_every_iteration_and_change_nothing(estimator, blobs):
    X, _ = blobs
    recorder = Recorder()
    model = clone(estimator).set_callbacks(recorder).fit(X)
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert recorder.begun.count("fit") == 1
    assert recorder.begun.count("iteration") >= model.n_iter_
    assert (recorder.n_setups, recorder.n_teardowns) == (1, 1)
    ask = getattr(model, "score", None) or model.predict
    assert np.array_equal(recorder.answers[-1], ask(X))
    assert np.array_equal(clone(estimator).fit(X).predict(X), model.predict(X))


# So early many rows belong nowhere yet.
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("estimator", [*ESTIMATORS[:2], *ESTIMATORS[5:7], *ESTIMATORS[8:10]])
def test_callback_stops_a_run_early(estimator, blobs):
    X, _ = blobs
    model = clone(estimator).set_params(tol=0).set_callbacks(Recorder(stop_after=2)).fit(X)
    assert (model.n_iter_, model.status_) == (2, "stopped")
    labels = model.predict(X)
    assert np.array_equal(getattr(model, "labels_", labels), labels)


def test_callbacks_of_scikit_learn_work(blobs, capsys):
    monitor = callback.ScoringMonitor(scoring=lambda model, X, y=None: {"score": model.score(X)})
    FuzzyCMeans(3, random_state=0).set_callbacks(callback.ProgressBar(), monitor).fit(blobs[0])
    assert "FuzzyCMeans" in capsys.readouterr().out
    assert monitor.get_logs() is not None


def test_an_error_in_a_callback_tears_down(blobs):
    class Broken(Recorder):
        def on_fit_task_begin(self, estimator, context):
            raise RuntimeError("broken")

    broken = Broken()
    with pytest.raises(RuntimeError, match="broken"):
        FuzzyCMeans(3).set_callbacks(broken).fit(blobs[0])
    assert broken.n_teardowns == 1
