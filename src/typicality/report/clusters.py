"""The table of clusters: sizes, medians, and what sets each apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from typicality._typing import Doubles, Floats, Labels, Places
from typicality._words import for_people
from typicality.levelsets import AlphaTree
from typicality.levelsets.tree import pruned
from typicality.report.features import (
    FeatureTable,
    cross_counts,
    group_means,
    largest,
    rows_by_label,
)

if TYPE_CHECKING:
    from typicality.report.outliers import Explanation

_MOST_DESCRIBED = 1000
MOST_VALUES = 20  # of a column of text that is counted
_MOST_COMPARED = 100  # clusters whose medians are compared with those of other rows
PROFILE_LENGTH = 4  # features that describe a cluster
_MOST_TRIED = 20  # features among which these are
_FEW = 5  # rows: the mean of fewer depends on single rows
_FARTHEST = 1000.0  # a ratio for clusters with next to nothing between them
_APART = 0.2  # a category is that much commoner in a cluster than in the others

_TREE_WORDS = (
    "Separation: how many times denser the densest place of a cluster is than the densest path "
    "from there to another cluster: near 1 there is hardly a gap, at 1000 the "
    "space between is empty."
)
_PROTOTYPE_WORDS = (
    "Separation: the distance to the nearest other prototype. Each column is in units of its "
    "spread, and 1 is the usual distance of the rows of the cluster from their own "
    "prototype; below 2 clusters overlap."
)


class Commonest(NamedTuple):
    """The commonest category of a cluster, and how common it is there and in other clusters.

    Parameters
    ----------
    column, category : str
        The column and the category; empty where it is missing.
    n_rows, of : int
        How many rows of the cluster have it, and how many rows the cluster has.
    elsewhere : float or None
        The share of the rows of other clusters that have it; None where there are none.
    """

    column: str
    category: str
    n_rows: int
    of: int
    elsewhere: float | None


def telling_categories(commonest: Sequence[Commonest]) -> list[str]:
    """The commonest categories that set a cluster apart: "species: Gentoo in 119 of 119"."""
    apart = {
        each: each.n_rows / each.of - each.elsewhere
        for each in commonest
        if each.elsewhere is not None
    }
    return [
        f"{each.column}: {each.category or '(empty)'} in {each.n_rows:,} of {each.of:,}"
        for each in sorted(apart, key=lambda each: -apart[each])[:PROFILE_LENGTH]
        if apart[each] >= _APART
    ]


class Apart(NamedTuple):
    """A feature that sets a cluster apart, by its number.

    Parameters
    ----------
    column : int
        The feature.
    median, elsewhere : float
        Its median in the cluster and in the other clusters, NaN where that is not known.
    deviation : float
        How far its mean is from that of the other clusters, in units of the spread.
    """

    column: int
    median: float
    elsewhere: float
    deviation: float


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """The clusters that rows belong to, by falling size.

    Parameters
    ----------
    labels, sizes : arrays of shape (c,)
        The label of each, and the number of its rows.
    typical_rows : array of shape (c,)
        Its most typical row.
    separation : array of shape (c,)
        How far apart it is from the others; NaN where that has no meaning.
    separation_words : str, optional
        What that number means.
    deviations : array of shape (min(c, 1000), d)
        How far its means are from those of the rows of other clusters, in units of the spread.
    medians : array of shape (min(c, 1000), d)
        The medians of the features in the units of the user; NaN where all values are missing.
    elsewhere : array of shape (min(c, 1000), d)
        The medians of the rows of other clusters, for the features that set a cluster apart most;
        else NaN. With a single cluster, those of the unassigned rows.
    commonest : list of lists of Commonest
        The commonest category of each, column by column.
    """

    labels: Labels
    sizes: Places
    typical_rows: Places
    separation: Doubles
    separation_words: str | None
    deviations: Doubles
    medians: Doubles
    elsewhere: Doubles
    commonest: list[list[Commonest]]

    @classmethod
    def of(cls, explained: "Explanation") -> Self:
        """The clusters of the rows of a view."""
        view, features, centers = explained.view, explained.features, explained.centers
        sizes = np.bincount(view.labels[view.labels >= 0])
        listed = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        described = listed[:_MOST_DESCRIBED]
        present, typical = view.most_typical
        typical = typical[np.searchsorted(present, listed)]
        separation, words = np.full(len(listed), np.nan), None
        if len(listed) > 1 and view.tree is not None:
            separation = _heights_over_saddles(view.tree, view.tree.node_of[typical])
            words = _TREE_WORDS
        elif len(listed) > 1 and centers is not None and centers.are_prototypes and features.names:
            separation, words = centers.separation(listed), _PROTOTYPE_WORDS
        deviations = _deviations(view.labels, features)[described]
        medians = _medians(view.labels, features.shown)[described]
        elsewhere = _medians_elsewhere(view.labels, features.shown, described, deviations, medians)
        commonest = _commonest(view.labels, features, described)
        return cls(
            *(listed.astype(np.int32), sizes[listed], typical, separation, words),
            *(deviations, medians, elsewhere, commonest),
        )

    def apart(self, k: int, least: float) -> list[Apart]:
        """The features that set a cluster apart by so many spreads, the first one most."""
        columns, deviations = largest(self.deviations[k : k + 1], PROFILE_LENGTH)
        return [
            Apart(j, float(self.medians[k, j]), float(self.elsewhere[k, j]), deviation)
            for j, deviation in zip(columns[0].tolist(), deviations[0].tolist(), strict=True)
            if j >= 0 and abs(deviation) >= least
        ]


def _commonest(labels: Labels, features: FeatureTable, described: Places) -> list[list[Commonest]]:
    found: list[list[Commonest]] = [[] for _ in described]
    categories = features.categories
    if categories is None:
        return found
    codes, sizes = categories.codes(features.rows), np.bincount(labels[labels >= 0])
    for column, name, values in zip(codes.T, categories.names, categories.values, strict=True):
        counts = cross_counts(labels, column, (len(sizes), len(values)))
        for each, label in zip(found, described, strict=True):
            own, others = counts[label], counts.sum(axis=0) - counts[label]
            most, n_others = int(own.argmax()), others.sum()
            elsewhere = float(others[most] / n_others) if n_others else None
            n_rows, of = int(own[most]), int(sizes[label])
            each.append(Commonest(name, values[most], n_rows, of, elsewhere))
    return found


def _deviations(labels: Labels, features: FeatureTable) -> Doubles:
    """The means of each cluster minus the means of all other clusters, in units of the spread.

    With a single cluster, the unassigned rows take the place of the other clusters; the result is
    zero if there are fewer than five of them.
    """
    values, rest = features.measured, np.flatnonzero(labels < 0)
    means, counts = group_means(values, labels), np.bincount(labels[labels >= 0])[:, None]
    if np.count_nonzero(counts) == 1:
        others = values[rest].mean(axis=0, dtype=np.float64) if len(rest) >= _FEW else means
    else:
        sums = np.nan_to_num(means) * counts
        others = (sums.sum(axis=0) - sums) / np.maximum(counts.sum() - counts, 1)
    return np.asarray((np.nan_to_num(means) - others) / features.scale)


def _medians(labels: Labels, values: Floats) -> Doubles:
    """The medians of the rows of each label, missing values left out."""
    n_labels = labels.max(initial=-1) + 1
    medians = np.full((n_labels, values.shape[1]), np.nan)
    for label, rows in enumerate(rows_by_label(labels, n_labels)):
        medians[label] = [_median(column) for column in values[rows].T]
    return medians


def _medians_elsewhere(
    labels: Labels, values: Floats, described: Places, deviations: Doubles, medians: Doubles
) -> Doubles:
    """The medians of the rows of other clusters, for the features that matter.

    Means may differ where medians do not, by a few rows far away: "10 against 10" describes no
    cluster, so such deviations become zero.
    """
    elsewhere = np.full(deviations.shape, np.nan)
    rest = labels >= 0 if len(described) > 1 else labels < 0
    order = largest(deviations[:_MOST_COMPARED], _MOST_TRIED)[0]
    for k, columns in enumerate(order):
        others = rest & (labels != described[k])
        for j in columns[columns >= 0]:
            if np.count_nonzero(np.isfinite(elsewhere[k])) == PROFILE_LENGTH:
                break
            median = _median(values[others, j])
            if for_people(median) == for_people(medians[k, j]):
                deviations[k, j] = 0.0
            else:
                elsewhere[k, j] = median
    return elsewhere


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan


def _heights_over_saddles(tree: AlphaTree, peaks: Places) -> Doubles:
    """The height of each peak over that of the saddle where its cluster first meets another."""
    between = pruned(tree, peaks)
    # A cluster is alone until it first stands at an end of an edge.
    first = np.unique(between.pairs.ravel(), return_index=True)[1] // 2
    saddles = tree.saddles[between.edge[first]]
    heights = tree.heights[between.nodes]
    ratio = np.divide(heights, saddles, out=np.full(len(heights), np.inf), where=saddles > 0)
    return np.asarray(np.minimum(ratio, _FARTHEST))[np.searchsorted(between.nodes, peaks)]


# ---- columns of text -----------------------------------------------------------------------------


class Tabulated(NamedTuple):
    """How often each value of a text column occurs in each cluster.

    Parameters
    ----------
    column : str
        The column, which took no part in the fit.
    counts : dict of int to dict of str to int
        For each label the values and how often they occur, the most frequent first.
    association : float
        Cramer's V of labels and values: 0 where they are independent, 1 where one determines the
        other.
    """

    column: str
    counts: dict[int, dict[str, int]]
    association: float


def tabulate_texts(texts: Mapping[str, Sequence[str]], labels: Labels) -> list[Tabulated]:
    """Text columns against labels, the most closely related first.

    Only columns with 2 to 20 different values, each of them twice on average at the least.
    """
    found = []
    present, places = np.unique(labels, return_inverse=True)
    for column, cells in texts.items():
        values = [*dict.fromkeys(cell.strip() for cell in cells)]
        if not 2 <= len(values) <= min(MOST_VALUES, len(cells) / 2):
            continue
        number = {value: k for k, value in enumerate(values)}
        codes = np.array([number[cell.strip()] for cell in cells])
        counts = cross_counts(places, codes, (len(present), len(values)))
        order = np.argsort(-counts, axis=1, kind="stable").tolist()
        by_label = {
            int(label): {values[k]: int(own[k]) for k in some if own[k]}
            for label, own, some in zip(present, counts, order, strict=True)
        }
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(cells)
        squares = float(((counts - expected) ** 2 / expected).sum()) / len(cells)
        association = np.sqrt(squares / max(min(counts.shape) - 1, 1))
        found.append(Tabulated(column, by_label, float(association)))
    return sorted(found, key=lambda each: -each.association)
