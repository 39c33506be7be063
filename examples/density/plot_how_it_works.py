"""
How it works: from one row to clusters
======================================

How does typicality find clusters of any shape, their number, and the rows that
belong to none? This page builds the method from one row, in seven pictures.
"""

# %%
# The data
# --------
# Three groups with three shapes, and a few rows between them.

import matplotlib.pyplot as plt
import numpy as np

from typicality import (
    AlphaCutClustering,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
)
from typicality.plot import ClusterTreeDisplay, MembershipContourDisplay

rng = np.random.default_rng(4)
angle = rng.uniform(0, np.pi, 160)
arc = 3 * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.22, (160, 2))
ball = rng.normal((0, -0.2), 0.5, (120, 2))
bar = np.c_[rng.uniform(-3, 3, 120), rng.normal(-3, 0.2, 120)]
between = rng.uniform((-4.5, -4.5), (4.5, 4.5), (24, 2))
X = np.vstack([arc, ball, bar, between])


def draw(ax, title, **settings):
    """The rows, in a plane with equal axes."""
    ax.scatter(*X.T, **({"s": 8, "c": "#444444"} | settings))
    ax.set(title=title, aspect="equal", xlim=(-5, 5), ylim=(-5, 5))


_, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
draw(ax, "424 rows")
plt.show()

# %%
# One row
# -------
# A *kernel* measures how similar two places are. The similarity is 1 at the
# row itself and falls with the distance. Beyond three times the width
# ``sigma`` it is nearly 0. The picture shows the similarity of each place to
# one row, the red cross. Darker is more similar.

grid = np.stack(np.meshgrid(*[np.linspace(-5, 5, 201)] * 2), axis=-1)
similarity = np.exp(-((grid - X[0]) ** 2).sum(axis=-1) / (2 * 0.4**2))
_, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
filled = ax.contourf(*grid.T, similarity.T, levels=10, cmap="Blues")
plt.colorbar(filled, ax=ax)
draw(ax, "similarity to one row", s=5, c="#999999")
ax.plot(*X[0], "rx", markersize=9)
plt.show()

# %%
# All rows
# --------
# The *height* of a place is its mean similarity to all rows. It is high where
# rows are dense. It is a density up to a constant factor.
#
# Outliers should have less influence than other rows. So the mean is a
# weighted mean. The weight of a row is its *typicality*, which increases with
# its height. Heights and weights are computed in turn until they no longer
# change. This is the one-cluster possibilistic c-means of the papers.
#
# The picture shows the typicality of each place, divided by the largest one.

model = OneClusterPCM(sigma=0.4, contamination=0.05).fit(X)
typicality = model.predict_typicality(grid.reshape(-1, 2))
typicality = typicality.reshape(grid.shape[:2]) / typicality.max()
_, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
filled = ax.contourf(*grid.T, typicality.T, levels=12, cmap="Blues")
plt.colorbar(filled, ax=ax)
draw(ax, "how typical is each place?", s=5)
plt.show()

# %%
# Outliers
# --------
# The *score* of a row is the logarithm of its height. The similarity of the
# row to itself does not count, because a new row has no such term. Rows with
# the lowest scores are flagged as outliers, here 5 % of all. The model also
# flags about 5 % of new rows from the same source.

flagged = model.predict(X) == -1
_, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
draw(ax, f"the {flagged.sum()} most unusual rows", c="#BBBBBB")
ax.scatter(*X[flagged].T, s=22, c="#D62728")
plt.show()

# %%
# An alpha-cut
# ------------
# Choose a level of typicality, called *alpha*. The places above this level
# are the *alpha-cut*. It consists of separate regions, like the islands that
# remain when water rises. Each region is a cluster. So two rows are in the
# same cluster if a path above the level connects them. Rows below the level,
# the crosses, are in no cluster.
#
# In the pictures, 1 %, 8 % and 40 % of the rows are below the level. The low
# level leaves all rows connected. The high level breaks clusters into pieces.

cut = AlphaCutClustering(kernel="gaussian", sigma=0.4).fit(X)
_, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", sharey=True
)
for ax, share in zip(axes, (0.01, 0.08, 0.4), strict=True):
    labels = cut.labels_at(np.quantile(cut.typicality_, share))
    found = f"clusters: {labels.max() + 1}, rows below the level: {share:.0%}"
    draw(ax, found, c=np.where(labels < 0, np.nan, labels), cmap="tab10")
    ax.scatter(*X[labels < 0].T, marker="x", c="#999999", s=12)
plt.show()

# %%
# All cuts at once
# ----------------
# You need not choose a level. The *alpha tree* connects the rows by the
# highest paths, so it has the clusters at every level. In the right picture,
# a vertical line is a cluster. Its lower end is the level at which it meets a
# larger cluster. A long line is a cluster that exists at many levels. The black
# lines are the cuts between the three clusters of the result.
#
# You need not choose a width either. A narrow kernel separates thin gaps, but
# breaks sparse groups. A wide kernel does the opposite. So the default kernel
# is wide where rows are sparse, and there is a tree for each of several
# scales. Each scale proposes partitions, and the partition that agrees best
# with all of them is the result. A test decides before whether there is more
# than one cluster. It compares the valleys between groups with valleys that
# chance produces.
#
# The left picture shows the result, and the areas in which new rows would
# join each cluster.

clusters = AlphaCutClustering().fit(X)
print(
    f"{clusters.n_clusters_} clusters, evidence {clusters.evidence_:.1f} "
    f"(1 is needed), {np.sum(clusters.labels_ < 0)} rows in no cluster"
)
_, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
MembershipContourDisplay.from_estimator(clusters, X, ax=left)
ClusterTreeDisplay.from_estimator(clusters, ax=right)
plt.show()

# %%
# Clusters that overlap
# ---------------------
# If groups touch, no valley separates them. Then each cluster needs a centre,
# its *prototype*. Two steps are repeated:
#
# 1. Compute the membership of each row in each cluster from the distances to
#    the prototypes.
# 2. Move each prototype to the mean of the rows, weighted by the memberships.
#
# In fuzzy c-means, the memberships of a row sum to one. In possibilistic
# c-means, they are independent of each other, so a row far from all
# prototypes has small memberships only.
#
# The one-cluster method above repeats the same two steps. It has a single
# prototype, in the space that the kernel induces.

blobs = rng.normal(0, 0.8, (300, 2)) + np.repeat([[-1.3, 0], [1.3, 0]], 150, 0)
_, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, method in zip(axes, (FuzzyCMeans, PossibilisticCMeans), strict=True):
    fitted = method(n_clusters=2, random_state=0).fit(blobs)
    places = fitted.predict_memberships(grid.reshape(-1, 2)).max(axis=1)
    filled = ax.contourf(
        *grid.T, places.reshape(grid.shape[:2]).T, levels=10, cmap="Blues"
    )
    plt.colorbar(filled, ax=ax)
    ax.scatter(*blobs.T, s=5, c="#444444")
    ax.plot(*fitted.cluster_centers_.T, "r+", markersize=12)
    ax.set(title=f"{method.__name__}: largest membership", aspect="equal")
plt.show()

# %%
# Summary
# -------
# - The kernel gives each place a height, and rows in low places are outliers.
# - The regions above a level are clusters, and the alpha tree has all levels.
# - Groups that overlap need prototypes.
#
# :class:`~typicality.AutoClustering` chooses between these methods. The
# :doc:`theory </theory/index>` has the equations.
