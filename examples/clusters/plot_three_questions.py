"""
Three questions about a table
=============================

Which rows lie between two clusters? How many clusters are there, whatever
their shape? Which rows belong to nothing? Each question has an estimator.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.datasets import make_discs_banana_ring

# %%
# Three overlapping blobs for the first question. Four discs, a banana and a
# ring among noise for the others; nothing is set but the rate of outliers.

blobs, _ = make_blobs(600, centers=[[0, 0], [4, 0], [2, 3.5]], random_state=3)
shapes, _ = make_discs_banana_ring(random_state=2000)
soft = FuzzyCMeans(n_clusters=3, random_state=0).fit(blobs)
clusters = AlphaCutClustering().fit(shapes)
detector = OneClusterPCM(sigma=0.6, contamination=0.04).fit(shapes)

# %%
# On the left a row gets the colours of its clusters, mixed by its memberships.
# In the middle grey rows belong to no cluster. On the right crosses are the
# 4 % of the rows that are least typical, on the density of all rows.

fig, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
colours = np.array([[0.85, 0.25, 0.15], [0.1, 0.4, 0.75], [0.95, 0.75, 0.1]])
axes[0].scatter(*blobs.T, c=soft.memberships_ @ colours, s=14)
axes[0].scatter(*soft.cluster_centers_.T, c="black", marker="+", s=120)
axes[0].set_title("FuzzyCMeans: which rows are in between?")

noise = clusters.labels_ == -1
own = clusters.labels_[~noise]
axes[1].scatter(*shapes[noise].T, c="lightgrey", s=14)
axes[1].scatter(*shapes[~noise].T, c=own, cmap="tab10", vmax=9, s=14)
axes[1].set_title(f"AlphaCutClustering: {clusters.n_clusters_} clusters found")

outliers = detector.predict(shapes) == -1
x, y = np.meshgrid(np.linspace(-0.5, 10.5, 120), np.linspace(-0.5, 10.5, 120))
height = detector.predict_typicality(np.column_stack([x.ravel(), y.ravel()]))
axes[2].contourf(x, y, height.reshape(x.shape), levels=12, cmap="Blues")
axes[2].scatter(*shapes[~outliers].T, c="black", s=3)
axes[2].scatter(*shapes[outliers].T, c="crimson", marker="x", s=30)
axes[2].set_title("OneClusterPCM: which rows are outliers?")

for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# What we learn
# -------------
# A degree says more than a label. Mixed colours are the rows to look at
# twice; grey rows and crosses need no place in any cluster.
