"""
Which wines are unusual, and in which substances?
=================================================

A laboratory measured 13 substances in 178 wines. Which bottles should be
measured again, and which of the values look wrong?
"""

# %%
# Find the unusual wines
# ----------------------
# :class:`~typicality.OneClusterPCM` learns how typical a wine is of all wines.
# It flags the fraction ``contamination`` of the rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from typicality import OneClusterPCM

wine = load_wine(as_frame=True).data
X = StandardScaler().set_output(transform="pandas").fit_transform(wine)
model = OneClusterPCM(contamination=0.05).fit(X)
scores = model.score_samples(X)
unusual = np.argsort(scores)[: np.sum(model.predict(X) == -1)]

# %%
# Ask for reasons
# ---------------
# ``explain`` compares each wine with the 20 nearest typical wines.
# ``deviations`` are robust z-scores: the difference from these wines, divided
# by the spread of the column.

reasons = model.explain(X.iloc[unusual])
for number, deviations in zip(unusual, reasons.deviations, strict=True):
    j = np.abs(deviations).argmax()
    name = reasons.features[j]
    value = wine[name].iloc[number]
    print(f"wine {number}: {name} {value} ({deviations[j]:+.1f} spreads)")

# %%
# Draw all reasons in one table
# -----------------------------

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.8), layout="constrained", width_ratios=[1, 2.4]
)
left.hist(scores, bins=30, color="#B0B0B0")
left.axvline(model.offset_, c="#D55E00", label="threshold")
left.set(xlabel="score (log of the density)", ylabel="wines", title="All wines")
left.legend(loc="upper left")

image = right.imshow(
    reasons.deviations, cmap="RdBu_r", vmin=-4, vmax=4, aspect="auto"
)
right.set_xticks(
    range(len(reasons.features)), reasons.features, rotation=45, ha="right"
)
right.set_yticks(range(len(unusual)), [f"wine {number}" for number in unusual])
right.set_title("In which columns the flagged wines are unusual")
for i, j in zip(*np.nonzero(np.abs(reasons.deviations) > 2.5), strict=True):
    value = wine[reasons.features[j]].iloc[unusual[i]]
    right.text(j, i, f"{value:g}", ha="center", va="center", c="white")
figure.colorbar(image, ax=right, label="robust z-score")
plt.show()

# %%
# What we learn
# -------------
# Most flagged wines are unusual in one or two substances. A single dark cell is
# a value that should be checked; it may be a typing error. A row with several
# coloured cells is more likely a wine that really is different. The numbers in
# the cells are the measured values.
