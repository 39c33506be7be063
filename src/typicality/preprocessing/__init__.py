"""Preparation of tables: scale columns, fill missing values, encode categories.

Distances are sums over columns, so their result depends on the units of the columns.
:class:`ColumnScaler` brings columns of numbers to a common scale. :class:`MixedColumns` also
handles columns of categories. :class:`PlaceScaler` turns latitude and longitude into points on a
sphere.
"""

from typicality.preprocessing.mixed import MixedColumns
from typicality.preprocessing.scaling import ColumnScaler
from typicality.preprocessing.sphere import PlaceScaler

__all__ = ["ColumnScaler", "MixedColumns", "PlaceScaler"]
