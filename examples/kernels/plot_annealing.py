"""
At which scale do clusters split?
=================================

Groups can consist of smaller groups. What happens to the centres of soft
clusters if the scale becomes finer and finer?
"""

# %%
# Increase lam step by step
# -------------------------
# In :class:`~typicality.EntropyCMeans` the parameter ``lam`` sets the scale.
# For a small ``lam`` all memberships are equal, and all centres lie at the
# mean. We increase ``lam`` step by step. Each fit starts from the centres of
# the previous fit, with a little noise. Coincident centres are expected here,
# so the warnings about them are silenced.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from typicality import EntropyCMeans
from typicality.exceptions import ClusteringWarning

rng = np.random.default_rng(0)
middles = np.array([-7.0, -5.0, 0.0, 5.5, 8.0])
X = np.concatenate([rng.normal(middle, 0.45, 60) for middle in middles])[
    :, None
]

scales = np.geomspace(0.005, 5, 100)
centres = np.full((5, 1), X.mean())
path = []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ClusteringWarning)
    for lam in scales:
        start = centres + rng.normal(0, 1e-3, centres.shape)
        model = EntropyCMeans(
            n_clusters=5, lam=lam, init=start, max_iter=5000
        ).fit(X)
        centres = model.cluster_centers_
        path.append(np.sort(centres.ravel()))

# %%
# Draw the centres as they split
# ------------------------------

figure, (left, right) = plt.subplots(
    1,
    2,
    figsize=(8, 4.2),
    layout="constrained",
    sharey=True,
    width_ratios=[3, 1],
)
left.semilogx(scales, path, c="#0072B2")
left.set(
    xlabel="lam (small: coarse, large: fine)", ylabel="position of the centres"
)
left.set_title("Centres split one after the other")
right.hist(X.ravel(), bins=60, orientation="horizontal", color="#B0B0B0")
right.set(xlabel="rows", title="Data")
plt.show()

# %%
# What we learn
# -------------
# The centres split in the order of the gaps: first into large groups, then into
# small ones. Long straight lines between two splits mean that the clusters
# exist over a wide range of scales. Because each step starts from a good
# solution, this path avoids poor local optima. ``init="annealing"`` does the
# same inside one fit.
