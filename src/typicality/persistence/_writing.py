"""From a model to what its files hold: a document for JSON, and arrays by name."""

import math
from enum import Enum
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from typicality.exceptions import ModelFileError
from typicality.operators.base import LazyExpansion
from typicality.persistence._arrays import DTYPES, ArrayWriter
from typicality.persistence._schema import (
    OF_SCIKIT_LEARN,
    SAVED_ENUMS,
    SAVED_ESTIMATORS,
    SAVED_RECORDS,
    attributes_of,
    class_of,
    fields_of,
    is_foreign,
)
from typicality.persistence._scikit_learn import NOT_SAVED

DEEPEST = 8  # lists in lists of a parameter
# Types that a parameter may be, by name.
TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float}
TYPES |= {name: np.dtype(name).type for name in DTYPES[1:]}

_NO_CODE = (
    "is code, which a model file does not hold; use a kernel by name or an object of "
    "typicality.kernels, or keep the model with pickle, whose files run code when they are read: "
    "open only those you trust"
)
_NO_CALL = (
    "is code, which a model file does not hold; name the columns in a list, or leave the function "
    "out, or keep the model with pickle, whose files run code when they are read: open only those "
    "you trust"
)
_UNKNOWN = (
    "which a model file does not hold; it holds estimators of typicality, ColumnScaler, pipelines, "
    "and the transformers of scikit-learn that the documentation of typicality.save lists"
)
# Of the state of an estimator: what a later fit needs and prediction does not.
_LEFT_OUT = ("_skl_callbacks", "_metadata_request")


class Writer:
    """Collects the objects and arrays of a model, each once however often it is referred to.

    Attributes
    ----------
    objects : list of dict
        The objects of known classes; one refers only to those before it.
    arrays : ArrayWriter
        The arrays.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays = ArrayWriter()
        self._numbers: dict[int, int] = {}

    def add(self, value: Any, where: str) -> int:
        """The number of an object of a known class among `objects`."""
        if isinstance(value, LazyExpansion):
            value = value.prepared()
        if id(value) not in self._numbers:
            name = _known_name(value, where)
            if name in SAVED_RECORDS:
                state = {field: getattr(value, field) for field in fields_of(name)}
                content = {"fields": self._values(state, where)}
            else:
                content = self._estimator(value, where)
            self._numbers[id(value)] = len(self.objects)
            self.objects.append({"class": name} | content)
        return self._numbers[id(value)]

    def _estimator(self, model: Any, where: str) -> dict[str, Any]:
        name = type(model).__name__
        parameters = model.get_params(deep=False)
        state = {key: value for key, value in vars(model).items() if key not in _LEFT_OUT}
        attributes = {key: value for key, value in state.items() if key not in parameters}
        known = attributes_of(name)
        unknown = next((key for key in attributes if key not in known), None)
        if unknown is not None:
            raise ModelFileError(
                f"{name} has the attribute {unknown!r}, which is none of its own; delete it first"
            )
        kept = {key: value for key, value in parameters.items() if key not in NOT_SAVED}
        foreign = next((key for key in kept if is_foreign(kept[key])), None)
        if foreign is not None and name not in OF_SCIKIT_LEARN:
            what = "a type" if isinstance(kept[foreign], type) else "an array of objects"
            raise ModelFileError(f"{where}.{foreign} is {what}, of which files hold only names")
        in_order = {key: attributes[key] for key in known if key in attributes}
        return {
            "parameters": self._values(kept, where),
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
            return {type(value).__name__: self._entries(value, where, depth)}
        if type(value) is dict and all(type(key) is str for key in value):
            entries = [self._value(v, f"{where}[{k!r}]", depth + 1) for k, v in value.items()]
            return {"dict": dict(zip(value, entries, strict=True))}
        if type(value) is slice:
            return {"slice": self._entries((value.start, value.stop, value.step), where, depth)}
        if isinstance(value, type) and TYPES.get(value.__name__) is value:
            return {"type": value.__name__}
        if type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "Index":
            return self._value(value.tolist(), where, depth)  # names of columns
        if type(value) is np.ndarray and (value.dtype == object or _is_column_of_text(value)):
            return self._text(value, where, depth)
        return self._of_numpy(value, where)

    def _entries(self, values: Any, where: str, depth: int) -> list[Any]:
        return [self._value(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(values)]

    def _text(self, array: NDArray[Any], where: str, depth: int) -> Any:
        """Names, or the categories of a column: text, numbers, None."""
        plain = (str, bool, int, float, NoneType, np.number, np.bool_)
        if array.ndim != 1 or not all(isinstance(entry, plain) for entry in array):
            raise ModelFileError(f"{where} is an array of objects, of which files hold only names")
        entries = array.tolist()
        if all(type(entry) is str for entry in entries):
            return {"strings": entries}
        return {"objects": self._entries(entries, where, depth)}

    def _of_numpy(self, value: Any, where: str) -> Any:
        if type(value) is np.ndarray:
            return self.arrays.put(value, where)
        if isinstance(value, np.dtype) and value.name in DTYPES:
            return {"dtype": value.name}
        if isinstance(value, np.dtype) and value.kind == "O":
            return {"text_dtype": value.name}
        if isinstance(value, np.generic) and value.dtype.name in DTYPES:
            return {"scalar": value.dtype.name, "value": self._value(value.item(), where)}
        if type(value) is csr_array:
            parts = [
                self.arrays.put(array, where) for array in (value.data, value.indices, value.indptr)
            ]
            return {"sparse": parts, "shape": list(value.shape)}
        if isinstance(value, Enum) and type(value).__name__ in SAVED_ENUMS:
            return {"enum": type(value).__name__, "value": value.value}
        if type(value) is np.random.RandomState:
            return {"random_state": self._value(value.get_state(), where)}
        return {"object": self.add(value, where)}


def _is_column_of_text(array: NDArray[Any]) -> bool:
    """Whether to keep an array as names, which come back as objects: NumPy pads short texts."""
    return array.dtype.kind == "U" and array.ndim == 1


def _known_name(value: Any, where: str) -> str:
    """The name of the class of an object, which must be one we know and not a subclass."""
    name = type(value).__name__
    if name in (*SAVED_RECORDS, *SAVED_ESTIMATORS) and class_of(name) is type(value):
        return name
    if callable(value):
        why = _NO_CODE if "kernel" in where else _NO_CALL
        raise ModelFileError(f"{where} is {getattr(value, '__name__', name)!r}, and that {why}")
    raise ModelFileError(f"{where} is an object of {type(value).__module__}.{name}, {_UNKNOWN}")
