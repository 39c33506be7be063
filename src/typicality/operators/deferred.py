"""Sums at any points that are prepared when they are first asked for."""

from functools import cached_property
from typing import Any

from typicality.operators.base import Expansion, Floats, Operator

__all__ = ["Deferred"]


class Deferred:
    """The expansion of an operator, made at the first use, or when the model is pickled.

    A fit that is only asked for its training rows never pays for it.

    Parameters
    ----------
    operator : Operator
        The operator.
    weights : array of shape (n, c)
        The weights.
    rtol : float, optional
        A finer promise than that of the operator.
    """

    def __init__(self, operator: Operator, weights: Floats, rtol: float | None) -> None:
        self._how: Any = operator, weights, rtol

    @cached_property
    def _sums(self) -> Expansion:
        operator, weights, rtol = self._how
        self._how = None
        expansion: Expansion = operator.expansion(weights, rtol=rtol)
        return expansion

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self._sums,)

    @property
    def rtol(self) -> float:
        return self._sums.rtol

    @property
    def n_bytes(self) -> int:
        return self._sums.n_bytes

    def error(self, sums: Floats) -> Floats | float:
        return self._sums.error(sums)

    def at(self, points: Floats) -> Floats:
        return self._sums.at(points)

    def complement_at(self, points: Floats) -> Floats:
        return self._sums.complement_at(points)


def _itself(sums: Expansion) -> Expansion:
    return sums
