"""What the rules need from an array library, found from the array itself."""

import math
from typing import Any

Array = Any  # a NumPy array, a torch tensor, or any array of the array-API standard


def namespace(array: Array) -> Any:
    """The module of functions for `array`: NumPy, or a standard view of torch and others."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    from array_api_compat import array_namespace

    return array_namespace(array)


def like(values: Any, array: Array) -> Array:
    """`values` as an array of the library, type and device of `array`."""
    xp = namespace(array)
    return xp.asarray(values, dtype=array.dtype, device=array.device)


def largest_exponent(array: Array) -> float:
    """An exponent whose exponential is large but far from overflow: 603 for float64."""
    return 0.85 * math.log(float(namespace(array).finfo(array.dtype).max))


def bounded_exp(exponent: Array) -> Array:
    """exp(exponent), at most exp(largest_exponent)."""
    xp = namespace(exponent)
    limit = xp.full_like(exponent, largest_exponent(exponent))
    return xp.exp(xp.where(exponent < limit, exponent, limit))
