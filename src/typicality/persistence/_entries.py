"""Entries of the registry, and what must hold of an object beyond its fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from typicality._estimators import ESTIMATORS
from typicality.persistence._kinds import Kind

_MODULES = {
    "ColumnScaler": "typicality.preprocessing",
    "Pipeline": "sklearn.pipeline",
    **{info.name: info.module for info in ESTIMATORS.values()},
}


@dataclass(frozen=True)
class Record:
    """A dataclass or named tuple.

    Parameters
    ----------
    module : str
        Where it lives.
    fields : mapping of str to kind
        All its fields; a field is judged after those before it.
    is_sound : callable, optional
        What else must hold of an object that was made.
    """

    module: str
    fields: Mapping[str, Kind]
    is_sound: Callable[[Any], bool] = lambda made: True


@dataclass(frozen=True)
class Estimator:
    """An estimator, or a pipeline of them.

    Parameters
    ----------
    needs : tuple of str
        Attributes without which a fitted one cannot predict.
    may : tuple of str
        The other attributes it may have.
    """

    needs: tuple[str, ...]
    may: tuple[str, ...]


def class_of(name: str, entry: Record | Estimator) -> Any:
    """The class of an entry; the module is one that we wrote down, never one from a file."""
    module = entry.module if isinstance(entry, Record) else _MODULES[name]
    return getattr(import_module(module), name)


def are_contiguous(parts: Any) -> bool:
    """Whether the groups of a mixture are numbered from 0 without a gap."""
    return len(parts.groups) > 0 and len(np.unique(parts.groups)) == parts.groups.max() + 1


def spans_its_box(grid: Any) -> bool:
    """Whether points lie within two periods, as finufft, which does not look, must be told."""
    extent = grid.high - grid.low
    return bool(
        len(grid.half) == len(grid.low)
        and grid.rtol > 0
        and grid.reach >= 0
        and (extent >= 0).all()
        and (grid.period >= extent + grid.reach).all()
        and np.isfinite([*grid.low, *grid.period, grid.sigma]).all()
    )


def has_all_modes(expansion: Any) -> bool:
    """Whether there is a Fourier coefficient for each mode and each pair of columns."""
    n_pairs = -(-len(expansion.scale) // 2)
    return bool(
        expansion.modes.dtype == np.complex128
        and expansion.modes.shape == (n_pairs, *expansion.grid.shape)
    )
