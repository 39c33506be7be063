"""The methods that are compared, by name, and how one is told the number, the rate and the seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone, is_clusterer, is_outlier_detector
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from typicality._estimators import ESTIMATORS
from typicality.cluster import (
    AlphaCutClustering,
    AutoClustering,
    FuzzyCMeans,
    OneClusterPCM,
    SequentialPCM,
)


@dataclass(frozen=True)
class Method:
    """An estimator with the names of the parameters that a comparison sets.

    Parameters
    ----------
    name : str
        What it is called in tables.
    estimator : estimator
        Not fitted; it is cloned, never changed.
    is_detector : bool, default=False
        Whether it flags outliers; else it makes clusters.
    number_parameter : str, optional
        The parameter for the number of clusters, where it must be told.
    number_rule : {"silhouette", "BIC"}, optional
        How the number is chosen where it is not given.
    rate_parameter : str, optional
        The parameter for the nominal rate of outliers.
    most_rows : int, optional
        It is fitted on no more rows than this: its cost grows with their square.
    """

    name: str
    estimator: Any
    is_detector: bool = False
    number_parameter: str | None = None
    number_rule: str | None = None
    rate_parameter: str | None = None
    most_rows: int | None = None

    @property
    def compiles(self) -> bool:
        """Whether its first fit compiles code, which later ones find on disk."""
        return type(self.estimator).__module__.startswith("typicality.")

    def configured(self, *, seed: int, rate: float, n_clusters: int | None = None) -> Any:
        """A new estimator, ready to be fitted."""
        settings: dict[str, Any] = {}
        parameters = self.estimator.get_params(deep=False)
        if "random_state" in parameters and parameters["random_state"] is None:
            settings["random_state"] = seed
        if self.rate_parameter is not None:
            settings[self.rate_parameter] = rate
        if self.number_parameter is not None and n_clusters is not None:
            settings[self.number_parameter] = n_clusters
        return clone(self.estimator).set_params(**settings)


def _ours(estimator: Any, **settings: Any) -> Method:
    return Method(ESTIMATORS[type(estimator).__name__].method, estimator, **settings)


CLUSTERERS = (
    _ours(AutoClustering()),
    _ours(AlphaCutClustering()),
    _ours(SequentialPCM()),
    _ours(FuzzyCMeans(), number_parameter="n_clusters", number_rule="silhouette"),
    Method("k-means", KMeans(), number_parameter="n_clusters", number_rule="silhouette"),
    Method(
        "gaussian mixture",
        GaussianMixture(),
        number_parameter="n_components",
        number_rule="BIC",
    ),
    Method("hdbscan", HDBSCAN(copy=True)),
)
DETECTORS = (
    _ours(OneClusterPCM(), is_detector=True, rate_parameter="contamination"),
    Method("one-class svm", OneClassSVM(), is_detector=True, rate_parameter="nu", most_rows=10_000),
    Method(
        "isolation forest",
        IsolationForest(),
        is_detector=True,
        rate_parameter="contamination",
    ),
    Method(
        "local outlier factor",
        LocalOutlierFactor(novelty=True),
        is_detector=True,
        rate_parameter="contamination",
    ),
)
_BY_NAME = {method.name: method for method in (*CLUSTERERS, *DETECTORS)}
_SHORT = {"lof": "local outlier factor"}


def chosen_methods(methods: Sequence[Any] | None) -> tuple[Method, ...]:
    """The methods that were asked for, all of them by default.

    Parameters
    ----------
    methods : sequence of str and estimators, or None
        Names, in which hyphens, spaces and capitals do not matter, or estimators. "lof" is
        short for one of them.

    Returns
    -------
    tuple of Method
    """
    if methods is None:
        return tuple(_BY_NAME.values())
    if isinstance(methods, str) or not isinstance(methods, Sequence):
        raise ValueError(f"methods must be a list of names or estimators; got {methods!r}.")
    chosen = tuple(_named(m) if isinstance(m, str) else _own(m) for m in methods)
    if not chosen:
        raise ValueError(f"methods is empty: name one or more of {', '.join(_BY_NAME)}.")
    names = [method.name for method in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"methods has {twice[0]!r} twice: leave one of them out.")
    return chosen


def _named(name: str) -> Method:
    spelled = {_plain(known): method for known, method in _BY_NAME.items()}
    spelled |= {short: _BY_NAME[name] for short, name in _SHORT.items()}
    if _plain(name) not in spelled:
        raise ValueError(
            f"methods has {name!r}, which is not known. Choose from {', '.join(_BY_NAME)}, or pass "
            "an estimator."
        )
    return spelled[_plain(name)]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _own(estimator: Any) -> Method:
    """A method of the user's, with all its parameters as they are."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise ValueError(
            f"methods has {estimator!r}, which is neither a name nor an estimator. Pass an object, "
            "e.g. KMeans(3)."
        )
    name = " ".join(repr(estimator).split())
    if is_outlier_detector(estimator):
        return Method(name, estimator, is_detector=True)
    if not (is_clusterer(estimator) or hasattr(estimator, "fit_predict")):
        raise ValueError(
            f"methods has {name}, which neither makes clusters nor flags outliers. Leave it out."
        )
    return Method(name, estimator)
