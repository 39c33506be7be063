"""The clusters in the figures of filippone2007 and filippone2010, as numbers."""

import numpy as np

from typicality import AlphaCutClustering
from typicality.datasets import make_dense_regions, make_discs_banana_ring

PAPER = {"sigma": 0.5, "criterion": "memberships", "tol": 0.01}


def test_dense_regions():
    """filippone2007, fig. 1: the valley of the histogram at .3667, three clusters above it."""
    models = []
    for seed in range(20):
        X, _ = make_dense_regions(random_state=seed)
        models.append(AlphaCutClustering(alpha="valley", **PAPER).fit(X))
    valleys = [model.alpha_ for model in models]
    assert abs(np.mean(valleys) - 0.3667) < 0.0015
    # In one draw the ring has a place of few rows, and its own valley lies above them.
    assert sum(model.n_clusters_ == 3 for model in models) == 19
    sizes = np.array([np.bincount(m.labels_at(0.3667) + 1, minlength=4)[1:4] for m in models])
    assert (sizes > [350, 110, 110]).all()  # the ring, the rectangles


def test_discs_banana_ring():
    """filippone2010, fig. 1: six clusters at a rejection rate of 10 %."""
    n_clusters = []
    for seed in range(50):
        X, _ = make_discs_banana_ring(random_state=seed)
        model = AlphaCutClustering(rejection_rate=0.1, min_cluster_size=5, **PAPER)
        n_clusters.append(model.fit(X).n_clusters_)
    assert np.mean(np.array(n_clusters) == 6) >= 0.9
