"""The tree of some of its nodes: it has the components of the whole tree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from typicality.levelsets import AlphaTree
from typicality.levelsets.tree import components, pruned


def random_tree(n, seed, *, steps):
    """A tree over random heights, of which many tie; an edge is no higher than its ends."""
    rng = np.random.default_rng(seed)
    heights = rng.integers(1, steps, n) / steps
    pairs = np.array([(i, rng.integers(i)) for i in range(1, n)], dtype=np.intp).reshape(-1, 2)
    saddles = heights[pairs].min(axis=1) * rng.choice([1.0, 0.8, 0.3], n - 1)
    order = np.argsort(-saddles, kind="stable")
    return AlphaTree(
        heights=heights,
        weight=rng.integers(1, 4, n).astype(float),
        pairs=pairs[order],
        saddles=saddles[order],
        node_alpha=heights,
        saddle_alpha=saddles[order],
        node_of=np.arange(n),
        entry_alpha=heights,
        row_of=np.arange(n),
    )


def same_groups(one, other):
    pairs = np.unique(np.stack([one, other]), axis=1)
    return len(np.unique(pairs[0])) == pairs.shape[1] == len(np.unique(pairs[1]))


@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 1000),
    steps=st.sampled_from([3, 50]),
    share=st.floats(0.02, 1.0),
)
def test_pruned_tree_has_the_components_of_the_whole_tree(n, seed, steps, share):
    tree = random_tree(n, seed, steps=steps)
    rng = np.random.default_rng(seed)
    part = pruned(tree, rng.choice(n, max(1, int(share * n)), replace=False))
    assert part.pairs.shape == (len(part.nodes) - 1, 2)
    assert part.weight.sum() == tree.weight.sum()
    for level in np.unique(np.append(tree.saddles, tree.heights)):
        whole = tree.cut_at(level).node_labels[part.nodes]
        above = tree.saddles[part.edge] > level
        here = components(len(part.nodes), part.pairs[above])
        here = np.where(tree.heights[part.nodes] > level, here, -1)
        assert same_groups(whole, here)


def test_pruned_tree_adds_nodes_left_out_to_the_kept_node_they_join():
    # 0 and 4 are kept; 1 hangs on 0, and 2 on 1; 3 joins 4; then the two meet.
    heights = np.array([1.0, 0.9, 0.8, 0.7, 0.95])
    pairs = np.array([(0, 1), (1, 2), (3, 4), (2, 3)], dtype=np.intp)
    saddles = np.array([0.9, 0.8, 0.7, 0.1])
    tree = AlphaTree(
        heights, np.ones(5), pairs, saddles, heights, saddles, np.arange(5), heights, np.arange(5)
    )
    part = pruned(tree, np.array([4, 0]))
    assert part.nodes.tolist() == [0, 4]
    assert part.weight.tolist() == [3.0, 2.0]
    assert sorted(part.pairs[0].tolist()) == [0, 1]
    assert part.edge.tolist() == [3]
