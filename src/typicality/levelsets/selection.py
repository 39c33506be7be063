"""Which peaks of the tree are clusters, and which are chance."""

import math

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Labels, Places
from typicality.geometry.rows import NearestRows
from typicality.levelsets.graphs import components, islands
from typicality.levelsets.landscape import Landscape
from typicality.levelsets.merging import core_edges, ends_of
from typicality.levelsets.tree import AlphaTree, Branches, Cut, number_clusters

# Fitted to the 95 % points of single clusters of many shapes: see docs/theory.
_STRICTNESS = 1.6
_ROWS_OF_A_PLACE = 20.0

_FEWEST_ROWS = 5.0
_WINDOW = 3.0  # bandwidths around a peak that tell its dimension
_CHANCE_OF_ISLANDS = 0.01
_HALF = 0.5  # of the evidence, where neighbours are apart as well
_RESOLVED = 10.0  # rows under the kernel, for links to be judged by one row's worth


def select_clusters(
    landscape: Landscape,
    tree: AlphaTree,
    *,
    min_cluster_size: float = 1,
    search: NearestRows | None = None,
) -> Cut:
    r"""The peaks that chance does not explain, each down to the level where it meets another.

    With n the number of rows, a height s is a count :math:`N = n s`, the rows under the kernel. A
    branch that rises from a saddle of count t to a peak of count p (one copy of the row at the peak
    left out) is a cluster when it has five rows or more and

    .. math:: D \, (\sqrt p - \sqrt t)^2 > 1.6 \ln(1 + n / 20),

    D the effective dimension of the rows around the peak, :math:`(\operatorname{tr} C)^2 /
    \operatorname{tr} C^2` of their covariance under a Gaussian window of three bandwidths: a gap in
    a filament is one gap, in a sheet it must be low along two directions. It is a cluster, too,
    when no path of nearest neighbours, :math:`\log_2 (200 n)` of each row, joins the two peaks, and
    with half of that contrast when no path of mutual ones does: clusters sparser than the others
    are found by that. What meets the higher peaks without being a cluster is part of them.

    The core of a cluster is what hangs together above its highest saddle to another one, and above
    the height 1 / n (less, down to nothing, for peaks of fewer than ten rows): a link through
    places with less than the weight of one row is none. Where nothing is significant there is one
    cluster.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    tree : AlphaTree
        Their tree.
    min_cluster_size : float, default=1
        Cores of fewer rows (of less weight) belong nowhere.
    search : NearestRows, optional
        A search for the nearest rows, where one was begun before.

    Returns
    -------
    cut : Cut
        With one level for each cluster.
    """
    branches = tree.branches
    real = _significant_branches(landscape, tree, landscape.nearest if search is None else search)
    floors = _floors(tree)
    component = _core_components(tree, branches.edge[real], floors)
    peaks = np.append(tree.heights.argmax(), branches.peak[real])
    component[~np.isin(component, component[peaks])] = -1
    labels = number_clusters(component, tree.weight, min_cluster_size)
    alpha = np.zeros(int(labels.max(initial=-1)) + 1)
    raise_to(alpha, labels[peaks], landscape.typicality(floors[peaks].clip(min=0.0)))
    for side in (branches.peak, branches.parent):
        raise_to(alpha, labels[side[real]], tree.saddle_alpha[branches.edge[real]])
    return Cut(labels, np.minimum(alpha, just_below_cores(labels, tree.node_alpha, len(alpha))))


def raise_to(alpha: Doubles, labels: Labels, levels: Doubles) -> None:
    """Raise the levels of clusters to given ones, where these are higher; -1 is no cluster."""
    found = labels >= 0
    np.maximum.at(alpha, labels[found], levels[found])


def _floors(tree: AlphaTree) -> Doubles:
    """How low links may be that belong to the core of a peak, by the row at the peak.

    One row's worth for peaks of ten and more. Where rows are so sparse that a peak has one beside
    itself or less, links say nothing: then there is no floor.
    """
    n_rows = tree.weight.sum()
    others = n_rows * tree.heights - np.minimum(1.0, tree.weight)
    floors = ((others - 1.0) / (_RESOLVED - 1.0)).clip(0.0, 1.0) / n_rows
    return np.where(floors > 0, floors, -1.0)


