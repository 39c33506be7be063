"""Folders of models: documents and arrays that were changed, with hashes that are right."""

import hashlib
import warnings
from functools import cache

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import save as bytes_of_arrays

from fuzz.contract import Target
from fuzz.mutations import changed_bytes, changed_json, json_bytes
from persistence.configurations import CONFIGURATIONS, fitted
from persistence.test_broken import no_unforeseen_error
from typicality import load
from typicality.exceptions import ModelFileError
from typicality.persistence import _files_of
from typicality.persistence._objects import Writer

_NAMES = [
    "truncated-AlphaCutClustering",
    "truncated-OneClusterPCM",
    "nufft-OneClusterPCM",
    "nufft-FuzzyCMeans",
    "local-at-a-level",
    "weights-AdaptivePCM",
    "weights-FuzzyCMeans",
    "metric-precomputed",
    "automatic-mixture",
    "sparse-OneClusterPCM-gaussian",
    "pipeline",
    "before-ColumnTransformer-14",
    "frame-1",
    "compressed-set",
    "mixed-columns",
]
_NUMBERS = [0, 1, -1, 2, 7, 2**31 - 1, 2**62, np.nan, np.inf, 1e308, -1e-320]


@cache
def _seed(name):
    """The objects and the arrays of a model, and the bytes of its description."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(name)
    writer = Writer()
    writer.add(model, type(model).__name__)
    return writer.objects, writer.arrays.arrays, _files_of(model)[0]


@st.composite
def _changed(draw):
    """The name of a configuration, its description and its arrays."""
    name = draw(st.sampled_from(_NAMES))
    objects, arrays, text = _seed(name)
    arrays = dict(arrays)
    for _ in range(draw(st.integers(0, 2))):
        key = draw(st.sampled_from(sorted(arrays)))
        arrays[key] = draw(_changed_array(arrays[key]))
    content = bytes_of_arrays(arrays)
    if draw(st.integers(0, 9)) == 0:
        content = draw(changed_bytes([content]))
    digest = hashlib.sha256(content).hexdigest()
    if draw(st.integers(0, 9)) == 0:
        return name, draw(changed_bytes([text])), content
    document = {"format": "typicality model", "format_version": 3, "arrays_sha256": digest}
    document["objects"] = draw(changed_json(objects))
    return name, json_bytes(document), content


@st.composite
def _changed_array(draw, array):
    array = array.copy()
    kind = draw(st.sampled_from(["number", "number", "length", "type"]))
    if kind == "length":
        return array[: draw(st.integers(0, len(array)))]
    if kind == "type":
        types = st.sampled_from(["bool", "int8", "int32", "int64", "uint64", "float32", "float64"])
        with np.errstate(all="ignore"):
            return array.astype(draw(types))
    if array.size:
        with np.errstate(all="ignore"):
            number = np.array(draw(st.sampled_from(_NUMBERS))).astype(array.dtype)
        array[draw(st.integers(0, array.size - 1))] = number
    return array


def _load(value, folder):
    """Load a model; where that works, prediction must end, with nonsense or with an error."""
    name, document, arrays = value
    (folder / "model.json").write_bytes(document)
    (folder / "arrays.safetensors").write_bytes(arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with no_unforeseen_error():
            model = load(folder)
        _, rows, new, _ = CONFIGURATIONS[name]
        try:
            model.predict(rows if new is None else new)
        except Exception as error:  # "can do no more harm than to predict nonsense"
            return f"loaded, then {type(error).__name__}"
    return "loaded"


TARGETS = {"model": Target(_changed(), _load, (ModelFileError,))}
