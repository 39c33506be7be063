"""
Which spellings mean the same city?
===================================

A form asks for a city, and people make typing errors. Words have no coordinates
and no mean. Can they be clustered without a list of the correct names?
"""

# %%
# Make typing errors
# ------------------
# Up to three letters of each name are replaced, inserted or deleted.

from difflib import SequenceMatcher

import matplotlib.pyplot as plt
import numpy as np

from typicality import AlphaCutClustering

rng = np.random.default_rng(0)
cities = [
    "Barcelona",
    "Copenhagen",
    "Edinburgh",
    "Ljubljana",
    "Stockholm",
    "Thessaloniki",
]


def misspell(name):
    for _ in range(rng.integers(4)):
        place = rng.integers(len(name))
        letter = rng.choice(list("abcdefghijklmnopqrstuvwxyz"))
        change = rng.choice([letter, letter + name[place], ""])
        name = name[:place] + change + name[place + 1 :]
    return name


truth = rng.choice(cities, 120)
words = np.array([misspell(name) for name in truth])
print(", ".join(words[:8]))

# %%
# Cluster by distances
# --------------------
# The distance of two words is 1 minus the fraction of letters that match in
# order. ``kernel="dissimilarities"`` takes a matrix of such distances.

D = np.array(
    [[1 - SequenceMatcher(None, a, b).ratio() for b in words] for a in words]
)
D = np.minimum(D, D.T)  # the ratio can depend on the order of the two words
model = AlphaCutClustering(kernel="dissimilarities").fit(D)
names = words[model.medoid_indices_]
for label, name in enumerate(names):
    spellings = np.unique(words[model.labels_ == label])
    print(f"{name}: {', '.join(spellings[:6])}, ...")
right = (model.labels_ >= 0) & (names[model.labels_] == truth)
print(f"{right.sum()} of {len(words)} words are in the cluster of their city")

# %%
# Draw the distances, sorted by cluster
# -------------------------------------

order = np.argsort(model.labels_, kind="stable")
labels = model.labels_[order]
figure, ax = plt.subplots(figsize=(7.4, 6), layout="constrained")
image = ax.imshow(
    D[np.ix_(order, order)], cmap="Blues_r", interpolation="nearest"
)
figure.colorbar(image, label="distance of two words")
middles = [
    np.flatnonzero(labels == label).mean() for label in range(len(names))
]
ax.set_yticks(middles, names)
ax.set_xticks(middles, names, rotation=45, ha="right")
for label in range(len(names)):
    first = np.flatnonzero(labels == label)[0] - 0.5
    ax.axhline(first, c="#D55E00", lw=1)
    ax.axvline(first, c="#D55E00", lw=1)
ax.set_title(f"{model.n_clusters_} clusters, named after their medoids")
plt.show()

# %%
# What we learn
# -------------
# A matrix of distances is enough. The number of cities was not given. The
# medoid of each cluster, its most central word, is the correct name of the
# city.
