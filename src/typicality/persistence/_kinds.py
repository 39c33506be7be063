"""What a field of a model file may hold: types, shapes, and sizes that must agree.

Compiled code does not look where it reads, so sizes and indices are judged before a model is made.
A kind is a function that says whether a value fits. Sizes have names: ``floats("n", "d")`` is a
matrix, and every other field of the object, or of an object it holds, that names n or d must have
the same. Names that begin with an underscore hold within one object only.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array


class Made(NamedTuple):
    """An object of ours that has been made: the name of its class, and its sizes."""

    value: Any
    name: str
    sizes: dict[str, int]


class Context(NamedTuple):
    """The sizes of the object that is being judged, and the objects made before it."""

    sizes: dict[str, int]
    made: dict[int, Made]

    def agree(self, name: str, length: int) -> bool:
        """Whether a size is the one known by that name; it becomes so where none is known."""
        if name.endswith("-1"):
            name, length = name.removesuffix("-1"), length + 1
        return self.sizes.setdefault(name, length) == length


Kind = Callable[[Any, Context], bool]


def text(value: Any, context: Context) -> bool:
    """A string."""
    return isinstance(value, str)


def nothing(value: Any, context: Context) -> bool:
    """None."""
    return value is None


def flag(value: Any, context: Context) -> bool:
    """True or false."""
    return isinstance(value, bool | np.bool_)


def number(value: Any, context: Context) -> bool:
    """Any real number, infinite and undefined ones too."""
    return isinstance(value, int | float | np.integer | np.floating) and not flag(value, context)


def whole(value: Any, context: Context) -> bool:
    """A whole number that is not negative."""
    return isinstance(value, int | np.integer) and not flag(value, context) and bool(value >= 0)


def float_type(value: Any, context: Context) -> bool:
    """A type of real numbers."""
    return isinstance(value, np.dtype) and value.kind == "f"


def output_setting(value: Any, context: Context) -> bool:
    """What scikit-learn's `set_output` notes."""
    known = ({"transform": word} for word in ("default", "pandas", "polars"))
    return type(value) is dict and value in known


def words(*allowed: str) -> Kind:
    """One of some words."""
    return lambda value, context: isinstance(value, str) and value in allowed


def enum(name: str) -> Kind:
    """A member of an enumeration of that name; only those of the registry are ever made."""
    return lambda value, context: type(value).__name__ == name


def size(name: str) -> Kind:
    """A whole number that is a size."""
    return lambda value, context: whole(value, context) and context.agree(name, int(value))


def one_of(*kinds: Kind) -> Kind:
    """Any of some kinds."""

    def fits(value: Any, context: Context) -> bool:
        for kind in kinds:
            trial = context._replace(sizes=dict(context.sizes))
            if kind(value, trial):
                context.sizes.update(trial.sizes)
                return True
        return False

    return fits


def tuple_of(*kinds: Kind) -> Kind:
    """A tuple with a kind for each entry."""

    def fits(value: Any, context: Context) -> bool:
        return (
            type(value) is tuple
            and len(value) == len(kinds)
            and all(kind(entry, context) for kind, entry in zip(kinds, value, strict=True))
        )

    return fits


def part(*classes: str) -> Kind:
    """An object of one of these classes; its sizes are those of the object that holds it."""

    def fits(value: Any, context: Context) -> bool:
        made = context.made.get(id(value))
        if made is None or made.name not in classes:
            return False
        shared = {name: length for name, length in made.sizes.items() if name[0] != "_"}
        return all(context.agree(name, length) for name, length in shared.items())

    return fits


def array(dtype_kinds: str, *shape: str | int) -> Kind:
    """An array; `dtype_kinds` are letters of NumPy."""

    def fits(value: Any, context: Context) -> bool:
        return (
            isinstance(value, np.ndarray)
            and value.dtype.kind in dtype_kinds
            and value.ndim == len(shape)
            and all(
                length == name if isinstance(name, int) else context.agree(name, length)
                for name, length in zip(shape, value.shape, strict=True)
            )
        )

    return fits


def floats(*shape: str | int) -> Kind:
    """An array of real numbers."""
    return array("f", *shape)


def wholes(*shape: str | int, below: str, lowest: int = 0) -> Kind:
    """An array of whole numbers from `lowest` to below a size that is known by then."""
    right_shape = array("iu", *shape)

    def fits(value: Any, context: Context) -> bool:
        if not right_shape(value, context) or below not in context.sizes:
            return False
        return bool(((value >= lowest) & (value < context.sizes[below])).all())

    return fits


def sparse_floats(rows: str, columns: str) -> Kind:
    """A sparse matrix of real numbers."""

    def fits(value: Any, context: Context) -> bool:
        return (
            isinstance(value, csr_array)
            and value.dtype.kind == "f"
            and context.agree(rows, value.shape[0])
            and context.agree(columns, value.shape[1])
        )

    return fits
