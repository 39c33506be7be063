"""What all generators share: rows with labels, the seed, and checks of what is asked for."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles

Labelled = tuple[Doubles, NDArray[np.int_]]
Seed = int | np.random.RandomState | None


def labelled(parts: list[Doubles], labels: list[int]) -> Labelled:
    """The parts one after the other, each with its label."""
    return np.concatenate(parts), np.repeat(labels, [len(part) for part in parts])


def check_counts(**counts: Any) -> None:
    """Whole numbers of rows, not all of them zero."""
    for name, count in counts.items():
        if type(count) is bool or not isinstance(count, Integral) or int(count) < 0:
            raise ValueError(f"{name} must be a whole number, 0 or more, got {count!r}.")
    if not any(counts.values()):
        raise ValueError(f"No rows were requested: set {' or '.join(counts)} to more than 0.")


def check_sizes(**sizes: Any) -> None:
    """Lengths, or zero."""
    for name, size in sizes.items():
        if not isinstance(size, Real) or not 0 <= float(size) < np.inf:
            raise ValueError(f"{name} must be a finite number, 0 or more, got {size!r}.")
