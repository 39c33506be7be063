"""Values of other libraries that a document spells out, made anew and judged."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from typicality.exceptions import ModelFileError
from typicality.persistence._arrays import DTYPES
from typicality.persistence._registry import ENUMS

_NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
_WORDS_OF_MERSENNE_TWISTER = 624


def attempt(what: str, make: Callable[..., Any], /, **arguments: Any) -> Any:
    """Make something of arguments from a file, which it may refuse."""
    try:
        return make(**arguments)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{what} cannot be made: {error}") from error


def checked(value: Any, kind: type, what: str) -> Any:
    """The value, where it is of the type it must have."""
    if type(value) is not kind:
        raise ModelFileError(f"{what} is malformed")
    return value


def look_up(known: Mapping[str, Any], word: Any, what: str) -> Any:
    """What a word stands for."""
    if not isinstance(word, str) or word not in known:
        raise ModelFileError(f"{what} {word!r} is not known")
    return known[word]


def float_of(word: Any) -> float:
    """A number that JSON cannot spell."""
    return float(look_up(_NOT_FINITE, word, "the number"))


def dtype_of(word: Any) -> np.dtype[Any]:
    """A type of numbers."""
    name: str = look_up({name: name for name in DTYPES}, word, "the type of numbers")
    return np.dtype(name)


def scalar_of(word: Any, value: Any) -> Any:
    """A number of a type of NumPy."""
    if type(value) not in (bool, int, float):
        raise ModelFileError("a number is malformed")
    number = dtype_of(word).type
    return attempt("a number", lambda: number(value))


def names_of(entries: Any) -> NDArray[Any]:
    """An array of strings."""
    names = [checked(entry, str, "a name") for entry in checked(entries, list, "a list of names")]
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def enum_of(name: Any, value: Any) -> Any:
    """A member of an enumeration."""
    enum: Any = getattr(import_module(look_up(ENUMS, name, "the enumeration")), name)
    return attempt(name, lambda: enum(value))


def sparse_of(parts: list[Any], shape: Any) -> csr_array:
    """A sparse matrix; `parts` are its entries, their columns, and where rows begin."""
    lengths = checked(shape, list, "the shape of a sparse matrix")
    kinds = [part.dtype.kind for part in parts if type(part) is np.ndarray]
    if len(lengths) != 2 or len(parts) != 3 or kinds != ["f", "i", "i"]:
        raise ModelFileError("a sparse matrix is malformed")

    def make() -> csr_array:
        matrix = csr_array(tuple(parts), shape=tuple(lengths))
        matrix.check_format(full_check=True)
        return matrix

    return attempt("a sparse matrix", make)


def random_state_of(state: Any) -> np.random.RandomState:
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
