"""Folders that are broken or hostile: one sentence, and nothing is executed."""

import hashlib
import json
import math
import os
import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as bytes_of_arrays

from persistence.configurations import fitted
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


def test_the_text_of_a_refusal_holds_no_value_of_a_parameter(broken):
    message = refusal(broken(set_in_model("parameters", "alpha", "most")))
    assert "most" not in message


@pytest.mark.parametrize("key", ["shape", "repeat"])
@pytest.mark.parametrize("lengths", [[1] * 100, [0, 2**47, 2**47]], ids=["axes", "entries"])
def test_load_refuses_shapes_that_no_array_has(broken, key, lengths):
    array = np.zeros(math.prod(lengths) if key == "shape" else 1)
    folder = broken(set_array("AlphaTree", "heights", array, **{key: lengths}))
    assert "a reference to an array is malformed" in refusal(folder)


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
