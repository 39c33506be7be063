"""All targets by their names; each is built when it is asked for."""

from functools import cache
from importlib import import_module

_MODULES = {
    "tables": ("csv", "csv.gz", "ndjson", "parquet", "arrow", "npy", "xlsx"),
    "runs": ("run.json",),
}
NAMES = [name for names in _MODULES.values() for name in names]


@cache
def target_of(name):
    module = next(module for module, names in _MODULES.items() if name in names)
    return import_module(f"fuzz.{module}").TARGETS[name]
