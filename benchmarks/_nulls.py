"""Single clusters of many shapes: every second cluster that is found in them is a false one."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NULLS", "Null"]

Doubles = NDArray[np.float64]
Draw = Callable[[int, int, np.random.Generator], Doubles]

_RING_WIDTHS = {"thin": 0.02, "thick": 0.1}  # of a radius of 1
_FILAMENT_WIDTHS = {"thin": 0.002, "thick": 0.02}  # of a length of 1


class Null(NamedTuple):
    """A source of one cluster."""

    name: str
    n_features: int
    shape: Draw

    def draw(self, n_rows: int, seed: int) -> Doubles:
        """So many rows; draws of different shapes, or numbers of rows, have nothing in common."""
        entropy = [seed, n_rows, self.n_features, *self.name.encode()]
        return self.shape(n_rows, self.n_features, np.random.default_rng(entropy))


def _uniform(n_rows: int, n_features: int, rng: np.random.Generator) -> Doubles:
    return rng.uniform(size=(n_rows, n_features))


def _gaussian(n_rows: int, n_features: int, rng: np.random.Generator) -> Doubles:
    return rng.standard_normal((n_rows, n_features))


def _student(n_rows: int, n_features: int, rng: np.random.Generator) -> Doubles:
    """The multivariate t distribution of 3 degrees of freedom."""
    scale = np.sqrt(rng.chisquare(3, size=(n_rows, 1)) / 3)
    return rng.standard_normal((n_rows, n_features)) / scale


def _exponential(n_rows: int, n_features: int, rng: np.random.Generator) -> Doubles:
    return rng.exponential(size=(n_rows, n_features))


def _ring(width: float) -> Draw:
    def draw(n_rows: int, n_features: int, rng: np.random.Generator) -> Doubles:
        angle = rng.uniform(0.0, 2 * np.pi, n_rows)
        radius = rng.normal(1.0, width, n_rows)
        X = width * rng.standard_normal((n_rows, n_features))
        X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
        return X

    return draw


def _filament(width: float) -> Draw:
    def draw(n_rows: int, n_features: int, rng: np.random.Generator) -> Doubles:
        X = width * rng.standard_normal((n_rows, n_features))
        X[:, 0] += rng.uniform(size=n_rows)
        return X

    return draw


_CLOUDS = {"uniform": _uniform, "Gaussian": _gaussian, "t, 3 df": _student}
_CURVES = {f"{word} ring": _ring(width) for word, width in _RING_WIDTHS.items()}
_CURVES |= {f"{word} filament": _filament(width) for word, width in _FILAMENT_WIDTHS.items()}

NULLS = [
    *[Null(name, d, shape) for name, shape in _CLOUDS.items() for d in (1, 2, 3, 5, 10)],
    *[Null(name, d, shape) for name, shape in _CURVES.items() for d in (2, 3, 5)],
    Null("exponential", 2, _exponential),
]
