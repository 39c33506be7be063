"""
Three questions about a table
=============================

Which rows lie between two clusters? How many clusters are there, whatever their shape? Which rows
belong to nothing? Each question has an estimator, and each answer is a number between 0 and 1 for
every row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.datasets import make_discs_banana_ring

fig, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")

# %%
# Three overlapping blobs. A row gets the colour of its clusters, mixed by its memberships: pure
# colours are certain, mixed ones lie between clusters.

blobs, _ = make_blobs(600, centers=[[0, 0], [4, 0], [2, 3.5]], random_state=3)
soft = FuzzyCMeans(n_clusters=3, random_state=0).fit(blobs)
colours = np.array([[0.85, 0.25, 0.15], [0.1, 0.4, 0.75], [0.95, 0.75, 0.1]])
axes[0].scatter(*blobs.T, c=soft.memberships_ @ colours, s=14)
axes[0].scatter(*soft.cluster_centers_.T, c="black", marker="+", s=120)
axes[0].set_title("FuzzyCMeans: which rows are in between?")

# %%
# Four discs, a banana and a ring among noise. Nothing is set; grey rows belong to no cluster.

shapes, _ = make_discs_banana_ring(random_state=2000)
clusters = AlphaCutClustering().fit(shapes)
noise = clusters.labels_ == -1
axes[1].scatter(*shapes[noise].T, c="lightgrey", s=14)
axes[1].scatter(*shapes[~noise].T, c=clusters.labels_[~noise], cmap="tab10", vmax=9, s=14)
axes[1].set_title(f"AlphaCutClustering: {clusters.n_clusters_} clusters found")

# %%
# The density of the same rows. The 4 % that are least typical are marked.

detector = OneClusterPCM(sigma=0.6, contamination=0.04).fit(shapes)
outliers = detector.predict(shapes) == -1
x, y = np.meshgrid(np.linspace(-0.5, 10.5, 120), np.linspace(-0.5, 10.5, 120))
height = detector.predict_typicality(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
axes[2].contourf(x, y, height, levels=12, cmap="Blues")
axes[2].scatter(*shapes[~outliers].T, c="black", s=3)
axes[2].scatter(*shapes[outliers].T, c="crimson", marker="x", s=30)
axes[2].set_title("OneClusterPCM: which rows are outliers?")

for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
