"""From a model to what its files hold, a document for JSON and arrays by name, and back.

Nothing of a file is taken on trust: every field is judged before an object is made of it.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from typicality._sparse import SparseArray
from typicality._tensors import array_of
from typicality._words import enumerated
from typicality.exceptions import ModelFileError
from typicality.persistence._arrays import DTYPES, ArrayReader, ArrayWriter
from typicality.persistence._schema import (
    IS_SOUND,
    OF_SCIKIT_LEARN,
    SAVED_ENUMS,
    SAVED_ESTIMATORS,
    SAVED_RECORDS,
    Context,
    Made,
    attributes_of,
    class_of,
    fields_of,
    fits,
    is_foreign,
    lacking,
    parameters_of,
)
from typicality.persistence._scikit_learn import NOT_SAVED
from typicality.rows import is_dask
from typicality.sums.torch_blocked import DeviceSums

_DEEPEST = 8  # lists in lists of a parameter
# Objects in objects. Code that walks a model, as `repr` does, visits shared ones again each time.
_DEEPEST_MODEL = 20
_MOST_PARTS = 10_000
_PARTS_OF_A_PIPELINE = 20  # how much it counts: each of them takes its time in `predict`
_DTYPES = {name: np.dtype(name) for name in DTYPES}
# Types that a parameter may be, by name.
_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float}
_TYPES |= {name: kind.type for name, kind in _DTYPES.items() if name != "bool"}

_NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
_WORDS_OF_MERSENNE_TWISTER = 624
_NO_CODE = (
    "is code, and a model file holds no code; {}, or keep the model with pickle. "
    "Files of pickle run code when they are read: open only those you trust"
)
_OTHER_KERNEL = "use a kernel by name or an object of typicality.kernels"
_OTHER_FUNCTION = "name the columns in a list, or leave the function out"
_UNKNOWN = (
    "which a model file cannot hold; it can hold estimators of typicality, "
    f"ColumnScaler, MixedColumns, pipelines, and of scikit-learn {enumerated(OF_SCIKIT_LEARN)}. "
    "Use one of these, or skops with typicality.trusted_types"
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
        if isinstance(value, DeviceSums):
            value = value.on_host
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
        # Dask arrays are values of training rows, which are where the rows are.
        attributes = {
            key: value
            for key, value in state.items()
            if key not in parameters and not is_dask(value)
        }
        known = attributes_of(name)
        unknown = next((key for key in attributes if key not in known), None)
        if unknown is not None:
            raise ModelFileError(
                f"{name} has the attribute {unknown!r}, which typicality does not know; delete "
                "it first"
            )
        kept = {key: value for key, value in parameters.items() if key not in NOT_SAVED}
        in_order = {key: attributes[key] for key in known if key in attributes}
        return {
            "parameters": self._values(kept, where),
            "attributes": self._values(in_order, where),
        }

    def _values(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        return {key: self._value(value, f"{where}.{key}") for key, value in values.items()}

    def _value(self, value: Any, where: str, depth: int = 0) -> Any:
        """What stands for a value in the document; `where` is its name in messages."""
        if depth > _DEEPEST:
            raise ModelFileError(f"{where} holds lists that are nested too deeply for a file")
        value = array_of(value)
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
        if isinstance(value, type) and _TYPES.get(value.__name__) is value:
            return {"type": value.__name__}
        if type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "Index":
            return self._value(value.tolist(), where, depth)  # names of columns
        if type(value) is np.ndarray and (value.dtype.kind, value.ndim) == ("U", 1):
            value = value.astype(object)  # NumPy pads short texts
        if type(value) is np.ndarray and value.dtype == object:
            return self._text(value, where, depth)
        return self._of_numpy(value, where)

    def _entries(self, values: Any, where: str, depth: int) -> list[Any]:
        return [self._value(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(values)]

    def _text(self, array: NDArray[Any], where: str, depth: int) -> Any:
        """Names, or the categories of a column: text, numbers, None."""
        plain = (str, bool, int, float, NoneType, np.number, np.bool_)
        if array.ndim != 1 or not all(isinstance(entry, plain) for entry in array):
            raise ModelFileError(
                f"{where} is an array of objects; a file can hold only arrays of names and numbers"
            )
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
        if type(value) in (csr_array, SparseArray):
            parts = [
                self.arrays.put(array, where) for array in (value.data, value.indices, value.indptr)
            ]
            return {"sparse": parts, "shape": list(value.shape)}
        if isinstance(value, Enum) and type(value).__name__ in SAVED_ENUMS:
            return {"enum": type(value).__name__, "value": value.value}
        if type(value) is np.random.RandomState:
            return {"random_state": self._value(value.get_state(), where)}
        return {"object": self.add(value, where)}


def _known_name(value: Any, where: str) -> str:
    """The name of the class of an object, which must be one we know and not a subclass."""
    name = type(value).__name__
    if name in (*SAVED_RECORDS, *SAVED_ESTIMATORS) and class_of(name) is type(value):
        return name
    if callable(value):
        why = _NO_CODE.format(_OTHER_KERNEL if "kernel" in where else _OTHER_FUNCTION)
        raise ModelFileError(f"{where} is {getattr(value, '__name__', name)!r}, which {why}")
    raise ModelFileError(f"{where} is an object of {type(value).__module__}.{name}, {_UNKNOWN}")


# ---- reading -------------------------------------------------------------------------------------


def read_model(objects: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The model that a list of objects describes, the last one; all of it must be used.

    Raises
    ------
    ModelFileError
        Something is not as it must be; a clause says what.
    """
    if not isinstance(objects, list) or not objects:
        raise ModelFileError("it lists no objects")
    reader = _Reader(arrays)
    for description in objects:
        reader.make(description)
    reader.arrays.require_all_used()
    model = reader.made[-1]
    if model.name not in SAVED_ESTIMATORS:
        raise ModelFileError(f"its last object is of the class {model.name}, which is not a model")
    unused = sorted(set(range(len(objects) - 1)) - reader.used)
    if unused:
        raise ModelFileError(
            f"nothing refers to an object of the class {reader.made[unused[0]].name}"
        )
    return model.value


