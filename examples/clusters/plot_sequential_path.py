"""
How can I find round clusters that touch, without their number?
===============================================================

Many of these fifteen groups touch, so no empty space separates them. Can a
method find all of them without knowing their number and width?
"""

# %%
# Add one cluster at a time
# -------------------------
# :class:`~typicality.SequentialPCM` adds clusters one by one. It has one
# important parameter, ``lam``: if it is too small, clusters merge; if it is too
# large, clusters vanish. The default tries up to 50 increasing values and keeps
# the result with the lowest Bayesian information criterion (BIC).

import matplotlib.pyplot as plt

from typicality import SequentialPCM
from typicality.datasets import make_s2_like

X, _ = make_s2_like(1500, random_state=0)
model = SequentialPCM().fit(X)
print(f"{model.n_clusters_} clusters at lam = {model.lam_:.2g}")

# %%
# Draw the clusters and the path
# ------------------------------
# The left panel shows the clusters and their centres. The right panel shows the
# number of clusters and the BIC for each value of ``lam``.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained"
)
left.scatter(*X.T, c=model.labels_, cmap="tab20", s=8)
left.scatter(
    *model.cluster_centers_.T, marker="X", c="black", edgecolors="white", s=90
)
left.set(xticks=[], yticks=[], title=f"{model.n_clusters_} clusters")
path = model.lambda_path_
right.step(path.lam, path.n_clusters, where="mid", c="#0072B2")
right.axvline(model.lam_, c="#7F7F7F", ls="--")
right.set(xscale="log", xlabel="lam", ylabel="clusters")
criterion = right.twinx()
criterion.plot(path.lam, path.index, c="#D55E00")
criterion.set_ylabel(path.criterion, color="#D55E00")
plt.show()

# %%
# What we learn
# -------------
# Most values of ``lam``, over three powers of ten, give 15 clusters, and the
# BIC is lowest for these values. Such a plateau is a good sign. If the number
# changes with every value, the data do not have a clear number of round
# clusters.
