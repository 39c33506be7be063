"""
How can c-means separate a ring from what is inside?
====================================================

A centre in the plane cannot represent a ring. What does a kernel change, and
what does each membership look like?
"""

# %%
# The same method with three kernels
# ----------------------------------
# With the linear kernel, :class:`~typicality.FuzzyCMeans` works in the plane.
# With the Gaussian kernel it works in a space where the ring and the ball have
# separate centres. "connectivity" means that two rows are close if a chain of
# short steps connects them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from typicality import FuzzyCMeans
from typicality.datasets import make_ball_and_ring

X, y = make_ball_and_ring(random_state=0)
kernels = {
    "linear": FuzzyCMeans(n_clusters=2, random_state=0),
    "gaussian": FuzzyCMeans(
        n_clusters=2, m=1.5, kernel="gaussian", random_state=0
    ),
    "connectivity": FuzzyCMeans(
        n_clusters=2, kernel="connectivity", random_state=0
    ),
}
for kernel, model in kernels.items():
    agreement = adjusted_rand_score(y, model.fit(X).labels_)
    print(f"{kernel}: adjusted Rand index {agreement:.2f}")

# %%
# Draw the membership of one cluster
# ----------------------------------
# Purple and orange are the two clusters. On the black line, both memberships
# are equal.

low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
xx, yy = np.meshgrid(
    np.linspace(low[0], high[0], 90), np.linspace(low[1], high[1], 90)
)
grid = np.column_stack([xx.ravel(), yy.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, (kernel, model) in zip(axes, kernels.items(), strict=True):
    cluster = model.labels_[0]
    surface = model.predict_memberships(grid)[:, cluster].reshape(xx.shape)
    image = ax.contourf(
        xx, yy, surface, levels=np.linspace(0, 1, 21), cmap="PuOr"
    )
    ax.contour(xx, yy, surface, levels=[0.5], colors="black", linewidths=1)
    ax.scatter(*X[y == 0].T, s=10, c="black", label="ball")
    ax.scatter(
        *X[y == 1].T,
        s=12,
        c="white",
        edgecolors="black",
        linewidths=0.6,
        label="ring",
    )
    ax.set(title=f'kernel="{kernel}"', xticks=[], yticks=[])
    ax.set_aspect("equal")
figure.colorbar(
    image, ax=axes, label="membership of the ball's cluster", ticks=[0, 0.5, 1]
)
axes[0].legend(loc="upper right")
plt.show()

# %%
# What we learn
# -------------
# The linear kernel can only cut the plane in two halves. The Gaussian kernel
# separates ball and ring with smooth memberships, but the result depends on its
# width. "connectivity" has no width. It needs a gap between the shapes, and it
# keeps the distances of all pairs of rows in memory.
