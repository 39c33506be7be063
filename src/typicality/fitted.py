"""The result of a fitted model for rows; reports, plots, csv files and the command line use it.

This is the only module that knows which kinds of models there are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from typicality._cached import cached_property
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats, Labels, Places
from typicality.explain import TypicalRows
from typicality.kernels import LocalGaussian, Stationary
from typicality.levelsets import AlphaTree

# With one level for all clusters, every isolated row is a cluster; reports do not list those.
_SMALLEST_SHOWN = 5
BETWEEN = 0.1  # the membership in a second cluster that puts a row between two
_GAP_AMONG = 10  # a gap is looked for among this part of the rows, the lowest scores


@dataclass(frozen=True, eq=False)
class FittedView:
    """The labels of rows, and how typical they are.

    Parameters
    ----------
    kind : {"tree", "prototypes", "detector"}
        What the labels follow from: a cut of the cluster tree, the memberships, or a threshold for
        the score.
    labels : array of shape (n,), int32
        The cluster of each row; -1 for rows without a cluster and for outliers.
    strength : array of shape (n,)
        How typical each row is; larger is more typical.
    strength_name, strength_words : str
        The name of the strength, and one sentence that explains it.
    fitted_words : str
        How the labels were made.
    cut : float, optional
        The level of the labels; of a detector the score below which a row is flagged.
    levels : array of shape (n_clusters,), optional
        The level of each cluster, if the levels differ.
    tree : AlphaTree, optional
        The clusters of the training rows at every level.
    min_size : int, default=1
        The smallest cluster of the tree that a report shows.
    memberships : array of shape (n, n_labels), optional
        The membership in each label. A detector has one column, the typicality. Prototypes that
        coincide share a label: its membership is the sum of theirs if memberships are shares, else
        the largest.
    shares : bool, default=False
        Whether the memberships of a row are shares that sum to one.
    centers : array of shape (n_labels, d), optional
        The first prototype of each label, if prototypes have coordinates.
    p_values : array of shape (n,), optional
        Of a detector, the p-value of each row; of a training row, its rank as a share of them all.
    fdr : float, optional
        Of a detector, the rate of false discoveries by which rows were flagged.
    find_distance : callable, optional
        Computes how far each row is from the others, for `depth`.
    find_centrality : callable, optional
        Of memberships that are shares, computes how near each row is to the middle of its cluster.
    rate : float, optional
        Of a detector, the share of the rows of the fit that was to be flagged; None if other rows
        were judged, or by a rate of false discoveries.
    hollow : array of shape (n,), optional
        Rows whose values are mostly filled in. They are no examples: not the most typical row of a
        cluster, not a row between clusters, and not the least typical row, except for outliers.
    find_typical_rows : callable, optional
        Of a detector, the typical rows of the fit; None where the model does not know those.
    """

    kind: str
    labels: Labels
    strength: Doubles
    strength_name: str
    strength_words: str
    fitted_words: str
    cut: float | None = None
    levels: Doubles | None = None
    tree: AlphaTree | None = None
    min_size: int = 1
    memberships: Floats | None = None
    shares: bool = False
    centers: Floats | None = None
    p_values: Doubles | None = None
    fdr: float | None = None
    find_distance: Callable[[], Doubles] | None = None
    find_centrality: Callable[[], Doubles] | None = None
    find_typical_rows: Callable[[], TypicalRows] | None = None
    rate: float | None = None
    hollow: NDArray[np.bool_] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def n_unassigned(self) -> int:
        """The number of rows with label -1."""
        return int(np.count_nonzero(self.labels < 0))

    @cached_property
    def depth(self) -> Doubles:
        """What orders rows from the rarest to the most typical.

        Typicalities of far rows are nearly all alike. So rows of a tree are ordered by the radius
        that holds ten others, and those of typicalities by the distance to the nearest prototype.
        """
        return self.strength if self.find_distance is None else -self.find_distance()

    @cached_property
    def rarity(self) -> Doubles | None:
        """The share of the rows that each row is rarer than; None where memberships are shares."""
        if self.shares:
            return None
        if self.p_values is not None:
            return np.asarray(1.0 - self.p_values)
        ranks = np.searchsorted(np.sort(self.depth), self.depth, side="right")
        return np.asarray(1.0 - ranks / self.n_rows)

    @cached_property
    def gap(self) -> tuple[int, float, float] | None:
        """Rows that stand apart: how many, the score of the last of them, and the next score.

        The last gap among the lowest tenth of the scores that is wider than all that is above it,
        up to the median. None where there is none, and for clusters.
        """
        scores = np.sort(self.strength)
        some = scores[: max(len(scores) // _GAP_AMONG, 1) + 1]
        wide = np.flatnonzero(np.diff(some) > np.median(scores) - some[1:])
        if self.kind != "detector" or len(wide) == 0:
            return None
        last = int(wide[-1])
        return last + 1, float(some[last]), float(some[last + 1])

    @cached_property
    def most_typical(self) -> tuple[Labels, Places]:
        """The clusters that have rows, and the most typical row of each.

        A membership that is a share is largest at the edge that is farthest from other clusters. So
        there the most typical row is the one nearest to the prototype, and of a mixture the one
        with the largest density of its cluster. Rows that are no examples come last.
        """
        inner = self.strength if self.find_centrality is None else self.find_centrality()
        order = np.lexsort((-inner, ~self.is_example, self.labels))
        found, first = np.unique(self.labels[order], return_index=True)
        return found[found >= 0], order[first[found >= 0]]

    @cached_property
    def between(self) -> Places:
        """The rows between clusters: those with a membership of 0.1 or more in a second cluster.

        The smallest largest membership comes first. Empty unless memberships are shares.
        """
        if not self.shares or self.memberships is None or self.memberships.shape[1] < 2:
            return np.empty(0, np.intp)
        second = np.partition(self.memberships, -2, axis=1)[:, -2]
        order = np.argsort(self.strength, kind="stable")
        is_between = (second >= BETWEEN) & self.is_example & (self.labels >= 0)
        return order[is_between[order]]

    @cached_property
    def is_example(self) -> NDArray[np.bool_]:
        """Which rows can stand for others: those whose values are not mostly filled in."""
        return np.ones(self.n_rows, dtype=bool) if self.hollow is None else ~self.hollow

    @property
    def word(self) -> str:
        """What a membership is called."""
        return "membership" if self.shares else "typicality"

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns that a csv file gets."""
        if self.kind == "tree" or self.memberships is None:
            return {"label": self.labels, "typicality": self.strength}
        if self.p_values is not None:
            outlier = (self.labels < 0).astype(np.int8)
            return {
                "typicality": self.memberships[:, 0],
                "score": self.strength,
                "p_value": self.p_values,
                "outlier": outlier,
            }
        each = {f"{self.word}_{k}": column for k, column in enumerate(self.memberships.T)}
        return {"label": self.labels, self.word: self.strength, **each}


