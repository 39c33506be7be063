"""From what the files of a model hold to the model; nothing is taken on trust."""

import inspect
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from typicality.exceptions import ModelFileError
from typicality.persistence._arrays import ArrayReader
from typicality.persistence._entries import class_of
from typicality.persistence._kinds import Context, Made, one_of, part, text, tuple_of, words
from typicality.persistence._registry import ATTRIBUTES, ESTIMATORS, RECORDS
from typicality.persistence._values import (
    attempt,
    checked,
    dtype_of,
    enum_of,
    float_of,
    look_up,
    names_of,
    random_state_of,
    scalar_of,
    sparse_of,
)
from typicality.persistence._writing import DEEPEST


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
    if model.name not in ESTIMATORS:
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
        if name in RECORDS:
            made = self._record(name, description)
        elif name in ESTIMATORS:
            made = self._estimator(name, description)
        else:
            raise ModelFileError(f"it names the class {name!r}, which typicality does not know")
        self.made.append(made)
        self._by_address[id(made.value)] = made

    def _record(self, name: str, description: dict[str, Any]) -> Made:
        entry = RECORDS[name]
        fields = self._values(description, "fields", name)
        if set(fields) != set(entry.fields):
            odd = min(set(fields) ^ set(entry.fields))
            raise ModelFileError(f"{name} has not the fields it must have: see {odd!r}")
        sizes = self._judged(name, {key: (entry.fields[key], fields[key]) for key in entry.fields})
        value = attempt(name, class_of(name, entry), **fields)
        if not entry.is_sound(value):
            raise ModelFileError(f"the fields of {name} do not fit each other")
        return Made(value, name, sizes)

    def _estimator(self, name: str, description: dict[str, Any]) -> Made:
        kind: Any = class_of(name, ESTIMATORS[name])
        parameters = self._values(description, "parameters", name)
        wanted = set(inspect.signature(kind).parameters) - {"memory"}
        if set(parameters) != wanted:
            odd = min(set(parameters) ^ wanted)
            raise ModelFileError(f"{name} has not the parameters it must have: see {odd!r}")
        model = attempt(name, kind, **parameters)
        attempt(name, model._validate_params)
        if name == "Pipeline":
            self._check_steps(parameters["steps"])
        attributes = self._values(description, "attributes", name)
        self._check_attributes(name, attributes)
        for key, value in attributes.items():
            setattr(model, key, value)
        return Made(model, name, {})

    def _check_attributes(self, name: str, attributes: dict[str, Any]) -> None:
        entry = ESTIMATORS[name]
        unknown = next((key for key in attributes if key not in entry.needs + entry.may), None)
        if unknown is not None:
            raise ModelFileError(f"{name} has no attribute {unknown!r}")
        self._judged(
            name,
            {key: (ATTRIBUTES[key], attributes[key]) for key in ATTRIBUTES if key in attributes},
        )
        is_fitted = bool(attributes.keys() - {"_sklearn_output_config"})
        missing = next((key for key in entry.needs if key not in attributes), None)
        if is_fitted and missing is not None:
            raise ModelFileError(f"{name} lacks the attribute {missing!r}")

    def _check_steps(self, steps: Any) -> None:
        step_kind = tuple_of(text, one_of(words("passthrough"), part(*ESTIMATORS)))
        context = Context({}, self._by_address)
        if type(steps) is not list or not steps or not all(step_kind(s, context) for s in steps):
            raise ModelFileError("the steps of Pipeline are not names and models")

    def _judged(self, name: str, values: dict[str, tuple[Any, Any]]) -> dict[str, int]:
        """The sizes of an object whose values, each with its kind, are all as they must be."""
        context = Context({}, self._by_address)
        for key, (kind, value) in values.items():
            if not kind(value, context):
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
        if kind in ("list", "tuple", "dict"):
            return self._container(kind, content, depth + 1)
        if kind == "object":
            return self._object(content)
        more = self._value(node.get("value"), depth + 1)
        makers: dict[str, Callable[[], Any]] = {
            "strings": lambda: names_of(content),
            "float": lambda: float_of(content),
            "dtype": lambda: dtype_of(content),
            "scalar": lambda: scalar_of(content, more),
            "enum": lambda: enum_of(content, more),
            "sparse": lambda: sparse_of(
                self._container("list", content, depth + 1), node.get("shape")
            ),
            "random_state": lambda: random_state_of(self._value(content, depth + 1)),
        }
        return look_up(makers, kind, "the kind")()

    def _container(self, kind: str, content: Any, depth: int) -> Any:
        if kind == "dict":
            entries = checked(content, dict, "a dictionary")
            return {key: self._value(value, depth) for key, value in entries.items()}
        values = [self._value(entry, depth) for entry in checked(content, list, f"a {kind}")]
        return values if kind == "list" else tuple(values)

    def _object(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self.made):
            raise ModelFileError(f"it refers to object {number!r}, which does not come before")
        self.used.add(number)
        return self.made[number].value
