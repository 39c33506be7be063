"""
Which iris flowers lie between two species?
===========================================

A hard clustering gives each flower one label, even if two species overlap. Can
soft memberships show which labels are safe and which are a guess?
"""

# %%
# Fit three soft clusters
# -----------------------
# :class:`~typicality.FuzzyCMeans` does not know the species. It gives each
# flower three memberships that sum to one.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from sklearn.datasets import load_iris

from typicality import FuzzyCMeans

iris = load_iris(as_frame=True)
model = FuzzyCMeans(n_clusters=3, random_state=0).fit(iris.data)
memberships = model.memberships_
print(memberships[[0, 50, 77, 133]].round(2))

# %%
# Compare with the species
# ------------------------
# Each cluster represents the species of most of its flowers. A flower of
# another species in this cluster is called misplaced.

species = np.array(
    [np.bincount(iris.target[model.labels_ == k]).argmax() for k in range(3)]
)
misplaced = species[model.labels_] != iris.target
largest = memberships.max(axis=1)
for low, high in [(0, 0.7), (0.7, 0.9), (0.9, 1)]:
    group = (largest > low) & (largest <= high)
    wrong = misplaced[group].sum()
    print(f"membership {low} to {high}: {wrong} of {group.sum()} misplaced")

# %%
# Draw memberships as mixed colours
# ---------------------------------
# The colour of a flower is the mean of the three cluster colours, weighted by
# its memberships. A black ring marks a misplaced flower.

colours = np.array(
    [to_rgb(colour) for colour in ("#0072B2", "#009E73", "#E69F00")]
)
petals = iris.data[["petal length (cm)", "petal width (cm)"]].to_numpy()

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 3.8), layout="constrained"
)
left.scatter(*petals.T, c=memberships @ colours, s=45)
left.scatter(
    *petals[misplaced].T,
    s=90,
    facecolors="none",
    edgecolors="black",
    label="misplaced",
)
left.scatter(
    *model.cluster_centers_[:, 2:].T,
    marker="X",
    c="black",
    s=90,
    label="cluster centre",
)
left.set(
    xlabel="petal length (cm)",
    ylabel="petal width (cm)",
    title="Memberships as colours",
)
left.legend(loc="upper left")

bins = np.linspace(0.4, 1, 13)
right.hist(
    [largest[~misplaced], largest[misplaced]],
    bins=bins,
    stacked=True,
    color=["#B0B0B0", "#D55E00"],
    label=["right species", "misplaced"],
)
right.set(
    xlabel="largest membership",
    ylabel="flowers",
    title="Errors have low memberships",
)
right.legend(loc="upper left")
plt.show()

# %%
# What we learn
# -------------
# Setosa stands apart, so its flowers have pure colours. Versicolor and
# virginica overlap, and the misplaced flowers lie in the mixed colours between
# them. No flower with a membership above 0.9 is misplaced here. The labels of
# flowers with lower memberships should be checked.
