"""Tensors of torch at the border of the library: how they enter, and how results leave."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

__all__ = ["array_namespace", "array_of", "device_of", "is_tensor", "tensor_of"]


def is_tensor(X: Any) -> bool:
    """Whether an object is a tensor of torch; torch is not imported for that."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def device_of(X: Any) -> str | None:
    """The device of a tensor, e.g. "cuda:0"; None for anything else."""
    return str(X.device) if is_tensor(X) else None


def array_of(X: Any) -> Any:
    """A tensor as an array of NumPy, which shares its memory on a CPU; anything else as it is."""
    if not is_tensor(X):
        return X
    X = X.detach()
    if X.is_floating_point() and X.dtype.itemsize < np.dtype(np.float32).itemsize:
        X = X.float()  # half precision, of which NumPy has one kind only
    return X.cpu().numpy()


def tensor_of(values: Any, device: str) -> Any:
    """An array of numbers as a tensor on a device; anything else as it is.

    float64 becomes float32 on devices that do not know it.
    """
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "bif"):
        return values
    import torch

    if values.dtype == np.float64 and device.startswith("mps"):
        values = values.astype(np.float32)
    return torch.tensor(values, device=device)


def array_namespace(array: Any) -> Any:
    """The functions of the array-API standard for a tensor, or for an array of another library."""
    installed = find_spec("array_api_compat") is not None
    name = "array_api_compat" if installed else "sklearn.externals.array_api_compat"
    return import_module(name).array_namespace(array)
