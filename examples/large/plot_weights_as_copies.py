"""
Can repeated rows be replaced by weights?
=========================================

Rounded measurements repeat. A table of 200,000 rows may have only a thousand
different rows. Is it enough to cluster the different rows, with the number of
copies as weights?
"""

# %%
# Count the different rows
# ------------------------

import matplotlib.pyplot as plt
import numpy as np

from typicality import FuzzyCMeans

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.normal([165, 62], [6, 7], (140_000, 2)),
        rng.normal([186, 95], [5, 8], (60_000, 2)),
    ]
)
X = 2 * (X / 2).round()  # rounded to 2 cm and 2 kg
rows, counts = np.unique(X, axis=0, return_counts=True)
print(f"{len(X):,} rows, {len(rows):,} different ones")

# %%
# Fit three times
# ---------------
# A row with ``sample_weight`` 5 has the same effect as five copies of the row.

everything = FuzzyCMeans(n_clusters=2, random_state=0).fit(X)
weighted = FuzzyCMeans(n_clusters=2, random_state=0).fit(
    rows, sample_weight=counts
)
unweighted = FuzzyCMeans(n_clusters=2, random_state=0).fit(rows)
for name, model in {
    "copies": everything,
    "weights": weighted,
    "neither": unweighted,
}.items():
    order = model.cluster_centers_[:, 0].argsort()
    print(f"{name}: centres {model.cluster_centers_[order].round(2).tolist()}")

# %%
# Draw rows and centres
# ---------------------
# The area of a dot is the number of copies.

figure, ax = plt.subplots(figsize=(7.6, 5.6), layout="constrained")
ax.scatter(*rows.T, s=counts / 20, c="#56B4E9", alpha=0.6, linewidths=0)
styles = {
    "all rows": (
        everything,
        {"marker": "o", "s": 240, "facecolors": "none", "linewidths": 2},
    ),
    "different rows, weighted": (
        weighted,
        {"marker": "+", "s": 240, "linewidths": 2},
    ),
    "different rows, no weights": (
        unweighted,
        {"marker": "x", "s": 90, "linewidths": 2},
    ),
}
for colour, (name, (model, style)) in zip(
    ("black", "black", "#D55E00"), styles.items(), strict=True
):
    ax.scatter(
        *model.cluster_centers_.T,
        color=colour,
        label=f"centres: {name}",
        **style,
    )
ax.set(xlabel="height (cm)", ylabel="weight (kg)")
ax.set_title(f"{len(X):,} people, {len(rows):,} different pairs of numbers")
ax.legend(loc="upper left")
plt.show()

# %%
# What we learn
# -------------
# Weights give the same centres as copies, from a table that is two hundred
# times smaller. It is wrong to drop the copies without weights: then rare rows
# at the edge have as much influence as common rows, and the centres move
# outwards.
