"""A landscape, its tree, and the labels of rows old and new."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.rows import DistinctRows, NearestRows
from typicality.levelsets.joining import join
from typicality.levelsets.landscape import Doubles, Floats, Joined, Landscape
from typicality.levelsets.local import LocalLandscape
from typicality.levelsets.spanning import SpanningTree, spanning_tree
from typicality.levelsets.tree import AlphaTree, Cut, Labels


@dataclass(frozen=True, eq=False)
class Regions:
    """Connected regions of a landscape above any level.

    Parameters
    ----------
    landscape : Landscape or LocalLandscape
        The heights above the input space.
    tree : AlphaTree
        The clusters at every level.
    labelling : {"neighbours", "complete"}
        How segments are looked at.
    n_neighbors : int
        How many training rows a row may join.
    aside : array of shape (m,)
        Training rows that are no nodes of the tree: of weight zero, or not in its sample.
    aside_rows : array of shape (m, d)
        Their features.
    typicality : array of shape (n_samples,), float64
        The typicality of the training rows.
    """

    landscape: Landscape | LocalLandscape
    tree: AlphaTree
    labelling: str
    n_neighbors: int
    aside: NDArray[np.intp]
    aside_rows: Floats
    typicality: Doubles

    @classmethod
    def of(
        cls,
        landscape: Landscape | LocalLandscape,
        nodes: DistinctRows,
        rows: Floats,
        *,
        labelling: str,
        n_neighbors: int,
        grown: tuple[Doubles, SpanningTree] | None = None,
        search: NearestRows | None = None,
    ) -> Self:
        """Grow the tree of a landscape over distinct rows; `rows` are all training rows.

        The tree of a local landscape is known already: heights and edges that are `grown`.
        """
        ways: dict[str, Any] = {"labelling": labelling, "n_neighbors": n_neighbors}
        if isinstance(landscape, Landscape):
            heights = landscape.heights(nodes.rows)
            edges = spanning_tree(landscape, heights, **ways, search=search)
        elif grown is not None:
            heights, edges = grown
        node = nodes.places_of(rows)
        aside = np.flatnonzero(node < 0)
        entry = heights[node]
        own = entry.copy()
        if len(aside):
            joined = join(landscape, heights, rows[aside], **ways)
            node[aside], entry[aside], own[aside] = joined
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
        return cls(landscape, tree, labelling, n_neighbors, aside, rows[aside], typicality)

    def weights_of_rows(self, copies: Doubles | None) -> Doubles:
        """The weights of the training rows in the mean: of their nodes, shared by the copies."""
        node = self.tree.node_of
        copies = np.ones(len(node)) if copies is None else copies
        share = copies / np.bincount(node, weights=copies)[node]
        return np.asarray(self.landscape.weights[node] * share)

    def typicality_of(self, rows: Floats) -> Doubles:
        """The typicality of any rows; training rows have theirs to the last bit."""
        if isinstance(self.landscape, Landscape):
            heights = self.landscape.heights(rows)
        else:
            heights = self._join(rows).height
        return self.landscape.typicality(heights)

    def training_labels(self, cut: Cut, *, assign: str) -> Labels:
        """The labels of the training rows."""
        return self._labels(self.tree.node_of, self.tree.entry_alpha, cut, assign)

    def labels_of(self, rows: Floats, cut: Cut, *, assign: str) -> Labels:
        """The labels of any rows: of the training row each would join."""
        joined = self._join(rows)
        entry = self.landscape.typicality(joined.entry)
        return self._labels(joined.node, entry, cut, assign, rows)

    def memberships(self, cut: Cut, rows: Floats | None = None) -> Doubles:
        r"""How high the best way from each row to the peak of each cluster is.

        .. math:: u_{hk} = \frac{1}{s_{\max}} \max_{\text{ways from } h \text{ to } k} \min s

        Of the training rows, where no rows are given. Costs O(n) for each cluster.
        """
        from typicality.levelsets.merging import ways_to  # numba takes a second to load

        tree = self.tree
        if rows is None:
            node, entry = tree.node_of, self._training_entry
        else:
            node, entry, _ = self._join(rows)
        memberships = np.empty((len(node), cut.n_clusters))
        ways = np.empty(tree.n_nodes)
        for label in range(cut.n_clusters):
            own = np.flatnonzero(cut.node_labels == label)
            peak = own[tree.heights[own].argmax()]
            ways_to(tree.pairs, tree.saddles, tree.heights, peak, ways)
            memberships[:, label] = np.minimum(ways[node], entry)
        return np.asarray(memberships / tree.heights.max())

    @property
    def _training_entry(self) -> Doubles:
        """The heights below which training rows belong to the components of their nodes."""
        entry = self.tree.heights[self.tree.node_of]
        if len(self.aside):
            entry[self.aside] = self._join(self.aside_rows).entry
        return entry

    def _join(self, rows: Floats) -> Joined:
        ways: dict[str, Any] = {"labelling": self.labelling, "n_neighbors": self.n_neighbors}
        return join(self.landscape, self.tree.heights, rows, **ways)

    def _labels(
        self,
        node: NDArray[np.intp],
        entry: Doubles,
        cut: Cut,
        assign: str,
        rows: Floats | None = None,
    ) -> Labels:
        if assign == "core" or (assign == "typical" and cut.filled is None):
            return cut.labels(node, entry)
        if isinstance(self.landscape, Landscape):
            return self._nearest(self.landscape, cut.labels(node, entry), rows, cut)
        labels = self._filled(cut)[node]
        if assign == "typical" and cut.reach is not None:
            reach = self._reach if rows is None else self.landscape.reach(rows)
            labels[reach > cut.reach[labels]] = -1
        return labels

    def _filled(self, cut: Cut) -> Labels:
        """Nodes below the cut with the label of the node by which they join the others."""
        from typicality.levelsets.merging import fill_along  # numba takes a second to load

        if cut.filled is not None:
            return cut.filled
        labels = cut.node_labels.copy()
        fill_along(self.tree.pairs, labels)
        return labels

    @property
    def _reach(self) -> Doubles:
        """The reach of the training rows."""
        landscape: Any = self.landscape
        reach = landscape.radii[self.tree.node_of]
        if len(self.aside):
            reach[self.aside] = landscape.reach(self.aside_rows)
        return np.asarray(reach)

    def _nearest(
        self, landscape: Landscape, labels: Labels, rows: Floats | None, cut: Cut
    ) -> Labels:
        """Rows that belong nowhere get the label of the nearest node that belongs somewhere."""
        core = np.flatnonzero(cut.node_labels >= 0)
        nowhere = np.flatnonzero(labels < 0)
        if len(core) and len(nowhere):
            if rows is None:
                rows = landscape.rows[self.tree.node_of]
                rows[self.aside] = self.aside_rows
            search = NearestRows(landscape.rows[core], landscape.nearest.norm)
            labels[nowhere] = cut.node_labels[core[search.of(rows[nowhere], 1)[:, 0]]]
        return labels
