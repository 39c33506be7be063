"""
Three questions about a table
=============================

Which rows lie between two clusters? How many clusters of any shape are there?
Which rows are outliers? There is an estimator for each question.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.datasets import make_discs_banana_ring

# %%
# The first question uses three overlapping blobs. The other questions use four
# discs, a banana and a ring in noise.

blobs, _ = make_blobs(600, centers=[[0, 0], [4, 0], [2, 3.5]], random_state=3)
shapes, _ = make_discs_banana_ring(random_state=2000)
soft = FuzzyCMeans(n_clusters=3, random_state=0).fit(blobs)
clusters = AlphaCutClustering().fit(shapes)
detector = OneClusterPCM(sigma=0.6, contamination=0.04).fit(shapes)

# %%
# Left: a row has the colours of its clusters, mixed by its memberships. Middle:
# grey rows belong to no cluster. Right: crosses are the 4 % of the rows that
# are least typical; the background is the density of all rows.

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
# Degrees contain more information than labels. Rows with mixed colours are
# uncertain, and should be checked. Grey rows and crosses are not forced into a
# cluster.
