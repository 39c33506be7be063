"""From what the files of a model hold to the model; nothing is taken on trust."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from typicality.exceptions import ModelFileError
from typicality.persistence._arrays import DTYPES, ArrayReader
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
)
from typicality.persistence._scikit_learn import NOT_SAVED, PARAMETERS
from typicality.persistence._writing import DEEPEST, TYPES

_NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
_WORDS_OF_MERSENNE_TWISTER = 624


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
        raise ModelFileError(f"it ends with {model.name}, which is no model")
    unused = sorted(set(range(len(objects) - 1)) - reader.used)
    if unused:
        raise ModelFileError(f"an object of {reader.made[unused[0]].name} belongs to nothing")
    return model.value


class _Reader:
    """Makes one object after the other; each may refer to those made before it, so to no cycle."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = ArrayReader(arrays)
        self.made: list[Made] = []
        self.used: set[int] = set()
        self._by_address: dict[int, Made] = {}

    def make(self, description: Any) -> None:
        """Make the object of a description."""
        if not isinstance(description, dict) or not isinstance(description.get("class"), str):
            raise ModelFileError("an object has no class")
        name = description["class"]
        if name in SAVED_RECORDS:
            made = self._record(name, description)
        elif name in SAVED_ESTIMATORS:
            made = self._estimator(name, description)
        else:
            raise ModelFileError(f"it names the class {name!r}, which typicality does not know")
        if name in IS_SOUND and not IS_SOUND[name](made.value):
            raise ModelFileError(f"the fields of {name} do not fit each other")
        self.made.append(made)
        self._by_address[id(made.value)] = made

    def _record(self, name: str, description: dict[str, Any]) -> Made:
        fields = self._values(description, "fields", name)
        _require_same(fields, fields_of(name), f"{name} has not the fields it must have")
        sizes = self._judged(name, fields, fields_of(name))
        return Made(_attempt(name, class_of(name), **fields), name, sizes)

    def _estimator(self, name: str, description: dict[str, Any]) -> Made:
        kind = class_of(name)
        parameters = self._values(description, "parameters", name)
        wanted = inspect.signature(kind).parameters.keys() - set(NOT_SAVED)
        _require_same(parameters, wanted, f"{name} has not the parameters it must have")
        self._judged(name, parameters, PARAMETERS.get(name, {}))
        if name not in OF_SCIKIT_LEARN and any(map(is_foreign, parameters.values())):
            raise ModelFileError(f"a parameter of {name} is a type or an array of objects")
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
        return Made(model, name, {})

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
        return {field: self._value(value) for field, value in values.items()}

    def _value(self, node: Any, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise ModelFileError("it holds lists in lists, too deep for a model")
        if node is None or type(node) in (bool, int, float, str):
            return node
        if not isinstance(node, dict) or not node:
            raise ModelFileError("a value is neither plain nor of a kind")
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
            "strings": lambda: _object_array(_names_of(content)),
            "objects": lambda: _object_array(self._entries(content, "a list of values", depth)),
            "float": lambda: float(_look_up(_NOT_FINITE, content, "the number")),
            "dtype": lambda: _dtype_of(content),
            "text_dtype": lambda: np.dtype(_look_up({"object": object}, content, "the type")),
            "type": lambda: _look_up(TYPES, content, "the type"),
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
            raise ModelFileError(f"it refers to object {number!r}, which does not come before")
        self.used.add(number)
        return self.made[number].value


# ---- values of other libraries, made again and judged --------------------------------------------


def _attempt(what: str, make: Callable[..., Any], /, **arguments: Any) -> Any:
    """Make something of arguments from a file, which it may refuse."""
    try:
        return make(**arguments)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{what} cannot be made: {error}") from error


def _checked(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"{what} is malformed")
    return value


def _look_up(known: Mapping[str, Any], word: Any, what: str) -> Any:
    if not isinstance(word, str) or word not in known:
        raise ModelFileError(f"{what} {word!r} is not known")
    return known[word]


def _require_same(found: Any, wanted: Any, what: str) -> None:
    if set(found) != set(wanted):
        raise ModelFileError(f"{what}: see {min(set(found) ^ set(wanted))!r}")


def _dtype_of(word: Any) -> np.dtype[Any]:
    name: str = _look_up({name: name for name in DTYPES}, word, "the type of numbers")
    return np.dtype(name)


def _scalar_of(word: Any, value: Any) -> Any:
    if type(value) not in (bool, int, float):
        raise ModelFileError("a number is malformed")
    number = _dtype_of(word).type
    return _attempt("a number", lambda: number(value))


def _slice_of(bounds: list[Any]) -> slice:
    if len(bounds) != 3 or not all(bound is None or type(bound) in (int, str) for bound in bounds):
        raise ModelFileError("a slice is malformed")
    return slice(*bounds)


def _names_of(entries: Any) -> list[str]:
    return [_checked(entry, str, "a name") for entry in _checked(entries, list, "a list of names")]


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