class _Reader:
    """Makes one object after the other; each may refer to those made before it, so to no cycle."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = ArrayReader(arrays)
        self.made: list[Made] = []
        self.used: set[int] = set()
        self._by_address: dict[int, Made] = {}
        self._depth = self._n_parts = 1  # of the object that is being made

    def make(self, description: Any) -> None:
        """Make the object of a description."""
        if not isinstance(description, dict) or not isinstance(description.get("class"), str):
            raise ModelFileError("an object has no class")
        name = description["class"]
        self._depth, self._n_parts = 1, _PARTS_OF_A_PIPELINE if name == "Pipeline" else 1
        sizes: dict[str, int] = {}
        if name in SAVED_RECORDS:
            fields = self._values(description, "fields", name)
            _require_same(fields, fields_of(name), name, "fields")
            sizes = self._judged(name, fields, fields_of(name))
            value = _attempt(name, class_of(name), **fields)
        elif name in SAVED_ESTIMATORS:
            value = self._estimator(name, description)
        else:
            raise ModelFileError(f"it names the class {name!r}, which typicality does not know")
        if name in IS_SOUND and not IS_SOUND[name](value):
            raise ModelFileError(f"the fields of {name} contradict each other")
        self.made.append(Made(value, name, sizes, self._depth, self._n_parts))
        self._by_address[id(value)] = self.made[-1]

    def _estimator(self, name: str, description: dict[str, Any]) -> Any:
        kind = class_of(name)
        parameters = self._values(description, "parameters", name)
        wanted = inspect.signature(kind).parameters.keys() - set(NOT_SAVED)
        _require_same(parameters, wanted, name, "parameters")
        self._judged(name, parameters, parameters_of(name))
        foreign = next((key for key in parameters if is_foreign(parameters[key])), None)
        if foreign is not None and name not in OF_SCIKIT_LEARN:
            raise ModelFileError(f"{name}.{foreign} is an array of objects or a type")
        model = _attempt(name, kind, **parameters)
        _attempt(name, model._validate_params)
        attributes = self._values(description, "attributes", name)
        unknown = next((key for key in attributes if key not in attributes_of(name)), None)
        if unknown is not None:
            raise ModelFileError(f"{name} has no attribute {unknown!r}")
        self._judged(name, attributes, attributes_of(name))
        missing = lacking(name, attributes)
        if missing is not None:
            raise ModelFileError(f"{name} lacks the attribute {missing!r}")
        for key, value in attributes.items():
            setattr(model, key, value)
        return model

    def _judged(self, name: str, values: dict[str, Any], hints: dict[str, Any]) -> dict[str, int]:
        """The sizes of an object whose values are all as annotations say."""
        context = Context({}, self._by_address)
        for key, hint in hints.items():
            if key in values and not fits(values[key], hint, context):
                raise ModelFileError(f"{name}.{key} has the wrong type, shape or content")
        return context.sizes

    def _values(self, description: dict[str, Any], key: str, name: str) -> dict[str, Any]:
        values = description.get(key)
        if not isinstance(values, dict):
            raise ModelFileError(f"{name} has no {key}")
        made = {}
        for field, value in values.items():
            n_parts = self._n_parts
            made[field] = self._value(value)
            if key == "parameters" and self._n_parts > n_parts and field not in parameters_of(name):
                raise ModelFileError(f"{name}.{field} has the wrong type, shape or content")
        return made

    def _value(self, node: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise ModelFileError("its lists are nested too deeply for a model")
        if node is None or type(node) in (bool, int, float, str):
            return node
        if not isinstance(node, dict) or not node:
            raise ModelFileError("a value has an unknown type")
        if "array" in node:
            return self.arrays.get(node)
        kind, content = next(iter(node.items()))
        makers: dict[str, Callable[[], Any]] = {
            "list": lambda: self._entries(content, "a list", depth),
            "tuple": lambda: tuple(self._entries(content, "a tuple", depth)),
            "dict": lambda: {
                key: self._value(value, depth + 1)
                for key, value in _checked(content, dict, "a dictionary").items()
            },
            "object": lambda: self._object(content),
            "slice": lambda: _slice_of(self._entries(content, "a slice", depth)),
            "strings": lambda: _object_array(
                [_checked(e, str, "a name") for e in _checked(content, list, "a list of names")]
            ),
            "objects": lambda: _object_array(self._entries(content, "a list of values", depth)),
            "float": lambda: float(_look_up(_NOT_FINITE, content, "the number")),
            "dtype": lambda: _look_up(_DTYPES, content, "the type of numbers"),
            "text_dtype": lambda: _look_up({"object": np.dtype(object)}, content, "the type"),
            "type": lambda: _look_up(_TYPES, content, "the type"),
            "scalar": lambda: _scalar_of(content, self._value(node.get("value"), depth + 1)),
            "enum": lambda: _enum_of(content, self._value(node.get("value"), depth + 1)),
            "sparse": lambda: _sparse_of(
                self._entries(content, "a list", depth), node.get("shape")
            ),
            "random_state": lambda: _random_state_of(self._value(content, depth + 1)),
        }
        return _look_up(makers, kind, "the kind")()

    def _entries(self, content: Any, what: str, depth: int) -> list[Any]:
        return [self._value(entry, depth + 1) for entry in _checked(content, list, what)]

    def _object(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self.made):
            raise ModelFileError(f"it refers to object {number!r} before that object is defined")
        self.used.add(number)
        part = self.made[number]
        self._depth = max(self._depth, part.depth + 1)
        self._n_parts += part.n_parts
        if self._depth > _DEEPEST_MODEL or self._n_parts > _MOST_PARTS:
            raise ModelFileError("its objects are nested too deeply, or there are too many of them")
        return part.value


# ---- values of other libraries, made again and judged --------------------------------------------


def _attempt(what: str, make: Callable[..., Any], /, **arguments: Any) -> Any:
    """Make something of arguments from a file, which it may refuse."""
    try:
        return make(**arguments)
    except (TypeError, ValueError, OverflowError) as error:
        reason, _, _ = str(error).partition(". Got ")  # scikit-learn goes on with the value
        raise ModelFileError(f"{what} cannot be created: {reason}") from error


def _checked(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"{what} is malformed")
    return value


def _look_up(known: Mapping[str, Any], word: Any, what: str) -> Any:
    if not isinstance(word, str) or word not in known:
        raise ModelFileError(f"{what} {word!r} is unknown")
    return known[word]


def _require_same(found: Any, wanted: Any, name: str, what: str) -> None:
    if set(found) != set(wanted):
        odd = min(set(found) ^ set(wanted))
        raise ModelFileError(f"{name} has other {what} than expected; one difference is {odd!r}")


def _scalar_of(word: Any, value: Any) -> Any:
    if type(value) not in (bool, int, float):
        raise ModelFileError("a number is malformed")
    number = _look_up(_DTYPES, word, "the type of numbers").type
    return _attempt("a number", lambda: number(value))


def _slice_of(bounds: list[Any]) -> slice:
    if len(bounds) != 3 or not all(bound is None or type(bound) in (int, str) for bound in bounds):
        raise ModelFileError("a slice is malformed")
    return slice(*bounds)


def _object_array(entries: list[Any]) -> NDArray[Any]:
    array = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        if not (entry is None or isinstance(entry, str | bool | int | float | np.generic)):
            raise ModelFileError("a list of values is malformed")
        array[i] = entry
    return array


def _enum_of(name: Any, value: Any) -> Any:
    enum = class_of(_look_up({name: name for name in SAVED_ENUMS}, name, "the enumeration"))
    return _attempt(name, lambda: enum(value))


def _sparse_of(parts: list[Any], shape: Any) -> csr_array:
    """A sparse matrix; `parts` are its entries, their columns, and where rows begin."""
    lengths = _checked(shape, list, "the shape of a sparse matrix")
    kinds = [part.dtype.kind for part in parts if type(part) is np.ndarray]
    if len(lengths) != 2 or len(parts) != 3 or kinds != ["f", "i", "i"]:
        raise ModelFileError("a sparse matrix is malformed")

    def make() -> csr_array:
        matrix = csr_array(tuple(parts), shape=tuple(lengths))
        matrix.check_format(full_check=True)
        return matrix

    return _attempt("a sparse matrix", make)


def _random_state_of(state: Any) -> np.random.RandomState:
    """A generator of random numbers, where it had stopped."""
    kinds = [str, np.ndarray, int, int, float]
    if type(state) is not tuple or [type(entry) for entry in state] != kinds:
        raise ModelFileError("the state of random numbers is malformed")
    name, numbers, place, has_another, _ = state
    if not (
        name == "MT19937"
        and numbers.dtype == np.uint32
        and numbers.shape == (_WORDS_OF_MERSENNE_TWISTER,)
        and 0 <= place <= _WORDS_OF_MERSENNE_TWISTER
        and has_another in (0, 1)
    ):
        raise ModelFileError("the state of random numbers is malformed")
    random_state = np.random.RandomState()
    random_state.set_state(state)
    return random_state
