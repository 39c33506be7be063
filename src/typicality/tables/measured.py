"""Whether a column of whole numbers holds measurements: counters, codes, years and classes do not.

The names and values of columns decide; nothing here reads a file.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from typicality._typing import Doubles
from typicality._words import YEARS

_CLASSES = re.compile(
    "(is )?(anomaly|outlier)|category|class(es)?|cluster|diagnosis|gr(ou)?p|labels?|outcome|species"
    "|target|type"
)
_CODES = re.compile(
    r"\w*codes?|country|county|district|ean|fips\w*|geoid|isbn|(tele)?phone|plz|province|region|sku"
    "|ssn|state|zip"
)
_NUMBERS = re.compile(
    r"identifier|index|individual|key|no|nr|\w*num|number|participant|patient|respondent|serial"
    "|subject"
)
_IDS = re.compile(  # other words end in id, too
    "(?!(acid|aid|arid|bid|braid|covid|fluid|grid|humid|hybrid|kid|lipid|liquid|maid|mid|orchid"
    "|(over|pre|un)?paid|plasmid|pyramid|raid|rapid|rigid|solid|valid|vivid)$).*(?<!o)id"
)
_LATITUDES = re.compile("(.* )?(lat|latitude?|breitengrad)")
_LONGITUDES = {
    "lat": ("lon", "lng", "long"),
    "latitude": ("longitude", "longitud"),  # names in shapefiles have ten letters
    "latitud": ("longitud",),
    "breitengrad": ("längengrad", "laengengrad"),
}
_MEASURED = re.compile("age|[xyz]")  # may well count up
_FEWEST = 10  # rows: fewer may well count up
_RUNNING = 2 / 3  # of the rows are one more than the row before, in a column that counts in groups
_MOST_CLASSES = 50
_FEW_CLASSES = 20  # whole numbers without a gap between them
_FEW_CODES = 50
_FEW_DATES = 5


class Doubt(NamedTuple):
    """Why a column may hold no measurements, and whether this is nearly certain."""

    what: str
    is_certain: bool


def doubt_about(name: str, some: Doubles, low: float, high: float) -> Doubt | None:
    """Why a column of whole numbers may hold no measurements; None if nothing says so.

    Parameters
    ----------
    name : str
        The name of the column.
    some : array of shape (n,)
        The first of its values, without missing ones.
    low, high : float
        The smallest and the largest of all values.
    """
    words = _words_of(name)
    called, last, n_values = " ".join(words), "".join(words[-1:]), len(np.unique(some))
    is_y = name.strip().lower() == "y"
    if (is_y or _CLASSES.fullmatch(called)) and n_values <= _MOST_CLASSES:
        is_certain = is_coded(some, low, high) and (n_values == 2 or not is_y)
        return Doubt(f"a class with {n_values} values", is_certain)
    if len(some) < _FEWEST:
        return None
    is_year = not YEARS.isdisjoint(words)
    if (1000 if is_year else 1900) <= low and high <= (3000 if is_year else 2050):
        return Doubt(f"years from {low:.0f} to {high:.0f}", is_year and len(words) == 1)
    if n_values >= _FEW_DATES and _are_dates(some, low, high):
        return Doubt(f"dates from {low:.0f} to {high:.0f}", is_certain=True)
    steps = np.diff(some)
    if np.mean(steps == 1) >= _RUNNING and high - low >= 2:
        starts = some[1:][steps < 1]  # an age that is asked every year starts anywhere
        at_lowest = int(np.count_nonzero(starts == low)) >= _RUNNING * len(starts)
        is_counter = (at_lowest or n_values == len(some)) and not _MEASURED.fullmatch(called)
        return Doubt(f"a counter: whole numbers from {low:.0f} up", is_counter)
    if is_year and len(words) == 1 and low >= 40 and high <= 99:  # may be ages
        return Doubt(f"years from {low:.0f} to {high:.0f}", is_certain=False)
    what = f"whole numbers in a column called {last}"
    if _CODES.fullmatch(last):
        return Doubt(what, is_certain=True)
    if n_values > _FEW_CODES and (_NUMBERS.fullmatch(last) or _IDS.fullmatch(last)):
        return Doubt(what, n_values == len(some) or last.endswith("id"))
    return None


def _are_dates(some: Doubles, low: float, high: float) -> bool:
    """Whether whole numbers are dates such as 20261119, or months such as 202611."""
    has_days = low >= 18000101 and high <= 21001231
    if not has_days and not (low >= 180001 and high <= 210012):
        return False
    months, days = divmod(some, 100) if has_days else (some, np.ones(1))
    parts = ((months % 100, 12), (days, 31))
    return all(bool(((part >= 1) & (part <= most)).all()) for part, most in parts)


def is_coded(some: Doubles, low: float, high: float) -> bool:
    """Whether some whole numbers number a few classes: -1 and 1, or all numbers from 0 or 1 up."""
    if low not in (-1, 0, 1) or not low < high <= _FEW_CLASSES:
        return False
    n_values = len(np.unique(some))
    return (low, high, n_values) == (-1, 1, 2) or (low >= 0 and high - low + 1 == n_values)


def find_places(ranges: Mapping[str, tuple[float, float]]) -> tuple[str, str] | None:
    """The columns of latitude and longitude, by names and ranges; None without exactly one pair."""
    by_words = {" ".join(_words_of(name)): name for name in ranges}
    found = []
    for words, name in by_words.items():
        if _LATITUDES.fullmatch(words):
            before, last = words[: -len(words.split()[-1])], words.split()[-1]
            pairs = (by_words.get(before + other) for other in _LONGITUDES[last])
            found += [(name, other) for other in pairs if other is not None]
    found = [
        (lat, lon)
        for lat, lon in found
        if ranges[lat][0] >= -90
        and ranges[lat][1] <= 90
        and ranges[lon][0] >= -180
        and ranges[lon][1] <= 360
    ]
    return found[0] if len(found) == 1 else None


def is_called_id(name: str) -> bool:
    """Whether a name is one such as id, user_id, "Order ID" or userId, and not paid or grid."""
    return _words_of(name)[-1:] == ["id"]


def _words_of(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