def just_below_cores(labels: Labels, node_alpha: Doubles, n_clusters: int) -> Doubles:
    """Levels that no core touches, even where typicalities differ by less than rounding."""
    lowest = np.full(n_clusters, np.inf)
    core = labels >= 0
    np.minimum.at(lowest, labels[core], node_alpha[core])
    return np.asarray(np.nextafter(lowest, -np.inf))


def critical_value(n_rows: float) -> float:
    """What `contrasts` must exceed, by the number of rows."""
    return float(_STRICTNESS * np.log1p(n_rows / _ROWS_OF_A_PLACE))


def contrasts(landscape: Landscape, tree: AlphaTree, *, above: float = 0.0) -> Doubles:
    r"""How far each branch stands out: :math:`D (\sqrt p - \sqrt t)^2`, as in `select_clusters`.

    Costs O(n) for each branch that may exceed `above`.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    tree : AlphaTree
        Their tree.
    above : float, default=0
        Branches that cannot exceed it get 0, as those of fewer than five rows do.

    Returns
    -------
    contrast : array of shape (n_branches,)
    """
    branches = tree.branches
    n_rows = tree.weight.sum()
    own = np.minimum(1.0, tree.weight[branches.peak])
    peak = (n_rows * tree.heights[branches.peak] - own).clip(min=0.0)
    saddle = n_rows * tree.saddles[branches.edge]
    contrast = (np.sqrt(peak) - np.sqrt(saddle)).clip(min=0.0) ** 2
    largest_dimension = landscape.rows.shape[1]
    may_exceed = branches.weight >= _FEWEST_ROWS
    may_exceed &= largest_dimension * contrast > above
    contrast[~may_exceed] = 0.0
    for i in np.flatnonzero(may_exceed):
        contrast[i] *= _dimension_around(branches.peak[i], landscape, tree.weight)
    return np.asarray(contrast)


def _significant_branches(
    landscape: Landscape, tree: AlphaTree, search: NearestRows
) -> NDArray[np.bool_]:
    branches = tree.branches
    critical = critical_value(tree.weight.sum())
    contrast = contrasts(landscape, tree, above=_HALF * critical)
    joined, mutual = islands(search, _island_neighbours(tree.n_nodes))
    real = contrast > critical
    real |= _apart(mutual, branches) & (contrast > _HALF * critical)
    real |= _apart(joined, branches) & (branches.weight >= _FEWEST_ROWS)
    # A branch that others were separated from is a cluster, whatever its own dimension.
    branch_of = np.full(tree.n_nodes, -1)
    branch_of[branches.peak] = np.arange(len(branches.peak))
    for child, parent in enumerate(branch_of[branches.parent]):  # a parent ends later, further down
        real[parent] |= real[child] & (parent >= 0)
    return real


def _apart(island: NDArray[np.int32], branches: Branches) -> NDArray[np.bool_]:
    """Whether a branch and the higher one it meets have their peaks on different islands."""
    own, other = island[branches.peak], island[branches.parent]
    return np.asarray((own >= 0) & (other >= 0) & (own != other))


def _island_neighbours(n_rows: int) -> int:
    """So many that chance hardly makes an island, even on a line.

    There a gap is wider than the k next ones together, on one side of it or the other, with a
    chance of two in two to the k.
    """
    return math.ceil(math.log2(2 * n_rows / _CHANCE_OF_ISLANDS))


def _dimension_around(row: np.intp, landscape: Landscape, weight: Doubles) -> float:
    """The effective dimension of the rows in a Gaussian window around a row."""
    away = landscape.rows.astype(np.float64) - landscape.rows[row]
    width = _WINDOW * landscape.kernel.sigma
    share = weight * np.exp(-np.sum((away / width) ** 2, axis=1) / 2)
    share /= share.sum()
    centred = (away - share @ away) / width  # in units that no square overflows in
    covariance = (centred.T * share) @ centred
    squares = np.sum(covariance**2)
    return float(np.trace(covariance) ** 2 / squares) if squares > 0 else 1.0


def _core_components(tree: AlphaTree, separating: Places, floors: Doubles) -> NDArray[np.int32]:
    """Components of the edges that hold a single cluster together."""
    separates = np.zeros(len(tree.pairs), bool)
    separates[separating] = True
    kept = np.empty(len(tree.pairs), bool)
    own, closed = np.arange(tree.n_nodes), np.zeros(tree.n_nodes, bool)
    ends, heights = ends_of(tree.pairs), tree.heights
    core_edges(*ends, tree.saddles, heights, floors, separates, kept, own, own.copy(), closed)
    return components(tree.n_nodes, tree.pairs[kept])