def chosen_method(model: Any) -> Any:
    """The fitted method that an automatic model has chosen; any other model itself."""
    return getattr(model, "estimator_", model)


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline; of an automatic one what it chose.

    A model of tensors is given as one of arrays.
    """
    check_is_fitted(estimator)
    return on_host(estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator)


def on_host(model: Any) -> Any:
    """What an automatic model has chosen, or the model itself, with arrays instead of tensors."""
    model = chosen_method(model)
    return model if getattr(model, "_home", None) is None else model._host()


def prepared(estimator: Any, X: Any) -> Any:
    """Rows as the last step of a pipeline sees them."""
    for _, step in getattr(estimator, "steps", [])[:-1]:
        if step not in (None, "passthrough"):
            X = step.transform(X)
    return array_of(X)


def view(
    model: Any,
    X: Any = None,
    *,
    training: bool = False,
    fdr: float | None = None,
    sample: Places | None = None,
) -> FittedView:
    """The labels of rows and how typical they are; each row is predicted once.

    Parameters
    ----------
    model : estimator
        A fitted estimator of typicality.
    X : array-like or dataframe of shape (n, d)
        The rows, as for `predict`. May be left out for the training rows of a tree.
    training : bool, default=False
        Whether X are the training rows: then attributes of the fit are read where there are some.
    fdr : float, optional
        The rate of false discoveries at which a detector flags new rows (Benjamini and Hochberg);
        by default it flags those that score below its threshold.
    sample : array of int, optional
        The places in X of the rows that the model was fitted on, where these are only some of X.
        The view of a tree has then no `tree`, which knows the rows of the fit only.
    """
    model, X = on_host(model), array_of(X)
    if hasattr(model, "tree_"):
        found = _of_tree(model, X, training=training)
        return found if sample is None else replace(found, tree=None)
    if hasattr(model, "offset_"):
        return _of_detector(model, X, training=training, fdr=fdr, sample=sample)
    return _of_prototypes(model, X, training=training)


# ---- alpha-cuts ----------------------------------------------------------------------------------


def _of_tree(model: Any, X: Any, *, training: bool) -> FittedView:
    if training:
        labels, typicality = model.labels_, model.typicality_
    else:
        labels, typicality = model._labels_and_typicality(X)
    own_levels = np.ndim(model.alpha_) > 0
    regions = model._regions
    return FittedView(
        kind="tree",
        labels=labels,
        strength=typicality.astype(np.float64),
        strength_name="typicality",
        strength_words=(
            "How dense the data are around a row, from 0 to 1: rows with many others near them are "
            "typical, rows far from all others are not."
        ),
        fitted_words=_words_of_cut(model),
        cut=None if own_levels else float(model.alpha_),
        levels=model.alpha_ if own_levels else None,
        tree=model.tree_,
        min_size=model.min_cluster_size if model.min_cluster_size > 1 else _SMALLEST_SHOWN,
        find_distance=lambda: regions.reach(None if training else model._read(X)),
    )


def _words_of_cut(model: Any) -> str:
    if np.ndim(model.alpha_) > 0:
        words = "Automatic: each cluster at a level of its own"
    elif model.alpha == "valley":
        words = f"Cut at {float(model.alpha_):.3g}, the valley between typical and other rows"
    else:
        words = f"Cut at {float(model.alpha_):.3g}"
    filled = model.assign == "all"
    return f"{words}; other rows go to the nearest cluster" if filled else words


# ---- one cluster ---------------------------------------------------------------------------------


def _of_detector(
    model: Any,
    X: Any,
    *,
    training: bool,
    fdr: float | None,
    sample: Places | None,
) -> FittedView:
    kept = training and hasattr(model, "typicality_")
    typicality = model.typicality_ if kept else model.predict_typicality(X)
    if training:
        scores, p_values = model.score_samples(X), np.empty(len(X))
    else:
        scores, p_values = model._scores_and_p_values(X)
    scores = np.asarray(scores, dtype=np.float64)
    # A row of the fit is no new row: its p-value is its rank among the rows of the fit.
    fitted = slice(None) if training else sample
    if fitted is not None:
        of_fit = scores[fitted]
        p_values[fitted] = np.searchsorted(np.sort(of_fit), of_fit, side="right") / len(of_fit)
    cut = float(model.offset_)
    words = f"Rows that score below {cut:.4g} are outliers"
    found = scores < cut
    if fdr is not None:
        found = model._discoveries(p_values, fdr, "bh")
        largest = p_values[found].max(initial=0.0)
        # The same rows, but for new rows that are reference rows: their scores leave one out.
        cut = np.nextafter(
            scores[found].max(initial=scores.min()), np.inf if found.any() else -np.inf
        )
        words = (
            f"Rows with p-values up to {largest:.3g} are outliers. At most a share of "
            f"{fdr:g} of them is expected to be like the reference rows"
            if found.any()
            else f"No row is an outlier at a false discovery rate of {fdr:g}"
        )
    has_rate = fitted is not None and fdr is None
    is_density = isinstance(model.kernel_, LocalGaussian | Stationary)
    return FittedView(
        kind="detector",
        labels=np.where(found, np.int32(-1), np.int32(0)),
        strength=scores,
        strength_name="score (log density)" if is_density else "score (log typicality)",
        strength_words=(
            "How typical a row is of the data as a whole, on a logarithmic scale, compared "
            "with the other rows only: one less means about a third as "
            f"{'dense' if is_density else 'typical'}."
        ),
        fitted_words=words.replace(" -", " \N{MINUS SIGN}"),
        cut=float(cut),
        memberships=typicality[:, None],
        p_values=p_values,
        fdr=fdr,
        rate=model._rate if has_rate else None,
        find_typical_rows=model._typical_rows if model._knows_its_rows else None,
    )


# ---- prototypes ----------------------------------------------------------------------------------


def _of_prototypes(model: Any, X: Any, *, training: bool) -> FittedView:
    if training and hasattr(model, "memberships_"):
        labels, of_prototypes = model.labels_, model.memberships_
    else:
        labels, of_prototypes = model._labels_and_memberships(X)
    # Without clusters there are no names, and no shares.
    shares = list(model.get_feature_names_out()[:1]) == ["membership_0"]
    memberships = _by_label(of_prototypes, model.prototype_labels_, shares=shares)
    meaning = (
        "How certainly a row belongs to its cluster rather than to another; rows "
        "between clusters share their membership. It does not measure how far a row is "
        "from all clusters."
        if shares
        else "How typical a row is of its cluster, from 0 to 1; rows far from all clusters are "
        "typical of none."
    )
    first = np.unique(model.prototype_labels_, return_index=True)[1]
    chosen_by = "largest membership" if shares else "largest typicality"
    name = "largest membership" if shares else "typicality"
    strength = memberships.max(axis=1, initial=0.0)
    if shares and len(first) < len(model.prototype_labels_):
        # The sum over prototypes that coincide may exceed the membership in the nearest cluster.
        chosen_by, name = "nearest prototype", "membership"
        strength = memberships[np.arange(len(labels)), labels]
    return FittedView(
        kind="prototypes",
        labels=labels,
        strength=strength,
        strength_name=name,
        strength_words=meaning,
        fitted_words=f"Each row is in the cluster of its {chosen_by}",
        cut=0.0,
        memberships=memberships,
        shares=shares,
        find_distance=None if shares else lambda: _sqdist_to_nearest(model, X),
        find_centrality=(lambda: _centrality(model, X, labels)) if shares else None,
        centers=model.cluster_centers_[first] if hasattr(model, "cluster_centers_") else None,
    )


def _sqdist_to_nearest(model: Any, X: Any) -> Doubles:
    sqdist = model._prototypes.sqdist(model._read(X))
    return np.asarray(sqdist.min(axis=1, initial=np.inf))


def _centrality(model: Any, X: Any, labels: Labels) -> Doubles:
    """How near each row is to the middle of its own cluster: of a mixture, the log density there.

    Elsewhere minus the squared distance to the nearest prototype of the cluster.
    """
    if hasattr(model, "_group_log_densities"):
        found = model._group_log_densities(X)
        return np.asarray(found[np.arange(len(labels)), labels])
    sqdist = model._prototypes.sqdist(model._read(X))
    is_own = model.prototype_labels_ == labels[:, None]
    return np.asarray(-np.where(is_own, sqdist, np.inf).min(axis=1))


def _by_label(memberships: Floats, label_of: Labels, *, shares: bool) -> Doubles:
    """The membership of each row in each label, from those in the prototypes."""
    found = np.zeros((len(memberships), label_of.max(initial=-1) + 1))
    combine = np.add if shares else np.maximum
    for column, label in zip(memberships.T, label_of, strict=True):
        combine(found[:, label], column, out=found[:, label])
    return found
