"""
Which method fits which shape?
==============================

Rings, crescents, blobs in noise, a cloud without structure: no single method is
right for all. Can one estimator choose, and give the reason for its choice?
"""

# %%
# Four data sets, no parameter
# ----------------------------
# :class:`~typicality.AutoClustering` chooses one of three methods: density, a
# Gaussian mixture and round groups. ``explanation_`` is a sentence that
# explains the choice.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons

from typicality import AutoClustering

rng = np.random.default_rng(1)
blobs, _ = make_blobs(
    240,
    centers=[[0, 0], [7, 1], [1, 8]],
    cluster_std=[0.5, 1.2, 0.9],
    random_state=3,
)
tables = {
    "two crescents": make_moons(200, noise=0.06, random_state=0)[0],
    "two rings": make_circles(250, factor=0.4, noise=0.05, random_state=0)[0],
    "three blobs in noise": np.vstack([blobs, rng.uniform(-4, 11, (40, 2))]),
    "one cloud": rng.normal(size=(250, 2)),
}

# %%
# Draw the clusters with the reasons
# ----------------------------------
# Crosses are rows that belong to no cluster.

colours = np.array(["#0072B2", "#E69F00", "#009E73", "#D55E00"])
figure, axes = plt.subplots(2, 2, figsize=(8, 7.8), layout="constrained")
for ax, (name, X) in zip(axes.flat, tables.items(), strict=True):
    model = AutoClustering().fit(X)
    labels = model.labels_
    ax.scatter(*X[labels == -1].T, marker="x", c="black", s=16, linewidths=0.8)
    ax.scatter(*X[labels >= 0].T, c=colours[labels[labels >= 0]], s=14)
    ax.set(xticks=[], yticks=[], title=name)
    ax.set_xlabel(fill(model.explanation_, 46), fontsize=9)
plt.show()

# %%
# What we learn
# -------------
# With two columns, the density method is used. It finds crescents, rings and
# blobs with the same settings, and one cluster in the cloud. Round groups would
# split the cloud. Read the explanation before you use the labels.
