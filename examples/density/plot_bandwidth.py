"""
Which bandwidth should I use?
=============================

The bandwidth of a kernel is the distance at which rows support each other. How
does it change the density, and which rows are flagged?
"""

# %%
# Three rules for one data set
# ----------------------------
# The rows are the petals and sepals of the iris flowers, in two columns.
# ``sigma="auto"`` is half of the median distance of two rows. With
# ``novelty=True`` it is an eighth. "loo-likelihood" predicts each row best from
# the others.

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from typicality import OneClusterPCM
from typicality.plot import MembershipContourDisplay

X = load_iris(as_frame=True).data[["petal length (cm)", "sepal width (cm)"]]
models = {
    'sigma="auto"': OneClusterPCM(),
    'sigma="auto", novelty=True': OneClusterPCM(novelty=True),
    'sigma="loo-likelihood"': OneClusterPCM(sigma="loo-likelihood"),
}

# %%
# Draw the density and the border
# -------------------------------
# The darker a place, the more typical it is. Crosses are the 5 % of the flowers
# with the lowest scores. The black line is the border: a new flower outside is
# flagged.

figure, axes = plt.subplots(
    1, 3, figsize=(9, 3.6), layout="constrained", sharey=True
)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    MembershipContourDisplay.from_estimator(model.fit(X), X, ax=ax)
    ax.set_title(f"{name}\nsigma is {model.sigma_:.2f} cm")
for ax in axes[1:]:
    ax.set_ylabel("")
plt.show()

# %%
# What we learn
# -------------
# A wide kernel sees one region, and even a flower between the two groups is
# typical. Use it if the rows contain outliers, because a few outliers close
# together cannot support each other. A narrow kernel sees the gap. Use it if
# the rows are clean and new rows are judged.
