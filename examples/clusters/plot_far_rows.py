"""
What do a few far rows do to the cluster centres?
=================================================

Real tables contain errors: a wrong unit, a broken sensor, a stray row. How far
do 15 such rows among 315 move the centres of three clusters?
"""

# %%
# Three groups and stray rows
# ---------------------------
# In k-means, every row belongs to a cluster and moves its centre. In
# :class:`~typicality.PossibilisticCMeans`, a row far from all clusters belongs
# to none: its typicalities are almost zero, so it hardly moves any centre.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from typicality import PossibilisticCMeans

rng = np.random.default_rng(0)
true_centres = np.array([[0.0, 0.0], [5.0, 0.0], [2.5, 4.3]])
groups = np.vstack(
    [rng.normal(centre, 0.7, (100, 2)) for centre in true_centres]
)

models = {
    "KMeans": KMeans(n_clusters=3, n_init=10, random_state=0),
    "PossibilisticCMeans": PossibilisticCMeans(
        n_clusters=3, eta_scale=0.5, random_state=0
    ),
}
colours = dict(zip(models, ("#D55E00", "#0072B2"), strict=True))

# %%
# Move the stray rows away
# ------------------------
# The stray rows lie on a circle around the groups. The radius of this circle
# grows. For each true centre, we take the distance to the nearest centre that
# was found. The error is the largest of these distances, as the median of five
# draws.

radii = np.arange(0, 31, 3)
errors = {name: [] for name in models}
for radius in radii:
    draws = {name: [] for name in models}
    for _ in range(5):
        angle = rng.uniform(0, 2 * np.pi, 15)
        stray = [2.5, 1.5] + radius * np.column_stack(
            [np.cos(angle), np.sin(angle)]
        )
        X = np.vstack([groups, stray])
        for name, model in models.items():
            centres = model.fit(X).cluster_centers_
            gaps = np.linalg.norm(true_centres[:, None] - centres, axis=2)
            draws[name].append(gaps.min(axis=1).max())
    for name in models:
        errors[name].append(np.median(draws[name]))

# %%
# Draw the centres and the errors
# -------------------------------
# The left panel shows the last draw, with the largest radius.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.5, 4), layout="constrained"
)
left.scatter(*groups.T, c="#B0B0B0", s=8)
left.scatter(*stray.T, c="black", marker="x", s=30, label="stray rows")
for (name, model), marker in zip(models.items(), "so", strict=True):
    left.scatter(
        *model.cluster_centers_.T,
        c=colours[name],
        marker=marker,
        s=60,
        edgecolors="black",
        label=f"centres of {name}",
    )
left.set(
    ylim=(-34, 52),
    title=f"Stray rows at radius {radii[-1]}",
    xlabel="column 1",
    ylabel="column 2",
)
left.legend(loc="upper left", fontsize=8)

for name, error in errors.items():
    right.plot(radii, error, "o-", c=colours[name], label=name)
right.set(
    title="Error of the worst centre",
    xlabel="radius of the circle of stray rows",
    ylabel="distance to the true centre",
)
right.legend()
plt.show()

# %%
# What we learn
# -------------
# ``KMeans`` uses one centre for the stray rows as soon as they are far enough,
# and two groups then share a centre. The possibilistic centres do not move, and
# no row had to be removed first. This has a limit: if many stray rows lie close
# together, every method finds a cluster there. :class:`~typicality.FuzzyCMeans`
# has the same weakness as k-means, but it warns if a cluster contains only far
# rows.
