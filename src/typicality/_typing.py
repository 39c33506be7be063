"""Names for the arrays that most modules speak of."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]  # float64 or float32, as the user gave it
Doubles = NDArray[np.float64]
Labels = NDArray[np.int32]  # clusters of rows; -1 for rows in none
Places = NDArray[np.intp]  # positions of rows or nodes


class Index(NamedTuple):
    """Mark of an array of positions: whole numbers from `lowest` to below the size `below`.

    What a model file holds is checked against these annotations, because compiled code does not
    look where it reads. ``Annotated[Doubles, "n c"]`` is an array and its shape. Sizes of one
    name agree in an object and the objects it holds: n rows in sums or nodes of a tree, N rows that
    were fitted, d features, c prototypes. Names with an underscore hold within one object only.
    A type as a mark, ``Annotated[Any, Kernel]``, is narrower than what a type checker should know.
    """

    below: str | None = None
    lowest: int = 0

    def holds(self, positions: NDArray[np.integer], sizes: Mapping[str, int]) -> bool:
        """Whether all positions are within their range, for an object with these sizes."""
        if (positions < self.lowest).any():
            return False
        return self.below is None or bool((positions < sizes.get(self.below, 0)).all())
