"""
Do diabetes patients fall into groups?
======================================

A study has blood pressure, body mass index and blood values of 442 patients.
k-means can always split them into groups. Are there real groups?
"""

# %%
# Split the patients with k-means
# -------------------------------
# The silhouette compares the distances within and between groups. It is near 1
# for clear groups. It is positive for the parts of one round cloud, too.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from typicality import AlphaCutClustering
from typicality.plot import MembershipContourDisplay

patients = load_diabetes(as_frame=True, scaled=False).data
columns = ["bmi", "bp", "s5", "s6"]  # s5: log of triglycerides, s6: blood sugar
X = (
    StandardScaler()
    .set_output(transform="pandas")
    .fit_transform(patients[columns])
)
groups = KMeans(n_clusters=3, n_init=10, random_state=0).fit_predict(X)
print(f"silhouette of three groups: {silhouette_score(X, groups):.2f}")

# %%
# Ask the density
# ---------------
# :class:`~typicality.AlphaCutClustering` finds groups only if a valley of low
# density separates them. ``evidence_`` compares the deepest valley with the
# valleys that chance produces in a single cloud. A value of 1 or more means
# more than one cluster. The iris flowers are shown for comparison.

model = AlphaCutClustering().fit(X)
flowers = AlphaCutClustering().fit(load_iris().data)
for name, fitted in {"patients": model, "flowers": flowers}.items():
    found = f"clusters {fitted.n_clusters_}, evidence {fitted.evidence_:.2f}"
    print(f"{name}: {found}")

colours = np.array(["#0072B2", "#E69F00", "#009E73"])
figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 4), layout="constrained", sharey=True
)
left.scatter(X["bmi"], X["s5"], c=colours[groups], s=14)
left.set(title="k-means: three groups", xlabel="bmi", ylabel="s5")
MembershipContourDisplay.from_estimator(
    model, X, features=("bmi", "s5"), ax=right
)
right.set_title(f"density: {model.n_clusters_} cluster")
plt.show()

# %%
# What we learn
# -------------
# The patients form one continuous cloud, and k-means cuts it into slices. The
# borders between the slices are arbitrary, so do not give the groups medical
# names. If you need groups anyway, for example groups of equal size for a
# trial, use quantiles of one measurement.
