"""Saving and loading: the same model, to the last bit."""

import dataclasses
import os

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PowerTransformer,
    StandardScaler,
)

import typicality
from persistence.configurations import CONFIGURATIONS, ROWS, fitted
from typicality import FuzzyCMeans, OneClusterPCM, load, save
from typicality.exceptions import ModelFileError
from typicality.kernels import Gaussian
from typicality.persistence import MODEL_FILES

pytestmark = [
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

ANSWERS = (
    "predict",
    "predict_memberships",
    "predict_typicality",
    "score_samples",
    "decision_function",
    "transform",
)


def same(one, other):
    """Whether two values are of one type and have the same bits, whatever they hold."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and one.dtype != object:
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    if issparse(one):
        return all(same(getattr(one, a), getattr(other, a)) for a in ("data", "indices", "indptr"))
    if isinstance(one, np.random.RandomState):
        return same(one.get_state(), other.get_state())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple | np.ndarray):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, n), getattr(other, n)) for n in names)
    if hasattr(one, "get_params"):
        return same(vars(one), vars(other))
    return one == other or (one != one and other != other)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_loaded_model_is_the_same_to_the_last_bit(name, tmp_path):
    model = fitted(name)
    folder = save(model, tmp_path / "model")
    again = load(folder)
    assert same(model, again)
    _, rows, new, _ = CONFIGURATIONS[name]
    asked = [answer for answer in ANSWERS if hasattr(model, answer)]
    assert asked
    for answer in asked:
        for X in (rows, rows if new is None else new):
            assert same(getattr(model, answer)(X), getattr(again, answer)(X))
    twice = save(again, tmp_path / "again")
    for file in MODEL_FILES:
        assert (twice / file).read_bytes() == (folder / file).read_bytes()


def test_a_loaded_model_can_be_compressed(tmp_path):
    name = "nufft-OneClusterPCM"
    again = load(save(fitted(name), tmp_path / "m"))
    assert same(again.compress(1e-2), fitted(name).compress(1e-2))


def test_unfitted_model_can_be_saved(tmp_path):
    model = make_pipeline(StandardScaler(), FuzzyCMeans(5, m=1.4, kernel=Gaussian(2.0)))
    again = load(save(model, tmp_path / "m"))
    assert same(vars(again), vars(model))
    assert not hasattr(again[-1], "labels_")


def test_loaded_model_keeps_names_of_features_and_outputs(tmp_path):
    frame = pd.DataFrame({"width": ROWS[:, 0], "größe": ROWS[:, 1]})
    model = FuzzyCMeans(2).set_output(transform="pandas").fit(frame)
    again = load(save(model, tmp_path / "m"))
    assert again.feature_names_in_.tolist() == ["width", "größe"]
    assert again.feature_names_in_.dtype == object
    assert again.transform(frame).equals(model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]}))


def test_callbacks_are_left_out(tmp_path):
    from sklearn.callback import ProgressBar

    model = FuzzyCMeans(2).fit(ROWS).set_callbacks(ProgressBar())
    again = load(save(model, tmp_path / "m"))
    assert hasattr(model, "_skl_callbacks")
    assert not hasattr(again, "_skl_callbacks")


# ---- transformers of scikit-learn ----------------------------------------------------------------


def test_another_minor_version_of_scikit_learn_is_warned_of(tmp_path):
    folder = save(fitted("before-StandardScaler"), tmp_path / "m")
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace(sklearn.__version__, "1.7.2"))
    with pytest.warns(InconsistentVersionWarning, match=r"StandardScaler from version 1\.7\.2"):
        load(folder)


# ---- skops ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_skops_needs_no_more_than_the_trusted_types(name, tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is not installed: pip install skops")
    model = fitted(name)
    skops.dump(model, tmp_path / "model.skops")
    again = skops.load(tmp_path / "model.skops", trusted=typicality.trusted_types())
    _, rows, _, _ = CONFIGURATIONS[name]
    for answer in (answer for answer in ANSWERS if hasattr(model, answer)):
        assert same(getattr(model, answer)(rows), getattr(again, answer)(rows))


# ---- the allowed classes -------------------------------------------------------------------------


# ---- what cannot be saved ------------------------------------------------------------------------


class OwnKernel(Gaussian):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FuzzyCMeans(2, kernel=rbf_kernel), r"FuzzyCMeans\.kernel is 'rbf_kernel', which is code"),
        (make_pipeline(OneClusterPCM(kernel=OwnKernel(1.0))), "kernel is 'OwnKernel'"),
        (KMeans(), "KMeans is not an estimator of typicality, a ColumnScaler or a Pipeline"),
        (make_pipeline(PowerTransformer()), r"steps\[0\]\[1\] is an object of sklearn"),
        (FunctionTransformer(np.log1p), r"FunctionTransformer\.func is 'log1p', which is code"),
        (FuzzyCMeans, "is not an estimator of typicality"),
        (FuzzyCMeans(m="much"), "FuzzyCMeans cannot be created: The 'm' parameter"),
        (FuzzyCMeans(init=np.array([None])), "init is an array of objects"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_kept_is_said_before_anything_is_written(tmp_path, model, message):
    with pytest.raises(ModelFileError, match=f"This model cannot be saved: .*{message}"):
        save(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_attributes_of_the_user_are_not_dropped_silently(tmp_path):
    model = FuzzyCMeans(2).fit(ROWS)
    model.note = "mine"
    with pytest.raises(
        ModelFileError, match="the attribute 'note', which typicality does not know"
    ):
        save(model, tmp_path / "m")


def test_an_older_model_is_replaced_only_when_asked(tmp_path):
    save(FuzzyCMeans(2), tmp_path / "m")
    with pytest.raises(FileExistsError, match="exists already"):
        save(FuzzyCMeans(3), tmp_path / "m")
    assert load(tmp_path / "m").n_clusters == 2
    assert save(FuzzyCMeans(3), tmp_path / "m", overwrite=True) == tmp_path / "m"
    assert load(tmp_path / "m").n_clusters == 3
    (tmp_path / "m" / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="typicality has not written"):
        save(FuzzyCMeans(4), tmp_path / "m", overwrite=True)
