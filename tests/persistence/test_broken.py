"""Folders that are broken or hostile: one sentence, and nothing is executed."""

import json
import os
import pickle
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import StandardScaler

from typicality import AdaptivePCM, AlphaCutClustering, load, save, trusted_types
from typicality import model as model_files
from typicality.exceptions import ModelFileError

N = 51
ROWS = np.random.default_rng(7).normal(size=(N, 2)) + np.repeat([[0.0], [6.0], [0.0]], 17, axis=0)


class Unknown:
    """An object of no known class; a pickle of it makes a folder."""

    def __init__(self, path=""):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)

    def __getstate__(self):
        return {"path": self.path}


@pytest.fixture
def folder(tmp_path):
    return save(AlphaCutClustering().fit(ROWS), tmp_path / "model")


@pytest.fixture
def changed(tmp_path):
    """Write a model after a function has changed it, as somebody with skops can."""

    def write(change, model=AlphaCutClustering):
        folder = save(model().fit(ROWS), tmp_path / "model", overwrite=True)
        broken = load(folder)
        change(broken)
        skops.io.dump(broken, folder / "model.skops")
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


def set_field(part, **fields):
    vars(part).update(fields)


def set_entry(array, entry):
    array.flat[3] = entry


@pytest.mark.parametrize(("last_within", "first_beyond"), [(0, -1), (50, 51)])
@pytest.mark.parametrize("field", ["pairs", "node_of", "row_of"])
def test_an_index_beyond_the_rows_never_reaches_compiled_code(
    changed, field, last_within, first_beyond
):
    """There are 51 rows and 51 nodes; the bound of their indices is exact."""
    folder = changed(lambda model: set_entry(getattr(model.tree_, field), last_within))
    assert load(folder).n_features_in_ == 2
    folder = changed(lambda model: set_entry(getattr(model.tree_, field), first_beyond))
    assert f"AlphaTree.{field} holds an index beyond its range" in refusal(folder)


TREE = {
    "array of another length": lambda tree: set_field(tree, saddles=tree.saddles[1:]),
    "array of another type": lambda tree: set_field(tree, heights=tree.heights > 0),
    "array of objects": lambda tree: set_field(tree, heights=tree.heights.astype(object)),
    "no array": lambda tree: set_field(tree, heights=tree.heights.tolist()),
    "other axes": lambda tree: set_field(tree, pairs=tree.pairs[:, :, None]),
}


@pytest.mark.parametrize("change", TREE.values(), ids=TREE)
def test_arrays_that_compiled_code_cannot_use_are_refused(changed, change):
    folder = changed(lambda model: change(model.tree_))
    assert "AlphaTree." in refusal(folder)
    assert "has the wrong type or shape" in refusal(folder)


def test_parts_that_do_not_belong_together_are_refused(changed):
    folder = changed(lambda model: set_field(model._rule, eta=np.ones(7)), AdaptivePCM)
    assert "AdaptivePCM._rule has the wrong type or shape" in refusal(folder)


MODELS = {
    "part of another class": (
        lambda m: set_field(m, tree_=StandardScaler()),
        "tree_ has the wrong",
    ),
    "field missing": (lambda m: vars(m.tree_).pop("pairs"), "AlphaTree lacks the field 'pairs'"),
    "size contradicted": (lambda m: set_field(m, n_features_in_=3), "has the wrong type or shape"),
    "unknown type": (lambda m: set_field(m, note=Unknown()), "test_broken.Unknown"),
    "function": (lambda m: set_field(m, note=os.system), "system"),
}


@pytest.mark.parametrize(("change", "words"), MODELS.values(), ids=MODELS)
def test_hostile_objects_are_refused(changed, change, words):
    assert words in refusal(changed(change))


def test_values_that_are_computed_when_needed_are_not_taken_from_a_file(changed):
    folder = changed(lambda model: set_field(model.tree_, branches=np.full(9, 10**6)))
    assert "branches" not in vars(load(folder).tree_)


def an_array_of_terabytes(path):
    with ZipFile(path) as old:
        content = {name: old.read(name) for name in old.namelist()}
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    content[next(name for name in content if name.endswith(".npy"))] = array
    with ZipFile(path, "w") as new:
        for name, data in content.items():
            new.writestr(name, data)


def a_bomb(path):
    with ZipFile(path, "w", ZIP_DEFLATED) as new:
        new.writestr("schema.json", b" " * (model_files._LARGEST_TEXT + 1))


def another_object(path):
    path.write_bytes(skops.io.dumps({"a": 1}))


FILES = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "no archive": lambda path: path.write_text("x"),
    "pickle": lambda path: path.write_bytes(pickle.dumps(Unknown(path.parent / "exploded"))),
    "missing": lambda path: path.unlink(),
    "link": lambda path: path.rename(path.with_name("a")) and path.symlink_to("a"),
    "pipe": lambda path: path.unlink() or os.mkfifo(path),
    "array of terabytes": an_array_of_terabytes,
    "bomb": a_bomb,
    "no estimator": another_object,
}


@pytest.mark.parametrize("change", FILES.values(), ids=FILES)
def test_archives_that_hold_no_model_are_refused(folder, change):
    change(folder / "model.skops")
    refusal(folder)
    assert not (folder / "exploded").exists()


DOCUMENTS = {
    "nothing": ("", "does not describe a model"),
    "deep": ("[" * 100_000, "does not describe a model"),
    "list": ("[]", "does not describe a model"),
    "older": (
        json.dumps({"format": "typicality model", "format_version": 4}),
        "fit the model again",
    ),
    "newer": (
        json.dumps({"format": "typicality model", "format_version": 99}),
        "upgrade typicality",
    ),
}


@pytest.mark.parametrize(("text", "words"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_other_formats_are_refused(folder, text, words):
    (folder / "model.json").write_text(text)
    assert words in refusal(folder)


def test_trusted_types_are_classes_of_the_library_and_arrays():
    """A class that is renamed would leave the checks of `_SOUND` without effect."""
    names = [name for name in trusted_types() if name.startswith("typicality.")]
    found = {
        name.rpartition(".")[2]: skops.io._utils.gettype(*name.rsplit(".", 1)) for name in names
    }
    assert model_files._SOUND.keys() <= found.keys()
    others = {name.rpartition(".")[2] for name in {*trusted_types()} - {*names}}
    assert others == {"dtype", "csr_array", "_RemainderColsList"}
