"""Saving and loading: the same model, to the last bit."""

import dataclasses
import json
import os
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.typing import NDArray
from safetensors.numpy import load_file
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PowerTransformer,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

import typicality
from instances import KERNELS, KERNELS_OF_THREE_FEATURES, rules
from persistence.configurations import CONFIGURATIONS, FRAME, ROWS, classes_in, fitted
from typicality import FuzzyCMeans, OneClusterPCM, load, save
from typicality.exceptions import ModelFileError
from typicality.kernels import Function, Gaussian
from typicality.persistence import MODEL_FILES, _schema
from typicality.persistence._schema import ALLOWED

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
    assert document["format_version"] == 4
    assert document["made_with"]["typicality"] == typicality.__version__
    assert document["made_with"]["numpy"] == np.__version__


# ---- transformers of scikit-learn ----------------------------------------------------------------


def test_text_in_arrays_and_columns_of_pandas_come_back_as_objects(tmp_path):
    columns = ColumnTransformer(
        [("o", OneHotEncoder(sparse_output=False), FRAME.columns[[3]]), ("p", "drop", ["a"])],
        n_jobs=1,
    )
    text = FRAME[["colour"]].to_numpy(dtype=str)
    for model, X in (
        (columns, FRAME),
        (OneHotEncoder(drop=np.array(["red"]), sparse_output=False), text),
    ):
        model = make_pipeline(model, FuzzyCMeans(2)).fit(X)
        again = load(save(model, tmp_path / "m", overwrite=True))
        assert same(again.transform(X), model.transform(X))


@pytest.mark.parametrize("name", [n for n in CONFIGURATIONS if n.startswith(("before", "frame"))])
def test_a_pipeline_that_is_not_fitted_can_be_saved(tmp_path, name):
    model = clone(CONFIGURATIONS[name][0])
    again = load(save(model, tmp_path / "m"))
    assert same(vars(again), vars(model))
    with pytest.raises(NotFittedError):
        check_is_fitted(again[-1])


def test_another_minor_version_of_scikit_learn_is_warned_of(tmp_path):
    folder = save(fitted("before-StandardScaler-0"), tmp_path / "m")
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace(sklearn.__version__, "1.7.2"))
    with pytest.warns(InconsistentVersionWarning, match=r"StandardScaler from version 1\.7\.2"):
        load(folder)


def test_versions_do_not_matter_without_transformers_of_scikit_learn(tmp_path):
    folder = save(fitted("pipeline"), tmp_path / "m")
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace(sklearn.__version__, "1.7.2"))
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


def test_every_class_of_a_fitted_model_is_allowed():
    found = set().union(*(classes_in(fitted(name)) for name in CONFIGURATIONS))
    allowed = {path for paths in _schema.ALLOWED.values() for path in paths}
    missing = {f"{kind.__module__}.{kind.__qualname__}" for kind in found} - allowed
    assert missing == set(), "add them to ALLOWED in persistence/_schema.py"


def test_no_class_is_allowed_that_no_model_holds():
    found = {kind.__name__ for name in CONFIGURATIONS for kind in classes_in(fitted(name))}
    lists = {path.split(".")[-1] for g in ("MembershipRule", "Kernel") for path in ALLOWED[g]}
    assert {*_schema.SAVED_RECORDS} - found - lists == set()


def test_all_rules_with_parameters_and_all_kernels_are_allowed():
    parametric = {type(rule).__name__ for rule in rules(2) if vars(rule)}
    assert parametric == {path.split(".")[-1] for path in ALLOWED["MembershipRule"]}
    kernels = {type(kernel).__name__ for kernel in [*KERNELS, *KERNELS_OF_THREE_FEATURES]}
    assert kernels == {path.split(".")[-1] for path in ALLOWED["Kernel"]}


@pytest.mark.parametrize("path", [path for paths in ALLOWED.values() for path in paths])
def test_an_allowed_class_is_where_its_name_says(path):
    kind = _schema.class_of(path.split(".")[-1])
    assert path.startswith("sklearn.") or f"{kind.__module__}.{kind.__qualname__}" == path


