"""From a model to what its files hold: a document for JSON, and arrays by name."""

import math
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from typicality.exceptions import ModelFileError
from typicality.operators.base import LazyExpansion
from typicality.persistence._arrays import DTYPES, ArrayWriter
from typicality.persistence._entries import class_of
from typicality.persistence._registry import (
    ATTRIBUTES,
    ENUMS,
    ESTIMATORS,
    LEFT_OUT,
    RECORDS,
)

DEEPEST = 8  # lists in lists of a parameter

_NO_CODE = (
    "is code, which a model file does not hold; use a kernel by name or an object of "
    "typicality.kernels, or keep the model with pickle, whose files run code when they are read: "
    "open only those you trust"
)
_UNKNOWN = (
    "which a model file does not hold; it holds estimators of typicality, ColumnScaler, and "
    "pipelines of these"
)


class Writer:
    """Collects the objects and arrays of a model, each once however often it is referred to.

    Attributes
    ----------
    objects : list of dict
        The objects of our classes; one refers only to those before it.
    arrays : ArrayWriter
        The arrays.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays = ArrayWriter()
        self._numbers: dict[int, int] = {}

    def add(self, value: Any, where: str) -> int:
        """The number of an object of ours among `objects`."""
        if isinstance(value, LazyExpansion):
            value = value.prepared()
        if id(value) not in self._numbers:
            name = _registered_name(value, where)
            describe = self._record if name in RECORDS else self._estimator
            content = describe(value, where)
            self._numbers[id(value)] = len(self.objects)
            self.objects.append({"class": name} | content)
        return self._numbers[id(value)]

    def _record(self, value: Any, where: str) -> dict[str, Any]:
        names = RECORDS[type(value).__name__].fields
        return {"fields": self._values({name: getattr(value, name) for name in names}, where)}

    def _estimator(self, model: Any, where: str) -> dict[str, Any]:
        name = type(model).__name__
        parameters = model.get_params(deep=False)
        state = {key: value for key, value in vars(model).items() if key not in LEFT_OUT}
        attributes = {key: value for key, value in state.items() if key not in parameters}
        known = ESTIMATORS[name].needs + ESTIMATORS[name].may
        unknown = next((key for key in attributes if key not in known), None)
        if unknown is not None:
            raise ModelFileError(
                f"{name} has the attribute {unknown!r}, which is none of its own; delete it first"
            )
        in_order = {key: attributes[key] for key in ATTRIBUTES if key in attributes}
        if name == "Pipeline":
            del parameters["memory"]  # a folder of this machine
        return {
            "parameters": self._values(parameters, where),
            "attributes": self._values(in_order, where),
        }

    def _values(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        return {key: self._value(value, f"{where}.{key}") for key, value in values.items()}

    def _value(self, value: Any, where: str, depth: int = 0) -> Any:
        """What stands for a value in the document; `where` is its name in messages."""
        if depth > DEEPEST:
            raise ModelFileError(f"{where} is a list in lists, too deep for a file")
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) in (list, tuple):
            entries = [self._value(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
            return {type(value).__name__: entries}
        if type(value) is dict and all(type(key) is str for key in value):
            entries = [self._value(v, f"{where}[{k!r}]", depth + 1) for k, v in value.items()]
            return {"dict": dict(zip(value, entries, strict=True))}
        return self._of_numpy(value, where)

    def _of_numpy(self, value: Any, where: str) -> Any:
        if type(value) is np.ndarray and value.dtype == object:
            return {"strings": _strings(value, where)}
        if type(value) is np.ndarray:
            return self.arrays.put(value, where)
        if isinstance(value, np.dtype) and value.name in DTYPES:
            return {"dtype": value.name}
        if isinstance(value, np.generic) and value.dtype.name in DTYPES:
            return {"scalar": value.dtype.name, "value": self._value(value.item(), where)}
        if type(value) is csr_array:
            parts = [
                self.arrays.put(array, where) for array in (value.data, value.indices, value.indptr)
            ]
            return {"sparse": parts, "shape": list(value.shape)}
        if isinstance(value, Enum) and type(value).__name__ in ENUMS:
            return {"enum": type(value).__name__, "value": value.value}
        if type(value) is np.random.RandomState:
            return {"random_state": self._value(value.get_state(), where)}
        return {"object": self.add(value, where)}


def _registered_name(value: Any, where: str) -> str:
    """The name of the class of an object, which must be one of ours and not a subclass."""
    name = type(value).__name__
    entry = RECORDS.get(name) or ESTIMATORS.get(name)
    if entry is not None and class_of(name, entry) is type(value):
        return name
    what = getattr(value, "__name__", name)
    if callable(value):
        raise ModelFileError(f"{where} is {what!r}, and that {_NO_CODE}")
    raise ModelFileError(f"{where} is an object of {type(value).__module__}.{name}, {_UNKNOWN}")


def _strings(array: NDArray[Any], where: str) -> list[str]:
    if array.ndim != 1 or not all(type(entry) is str for entry in array):
        raise ModelFileError(f"{where} is an array of objects, of which files hold only names")
    return list(array)
