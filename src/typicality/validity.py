"""The number of clusters by indices of validity, in one call."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from typicality._arguments import check_choice
from typicality._tensors import array_of
from typicality._typing import Doubles
from typicality.compare import text_table
from typicality.fitted import last_step, prepared
from typicality.metrics import (
    fukuyama_sugeno_index,
    fuzzy_silhouette_score,
    kwon_index,
    partition_coefficient,
    partition_entropy,
    xie_beni_index,
)

__all__ = ["IndexTable", "choose_n_clusters"]

_SILHOUETTE_ROWS = 5000  # a sample of more: silhouettes compare all pairs of rows


class _Partition(NamedTuple):
    """A clustering, as indices look at it."""

    X: Any
    centers: Any
    memberships: Doubles
    m: float

    @property
    def silhouette(self) -> float:
        rows = np.arange(len(self.memberships))
        if len(rows) > _SILHOUETTE_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, _SILHOUETTE_ROWS, replace=False))
        memberships = self.memberships[rows]
        preferred = memberships[memberships.any(axis=1)].argmax(axis=1)
        if not 2 <= len(np.unique(preferred)) < len(preferred):
            return float("nan")
        return fuzzy_silhouette_score(self.X[rows], memberships)

    def of_centers(self, index: Callable[..., float]) -> float:
        return index(self.X, self.centers, self.memberships, m=self.m)


class _Index(NamedTuple):
    larger_is_better: bool
    needs: str  # the part of a partition that not every method has
    value: Callable[[_Partition], float]


_INDICES = {
    "fuzzy_silhouette": _Index(True, "X", lambda p: p.silhouette),
    "xie_beni": _Index(False, "centers", lambda p: p.of_centers(xie_beni_index)),
    "kwon": _Index(False, "centers", lambda p: p.of_centers(kwon_index)),
    "fukuyama_sugeno": _Index(False, "centers", lambda p: p.of_centers(fukuyama_sugeno_index)),
    "partition_coefficient": _Index(
        True, "memberships", lambda p: partition_coefficient(p.memberships)
    ),
    "modified_partition_coefficient": _Index(
        True, "memberships", lambda p: partition_coefficient(p.memberships, rescale=True)
    ),
    "partition_entropy": _Index(False, "memberships", lambda p: partition_entropy(p.memberships)),
}


@dataclass(frozen=True, eq=False, repr=False)
class IndexTable:
    """Indices of validity for several numbers of clusters; the result of `choose_n_clusters`.

    Parameters
    ----------
    n_clusters : tuple of int
        The numbers of clusters that were tried.
    n_found : tuple of int
        How many clusters have rows.
    values : dict of str to array
        The values of each index.
    by : str
        The index that decides.
    """

    n_clusters: tuple[int, ...]
    n_found: tuple[int, ...]
    values: dict[str, Doubles]
    by: str

    @property
    def best(self) -> dict[str, int | None]:
        """The number of clusters that each index prefers; None if it has no finite value."""
        return {name: self._best(name) for name in self.values}

    @property
    def chosen(self) -> int | None:
        """The number of clusters that the index `by` prefers."""
        return self._best(self.by)

    def _best(self, name: str) -> int | None:
        sign = 1.0 if _INDICES[name].larger_is_better else -1.0
        values = sign * self.values[name]
        usable = np.flatnonzero(np.isfinite(values))
        return self.n_clusters[usable[values[usable].argmax()]] if len(usable) else None

    def to_pandas(self) -> Any:
        """One row per number of clusters, as a pandas DataFrame."""
        import pandas as pd

        index = pd.Index(self.n_clusters, name="n_clusters")
        return pd.DataFrame({"n_found": self.n_found, **self.values}, index=index)

    def plot(self) -> Any:
        """Each index over the number of clusters, its best value marked, as a figure."""
        import matplotlib.pyplot as plt

        n_rows = -(-len(self.values) // 4)
        figure, axes = plt.subplots(
            n_rows, 4, figsize=(12, 2.6 * n_rows), sharex=True, squeeze=False, layout="constrained"
        )
        for ax in axes.flat[len(self.values) :]:
            ax.remove()
        for ax, (name, values) in zip(axes.flat, self.values.items(), strict=False):
            ax.plot(self.n_clusters, values, "o-", color="#0072B2", markersize=4)
            best = self._best(name)
            if best is not None:
                ax.axvline(best, color="#D55E00", linestyle=":")
            better = "larger" if _INDICES[name].larger_is_better else "smaller"
            ax.set_title(f"{name.replace('_', ' ')}\n({better} is better)", fontsize=9)
            ax.set_xlabel("number of clusters")
            ax.tick_params(labelbottom=True)
        return figure

    def __repr__(self) -> str:
        best = self.best
        lines = [("clusters", *(name.replace("_", " ") for name in self.values))]
        for k, values in zip(self.n_clusters, zip(*self.values.values(), strict=True), strict=True):
            marked = zip(self.values, values, strict=True)
            cells = [f"{v:.3g}{'*' if best[name] == k else ' '}" for name, v in marked]
            lines.append((str(k), *cells))
        return text_table(lines)


def choose_n_clusters(
    estimator: Any,
    X: Any,
    n_clusters: Iterable[int] = range(2, 11),
    *,
    by: str = "fuzzy_silhouette",
    normalize: bool = True,
) -> IndexTable:
    """Fit several numbers of clusters, and compare them by indices of validity.

    The indices are the fuzzy silhouette, Xie-Beni, Kwon, Fukuyama-Sugeno, the partition
    coefficient, also rescaled, and the partition entropy; see :mod:`typicality.metrics`. With a
    kernel, those that need centres are left out; with missing values, all that need distances.

    No index sees a single cluster: the least number is 2. See
    :class:`typicality.AlphaCutClustering` and :func:`typicality.stability.choose_by_stability`.

    Parameters
    ----------
    estimator : estimator
        A clusterer with the parameter `n_clusters`, or a pipeline that ends in one. Pass
        `n_init` above 1: a poor start looks like a wrong number of clusters.
    X : array-like or dataframe of shape (n_samples, n_features)
        The rows.
    n_clusters : iterable of int, default=range(2, 11)
        The numbers of clusters.
    by : str, default="fuzzy_silhouette"
        The index that decides; a column of the table.
    normalize : bool, default=True
        Whether typicalities are divided by their sum first, as in :cite:`yang2006`. With False,
        rows with small typicalities have small weights (see :mod:`typicality.metrics`); the weights
        then differ between numbers of clusters.

    Returns
    -------
    IndexTable
        The values, with `chosen`, `best`, `plot` and `to_pandas`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality import FuzzyCMeans
    >>> from typicality.validity import choose_n_clusters
    >>> X, _ = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> choose_n_clusters(FuzzyCMeans(n_init=5, random_state=0), X, range(2, 6)).chosen
    3
    """
    check_choice(by, "by", tuple(_INDICES))
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "n_clusters"]
    if not names:
        raise ValueError(f"{estimator!r} has no parameter n_clusters.")
    numbers = tuple(n_clusters)
    models = [clone(estimator).set_params(**{names[0]: k}).fit(X) for k in numbers]
    partitions = [_partition(model, X, normalize=normalize) for model in models]
    usable = {
        name: index
        for name, index in _INDICES.items()
        if getattr(partitions[0], index.needs) is not None
    }
    check_choice(by, "by", tuple(usable))
    values = {
        name: np.array([index.value(partition) for partition in partitions])
        for name, index in usable.items()
    }
    found = tuple(int(last_step(model).n_clusters_) for model in models)
    return IndexTable(numbers, found, values, by)


def _partition(model: Any, X: Any, *, normalize: bool) -> _Partition:
    rows, last = prepared(model, X), last_step(model)
    memberships = array_of(last.predict_memberships(rows)).astype(np.float64)
    if normalize:
        total = memberships.sum(axis=1, keepdims=True)
        memberships = memberships / np.where(total > 0, total, 1.0)
    centers = getattr(last, "cluster_centers_", None)
    points = None if get_tags(last).input_tags.pairwise else np.asarray(rows, dtype=np.float64)
    if points is not None and np.isnan(points).any():
        points = centers = None  # distances to missing values
    return _Partition(points, centers, memberships, float(getattr(last, "m_", 2.0)))
