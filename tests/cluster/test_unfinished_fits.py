"""A fit that fails or is interrupted leaves the model exactly as it was."""

import sys
from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sklearn_checks import needs_callbacks
from typicality._estimators import ESTIMATORS

SETTINGS = {
    "AutoClustering": {"random_state": 0},
    "JoinedMixture": {},
    "FuzzyCMeans": {"n_clusters": 2, "random_state": 0},
    "EntropyCMeans": {"n_clusters": 2, "random_state": 0},
    "PossibilisticCMeans": {"n_clusters": 2, "random_state": 0},
}
MOMENTS = [0.02, 0.6, 0.99]

FIRST = make_blobs(40, centers=[[0, 0], [8, 0]], random_state=0)[0]
SECOND = make_blobs(50, centers=[[0, 0, 0], [9, 0, 3]], random_state=1)[0]


def fitted(name):
    estimator = getattr(import_module(ESTIMATORS[name].module), name)
    return estimator(**SETTINGS.get(name, {})).fit(FIRST)


class Interruption(BaseException):
    """Stands for a KeyboardInterrupt."""


def interrupted_at(model, call):
    """Fit to other rows, and interrupt at the call of so many functions; how many there were."""
    n_calls = 0

    def count(frame, event, argument):
        nonlocal n_calls
        if event == "call" and frame.f_globals.get("__name__", "").startswith("typicality"):
            n_calls += 1
            if n_calls == call:
                raise Interruption

    sys.setprofile(count)
    try:
        model.fit(SECOND)
    except Interruption:
        return n_calls
    finally:
        sys.setprofile(None)
    return n_calls


def is_unchanged(model, attributes, labels):
    now = vars(model)
    same = now.keys() == attributes.keys() and all(now[k] is attributes[k] for k in attributes)
    return same and np.array_equal(model.predict(FIRST), labels)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_model_stays_as_it_was_when_a_fit_is_interrupted(name):
    other = fitted(name)
    n_calls = interrupted_at(other, call=-1)
    model = fitted(name)
    attributes, labels = dict(vars(model)), model.predict(FIRST)
    changed = []
    for moment in MOMENTS:
        interrupted_at(model, call=max(1, int(moment * n_calls)))
        changed += [] if is_unchanged(model, attributes, labels) else [moment]
    assert changed == []
    later = model.fit(SECOND).predict(SECOND)
    assert np.array_equal(later, other.predict(SECOND))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_model_stays_as_it_was_when_the_rows_are_refused(name):
    model = fitted(name)
    attributes, labels = dict(vars(model)), model.predict(FIRST)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((30, 3), np.nan))
    assert is_unchanged(model, attributes, labels)


class Meddler:
    """A callback that changes the estimator."""

    def setup(self, estimator, context):
        estimator.seen_ = 0

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        estimator.seen_ += 1

    def on_fit_task_end(self, estimator, context):
        pass


@needs_callbacks
def test_fit_keeps_what_a_callback_sets():
    model = fitted("FuzzyCMeans").set_callbacks(Meddler()).fit(FIRST)
    assert model.seen_ == 2 + model.n_iter_  # the fit, one run, its iterations
