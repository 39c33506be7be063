"""
Why not simply use a kernel density estimate?
=============================================

A kernel density estimate finds the dense regions, too. What does
:class:`~typicality.OneClusterPCM` do differently, and does it matter for
outliers?
"""

# %%
# The same kernel in both
# -----------------------
# Both models sum Gaussian kernels of the same width. The density estimate gives
# each row the same weight. In the one-cluster model, untypical rows have less
# weight.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.neighbors import KernelDensity

from typicality import OneClusterPCM

rng = np.random.default_rng(0)


def draw(n):
    """Draw rows from two groups."""
    return rng.normal(size=(n, 2)) * [1.2, 0.5] + rng.choice(
        [[-2, 0], [2, 2]], n
    )


X, new = draw(200), draw(2000)
kde = KernelDensity(bandwidth=0.4).fit(X)
pcm = OneClusterPCM(sigma=0.4).fit(X)
rank = spearmanr(kde.score_samples(new), pcm.score_samples(new)).statistic
print(f"rank correlation of the two scores on new rows: {rank:.3f}")

# %%
# Do the thresholds hold on new rows?
# -----------------------------------
# A threshold should flag a given fraction of new rows. For the density
# estimate, the threshold is a quantile of the training scores.
# ``OneClusterPCM`` uses a quantile of leave-one-out scores: each row is left
# out of its own score. The rates are means over 12 training sets.

rates = np.array([0.01, 0.02, 0.05, 0.1, 0.15, 0.2])
flagged = {"kernel density estimate": [], "OneClusterPCM": []}
for _ in range(12):
    train = draw(200)
    scores = KernelDensity(bandwidth=0.4).fit(train)
    cuts = np.quantile(scores.score_samples(train), rates)
    flagged["kernel density estimate"].append(
        np.mean(scores.score_samples(new)[:, None] < cuts, axis=0)
    )
    detectors = [
        OneClusterPCM(sigma=0.4, contamination=rate).fit(train)
        for rate in rates
    ]
    flagged["OneClusterPCM"].append(
        [np.mean(detector.predict(new) == -1) for detector in detectors]
    )

# %%
# Draw the densities and the rates
# --------------------------------
# The lines in the first two panels enclose 50, 80 and 95 % of the training
# rows.

xx, yy = np.meshgrid(np.linspace(-6, 6, 100), np.linspace(-2.5, 4.5, 100))
grid = np.column_stack([xx.ravel(), yy.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.6), layout="constrained")
for ax, (name, model) in zip(
    axes, zip(flagged, (kde, pcm), strict=True), strict=False
):
    surface = model.score_samples(grid).reshape(xx.shape)
    levels = np.quantile(model.score_samples(X), [0.05, 0.2, 0.5])
    ax.contourf(xx, yy, np.exp(surface), levels=12, cmap="Greys", alpha=0.5)
    ax.contour(
        xx, yy, surface, levels=levels, colors="#0072B2", linestyles="solid"
    )
    ax.scatter(*X.T, s=6, c="black")
    ax.set(title=name, xlabel="column 1", ylabel="column 2")
for (name, shares), colour in zip(
    flagged.items(), ("#D55E00", "#0072B2"), strict=True
):
    axes[2].plot(
        100 * rates, 100 * np.mean(shares, axis=0), "o-", c=colour, label=name
    )
axes[2].plot([0, 20], [0, 20], "--", c="black", lw=1, label="requested")
axes[2].set(
    xlabel="requested rate (%)",
    ylabel="new rows flagged (%)",
    title="False alarms",
)
axes[2].set_ylim(-1, 35)
axes[2].legend(loc="upper left", fontsize=8)
plt.show()

# %%
# What we learn
# -------------
# The two models have almost the same density and rank the rows almost equally.
# The difference is the threshold. A training row increases its own density, so
# the quantile is too high for new rows, and the density estimate flags too many
# of them. With the leave-one-out threshold, the rate is correct.
