"""Soft clustering, density and outlier detection by degrees of typicality.

Every row gets a number in [0, 1] per cluster: how typical the row is of this cluster. The
estimators follow the conventions of scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from typicality._estimators import ESTIMATORS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typicality.cluster.adaptive import AdaptivePCM, SequentialPCM, SparseAdaptivePCM
    from typicality.cluster.alpha_cut import AlphaCutClustering
    from typicality.cluster.auto import AutoClustering
    from typicality.cluster.fuzzy import EntropyCMeans, FuzzyCMeans
    from typicality.cluster.mixture import JoinedMixture
    from typicality.cluster.one_cluster import OneClusterPCM
    from typicality.cluster.possibilistic import PossibilisticCMeans
    from typicality.model import load, save, trusted_types
    from typicality.rows import open_rows

_HOMES = {
    "load": "typicality.model",
    "open_rows": "typicality.rows",
    "save": "typicality.model",
    "trusted_types": "typicality.model",
    **{info.name: info.module for info in ESTIMATORS.values()},
}
_MODULES = (
    "bandwidth",
    "cluster",
    "datasets",
    "exceptions",
    "kernels",
    "levelsets",
    "membership",
    "metrics",
    "model",
    "plot",
    "preprocessing",
    "report",
    "rows",
    "run_folder",
    "stability",
    "sums",
    "tables",
    "validity",
)

__all__ = [
    "AdaptivePCM",
    "AlphaCutClustering",
    "AutoClustering",
    "EntropyCMeans",
    "FuzzyCMeans",
    "JoinedMixture",
    "OneClusterPCM",
    "PossibilisticCMeans",
    "SequentialPCM",
    "SparseAdaptivePCM",
    "__version__",
    "load",
    "open_rows",
    "save",
    "trusted_types",
]


def __getattr__(name: str) -> Any:
    # Names resolve when first used (PEP 562): importing the package loads no scikit-learn.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"typicality.{name}")
    raise AttributeError(f"module 'typicality' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
