"""Columns on a common scale, and missing values filled in, before rows are compared.

Distances add up differences of columns, so a column in grams counts a million times more than
the same one in kilograms (squared). :class:`ColumnScaler` takes the units away.
:class:`MixedColumns` lets categories take part.
"""

from typicality.preprocessing.mixed import MixedColumns
from typicality.preprocessing.scaling import ColumnScaler

__all__ = ["ColumnScaler", "MixedColumns"]
