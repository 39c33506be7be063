"""Arrays of a model in a file of safetensors: stored once, however often they are referred to."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.exceptions import ModelFileError

DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
    "complex128",
)
_MOST_AXES = 8


class ArrayWriter:
    """Collects arrays under names.

    Attributes
    ----------
    arrays : dict of str to array
        The arrays, contiguous, as safetensors wants them.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names: dict[tuple[Any, ...], str] = {}
        self._alive: list[NDArray[Any]] = []  # arrays are told apart by their address

    def put(self, value: NDArray[Any], where: str) -> dict[str, Any]:
        """What stands for an array in the document."""
        if value.dtype.name not in DTYPES or not value.dtype.isnative:
            raise ModelFileError(
                f"{where} is an array of type {value.dtype}; a file can hold only plain numbers"
            )
        self._alive.append(value)
        if value.size > 1 and not any(value.strides):  # one number, over and over
            one = value[(slice(1),) * value.ndim].copy()
            return {"repeat": list(value.shape)} | self.put(one, where)
        reference: dict[str, Any] = {"array": self._name(value, where), "shape": list(value.shape)}
        if value.flags.f_contiguous and not value.flags.c_contiguous:
            reference["order"] = "F"
        if self.arrays[reference["array"]].dtype != value.dtype:
            reference["dtype"] = value.dtype.name
        return reference

    def _name(self, value: NDArray[Any], where: str) -> str:
        """The name of the numbers of an array, which other arrays may look at in another shape."""
        contiguous = value.flags.forc and value.size > 0
        place = (value.ctypes.data, value.size, value.dtype) if contiguous else (id(value),)
        if place not in self._names:
            name = self._names[place] = f"{len(self.arrays):03d} {where}"
            in_memory = value.T if value.flags.f_contiguous else np.ascontiguousarray(value)
            self.arrays[name] = _as_stored(in_memory.reshape(-1))
        return self._names[place]


class ArrayReader:
    """Gives arrays back as they were.

    Parameters
    ----------
    arrays : dict of str to array
        What the file holds.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        odd = next((name for name in arrays if arrays[name].dtype.name not in DTYPES), None)
        if odd is not None:
            raise ModelFileError(
                f"the array {odd!r} has the type {arrays[odd].dtype}, which no model uses"
            )
        self._arrays = arrays
        # What is repeated takes no memory, but who looks at it does: a number that stands for
        # each row is repeated no more often than there are numbers of rows.
        self._most_repeats = sum(array.size for array in arrays.values())
        self._flat: dict[tuple[str, str | None], NDArray[Any]] = {}
        self._given: dict[tuple[str, str], NDArray[Any]] = {}

    def get(self, reference: dict[str, Any]) -> NDArray[Any]:
        """The array a reference of the document stands for; the same one for the same reference."""
        if not _is_reference(reference):
            raise ModelFileError("a reference to an array is malformed")
        repeat = reference.get("repeat")
        key = (reference["array"], repr(sorted(reference.items())))
        if key not in self._given:
            array = self._shaped(**{k: v for k, v in reference.items() if k != "repeat"})
            self._given[key] = array if repeat is None else self._repeated(array, repeat)
        return self._given[key]

    def _shaped(
        self, *, array: str, shape: list[int], order: str = "C", dtype: str | None = None
    ) -> NDArray[Any]:
        if array not in self._arrays:
            raise ModelFileError(f"the array {array!r} is missing")
        if (array, dtype) not in self._flat:
            flat = self._arrays[array].reshape(-1)
            self._flat[array, dtype] = flat if dtype is None else _as_it_was(flat, dtype)
        flat = self._flat[array, dtype]
        if flat.size != math.prod(shape):
            raise ModelFileError(f"the array {array!r} does not have the shape {tuple(shape)}")
        return flat.reshape(shape) if order == "C" else flat.reshape(shape[::-1]).T

    def _repeated(self, array: NDArray[Any], shape: Any) -> NDArray[Any]:
        if array.size != 1 or not _is_shape(shape) or math.prod(shape) > self._most_repeats:
            raise ModelFileError("a reference to an array is malformed")
        return np.broadcast_to(array.reshape(()), shape)

    def require_all_used(self) -> None:
        """Refuse arrays nobody asked for."""
        extra = self._arrays.keys() - {key[0] for key in self._given}
        if extra:
            raise ModelFileError(f"nothing refers to the array {min(extra)!r}")


def _as_stored(flat: NDArray[Any]) -> NDArray[Any]:
    if flat.dtype == np.complex128:  # unknown to safetensors
        return flat.view(np.float64)
    if flat.dtype == np.int64:
        short = flat.astype(np.int32)  # most are numbers of rows
        return short if np.array_equal(short, flat) else flat
    return flat


def _as_it_was(flat: NDArray[Any], dtype: str) -> NDArray[Any]:
    if (flat.dtype.name, dtype) == ("float64", "complex128") and flat.size % 2 == 0:
        return flat.view(np.complex128)
    if (flat.dtype.name, dtype) == ("int32", "int64"):
        return flat.astype(np.int64)
    raise ModelFileError(f"an array of type {flat.dtype} cannot be read as one of type {dtype!r}")


def _is_reference(node: dict[str, Any]) -> bool:
    return (
        node.keys() <= {"array", "shape", "order", "dtype", "repeat"}
        and isinstance(node.get("array"), str)
        and _is_shape(node.get("shape"))
        and node.get("order", "F") == "F"
        and node.get("dtype", "int64") in ("complex128", "int64")
    )


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= _MOST_AXES
        and all(type(n) is int and n >= 0 for n in shape)
        and math.prod(max(n, 1) for n in shape) < 2**48
    )
