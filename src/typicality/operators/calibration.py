"""Seconds that each kind of work takes, as measured on one core of one machine.

`make calibrate` measures them anew, on the machine at hand, and writes the table. Only ratios
matter for a choice between methods, so a table from another machine is of use.
"""

import json
from functools import cache
from importlib.resources import files

from typicality._compat import effective_n_threads

TABLE = "calibration.json"


@cache
def _table() -> dict[str, dict[str, float]]:
    text = files("typicality.operators").joinpath(TABLE).read_text(encoding="utf-8")
    table: dict[str, dict[str, float]] = json.loads(text)["seconds"]
    return table


def seconds_for(work: str, **units: float) -> float:
    """Seconds for so many units of a kind of work, shared by all cores.

    Parameters
    ----------
    work : str
        A key of the table.
    **units : float
        Numbers of units, named as in the table.
    """
    each = _table()[work]
    total = sum(each[name] * number for name, number in units.items())
    return float(total / effective_n_threads())
