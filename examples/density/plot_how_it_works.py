"""
How it works: from one row to clusters
======================================

How does typicality find clusters of any shape, their number, and the rows that
belong to none? This page builds the answer from one row, in seven pictures.
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
# A row resembles the rows near it. How much is given by a *kernel*: 1 for the
# row itself, less with the distance, nearly 0 beyond three widths ``sigma``.

grid = np.stack(np.meshgrid(*[np.linspace(-5, 5, 201)] * 2), axis=-1)
similarity = np.exp(-((grid - X[0]) ** 2).sum(axis=-1) / (2 * 0.4**2))
_, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.contourf(*grid.T, similarity.T, levels=9, cmap="Blues")
draw(ax, "similarity to one row", s=5)
plt.show()

# %%
# All rows
# --------
# The mean similarity to all rows is the *height* of a place: high where rows
# are dense, low where they are not. It is a density up to a constant.
#
# Outliers should not count as much as the others. So each row gets a weight,
# its own typicality, and the heights are computed again, until nothing changes.
# That is the one-cluster possibilistic c-means of the papers.
# The *typicality* of a place is an increasing function of its height. In the
# picture it is divided by its largest value.

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
# The least typical rows are the outliers. A row must not vouch for itself, so
# it is left out of the sum for its own score. The 5 % with the lowest scores
# are flagged, and about 5 % of new rows from the same source will be.

flagged = model.predict(X) == -1
_, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
draw(ax, f"the {flagged.sum()} most unusual rows", c="#BBBBBB")
ax.scatter(*X[flagged].T, s=22, c="#D62728")
plt.show()

# %%
# A cut
# -----
# Flood the landscape up to a level, called *alpha*. What stays above the water
# are islands, and the islands are clusters: two rows belong together if a path
# leads from one to the other without getting wet. Rows under water belong to
# no cluster. A low level leaves bridges, a high level drowns the edges.

cut = AlphaCutClustering(kernel="gaussian", sigma=0.4).fit(X)
_, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", sharey=True
)
for ax, share in zip(axes, (0.01, 0.08, 0.4), strict=True):
    labels = cut.labels_at(np.quantile(cut.typicality_, share))
    found = f"{labels.max() + 1} clusters, {share:.0%} of the rows are below"
    draw(ax, found, c=np.where(labels < 0, np.nan, labels), cmap="tab10")
    ax.scatter(*X[labels < 0].T, marker="x", c="#999999", s=12)
plt.show()

# %%
# All cuts at once
# ----------------
# No level need be chosen to see what there is. Connect the rows by the highest
# paths: the result is a tree, the *alpha tree*. It has the clusters at every
# level. A long line in the tree is a cluster that exists over many levels.
#
# One width is not enough either: a narrow kernel sees thin gaps and breaks up
# sparse groups, a wide one does the opposite. So by default the kernel adapts
# to the distance of the neighbours, trees are made at several scales, and the
# partitions of all scales vote. A test first asks if there is more than one
# cluster at all: a valley must be deeper than chance makes it.

clusters = AlphaCutClustering().fit(X)
print(
    f"{clusters.n_clusters_} clusters, evidence {clusters.evidence_:.1f} "
    f"(1 is needed), {np.sum(clusters.labels_ < 0)} rows in no cluster"
)
_, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
MembershipContourDisplay.from_estimator(clusters, X, ax=left)
ClusterTreeDisplay.from_estimator(clusters, ax=right)
plt.show()

# %%
# A new row joins the cluster of one of its nearest rows: the one with the
# highest way. If every way leads through water, the row belongs to no cluster.
#
# Clusters that overlap
# ---------------------
# Where groups touch, no valley separates them. Then give each cluster a centre,
# its *prototype*, and repeat two steps: how near is each row to each prototype,
# and where is the mean of the rows, weighted by that? If memberships must sum
# to one, this is fuzzy c-means. If each cluster is judged by itself, it is
# possibilistic c-means, and a row far from all is typical of none.
#
# The two steps are the whole library. The one cluster above is the same
# iteration with a single prototype, in the space of a kernel.

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
# What we learn
# -------------
# A row vouches for its surroundings, all rows together make a landscape, the
# islands above a level are the clusters, and the rows under water are outliers.
# :class:`~typicality.AutoClustering` chooses between islands and prototypes.
# The :doc:`theory </theory/index>` has the equations.
