"""The tree of alpha-cuts."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from plot.models import fitted, rows
from typicality import AlphaCutClustering
from typicality.plot import ClusterTreeDisplay, cluster_colour


def ends(collection):
    """The ends of lines: x, y of the first, x, y of the second."""
    return np.array([np.ravel(segment) for segment in collection.get_segments()])


@pytest.mark.parametrize("size", [1, 20])
def test_lines_are_the_branches(size, ax):
    model = fitted("alpha-cut")
    tree, branches = model.tree_, model.tree_.branches
    display = ClusterTreeDisplay.from_estimator(model, min_cluster_size=size, ax=ax)
    large = branches.weight >= size
    drawn = ends(display.branches_)
    assert_array_equal(drawn[1:, 1], tree.node_alpha[branches.peak[large]])
    assert_array_equal(drawn[1:, 3], tree.saddle_alpha[branches.edge[large]])
    assert_array_equal(drawn[:, 0], drawn[:, 2])
    assert drawn[0, 1] == tree.node_alpha.max()
    assert drawn[0, 3] == drawn[:, 3].min() <= tree.node_alpha.min()
    smallest = branches.weight[large].min()
    assert ax.get_title() == (
        f"{large.sum() + 1} branches, the smallest of {smallest:g} rows; cuts in black"
    )


def test_joints_lead_to_the_branch_they_merge_with(ax):
    tree = fitted("alpha-cut").tree_
    display = ClusterTreeDisplay(tree, min_cluster_size=1).plot(ax=ax)
    branch, joint = ends(display.branches_), ends(display.joints_)
    peak = np.append(tree.heights.argmax(), tree.branches.peak)
    x_of = dict(zip(peak, branch[:, 0], strict=True))
    assert_array_equal(joint[:, 0], branch[1:, 0])
    assert_array_equal(joint[:, 1], branch[1:, 3])
    assert_array_equal(joint[:, 2], [x_of[node] for node in tree.branches.parent])
    assert_array_equal(joint[:, 1], joint[:, 3])


def test_no_line_crosses_another(ax):
    rng = np.random.default_rng(0)
    tree = AlphaCutClustering(sigma=0.15).fit(rng.uniform(size=(200, 2)) * 4).tree_
    display = ClusterTreeDisplay(tree, min_cluster_size=1).plot(ax=ax)
    branch, joint = ends(display.branches_), ends(display.joints_)
    assert len(branch) > 30
    assert_array_equal(np.sort(branch[:, 0]), np.arange(len(branch)))
    low, high = np.sort(joint[:, [0, 2]], axis=1).T
    between = (low[:, None] < branch[:, 0]) & (branch[:, 0] < high[:, None])
    across = (branch[:, 3] < joint[:, 1, None]) & (joint[:, 1, None] < branch[:, 1])
    assert not (between & across).any()


def test_colours_are_those_of_the_clusters_down_to_their_cut(ax):
    model = fitted("alpha-cut")
    display = ClusterTreeDisplay.from_estimator(model, ax=ax)
    coloured = ends(display.coloured_)
    colours = [to_hex(colour).upper() for colour in display.coloured_.get_colors()]
    assert set(colours) == {cluster_colour(label) for label in range(model.n_clusters_)}
    for (_, top, _, bottom), colour in zip(coloured, colours, strict=True):
        levels = [a for k, a in enumerate(model.alpha_) if cluster_colour(k) == colour]
        assert bottom >= levels[0]
        assert top > bottom
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2"]


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("X", [rows()[:1], rows()[:40].astype(np.float32)], ids=["row", "blob"])
def test_tree_display_draws_one_cluster(X, ax):
    model = AlphaCutClustering().fit(X)
    display = ClusterTreeDisplay.from_estimator(model, ax=ax)
    assert len(display.cuts_) == model.n_clusters_ == 1
