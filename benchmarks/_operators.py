"""Operators by their names, for measurements of single products."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.operators import KernelColumns, Nufft, Nystroem, Tiles, Truncated

__all__ = ["METHODS", "build"]

_MEMORY = 2**26  # bytes: where more are needed, methods refuse, so that products stay short

METHODS: dict[str, Any] = {
    "blocked": lambda columns, rtol: Tiles(columns, single=False),
    "blocked, single precision": lambda columns, rtol: Tiles(columns, single=True),
    "truncated": partial(Truncated, single=False),
    "truncated, single precision": partial(Truncated, single=True),
    "nufft": partial(Nufft, memory=_MEMORY),
    "nystroem": partial(Nystroem, memory=_MEMORY),
}


def build(method: str, kernel: Any, X: NDArray[np.floating], *, rtol: float) -> Any:
    """The operator of a kernel on the rows of X."""
    return METHODS[method](KernelColumns(kernel, X), rtol=rtol)
