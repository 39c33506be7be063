"""Folders that are broken or hostile: one sentence, and nothing is executed."""

import hashlib
import json
import math
import os
import pickle
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as bytes_of_arrays

from persistence.configurations import CONFIGURATIONS, NEW, fitted
from typicality import FuzzyCMeans, load, save
from typicality.exceptions import ModelFileError
from typicality.persistence import MODEL_FILES

pytestmark = [
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def broken(tmp_path):
    """Write a model whose document, and arrays, a function has changed."""

    def write(change, name="truncated-AlphaCutClustering"):
        folder = save(fitted(name), tmp_path / "whole", overwrite=True)
        document = json.loads((folder / "model.json").read_text())
        arrays = load_file(folder / "arrays.safetensors")
        document = change(document, arrays) or document
        content = bytes_of_arrays(arrays)
        document["arrays_sha256"] = hashlib.sha256(content).hexdigest()
        (folder / "arrays.safetensors").write_bytes(content)
        (folder / "model.json").write_text(json.dumps(document))
        return folder

    return write


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} holds no usable model: ")
    assert message.endswith(".")
    assert "\n" not in message
    return message


def object_of(document, name):
    return next(one for one in document["objects"] if one["class"] == name)


def test_an_unchanged_copy_loads(broken):
    model = load(broken(lambda document, arrays: None))
    assert model.n_clusters_ == fitted("truncated-AlphaCutClustering").n_clusters_


@pytest.mark.parametrize("missing", MODEL_FILES)
def test_load_refuses_a_folder_with_a_missing_file(broken, missing):
    folder = broken(lambda document, arrays: None)
    (folder / missing).unlink()
    assert f"{missing} is missing" in refusal(folder)


