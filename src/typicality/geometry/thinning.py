"""A sample of the rows as a space of its own, and the way back to all rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from typicality.geometry.base import Geometry
from typicality.geometry.distinct import DistinctRows
from typicality.geometry.input_space import InputSpace
from typicality.geometry.kernel_prototypes import KernelPrototypes
from typicality.geometry.kernel_space import KernelSpace
from typicality.kernels import Kernel
from typicality.operators import KernelColumns


@dataclass(frozen=True, eq=False)
class Thinned:
    """The space of a sample of the distinct rows, with the weight of all their copies.

    Parameters
    ----------
    geometry : Geometry
        The space of the sample.
    lift : callable
        Prototypes of that space in the space of all rows.
    lower : callable
        The reverse, where prototypes have coordinates.
    """

    geometry: Geometry[Any]
    lift: Callable[[Any], Any]
    lower: Callable[[Any], Any]


def thinned(geometry: Any, *, input_rows: int, kernel_rows: int) -> Thinned | None:
    """A sample by content, the same in any order of the rows; None where there are few rows.

    Also None where rows are kernel values or dissimilarities.
    """
    if isinstance(geometry, InputSpace) and len(geometry.X) > input_rows:
        return _of_points(geometry, input_rows)
    evaluated = isinstance(geometry, KernelSpace) and isinstance(geometry.columns, KernelColumns)
    if evaluated and len(geometry.X) > kernel_rows:
        return _of_mapped_rows(geometry, geometry.columns.kernel_function, kernel_rows)
    return None


def _of_points(geometry: InputSpace, at_most: int) -> Thinned:
    rows = DistinctRows.of(geometry.X, geometry.sample_weight, at_most=at_most)
    few = InputSpace(rows.rows, rows.weight.astype(geometry.X.dtype))
    return Thinned(few, lambda p: geometry.at(p.centers), lambda p: few.at(p.centers))


def _of_mapped_rows(geometry: KernelSpace, kernel: Kernel, at_most: int) -> Thinned:
    rows = DistinctRows.of(geometry.X, geometry.sample_weight, at_most=at_most)
    weight = rows.weight.astype(geometry.X.dtype)
    few = KernelSpace(kernel, rows.rows, weight)
    given = geometry.sample_weight
    own = np.ones(len(rows.index)) if given is None else given[rows.index].astype(np.float64)

    def lift(prototypes: KernelPrototypes) -> KernelPrototypes:
        weights = np.zeros((len(geometry.X), prototypes.n_clusters))
        weights[rows.index] = prototypes.weights / own[:, None]
        return geometry.prototypes(weights)

    def lower(prototypes: KernelPrototypes) -> KernelPrototypes:
        # The nearest row of the sample: all that a start needs.
        nearest = prototypes.sqdist(rows.rows).argmin(axis=0)
        return few.near_rows(nearest, share=0.0)

    return Thinned(few, lift, lower)