@pytest.mark.parametrize(
    ("name", "rows"),
    [("FuzzyCMeans", "N"), ("AlphaCutClustering", "_rows"), ("JoinedMixture", "N")],
)
def test_shapes_follow_from_annotations(name, rows):
    hints = _schema.attributes_of(name)
    context = _schema.Context({"d": 2}, {})
    assert _schema.fits(np.zeros(5, np.int32), hints["labels_"], context)
    assert context.sizes[rows] == 5
    assert not _schema.fits(np.zeros((4, 3)), hints["memberships_"], context)  # of four rows
    assert not _schema.fits(3, hints["feature_names_in_"], context)


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
            r"FuzzyCMeans\.kernel is 'rbf_kernel', which is code, .* name .* pickle\. .* trust",
        ),
        (OneClusterPCM(kernel=nameless), r"OneClusterPCM\.kernel is 'nameless', which is code"),
        (
            make_pipeline(OneClusterPCM(kernel=Function(nameless))),
            r"Pipeline\.steps\[0\]\[1\]\.kernel\.function is 'nameless'",
        ),
        (OneClusterPCM(kernel=OwnKernel(1.0)), r"kernel is 'OwnKernel', which is code"),
        (KMeans(), "KMeans is not an estimator of typicality, a ColumnScaler or a Pipeline"),
        (
            make_pipeline(PowerTransformer()),
            r"steps\[0\]\[1\] is an object of sklearn.*PowerTransformer",
        ),
        (
            ColumnTransformer([("a", StandardScaler(), make_column_selector(pattern="a"))]),
            r"transformers\[0\]\[2\] is 'make_column_selector', .* name the columns in a list",
        ),
        (FunctionTransformer(np.log1p), r"FunctionTransformer\.func is 'log1p', which is code"),
        (SimpleImputer(missing_values=pd.NA), "missing_values is an object of pandas"),
        (OneHotEncoder(categories=[np.array([(1, 2), None], object)]), "is an array of objects"),
        (42, "int is not an estimator"),
        (FuzzyCMeans, "is not an estimator of typicality"),
        (FuzzyCMeans(m="much"), "FuzzyCMeans cannot be created: The 'm' parameter"),
        (
            FuzzyCMeans(init=np.array([["a"]])),
            "init is an array of type <U1; a file can hold only plain numbers",
        ),
        (FuzzyCMeans(init=np.array([None])), "init is an array of objects"),
        (FuzzyCMeans(init=np.zeros((2, 2), ">f8")), "init is an array of type >f8"),
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


def test_lists_that_hold_themselves_are_refused(tmp_path):
    endless = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="lists that are nested too deeply"):
        save(FuzzyCMeans(init=endless), tmp_path / "m")


def test_pipelines_that_hold_themselves_are_refused(tmp_path):
    endless = Pipeline([("a", FuzzyCMeans(2))])
    endless.steps = [("b", endless)]
    with pytest.raises(ModelFileError, match="This model cannot be saved"):
        save(endless, tmp_path / "m")


@pytest.mark.parametrize("template", [True, "{transformer_name}: {feature_name}"])
def test_names_of_columns_by_a_plain_template_are_kept(tmp_path, template):
    columns = ColumnTransformer(
        [("a", StandardScaler(), [0, 1])], verbose_feature_names_out=template
    )
    model = make_pipeline(columns, FuzzyCMeans(2)).fit(ROWS)
    again = load(save(model, tmp_path / "m"))
    assert same(again[0].get_feature_names_out(), columns.get_feature_names_out())


def test_components_by_an_iterative_solver_are_kept(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 12))
    for solver in ("arpack", "randomized"):
        model = make_pipeline(PCA(3, svd_solver=solver, random_state=0), FuzzyCMeans(2)).fit(rows)
        again = load(save(model, tmp_path / "m", overwrite=True))
        assert same(again[0].components_, model[0].components_)
        np.testing.assert_allclose(again.transform(rows), model.transform(rows), rtol=1e-12)


def test_an_older_model_is_replaced_only_when_asked(tmp_path):
    save(FuzzyCMeans(2), tmp_path / "m")
    with pytest.raises(FileExistsError, match="exists already"):
        save(FuzzyCMeans(3), tmp_path / "m")
    assert load(tmp_path / "m").n_clusters == 2
    assert save(FuzzyCMeans(3), tmp_path / "m", overwrite=True) == tmp_path / "m"
    assert load(tmp_path / "m").n_clusters == 3
    (tmp_path / "m" / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="typicality has not written it"):
        save(FuzzyCMeans(4), tmp_path / "m", overwrite=True)


@pytest.mark.parametrize(
    "annotation",
    [NDArray[np.float64], np.ndarray[Any, np.dtype[np.float64]], list[np.float64]],
    ids=["NDArray", "ndarray", "alias with one argument, as NDArray is with newer NumPy"],
)
def test_annotations_of_arrays_are_read_with_any_numpy(annotation):
    assert _schema._scalar_of(annotation) is np.float64


@pytest.mark.parametrize("contents", ["{}", "precious", '{"format": "another library"}'])
def test_save_keeps_files_of_others_that_have_our_names(tmp_path, contents):
    (tmp_path / "model.json").write_text(contents)
    with pytest.raises(FileExistsError, match="typicality has not written it"):
        save(FuzzyCMeans(3), tmp_path, overwrite=True)
    assert (tmp_path / "model.json").read_text() == contents
