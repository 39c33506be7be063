"""Tensors of torch at the border of the library: how they enter, and how results leave."""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray
from sklearn import get_config

from typicality._cached import cached_property
from typicality._compat import convert_to_numpy


class Foreign(NamedTuple):
    """Where arrays of a library other than NumPy and torch are.

    Parameters
    ----------
    library : module
        The functions of the array-API standard.
    device : object
        Their device, as the library names it.
    """

    library: Any
    device: Any


# The package, or the copy in scikit-learn 1.7 and newer, or that in SciPy.
_HOMES_OF_COMPAT = (
    "array_api_compat",
    "sklearn.externals.array_api_compat",
    "scipy._lib.array_api_compat",
)

Place = str | Foreign  # a device of torch, e.g. "cuda:0", or one of another library


def is_tensor(X: Any) -> bool:
    """Whether an object is a tensor of torch; torch is not imported for that."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def is_foreign(X: Any) -> bool:
    """Whether an object is a tensor, or an array of another library of the array-API standard."""
    plain = isinstance(X, np.ndarray | np.generic | type)
    return is_tensor(X) or (not plain and hasattr(X, "__array_namespace__"))


def is_followed(X: Any) -> bool:
    """Whether results are to be of the kind of X, and not arrays of NumPy.

    For libraries other than torch, only with scikit-learn's `array_api_dispatch`.
    """
    return is_tensor(X) or (is_foreign(X) and get_config()["array_api_dispatch"])


def place_of(X: Any) -> Place:
    """Where a foreign array lives."""
    return str(X.device) if is_tensor(X) else Foreign(array_namespace(X), X.device)


def device_of(X: Any) -> Place | None:
    """Where the results for X are to live; None for arrays of NumPy."""
    return place_of(X) if is_followed(X) else None


def array_of(X: Any) -> Any:
    """A tensor as an array of NumPy, which shares its memory on a CPU; anything else as it is."""
    if isinstance(X, np.ndarray):
        return X
    if isinstance(X, OnDevice):
        return X.host
    if not is_tensor(X):
        return convert_to_numpy(X, array_namespace(X)) if is_foreign(X) else X
    X = X.detach()
    if X.is_floating_point() and X.dtype.itemsize < np.dtype(np.float32).itemsize:
        X = X.float()  # half precision, of which NumPy has one kind only
    return X.cpu().numpy()


def tensor_of(values: Any, device: Place) -> Any:
    """An array of numbers as a tensor, or as an array of another library; all else as it is.

    float64 becomes float32 on devices that do not know it.
    """
    if isinstance(values, OnDevice):
        return values.tensor.to(device).contiguous()
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "bif"):
        return values
    if isinstance(device, Foreign):
        return device.library.asarray(values, device=device.device)
    import torch

    if values.dtype == np.float64 and device.startswith("mps"):
        values = values.astype(np.float32)
    return torch.tensor(values, device=device)


class OnDevice(NDArrayOperatorsMixin):
    """A tensor that stands for an array until code for the CPU needs it.

    Slices and columns stay on the device; rows that are picked by their numbers, results of NumPy
    and `astype` are arrays, from one copy on the host. It has no other methods of an array.

    Parameters
    ----------
    tensor : Tensor
        Numbers on a device.
    """

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @cached_property
    def host(self) -> NDArray[Any]:
        """The copy on the host; made once."""
        return np.ascontiguousarray(array_of(self.tensor))

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(str(self.tensor.dtype).removeprefix("torch."))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def nbytes(self) -> int:
        return int(self.tensor.nbytes)

    def __len__(self) -> int:
        return len(self.tensor)

    def __getitem__(self, index: Any) -> Any:
        import torch

        if isinstance(index, np.ndarray):
            places = torch.tensor(index, device=self.tensor.device)
            return array_of(self.tensor[places])
        return OnDevice(self.tensor[index])

    def argmax(self) -> int:
        """Where the largest number is."""
        return int(self.tensor.argmax())

    def __float__(self) -> float:
        return float(self.tensor)

    def astype(self, dtype: Any, *, copy: bool = True) -> NDArray[Any]:
        """An array on the host."""
        return self.host.astype(dtype, copy=copy)

    def copy(self) -> "OnDevice":
        """The same numbers in memory of their own, on the device."""
        return OnDevice(self.tensor.clone())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.host, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(array_of, inputs), **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self.host,)


def resident(X: Any) -> Any:
    """The tensor of what is on a device; None for anything else."""
    return X.tensor if isinstance(X, OnDevice) else None


def array_namespace(array: Any) -> Any:
    """The functions of the array-API standard for a tensor, or for an array of another library."""
    return _array_api_compat().array_namespace(array)


@cache
def _array_api_compat() -> Any:
    return import_module(next(home for home in _HOMES_OF_COMPAT if find_spec(home) is not None))
