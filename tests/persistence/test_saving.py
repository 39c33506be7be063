"""Saving and loading: the same model, to the last bit."""

import dataclasses
import json
import os
from importlib import import_module

import numpy as np
import pytest
from safetensors.numpy import load_file
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import typicality
from persistence.configurations import CONFIGURATIONS, ROWS, classes_in, fitted
from typicality import FuzzyCMeans, OneClusterPCM, load, save
from typicality.exceptions import ModelFileError
from typicality.kernels import Function, Gaussian
from typicality.operators.base import LazyExpansion
from typicality.persistence import MODEL_FILES, _registry
from typicality.persistence._entries import class_of

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
        return isinstance(one, LazyExpansion) and same(one.prepared(), other)
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


def test_what_follows_from_a_tree_is_the_same(tmp_path):
    model = fitted("truncated-AlphaCutClustering")
    again = load(save(model, tmp_path / "m"))
    assert again.tree_.to_pandas().equals(model.tree_.to_pandas())
    assert same(again.labels_at(0.3), model.labels_at(0.3))


@pytest.mark.parametrize("name", ["nufft-OneClusterPCM", "blocked-FuzzyCMeans"])
def test_a_loaded_model_can_be_compressed(name, tmp_path):
    again = load(save(fitted(name), tmp_path / "m"))
    assert same(again.compress(1e-2), fitted(name).compress(1e-2))


def test_shared_parts_stay_shared(tmp_path):
    cutter = load(save(fitted("truncated-AlphaCutClustering"), tmp_path / "cutter"))
    assert cutter.tree_ is cutter._regions.tree
    assert cutter._regions.landscape.sums.columns is cutter._regions.landscape.columns
    detector = load(save(fitted("truncated-OneClusterPCM"), tmp_path / "detector"))
    assert detector._left_out.known.columns is detector._left_out.mean.source[0]
    assert np.shares_memory(detector.weights_, detector._left_out.mean.source[1])


def test_rows_are_stored_once(tmp_path):
    folder = save(fitted("truncated-AlphaCutClustering"), tmp_path / "m")
    stored = load_file(folder / "arrays.safetensors")
    assert sum(array.size == ROWS.size and array.dtype == float for array in stored.values()) == 1


def test_unfitted_model_can_be_saved(tmp_path):
    model = FuzzyCMeans(5, m=1.4, kernel=Gaussian(2.0))
    again = load(save(model, tmp_path / "m"))
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "labels_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_loaded_model_keeps_names_of_features_and_outputs(tmp_path, library):
    frame = import_module(library).DataFrame({"width": ROWS[:, 0], "größe": ROWS[:, 1]})
    model = FuzzyCMeans(2).set_output(transform=library).fit(frame)
    again = load(save(model, tmp_path / "m"))
    assert again.feature_names_in_.tolist() == ["width", "größe"]
    assert again.feature_names_in_.dtype == object
    assert again.transform(frame).equals(model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(import_module(library).DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]}))


def test_callbacks_are_left_out(tmp_path):
    from sklearn.callback import ProgressBar

    model = FuzzyCMeans(2).fit(ROWS).set_callbacks(ProgressBar())
    again = load(save(model, tmp_path / "m"))
    assert hasattr(model, "_skl_callbacks")
    assert not hasattr(again, "_skl_callbacks")


def test_the_cache_of_a_pipeline_is_left_out(tmp_path):
    pipeline = Pipeline([("model", FuzzyCMeans(2))], memory=str(tmp_path / "cache"))
    assert load(save(pipeline, tmp_path / "m")).memory is None


def test_saved_model_tells_its_versions(tmp_path):
    document = json.loads((save(fitted("scaler"), tmp_path / "m") / "model.json").read_text())
    assert document["format"] == "typicality model"
    assert document["format_version"] == 2
    assert document["made_with"]["typicality"] == typicality.__version__
    assert document["made_with"]["numpy"] == np.__version__


# ---- the registry --------------------------------------------------------------------------------


