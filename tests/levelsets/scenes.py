"""A fixed test bed: ten data sets of a few hundred rows, with a bandwidth."""

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons

from typicality import AlphaCutClustering
from typicality.datasets import make_ball_and_ring, make_crescents, make_dense_regions

rng = np.random.default_rng(7)

SCENES = {
    "blobs": make_blobs(200, centers=4, random_state=1)[0],
    "unequal blobs": make_blobs([150, 60, 20], cluster_std=[2.0, 1.0, 0.4], random_state=2)[0],
    "moons": make_moons(220, noise=0.1, random_state=3)[0],
    "circles": make_circles(240, factor=0.5, noise=0.05, random_state=4)[0],
    "ball and ring": make_ball_and_ring(random_state=5)[0],
    "crescents": make_crescents(random_state=6)[0],
    "dense regions": make_dense_regions(40, 80, 100, random_state=7)[0],
    "uniform": rng.uniform(size=(200, 2)),
    "three dimensions": rng.normal(size=(250, 3)),
    "five dimensions": make_blobs(200, n_features=5, centers=3, random_state=8)[0],
}


def fitted(name, **parameters):
    """A model of a scene, with one bandwidth for all rows."""
    return AlphaCutClustering(kernel="gaussian", **parameters).fit(SCENES[name])


def alphas(model, n=50):
    """Levels from below the lowest typicality to above the highest."""
    u = model.typicality_
    return np.linspace(u.min() - 1e-3, u.max() + 1e-3, n)
