"""
Which bandwidth should I use?
=============================

The bandwidth of a kernel is the distance over which a row contributes to the
density. How does it change the density, and which rows are flagged?
"""

# %%
# Three rules for one data set
# ----------------------------
# The two columns are the petal length and the sepal width of iris flowers.
# ``sigma="auto"`` is half of the median distance of two rows. With
# ``novelty=True`` it is an eighth. "loo-likelihood" is the bandwidth with which
# each row is predicted best by the other rows.

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
# Darker places are more typical. Crosses are the 5 % of the flowers with the
# lowest scores. The black line is the border: new flowers outside of it are
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
# With a wide kernel, there is one region, and even a flower between the two
# groups is typical. Use it if the training rows contain outliers, because a few
# outliers that are close together do not look dense. A narrow kernel shows the
# gap. Use it if the training rows contain no outliers, and you check new rows.
