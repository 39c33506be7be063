"""A landscape, its tree, and the labels of rows old and new."""

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality.levelsets.landscape import Joined, Landscape
from typicality.levelsets.local import LocalLandscape
from typicality.levelsets.tree import AlphaTree, Cut, SpanningTree
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
    typicality : array of shape (n_samples,), float64
        The typicality of the training rows.
    """

    landscape: Landscape | LocalLandscape
    tree: AlphaTree
    aside: Annotated[Places, "_aside", Index("N")]
    aside_rows: Annotated[Floats, "_aside _coordinates"]
    typicality: Annotated[Doubles, "N"]

    @classmethod
    def of(
        cls,
        landscape: Landscape | LocalLandscape,
        heights: Doubles,
        edges: SpanningTree,
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
        edges : SpanningTree
            The edges between them.
        nodes : DistinctRows
            The nodes.
        rows : array of shape (n_samples, d)
            All training rows.
        """
        node = nodes.places_of(rows)
        aside = np.flatnonzero(node < 0)
        entry = heights[node]
        own = entry.copy()
        joined = None
        if len(aside):
            joined = landscape.join(rows[aside], heights)
            node[aside], entry[aside], own[aside] = joined[:3]
        tree = AlphaTree(
            heights=heights,
            weight=nodes.weight,
            pairs=edges.pairs,
            saddles=edges.saddles,
            node_alpha=landscape.typicality(heights),
            saddle_alpha=landscape.typicality(edges.saddles),
            node_of=node,
            entry_alpha=landscape.typicality(entry),
            row_of=nodes.index,
        )
        typicality = landscape.typicality(own) if len(aside) else tree.entry_alpha
        regions = cls(landscape, tree, aside, rows[aside], typicality)
        if joined is not None:
            vars(regions)["_joined_aside"] = joined
        return regions

    @cached_property
    def _joined_aside(self) -> Joined:
        """What the rows aside join."""
        return self.landscape.join(self.aside_rows, self.tree.heights)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_joined_aside"}

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
        if len(self.aside):
            known = self._known_reach
            reach[self.aside] = self.landscape.reach(self.aside_rows) if known is None else known
        return reach

    def training_labels(self, cut: Cut, *, assign: str) -> Labels:
        """The labels of the training rows."""
        tree, aside = self.tree, self.aside
        every_node = np.arange(tree.n_nodes)
        labels = self._labels(every_node, tree.node_alpha, cut, assign)[tree.node_of]
        if len(aside):
            node, entry = tree.node_of[aside], tree.entry_alpha[aside]
            reach = self._known_reach
            labels[aside] = self._labels(node, entry, cut, assign, self.aside_rows, reach)
        return labels

    @property
    def _known_reach(self) -> Doubles | None:
        """The radius around each row aside that holds ten others, if a search has found it."""
        joined: Joined | None = vars(self).get("_joined_aside")
        return None if joined is None else joined.reach

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
        from typicality.levelsets.merging import ways_to  # numba takes a second to load

        tree = self.tree
        if rows is None:
            node = tree.node_of
            entry = tree.heights[node]
            if len(self.aside):
                entry[self.aside] = self._joined_aside.entry
        else:
            node, entry = self.landscape.join(rows, tree.heights)[:2]
        memberships = np.empty((len(node), cut.n_clusters))
        ways, own = np.empty(tree.n_nodes), np.arange(tree.n_nodes)
        for label in range(cut.n_clusters):
            inside = np.flatnonzero(cut.node_labels == label)
            peak = int(inside[tree.heights[inside].argmax()])
            ways[peak] = tree.heights[peak]
            ends = own.copy(), own.copy(), np.full_like(own, -1)
            ways_to(tree.pairs, tree.saddles, peak, ways, *ends)
            memberships[:, label] = np.minimum(ways[node], entry)
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
            return self.landscape.fill_labels(labels, node, cut, self.tree.pairs, rows)
        labels = cut.filled[node]
        if assign == "typical" and cut.reach is not None:
            if reach is None:
                reach = self.landscape.radii[node] if rows is None else self.landscape.reach(rows)
            labels[reach > cut.reach[labels]] = -1
        return labels
