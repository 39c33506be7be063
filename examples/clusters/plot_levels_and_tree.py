"""
How many clusters are there, and at which level?
================================================

Six groups of different shapes lie among outliers. How many clusters does the
density show, and what does the answer depend on?
"""

# %%
# Fit without choosing a number
# -----------------------------
# :class:`~typicality.AlphaCutClustering` needs no number of clusters. It treats
# the density of the rows as a landscape. Clusters are hills that stay separate
# above a level, called alpha.

import matplotlib.pyplot as plt
import numpy as np

from typicality import AlphaCutClustering
from typicality.datasets import make_discs_banana_ring
from typicality.plot import ClusterTreeDisplay, MembershipContourDisplay

X, _ = make_discs_banana_ring(random_state=0)
model = AlphaCutClustering().fit(X)
print(
    f"{model.n_clusters_} clusters, {np.sum(model.labels_ == -1)} rows in none"
)
print(f"evidence for more than one cluster: {model.evidence_:.1f} (needs 1)")

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained"
)
MembershipContourDisplay.from_estimator(model, X, ax=left)
ClusterTreeDisplay.from_estimator(model, ax=right)
plt.show()

# %%
# Cut at other levels
# -------------------
# The tree has the clusters at every level. ``labels_at`` returns them without a
# new fit. A higher level leaves out more rows: first the outliers, then the
# rows at the edges of the clusters.

figure, axes = plt.subplots(
    1, 3, figsize=(9, 3.8), layout="constrained", sharey=True
)
for ax, share in zip(axes, (0.02, 0.1, 0.35), strict=True):
    alpha = np.quantile(model.typicality_, share)
    labels = model.labels_at(alpha)
    ax.scatter(
        *X[labels == -1].T, marker="x", c="#7F7F7F", s=12, linewidths=0.8
    )
    ax.scatter(
        *X[labels >= 0].T, c=labels[labels >= 0], cmap="tab10", vmax=9, s=14
    )
    ax.set_title(f"{labels.max() + 1} clusters at alpha = {alpha:.3f}")
    ax.set_xlabel(f"{share:.0%} of the rows are below")
    ax.set_aspect("equal")
plt.show()

# %%
# What we learn
# -------------
# The number of clusters depends on the level. At a low level, outliers between
# the groups connect them; at a high level, a group falls into pieces. The
# default chooses a level for each cluster, and the long lines in the tree show
# that the six groups exist over a wide range of levels.
