"""Arrays of a model in a file of safetensors: stored once, however often they are referred to."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.exceptions import ModelFileError

__all__ = ["DTYPES", "ArrayReader", "ArrayWriter"]

DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
    "complex128",
)
_MOST_REPEATS = 2**40  # what is repeated takes no memory, but who looks at it takes time


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
            raise ModelFileError(f"{where} is an array of {value.dtype}: files hold plain numbers")
        self._alive.append(value)
        if value.size > 1 and not any(value.strides):  # one number, over and over
            one = value[(slice(1),) * value.ndim].copy()
            return {"repeat": list(value.shape)} | self.put(one, where)
        reference: dict[str, Any] = {"array": self._name(value, where), "shape": list(value.shape)}
        if value.flags.f_contiguous and not value.flags.c_contiguous:
            reference["order"] = "F"
        if value.dtype.kind == "c":
            reference["dtype"] = value.dtype.name
        return reference

    def _name(self, value: NDArray[Any], where: str) -> str:
        """The name of the numbers of an array, which other arrays may look at in another shape."""
        contiguous = value.flags.forc and value.size > 0
        place = (value.ctypes.data, value.size, value.dtype) if contiguous else (id(value),)
        if place not in self._names:
            name = self._names[place] = f"{len(self.arrays):03d} {where}"
            in_memory = value.T if value.flags.f_contiguous else np.ascontiguousarray(value)
            stored = in_memory.reshape(-1)
            # safetensors has no complex numbers of double precision.
            self.arrays[name] = stored.view(np.float64) if value.dtype.kind == "c" else stored
        return self._names[place]


class ArrayReader:
    """Gives arrays back as they were.

    Parameters
    ----------
    arrays : dict of str to array
        What the file holds.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._given: dict[tuple[Any, ...], NDArray[Any]] = {}

    def get(self, reference: dict[str, Any]) -> NDArray[Any]:
        """The array a reference of the document stands for; the same one for the same reference."""
        if not _is_reference(reference):
            raise ModelFileError("a reference to an array is malformed")
        repeat = reference.get("repeat")
        key = (reference["array"], repr(sorted(reference.items())))
        if key not in self._given:
            array = self._shaped(**{k: v for k, v in reference.items() if k != "repeat"})
            self._given[key] = array if repeat is None else _repeated(array, repeat)
        return self._given[key]

    def _shaped(
        self, *, array: str, shape: list[int], order: str = "C", dtype: str | None = None
    ) -> NDArray[Any]:
        name = array
        if name not in self._arrays:
            raise ModelFileError(f"the array {name!r} is missing")
        flat = self._arrays[name].reshape(-1)
        if dtype is not None:
            if flat.dtype != np.float64 or flat.size % 2:
                raise ModelFileError(f"the array {name!r} does not hold complex numbers")
            flat = flat.view(np.complex128)
        if flat.size != math.prod(shape):
            raise ModelFileError(f"the array {name!r} does not have the shape {tuple(shape)}")
        return flat.reshape(shape) if order == "C" else flat.reshape(shape[::-1]).T

    def require_all_used(self) -> None:
        """Refuse arrays nobody asked for."""
        extra = self._arrays.keys() - {key[0] for key in self._given}
        if extra:
            raise ModelFileError(f"the array {min(extra)!r} belongs to nothing")


def _repeated(array: NDArray[Any], shape: Any) -> NDArray[Any]:
    if array.size != 1 or not _is_shape(shape) or math.prod(shape) > _MOST_REPEATS:
        raise ModelFileError("a reference to an array is malformed")
    return np.broadcast_to(array.reshape(()), shape)


def _is_reference(node: dict[str, Any]) -> bool:
    return (
        node.keys() <= {"array", "shape", "order", "dtype", "repeat"}
        and isinstance(node.get("array"), str)
        and _is_shape(node.get("shape"))
        and node.get("order", "F") == "F"
        and node.get("dtype", "complex128") == "complex128"
    )


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and all(type(n) is int and 0 <= n < 2**48 for n in shape)
