"""
How do skewed columns hide clusters?
====================================

The size and the shape of cell nuclei differ between benign and malignant
tumours. A few tumours have huge values. Do these values spoil a clustering into
two groups, and does a logarithm help?
"""

# %%
# The same clustering with two kinds of scaling
# ---------------------------------------------
# Standard scaling divides by the standard deviation, which a few huge values
# make large. :class:`~typicality.preprocessing.ColumnScaler` takes the
# logarithm of columns that are skewed.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from typicality import FuzzyCMeans
from typicality.preprocessing import ColumnScaler

data = load_breast_cancer(as_frame=True)
X = data.data[["area error", "mean concavity"]]
scalers = {
    "standard scaling": StandardScaler(),
    "with logarithm": ColumnScaler(log="auto"),
}
labels = {}
for name, scaler in scalers.items():
    model = make_pipeline(scaler, FuzzyCMeans(n_clusters=2, random_state=0))
    labels[name] = model.fit_predict(X)
    agreement = adjusted_rand_score(data.target, labels[name])
    print(f"{name}: adjusted Rand index with the diagnosis {agreement:.2f}")

# %%
# Draw both clusterings
# ---------------------
# Both panels show the same tumours, each on the scale that was used for the
# clustering. A black ring marks a tumour that is not in the cluster of its
# diagnosis.

figure, axes = plt.subplots(
    1, 2, figsize=(8.5, 4), layout="constrained", sharey=True
)
colours = np.array(["#D55E00", "#0072B2"])
for ax, (name, found) in zip(axes, labels.items(), strict=True):
    if (
        np.mean(found == data.target) < 0.5
    ):  # the numbers of clusters have no meaning
        found = 1 - found
    wrong = found != data.target
    ax.scatter(X["area error"], X["mean concavity"], c=colours[found], s=12)
    ax.scatter(
        X["area error"][wrong],
        X["mean concavity"][wrong],
        s=40,
        facecolors="none",
        edgecolors="black",
        linewidths=0.7,
        label=f"{wrong.sum()} in the wrong cluster",
    )
    ax.set(title=name, xlabel="area error", ylim=(-0.02, 0.5))
    ax.legend(loc="upper left")
axes[0].set_ylabel("mean concavity")
axes[1].set_xscale("log")
plt.show()

# %%
# What we learn
# -------------
# Without a logarithm, a few very large tumours dominate one column, and the
# cluster of malignant tumours loses many of its members. With the logarithm,
# the groups are rounder, and more labels agree with the diagnosis (which was
# not used for the clustering). Look at the histogram of each column before you
# scale it.
