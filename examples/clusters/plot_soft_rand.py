"""
Which fuzzifier gives the right degree of doubt?
================================================

Two clusterings can have the same labels and very different memberships. Which
memberships are closest to the truth, if the truth is a probability?
"""

# %%
# Overlapping groups with known probabilities
# -------------------------------------------
# Three normal distributions overlap. Bayes' rule gives the probability that a
# row comes from each of them.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from typicality import FuzzyCMeans
from typicality.metrics import adjusted_generalized_rand_score

centres = [[0, 0], [3, 0], [1.5, 2.6]]
X, y = make_blobs(600, centers=centres, random_state=0)
density = np.exp(-(cdist(X, centres) ** 2) / 2)
truth = density / density.sum(axis=1, keepdims=True)

# %%
# Compare labels and memberships
# ------------------------------
# The adjusted Rand index compares labels. The generalized index compares
# memberships: it is high only if two rows are together to the same degree in
# both clusterings. Both are 1 for equal clusterings, and 0 on average for
# unrelated ones.

fuzzifiers = np.array(
    [1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.3, 2.6, 3.0]
)
models = [
    FuzzyCMeans(n_clusters=3, m=m, random_state=0).fit(X) for m in fuzzifiers
]
by_labels = [
    adjusted_rand_score(truth.argmax(axis=1), model.labels_) for model in models
]
by_memberships = np.array(
    [
        adjusted_generalized_rand_score(truth, model.memberships_)
        for model in models
    ]
)
best = by_memberships.argmax()
print(f"best memberships: m = {fuzzifiers[best]}, {by_memberships[best]:.2f}")

# %%
# Draw the memberships as colours
# -------------------------------

colours = np.array(
    [to_rgb(colour) for colour in ("#0072B2", "#E69F00", "#CC79A7")]
)
figure, axes = plt.subplot_mosaic(
    "abc;ddd", figsize=(8, 6), layout="constrained"
)
for name, k in zip("abc", (0, best, -1), strict=True):
    order = np.argsort(models[k].cluster_centers_ @ [1, 1.5])
    axes[name].scatter(*X.T, c=models[k].memberships_[:, order] @ colours, s=10)
    axes[name].set(xticks=[], yticks=[], title=f"m = {fuzzifiers[k]}")
axes["d"].plot(
    fuzzifiers,
    by_labels,
    "s--",
    c="#7F7F7F",
    label="labels: adjusted Rand index",
)
axes["d"].plot(
    fuzzifiers,
    by_memberships,
    "o-",
    c="#0072B2",
    label="memberships: generalized, adjusted",
)
axes["d"].axvline(fuzzifiers[best], c="black", lw=0.8, ls=":")
axes["d"].set(
    xlabel="fuzzifier m", ylabel="agreement with the truth", ylim=(0, 1.05)
)
axes["d"].legend(loc="lower left")
plt.show()

# %%
# What we learn
# -------------
# The labels hardly change with the fuzzifier, so an index of labels cannot
# choose it. The memberships do change. If the fuzzifier is too small, every row
# looks certain; if it is too large, every row looks doubtful. The generalized
# index measures this difference.