def test_load_refuses_what_is_no_folder(tmp_path):
    assert "the folder does not exist" in refusal(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    assert "the folder does not exist" in refusal(tmp_path / "file")


@pytest.mark.parametrize("file", MODEL_FILES)
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_plain_files_are_read(broken, file, kind):
    folder = broken(lambda document, arrays: None)
    (folder / file).rename(folder / "aside")
    make = {"link": lambda p: p.symlink_to("aside"), "pipe": os.mkfifo, "folder": os.mkdir}
    make[kind](folder / file)
    assert f"{file} is a link, or not a regular file" in refusal(folder)


@pytest.mark.parametrize(
    "text",
    ["", "{", "nonsense", "[" * 100_000, '{"a": ' * 100_000, "\x00", '{"format": "typicality'],
)
def test_load_refuses_text_that_is_no_json(broken, text):
    folder = broken(lambda document, arrays: None)
    (folder / "model.json").write_text(text)
    assert "model.json is not valid JSON" in refusal(folder)


def test_load_refuses_bytes_that_are_no_text(broken):
    folder = broken(lambda document, arrays: None)
    (folder / "model.json").write_bytes(b'{"format": "\xff\xfe"}')
    assert "model.json is not valid JSON" in refusal(folder)


@pytest.mark.parametrize("document", [[], 3, None, "text", {}, {"format": "other"}])
def test_load_refuses_json_that_is_no_model(broken, document):
    folder = broken(lambda *_: None)
    (folder / "model.json").write_text(json.dumps(document))
    assert "does not describe a model of typicality" in refusal(folder)


@pytest.mark.parametrize("version", [None, "1", 0, -1, True, 1.5])
def test_load_refuses_versions_that_are_none(broken, version):
    folder = broken(lambda document, arrays: document | {"format_version": version})
    assert "has no format_version" in refusal(folder)


def test_a_newer_version_asks_for_an_upgrade(broken):
    message = refusal(broken(lambda document, arrays: document | {"format_version": 5}))
    assert "made by a newer typicality; upgrade this one" in message


def test_file_of_an_older_version_is_refused(broken):
    message = refusal(broken(lambda document, arrays: document | {"format_version": 1}))
    assert "older version; fit the model again" in message


def test_a_document_of_gigabytes_is_not_read(broken):
    folder = broken(lambda document, arrays: None)
    os.truncate(folder / "model.json", 2**30)
    assert "larger than the limit for models" in refusal(folder)


@pytest.mark.parametrize("keep", [0, 7, 300, -1])
def test_load_refuses_truncated_arrays(broken, keep):
    folder = broken(lambda document, arrays: None)
    content = (folder / "arrays.safetensors").read_bytes()
    (folder / "arrays.safetensors").write_bytes(content[:keep])
    assert "arrays.safetensors is damaged" in refusal(folder)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 64, b"\x40" + bytes(7) + b"{" * 64, b"\x02" + bytes(7) + b"[]"]
)
def test_load_refuses_arrays_that_are_no_safetensors(broken, content):
    folder = broken(lambda document, arrays: None)
    document = json.loads((folder / "model.json").read_text())
    document["arrays_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "model.json").write_text(json.dumps(document))
    (folder / "arrays.safetensors").write_bytes(content)
    assert "arrays.safetensors cannot be read" in refusal(folder)


def test_load_refuses_arrays_of_another_model(broken, tmp_path):
    folder = broken(lambda document, arrays: None)
    other = save(fitted("truncated-OneClusterPCM"), tmp_path / "other")
    (folder / "arrays.safetensors").write_bytes((other / "arrays.safetensors").read_bytes())
    assert "belongs to another model.json" in refusal(folder)


def test_one_flipped_bit_is_noticed(broken):
    folder = broken(lambda document, arrays: None)
    content = bytearray((folder / "arrays.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "arrays.safetensors").write_bytes(content)
    assert "damaged" in refusal(folder)


def change_objects(change):
    def apply(document, arrays):
        change(document["objects"], arrays)

    return apply


def set_field(name, field, value):
    return change_objects(
        lambda objects, arrays: object_of({"objects": objects}, name)["fields"].update(
            {field: value}
        )
    )


def set_in_model(part, name, value):
    return change_objects(lambda objects, arrays: objects[-1][part].update({name: value}))


def set_array(name, field, array, **more):
    def change(objects, arrays):
        arrays["new"] = array
        reference = {"array": "new", "shape": list(array.shape), **more}
        object_of({"objects": objects}, name)["fields"][field] = reference

    return change_objects(change)


def set_output_setting(array, wrap=lambda node: node):
    def change(objects, arrays):
        arrays["new"] = array
        setting = wrap({"array": "new", "shape": list(array.shape)})
        attributes = {"_sklearn_output_config": setting}
        scaler = {"scale": "robust", "missing": "error", "log": "none"}
        objects.insert(0, {"class": "ColumnScaler", "parameters": scaler, "attributes": attributes})

    return change_objects(change)


HOSTILE = {
    "no objects": (lambda d, a: d.update(objects=[]), "it lists no objects"),
    "objects not a list": (lambda d, a: d.update(objects={"a": 1}), "it lists no objects"),
    "object not an object": (change_objects(lambda o, a: o.insert(0, 3)), "has no class"),
    "class not a name": (change_objects(lambda o, a: o[0].update({"class": []})), "has no class"),
    "unknown class": (
        change_objects(lambda o, a: o[0].update({"class": "os.system"})),
        "the class 'os.system', which typicality does not know",
    ),
    "class of Python": (change_objects(lambda o, a: o[0].update({"class": "eval"})), "'eval'"),
    "no fields": (change_objects(lambda o, a: o[0].pop("fields")), "has no fields"),
    "field too many": (set_field("KernelColumns", "__class__", 1), "one difference is '__class__'"),
    "field missing": (
        change_objects(lambda o, a: object_of({"objects": o}, "Gaussian")["fields"].clear()),
        "Gaussian has other fields than expected; one difference is 'sigma'",
    ),
    "field of wrong type": (set_field("Gaussian", "sigma", "wide"), "Gaussian.sigma has the wrong"),
    "field of wrong value": (set_field("Gaussian", "sigma", -1.0), "Gaussian cannot be created"),
    "object of wrong class": (set_field("Landscape", "columns", {"object": 0}), "columns has"),
    "refers to itself": (
        set_field("KernelColumns", "kernel_function", {"object": 1}),
        "object 1 before that object is defined",
    ),
    "refers ahead": (
        set_field("Landscape", "columns", {"object": 99}),
        "before that object is defined",
    ),
    "refers to nothing": (
        set_field("Landscape", "columns", {"object": "x"}),
        "before that object is defined",
    ),
    "nested too deep": (
        set_in_model("parameters", "sigma", json.loads('{"list": [' * 9 + "1" + "]}" * 9)),
        "too deep",
    ),
    "unknown kind": (
        set_in_model("parameters", "sigma", {"call": "exit"}),
        "kind 'call' is unknown",
    ),
    "bare list": (set_in_model("parameters", "sigma", [1]), "a value has an unknown type"),
    "wrong parameter": (set_in_model("parameters", "alpha", "most"), "cannot be created"),
    "parameter too many": (set_in_model("parameters", "key", 1), "one difference is 'key'"),
    "unknown attribute": (set_in_model("attributes", "predict", 1), "no attribute 'predict'"),
    "attribute of another class": (set_in_model("attributes", "lam_", 1.0), "attribute 'lam_'"),
    "attribute of wrong type": (set_in_model("attributes", "tree_", 1), "tree_ has the wrong"),
    "wrong number of features": (set_in_model("attributes", "n_features_in_", 3), "has the wrong"),
    "attribute missing": (
        change_objects(lambda o, a: o[-1]["attributes"].pop("_assign")),
        "lacks the attribute '_assign'",
    ),
    "ends with no model": (
        change_objects(lambda o, a: o.append({"class": "Linear", "fields": {}})),
        "its last object is of the class Linear, which is not a model",
    ),
    "idle object": (
        change_objects(lambda o, a: o.insert(-1, {"class": "Linear", "fields": {}})),
        "nothing refers to an object of the class Linear",
    ),
    "unknown enumeration": (
        set_in_model("attributes", "status_", {"enum": "Signals", "value": 9}),
        "the enumeration 'Signals' is unknown",
    ),
    "unknown status": (
        set_in_model("attributes", "status_", {"enum": "Status", "value": "sunny"}),
        "Status cannot be created",
    ),
    "unknown number": (set_field("Gaussian", "sigma", {"float": "1e3"}), "number '1e3' is unknown"),
    "object type": (set_field("Gaussian", "sigma", {"dtype": "object"}), "'object' is unknown"),
    "number too large": (
        set_field("Gaussian", "sigma", {"scalar": "int8", "value": 300}),
        "a number cannot be created",
    ),
    "number of a word": (
        set_field("Gaussian", "sigma", {"scalar": "float64", "value": "1"}),
        "a number is malformed",
    ),
    "names that are none": (
        set_in_model("attributes", "feature_names_in_", {"strings": [1, 2]}),
        "a name is malformed",
    ),
    "sparse matrix of nothing": (
        set_in_model("attributes", "labels_", {"sparse": [1, 2, 3], "shape": [1, 1]}),
        "a sparse matrix is malformed",
    ),
    "random numbers of nothing": (
        set_in_model("parameters", "sigma", {"random_state": {"tuple": ["MT19937", 1, 2, 0, 0.0]}}),
        "the state of random numbers is malformed",
    ),
    "array of no name": (
        set_field("AlphaTree", "heights", {"array": 1, "shape": [1]}),
        "a reference to an array is malformed",
    ),
    "array of another world": (
        set_field("AlphaTree", "heights", {"array": "x", "shape": [1], "code": 1}),
        "a reference to an array is malformed",
    ),
    "array repeated endlessly": (
        change_objects(
            lambda o, a: object_of({"objects": o}, "AlphaTree")["fields"]["heights"].update(
                {"repeat": [2**45]}
            )
        ),
        "malformed",
    ),
    "number repeated beyond all rows": (
        set_array("AlphaTree", "node_of", np.zeros(1, np.int32), repeat=[2**33], dtype="int64"),
        "a reference to an array is malformed",
    ),
    "array of half precision": (
        set_array("AlphaTree", "heights", np.ones(51, np.float16)),
        "has the type float16, which no model uses",
    ),
    "setting that is an array": (
        set_output_setting(np.ones(3)),
        "_sklearn_output_config has the wrong type",
    ),
    "setting with an array": (
        set_output_setting(np.ones(3), wrap=lambda node: {"dict": {"transform": node}}),
        "_sklearn_output_config has the wrong type",
    ),
    "array missing": (change_objects(lambda o, a: a.pop(min(a))), "is missing"),
    "array too many": (
        change_objects(lambda o, a: a.update(spare=np.zeros(3))),
        "nothing refers to the array 'spare'",
    ),
    "array of other length": (
        change_objects(lambda o, a: a.update({min(a): a[min(a)][:-1]})),
        "does not have the shape",
    ),
    "array of other type": (
        change_objects(lambda o, a: a.update({min(a): a[min(a)] > 0})),
        "has the wrong type, shape or content",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_documents_are_refused(broken, case):
    change, words = HOSTILE[case]
    assert words in refusal(broken(change))


def far_index(objects, arrays):
    reference = object_of({"objects": objects}, "AlphaTree")["fields"]["pairs"]
    arrays[reference["array"]][3] = 2**30


def test_an_index_beyond_the_rows_never_reaches_compiled_code(broken):
    assert "AlphaTree.pairs has the wrong" in refusal(broken(change_objects(far_index)))


def more_spreads(objects, arrays):
    arrays["many"] = np.ones(7)
    fields = object_of({"objects": objects}, "Possibilistic1996")["fields"]
    fields["eta"] = {"array": "many", "shape": [7]}


def test_parts_that_disagree_about_their_size_are_refused(broken):
    message = refusal(broken(change_objects(more_spreads), "weights-AdaptivePCM"))
    assert "AdaptivePCM._rule has the wrong type, shape or content" in message


@pytest.mark.parametrize("steps", [1, {"list": []}, {"list": [1]}, {"list": [{"tuple": ["a", 3]}]}])
def test_load_refuses_steps_that_are_none(broken, steps):
    message = refusal(broken(set_in_model("parameters", "steps", steps), "pipeline"))
    assert "Pipeline" in message


# ---- transformers of scikit-learn ----------------------------------------------------------------

OF_SCIKIT_LEARN = [n for n in CONFIGURATIONS if n.startswith(("before", "frame"))]
STRANGE = [
    *(None, True, -1, 3, 10**9, 2**70, 1e300, "", "drop", "ä"),
    *({"float": "nan"}, {"list": []}, {"tuple": [1, "x"]}, {"dict": {}}, {"strings": ["a", "b"]}),
    *({"objects": [None, 1]}, {"slice": [0, None, None]}, {"type": "int"}, {"dtype": "int8"}),
    *({"object": 0}, {"text_dtype": "object"}, {"scalar": "int64", "value": 7}, {"slice": [1]}),
]


@contextmanager
def no_unforeseen_error():
    try:
        yield
    except ModelFileError as error:
        assert "reading it failed with" not in str(error)  # noqa: PT017
        raise


def branches_of(node):
    """All places of a document where another value can stand, as pairs of a container and a key."""
    keys = node if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from branches_of(node[key])


@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
def test_changed_documents_are_refused_or_harmless(broken, name):
    rng = np.random.default_rng(len(name))
    _, _, new, _ = CONFIGURATIONS[name]

    def change(document, arrays):
        places = list(branches_of(document["objects"]))
        for _ in range(rng.integers(1, 3)):
            node, key = places[rng.integers(len(places))]
            node[key] = STRANGE[rng.integers(len(STRANGE))]
        array = arrays[sorted(arrays)[rng.integers(len(arrays))]]
        array.flat[rng.integers(array.size)] = rng.choice([-1, 0, 3, 10**6])

    for _ in range(15):
        folder = broken(change, name)
        with suppress(ModelFileError), no_unforeseen_error():
            model = load(folder)  # nothing but ModelFileError may come of this
            with suppress(Exception):
                model.predict(new)


def encoder_of(objects):
    encoders = [one for one in objects if one["class"] == "OneHotEncoder"]
    return next(one["attributes"] for one in encoders if "categories_" in one["attributes"])


def set_in_encoder(key, value):
    return change_objects(lambda objects, arrays: encoder_of(objects).update({key: value}))


def numbers(arrays, values):
    arrays["new"] = np.array(values)
    return {"array": "new", "shape": [len(values)]}


def categories(*values):
    def change(objects, arrays):
        encoder_of(objects)["categories_"] = {"list": [numbers(arrays, values)] * 2}

    return change_objects(change)


def mapping(*values):
    def change(objects, arrays):
        node = encoder_of(objects)["_default_to_infrequent_mappings"]["list"]
        node[0] = numbers(arrays, values)

    return change_objects(change)


BEYOND_THE_COLUMNS = {
    "fewer columns": set_in_encoder("_n_features_outs", {"list": [1, 1]}),
    "columns of one feature": set_in_encoder("_n_features_outs", {"list": [9]}),
    "drops what is not there": set_in_encoder("_drop_idx_after_grouping", {"objects": [9, None]}),
    "drops less than it says": set_in_encoder("_drop_idx_after_grouping", {"objects": [0, 0]}),
    "grouping switched off": set_in_encoder("_infrequent_enabled", False),
    "categories not sorted": categories(3.0, 1.0, 2.0),
    "NaN not last": categories(np.nan, 1.0, 2.0),
    "categories twice": categories(1.0, 1.0, 2.0),
    "complex categories": set_in_encoder(
        "categories_", {"list": [{"objects": [{"scalar": "complex128", "value": 1.0}] * 3}] * 2}
    ),
    "a group too far": mapping(0, 1, 2**40),
    "a negative group": mapping(0, 1, -5),
    "a group too few": mapping(0, 1),
    "features without categories": set_in_encoder("n_features_in_", 10**6),
}


@pytest.mark.parametrize("case", BEYOND_THE_COLUMNS)
def test_no_category_leads_beyond_the_columns_of_a_sparse_matrix(broken, case):
    def change(document, arrays):
        encoder_of(document["objects"]).pop("feature_names_in_")  # as of rows without names
        BEYOND_THE_COLUMNS[case](document, arrays)

    message = refusal(broken(change, "frame-1"))
    assert "the fields of OneHotEncoder contradict each other" in message


def test_load_refuses_groups_that_make_more_columns_than_categories(broken):
    def change(objects, arrays):
        mapping(0, 1, 2**40)({"objects": objects}, arrays)
        encoder_of(objects)["_n_features_outs"]["list"][0] = 2**40 + 1

    message = refusal(broken(change_objects(change), "frame-1"))
    assert "the fields of OneHotEncoder contradict each other" in message


def set_in(class_name, part, **values):
    return change_objects(
        lambda objects, arrays: object_of({"objects": objects}, class_name)[part].update(values)
    )


WRONG_TRANSFORMERS = {
    "function": (
        set_in("FunctionTransformer", "parameters", func={"type": "int"}),
        "before-FunctionTransformer-13",
        "FunctionTransformer.func has the wrong type",
    ),
    "column too far": (
        set_in(
            "ColumnTransformer",
            "attributes",
            _transformer_to_input_indices={"dict": {"a": {"list": [7]}}},
        ),
        "before-ColumnTransformer-14",
        "the fields of ColumnTransformer contradict each other",
    ),
    "columns that go nowhere": (
        set_in("ColumnTransformer", "attributes", n_features_in_=10**6),
        "before-ColumnTransformer-14",
        "the fields of ColumnTransformer contradict each other",
    ),
    **{
        f"names by {template}": (
            set_in("ColumnTransformer", "parameters", verbose_feature_names_out=template),
            "before-ColumnTransformer-14",
            "the fields of ColumnTransformer contradict each other",
        )
        for template in (
            "{feature_name:>3000000000}",
            "{feature_name.__class__}",
            "{transformer_name[0]}",
            "{feature_name!r}",
            "{nope}",
            "{}",
            "{",
        )
    },
    "an object where none belongs": (
        set_in("ColumnTransformer", "parameters", sparse_threshold={"object": 0}),
        "before-ColumnTransformer-14",
        "ColumnTransformer.sparse_threshold has the wrong type",
    ),
    "an object in a list where none belongs": (
        set_in("FuzzyCMeans", "parameters", init={"list": [{"object": 0}]}),
        "before-StandardScaler-0",
        "FuzzyCMeans.init has the wrong type",
    ),
    "a transformer as a kernel": (
        set_in("FuzzyCMeans", "parameters", kernel={"object": 0}),
        "before-StandardScaler-0",
        "FuzzyCMeans.kernel has the wrong type",
    ),
    "no transformer": (
        set_in("ColumnTransformer", "parameters", transformers={"list": [3]}),
        "before-ColumnTransformer-14",
        "ColumnTransformer.transformers has the wrong type",
    ),
    "no features": (
        set_in("StandardScaler", "attributes", n_features_in_=5),
        "before-StandardScaler-0",
        "StandardScaler.scale_ has the wrong type",
    ),
    "processes": (
        set_in("ColumnTransformer", "parameters", n_jobs=10**6),
        "before-ColumnTransformer-14",
        "one difference is 'n_jobs'",
    ),
    "a slice of lists": (
        set_in("ColumnTransformer", "attributes", _columns={"slice": [{"list": []}, 1, 1]}),
        "before-ColumnTransformer-14",
        "a slice is malformed",
    ),
    "names that are numbers": (
        set_in("FuzzyCMeans", "attributes", feature_names_in_={"objects": [1, None]}),
        "before-StandardScaler-0",
        "FuzzyCMeans.feature_names_in_ has the wrong type",
    ),
    "objects as a start": (
        set_in("FuzzyCMeans", "parameters", init={"objects": [1, None]}),
        "before-StandardScaler-0",
        "FuzzyCMeans.init is an array of objects or a type",
    ),
    "a type as a kernel": (
        set_in("FuzzyCMeans", "parameters", kernel={"type": "int"}),
        "before-StandardScaler-0",
        "FuzzyCMeans.kernel has the wrong type",
    ),
}


@pytest.mark.parametrize("case", WRONG_TRANSFORMERS)
def test_wrong_transformers_are_refused(broken, case):
    change, name, words = WRONG_TRANSFORMERS[case]
    assert words in refusal(broken(change, name))


@pytest.mark.parametrize("number", [10**8, 10**12, 10**30])
@pytest.mark.parametrize(
    "name", ["FunctionTransformer-13", "StandardScaler-1", "ColumnTransformer-14"]
)
def test_load_refuses_more_features_than_memory_holds(broken, name, number):
    kind = name.partition("-")[0]
    folder = broken(set_in(kind, "attributes", n_features_in_=number), f"before-{name}")
    assert f"{kind}.n_features_in_ has the wrong type" in refusal(folder)


@pytest.mark.parametrize("number", [10**8, 10**12, 10**30])
def test_load_refuses_an_encoder_of_more_features_than_memory_holds(broken, number):
    def change(objects, arrays):
        encoder = encoder_of(objects)
        del encoder["feature_names_in_"]  # as of rows without names
        encoder["n_features_in_"] = number

    folder = broken(change_objects(change), "frame-1")
    assert "OneHotEncoder.n_features_in_ has the wrong type" in refusal(folder)


def test_load_refuses_a_mixture_with_a_wrong_number_of_clusters(broken):
    change = set_in("JoinedMixture", "attributes", n_clusters_=10**6)
    message = refusal(broken(change, "automatic-mixture"))
    assert "JoinedMixture.n_clusters_ has the wrong type" in message


def nested(depth, n_copies):
    """Pipelines, each of which holds the one before it several times."""

    def change(objects, arrays):
        for _ in range(depth):
            steps = [{"tuple": [f"s{i}", {"object": len(objects) - 1}]} for i in range(n_copies)]
            parameters = objects[-1]["parameters"] | {"steps": {"list": steps}}
            objects.append({"class": "Pipeline", "parameters": parameters, "attributes": {}})

    return change_objects(change)


@pytest.mark.parametrize(
    ("depth", "n_copies"), [(3000, 1), (18, 1), (14, 2), (2, 100), (8, 2), (3, 8)]
)
def test_load_refuses_pipelines_that_hold_too_many(broken, depth, n_copies):
    message = refusal(broken(nested(depth, n_copies), "pipeline"))
    assert "its objects are nested too deeply, or there are too many" in message


def test_pipelines_in_pipelines_load(broken):
    model = load(broken(nested(8, 1), "pipeline"))
    np.testing.assert_array_equal(model.predict(NEW), fitted("pipeline").predict(NEW))


def test_wrong_objects_in_nested_pipelines_are_refused_at_once(broken):
    def change(document, arrays):
        nested(7, 2)(document, arrays)
        document["objects"].append(document["objects"][-1].copy())
        last = document["objects"][-1]
        last["parameters"] = last["parameters"] | {"verbose": {"object": 3}}

    assert "Pipeline.verbose has the wrong type" in refusal(broken(change, "pipeline"))


def test_the_text_of_a_refusal_holds_no_value_of_a_parameter(broken):
    message = refusal(broken(set_in_model("parameters", "alpha", "most")))
    assert "most" not in message


@pytest.mark.parametrize("key", ["shape", "repeat"])
@pytest.mark.parametrize("lengths", [[1] * 100, [0, 2**47, 2**47]], ids=["axes", "entries"])
def test_load_refuses_shapes_that_no_array_has(broken, key, lengths):
    array = np.zeros(math.prod(lengths) if key == "shape" else 1)
    folder = broken(set_array("AlphaTree", "heights", array, **{key: lengths}))
    assert "a reference to an array is malformed" in refusal(folder)


@pytest.mark.parametrize("error", [MemoryError, RecursionError, AttributeError])
def test_load_turns_unforeseen_errors_into_its_own(broken, monkeypatch, error):
    def fail(*_):
        raise error

    folder = broken(lambda document, arrays: None)
    monkeypatch.setattr("typicality.persistence.read_model", fail)
    assert f"reading it failed with {error.__name__}" in refusal(folder)


def test_pickle_is_never_read(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    for file in MODEL_FILES:
        folder = tmp_path / f"with-{file}"
        save(FuzzyCMeans(2), folder)
        (folder / file).write_bytes(pickle.dumps(Bomb()))
        refusal(folder)
    assert not (tmp_path / "exploded").exists()
