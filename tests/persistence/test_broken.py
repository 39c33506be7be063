"""Folders that are broken or hostile: one sentence, and nothing is executed."""

import hashlib
import json
import os
import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as bytes_of_arrays

from persistence.configurations import ROWS, fitted
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
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_only_plain_files_are_read(broken, file, kind):
    folder = broken(lambda document, arrays: None)
    (folder / file).rename(folder / "aside")
    make = {"link": lambda p: p.symlink_to("aside"), "pipe": os.mkfifo}
    make[kind](folder / file)
    assert f"{file} is a link, or not a regular file" in refusal(folder)


WRONG_TEXTS = {
    "nothing": ("", "not valid JSON"),
    "deep": ("[" * 100_000, "not valid JSON"),
    "cut off": ('{"format": "typicality', "not valid JSON"),
    "list": ("[]", "does not describe a model"),
    "other": ('{"format": "other"}', "does not describe a model"),
    "no version": ('{"format": "typicality model"}', "format_version"),
    "older": ('{"format": "typicality model", "format_version": 1}', "fit the model again"),
    "newer": ('{"format": "typicality model", "format_version": 99}', "newer typicality"),
}


@pytest.mark.parametrize(("text", "words"), WRONG_TEXTS.values(), ids=WRONG_TEXTS)
def test_load_refuses_text_that_is_no_model(broken, text, words):
    folder = broken(lambda document, arrays: None)
    (folder / "model.json").write_text(text)
    assert words in refusal(folder)


def test_a_document_of_gigabytes_is_not_read(broken):
    folder = broken(lambda document, arrays: None)
    os.truncate(folder / "model.json", 2**30)
    assert "larger than the limit for models" in refusal(folder)


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


HOSTILE = {
    "no objects": (lambda d, a: d.update(objects=[]), "it lists no objects"),
    "class of Python": (change_objects(lambda o, a: o[0].update({"class": "eval"})), "'eval'"),
    "field too many": (set_field("KernelColumns", "__class__", 1), "one difference is '__class__'"),
    "field of wrong type": (set_field("Gaussian", "sigma", "wide"), "Gaussian.sigma has the wrong"),
    "field of wrong value": (set_field("Gaussian", "sigma", -1.0), "Gaussian cannot be created"),
    "refers to itself": (
        set_field("KernelColumns", "kernel_function", {"object": 1}),
        "object 1 before that object is defined",
    ),
    "nested too deep": (
        set_in_model("parameters", "sigma", json.loads('{"list": [' * 9 + "1" + "]}" * 9)),
        "too deep",
    ),
    "unknown kind": (set_in_model("parameters", "sigma", {"call": "exit"}), "'call' is unknown"),
    "wrong parameter": (set_in_model("parameters", "alpha", "most"), "cannot be created"),
    "unknown attribute": (set_in_model("attributes", "predict", 1), "no attribute 'predict'"),
    "wrong number of features": (set_in_model("attributes", "n_features_in_", 3), "has the wrong"),
    "attribute missing": (
        change_objects(lambda o, a: o[-1]["attributes"].pop("_assign")),
        "lacks the attribute '_assign'",
    ),
    "ends with no model": (
        change_objects(lambda o, a: o.append({"class": "Linear", "fields": {}})),
        "which is not a model",
    ),
    "number repeated beyond all rows": (
        set_array("AlphaTree", "node_of", np.zeros(1, np.int32), repeat=[2**33], dtype="int64"),
        "malformed",
    ),
    "shape that no array has": (
        set_array("AlphaTree", "heights", np.zeros(1), repeat=[0, 2**47, 2**47]),
        "malformed",
    ),
    "array missing": (change_objects(lambda o, a: a.pop(min(a))), "is missing"),
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


@pytest.mark.parametrize(("index", "is_within"), [(0, True), (-1, False), (50, True), (51, False)])
def test_an_index_beyond_the_rows_never_reaches_compiled_code(broken, index, is_within):
    """The rows are 51; the bound of their indices is exact."""

    def change(objects, arrays):
        reference = object_of({"objects": objects}, "AlphaTree")["fields"]["pairs"]
        assert len(ROWS) == 51
        arrays[reference["array"]][3] = index

    folder = broken(change_objects(change))
    assert is_within or "AlphaTree.pairs has the wrong" in refusal(folder)
    assert not is_within or load(folder).n_features_in_ == 2


def more_spreads(objects, arrays):
    arrays["many"] = np.ones(7)
    fields = object_of({"objects": objects}, "Possibilistic1996")["fields"]
    fields["eta"] = {"array": "many", "shape": [7]}


def test_parts_that_disagree_about_their_size_are_refused(broken):
    message = refusal(broken(change_objects(more_spreads), "weights-AdaptivePCM"))
    assert "AdaptivePCM._rule has the wrong type, shape or content" in message


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
