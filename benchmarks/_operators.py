"""Operators by their names, for measurements of single products."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.operators import Evaluated, Nufft, Nystroem, Tiles

__all__ = ["METHODS", "build"]

METHODS: dict[str, Any] = {
    "blocked": partial(Tiles, skip=False, single=False),
    "blocked, single precision": partial(Tiles, skip=False, single=True),
    "truncated": partial(Tiles, skip=True, single=False),
    "truncated, single precision": partial(Tiles, skip=True, single=True),
    "nufft": Nufft,
    "nystroem": Nystroem,
}


def build(method: str, kernel: Any, X: NDArray[np.floating], *, rtol: float) -> Any:
    """The operator of a kernel on the rows of X."""
    return METHODS[method](Evaluated(kernel, X), rtol=rtol)