def test_the_registry_knows_every_class_of_a_fitted_model():
    found = set().union(*(classes_in(fitted(name)) for name in CONFIGURATIONS))
    known = _registry.RECORDS.keys() | _registry.ESTIMATORS.keys() | _registry.ENUMS.keys()
    missing = sorted(kind.__qualname__ for kind in found if kind.__name__ not in known)
    assert missing == [], f"fitted models hold {missing}: add them to persistence/_registry.py"


def test_the_registry_names_nothing_that_no_model_holds():
    found = {kind.__name__ for name in CONFIGURATIONS for kind in classes_in(fitted(name))}
    derived = {*_registry.RULES, *_registry.KERNELS}  # from the lists of rules and kernels
    assert _registry.RECORDS.keys() - found - derived == set()


@pytest.mark.parametrize("name", _registry.RECORDS)
def test_the_registry_lists_the_fields_of_each_class(name):
    entry = _registry.RECORDS[name]
    kind = class_of(name, entry)
    fields = getattr(kind, "_fields", None) or [f.name for f in dataclasses.fields(kind)]
    assert list(entry.fields) == list(fields)


@pytest.mark.parametrize("name", _registry.ESTIMATORS)
def test_the_registry_lists_kinds_of_all_attributes(name):
    entry = _registry.ESTIMATORS[name]
    assert set(entry.needs + entry.may) <= set(_registry.ATTRIBUTES)
    assert class_of(name, entry).__name__ == name


# ---- what cannot be saved ------------------------------------------------------------------------


def nameless(X, Y):
    return X @ Y.T


class OwnKernel(Gaussian):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            FuzzyCMeans(2, kernel=rbf_kernel).fit(ROWS),
            r"FuzzyCMeans\.kernel is 'rbf_kernel', and that is code, .* name .* pickle, .* trust",
        ),
        (OneClusterPCM(kernel=nameless), r"OneClusterPCM\.kernel is 'nameless', and that is code"),
        (
            make_pipeline(OneClusterPCM(kernel=Function(nameless))),
            r"Pipeline\.steps\[0\]\[1\]\.kernel\.function is 'nameless'",
        ),
        (OneClusterPCM(kernel=OwnKernel(1.0)), r"kernel is 'OwnKernel', and that is code"),
        (KMeans(), "KMeans is no estimator of typicality, ColumnScaler or Pipeline"),
        (make_pipeline(StandardScaler()), r"steps\[0\]\[1\] is an object of sklearn.*Standard"),
        (42, "int is no estimator"),
        (FuzzyCMeans, "no estimator of typicality"),
        (FuzzyCMeans(m="much"), "FuzzyCMeans cannot be made: The 'm' parameter"),
        (FuzzyCMeans(init=np.array([["a"]])), "init is an array of <U1: files hold plain numbers"),
        (FuzzyCMeans(init=np.array([None])), "init is an array of objects"),
        (FuzzyCMeans(init=np.zeros((2, 2), ">f8")), "init is an array of >f8"),
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
    with pytest.raises(ModelFileError, match="the attribute 'note', which is none of its own"):
        save(model, tmp_path / "m")


def test_lists_that_hold_themselves_are_refused(tmp_path):
    endless = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="list in lists"):
        save(FuzzyCMeans(init=endless), tmp_path / "m")


def test_an_older_model_is_replaced_only_when_asked(tmp_path):
    save(FuzzyCMeans(2), tmp_path / "m")
    with pytest.raises(FileExistsError, match="exists already"):
        save(FuzzyCMeans(3), tmp_path / "m")
    assert load(tmp_path / "m").n_clusters == 2
    assert save(FuzzyCMeans(3), tmp_path / "m", overwrite=True) == tmp_path / "m"
    assert load(tmp_path / "m").n_clusters == 3
    (tmp_path / "m" / "notes.txt").touch()
    with pytest.raises(FileExistsError, match=r"notes\.txt"):
        save(FuzzyCMeans(4), tmp_path / "m", overwrite=True)
