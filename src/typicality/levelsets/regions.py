"""A landscape, its tree, and the labels of rows old and new."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.distinct import DistinctRows
from typicality.geometry.nearest import NearestRows
from typicality.levelsets.joining import join
from typicality.levelsets.landscape import Doubles, Floats, Landscape
from typicality.levelsets.spanning import spanning_tree
from typicality.levelsets.tree import AlphaTree, Cut, Labels

__all__ = ["Regions"]


@dataclass(frozen=True, eq=False)
class Regions:
    """Connected regions of a landscape above any level.

    Parameters
    ----------
    landscape : Landscape
        The heights above the input space.
    tree : AlphaTree
        The clusters at every level.
    labelling : {"neighbours", "complete"}
        How segments are looked at.
    n_neighbors : int
        How many training rows a row may join.
    aside : array of shape (m,)
        Training rows of weight zero, which are no nodes of the tree.
    aside_rows : array of shape (m, d)
        Their features.
    typicality : array of shape (n_samples,), float64
        The typicality of the training rows.
    """

    landscape: Landscape
    tree: AlphaTree
    labelling: str
    n_neighbors: int
    aside: NDArray[np.intp]
    aside_rows: Floats
    typicality: Doubles

    @classmethod
    def of(
        cls,
        landscape: Landscape,
        nodes: DistinctRows,
        rows: Floats,
        *,
        labelling: str,
        n_neighbors: int,
        search: NearestRows | None = None,
    ) -> Self:
        """Grow the tree of a landscape over distinct rows; `rows` are all training rows."""
        heights = landscape.heights(nodes.rows)
        ways: dict[str, Any] = {"labelling": labelling, "n_neighbors": n_neighbors}
        edges = spanning_tree(landscape, heights, **ways, search=search)
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
        """The typicality of any rows."""
        return self.landscape.typicality(self.landscape.heights(rows))

    def training_labels(self, cut: Cut, *, assign: str) -> Labels:
        """The labels of the training rows."""
        labels = cut.labels(self.tree.node_of, self.tree.entry_alpha)
        if assign == "core":
            return labels
        rows = self.landscape.rows[self.tree.node_of]
        rows[self.aside] = self.aside_rows
        return self._filled(labels, rows, cut)

    def labels_of(self, rows: Floats, cut: Cut, *, assign: str) -> Labels:
        """The labels of any rows: of the training row each would join."""
        joined = join(
            self.landscape,
            self.tree.heights,
            rows,
            labelling=self.labelling,
            n_neighbors=self.n_neighbors,
        )
        labels = cut.labels(joined.node, self.landscape.typicality(joined.entry))
        return labels if assign == "core" else self._filled(labels, rows, cut)

    def _filled(self, labels: Labels, rows: Floats, cut: Cut) -> Labels:
        """Rows that belong nowhere get the label of the nearest node that belongs somewhere."""
        core = np.flatnonzero(cut.node_labels >= 0)
        nowhere = np.flatnonzero(labels < 0)
        if len(core) and len(nowhere):
            search = NearestRows(self.landscape.rows[core], self.landscape.nearest.norm)
            labels[nowhere] = cut.node_labels[core[search.of(rows[nowhere], 1)[:, 0]]]
        return labels
