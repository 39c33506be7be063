"""A landscape, its tree, and the labels of rows old and new."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality.levelsets.growing import Forest
from typicality.levelsets.heights import Landscape, LocalLandscape
from typicality.levelsets.tree import AlphaTree, Cut, Pairs
from typicality.rows import DistinctRows


@dataclass(frozen=True, eq=False)
class Regions:
    """Connected regions of a landscape above any level.

    Parameters
    ----------
    landscape : Landscape or LocalLandscape
        The heights above the input space.
    tree : AlphaTree
        The clusters at every level.
    aside : array of shape (m,)
        Training rows that are no nodes of the tree: of weight zero, or not in its sample.
    aside_rows : array of shape (m, d)
        Their features.
    aside_reach : array of shape (m,)
        The radius around each of them that holds ten other rows.
    entry : array of shape (n_samples,)
        The lowest height on the way from each training row to its node.
    typicality : array of shape (n_samples,), float64
        The typicality of the training rows.
    """

    landscape: Landscape | LocalLandscape
    tree: AlphaTree
    aside: Annotated[Places, "_aside", Index("N")]
    aside_rows: Annotated[Floats, "_aside _coordinates"]
    aside_reach: Annotated[Doubles, "_aside"]
    entry: Annotated[Doubles, "N"]
    typicality: Annotated[Doubles, "N"]

    @classmethod
    def of(
        cls,
        landscape: Landscape | LocalLandscape,
        heights: Doubles,
        edges: tuple[Pairs, Doubles],
        nodes: DistinctRows,
        rows: Floats,
    ) -> Self:
        """The regions of a spanning tree over distinct rows.

        Parameters
        ----------
        landscape : Landscape or LocalLandscape
            The heights above the input space.
        heights : array of shape (n,)
            The heights of the nodes.
        edges : tuple of arrays
            The edges between them and their heights, by falling height.
        nodes : DistinctRows
            The nodes.
        rows : array of shape (n_samples, d)
            All training rows.
        """
        node = nodes.places_of(rows)
        aside = np.flatnonzero(node < 0)
        entry, own, reach = heights[node], heights[node], np.empty(0)
        if len(aside):
            joined = landscape.join(rows[aside], heights)
            node[aside], entry[aside], own[aside] = joined[:3]
            reach = landscape.reach(rows[aside]) if joined.reach is None else joined.reach
        pairs, saddles = edges
        tree = AlphaTree(
            heights=heights,
            weight=nodes.weight,
            pairs=pairs,
            saddles=saddles,
            node_alpha=landscape.typicality(heights),
            saddle_alpha=landscape.typicality(saddles),
            node_of=node,
            entry_alpha=landscape.typicality(entry),
            row_of=nodes.index,
        )
        return cls(landscape, tree, aside, rows[aside], reach, entry, landscape.typicality(own))

    def weights_of_rows(self, copies: Doubles | None) -> Doubles:
        """The weights of the training rows in the mean: copies share the weight of their node."""
        node = self.tree.node_of
        copies = np.ones(len(node)) if copies is None else copies
        share = copies / np.bincount(node, weights=copies)[node]
        return np.asarray(self.landscape.weights[node] * share)

    def typicality_of(self, rows: Floats) -> Doubles:
        """The typicality of any rows; training rows have theirs to the last bit."""
        return self.landscape.typicality(self.landscape.row_heights(rows, self.tree.heights))

    def reach(self, rows: Floats | None = None) -> Doubles:
        """The radius around each row that holds ten others; of the training rows by default.

        It orders rows by density, also far out, where heights are nearly all alike.
        """
        if rows is not None:
            return self.landscape.reach(rows)
        reach = self.landscape.radii[self.tree.node_of]
        reach[self.aside] = self.aside_reach
        return reach

    def training_labels(self, cut: Cut, *, assign: str) -> Labels:
        """The labels of the training rows."""
        tree, aside = self.tree, self.aside
        every_node = np.arange(tree.n_nodes)
        labels = self._labels(every_node, tree.node_alpha, cut, assign)[tree.node_of]
        if len(aside):
            node, entry = tree.node_of[aside], tree.entry_alpha[aside]
            rows, reach = self.aside_rows, self.aside_reach
            labels[aside] = self._labels(node, entry, cut, assign, rows, reach)
        return labels

    def labels_of(self, rows: Floats, cut: Cut, *, assign: str) -> Labels:
        """The labels of any rows: each has that of the node it joins."""
        return self.labels_and_typicality(rows, cut, assign=assign)[0]

    def labels_and_typicality(
        self, rows: Floats, cut: Cut, *, assign: str
    ) -> tuple[Labels, Doubles]:
        """`labels_of` and `typicality_of` from one search."""
        joined = self.landscape.join(rows, self.tree.heights)
        entry = self.landscape.typicality(joined.entry)
        labels = self._labels(joined.node, entry, cut, assign, rows, joined.reach)
        return labels, self.landscape.typicality(joined.height)

    def memberships(self, cut: Cut, rows: Floats | None = None) -> Doubles:
        r"""How high the best way from each row to the peak of each cluster is.

        .. math:: u_{hk} = \frac{1}{s_{\max}} \max_{\text{ways from } h \text{ to } k} \min s

        The rows are the training rows when left out. Costs O(n) for each cluster.
        """
        tree = self.tree
        node, entry = tree.node_of, self.entry
        if rows is not None:
            node, entry = self.landscape.join(rows, tree.heights)[:2]
        forest = Forest.of(tree.n_nodes, tree.pairs, tree.saddles)
        memberships = np.empty((len(node), cut.n_clusters))
        for label in range(cut.n_clusters):
            inside = np.flatnonzero(cut.node_labels == label)
            peak = inside[tree.heights[inside].argmax()]
            ways = forest.joined_at(np.column_stack([node, np.full(len(node), peak)]))
            memberships[:, label] = np.minimum(ways, entry)
        return np.asarray(memberships / tree.heights.max())

    def _labels(
        self,
        node: Places,
        entry: Doubles,
        cut: Cut,
        assign: str,
        rows: Floats | None = None,
        reach: Doubles | None = None,
    ) -> Labels:
        """The labels of rows that join given nodes; of the nodes themselves without `rows`."""
        if assign == "core" or (assign == "typical" and cut.reach is None):
            return cut.labels(node, entry)
        if cut.filled is None:
            labels = cut.labels(node, entry)
            return self.landscape.fill_labels(labels, node, cut, self.tree, rows)
        labels = cut.filled[node]
        if assign == "typical" and cut.reach is not None:
            if reach is None:
                reach = self.landscape.radii[node] if rows is None else self.landscape.reach(rows)
            labels[reach > cut.reach[labels]] = -1
        return labels
