"""run.json: all it takes to repeat a run, and what came out of it."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

__all__ = ["RECORD_FORMAT", "as_json", "read_record", "versions"]

RECORD_FORMAT = 1
_PACKAGES = ("typicality", "numpy", "scipy", "scikit-learn", "numba", "finufft")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that is not installed
            continue
    return found


def as_json(value: Any) -> Any:
    """A value as JSON has it: arrays as lists, what is not finite and foreign objects as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if np.isfinite(value) else str(value)
        case np.generic() | np.ndarray():
            return as_json(value.tolist())
        case Mapping():
            return {str(key): as_json(entry) for key, entry in value.items()}
        case list() | tuple():
            return [as_json(entry) for entry in value]
    return repr(value)
