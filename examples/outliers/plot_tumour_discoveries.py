"""
Which tumours differ from the benign ones?
==========================================

A laboratory has measured many benign tumours. Which new tumours are unlike
them, and how many of these alarms are false?
"""

# %%
# Learn from benign tumours only
# ------------------------------
# Two thirds of the benign tumours are the reference. The other benign tumours
# and all malignant tumours are new. The reference contains no outliers, so we
# set ``novelty=True``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from typicality import OneClusterPCM
from typicality.plot import PValueDisplay

data = load_breast_cancer(as_frame=True)
X = data.data.filter(
    like="worst"
)  # ten columns: the largest cells of each tumour
benign, malignant = X[data.target == 1], X[data.target == 0]


def split(seed):
    """Scaled reference, scaled new tumours, and which of them are malignant."""
    reference, others = train_test_split(
        benign, test_size=1 / 3, random_state=seed
    )
    scaler = StandardScaler().fit(reference)
    new = np.vstack([scaler.transform(others), scaler.transform(malignant)])
    return scaler.transform(reference), new, np.arange(len(new)) >= len(others)


reference, new, is_malignant = split(0)
model = OneClusterPCM(novelty=True).fit(reference)

# %%
# Choose a false discovery rate
# -----------------------------
# The p-value of a tumour is the probability that a benign tumour is at least as
# untypical. ``outliers_at`` selects tumours. On average, at most the given
# fraction of the selected tumours is benign.

flagged = model.outliers_at(new, fdr=0.1)
print(f"{flagged.sum()} of {len(new)} new tumours are selected")
print(f"{flagged[is_malignant].mean():.0%} of the malignant tumours are found")
print(f"{np.sum(flagged & ~is_malignant)} of the selected tumours are benign")

# %%
# Check the rate
# --------------
# The rate holds on average over repetitions. So we repeat the selection for
# twelve random splits. The method "bh" is the default. "storey" first estimates
# how many new tumours are benign.

rates = np.array([0.05, 0.1, 0.15, 0.2, 0.25])
false_share = {"bh": [], "storey": []}
for seed in range(12):
    reference, rows, is_malignant = split(seed)
    detector = OneClusterPCM(novelty=True).fit(reference)
    for method, shares in false_share.items():
        selected = [
            detector.outliers_at(rows, fdr=rate, method=method)
            for rate in rates
        ]
        shares.append([np.mean(~is_malignant[chosen]) for chosen in selected])

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained"
)
PValueDisplay.from_estimator(model, new, fdr=0.1, ax=left)
for (method, shares), colour in zip(
    false_share.items(), ("#0072B2", "#E69F00"), strict=True
):
    right.plot(
        rates,
        np.mean(shares, axis=0),
        "o-",
        c=colour,
        label=f'method="{method}"',
    )
    low, high = np.quantile(shares, [0.1, 0.9], axis=0)
    right.fill_between(rates, low, high, color=colour, alpha=0.2)
right.plot([0, 0.25], [0, 0.25], "--", c="black", lw=1, label="requested rate")
right.set(
    xlabel="requested false discovery rate",
    ylabel="fraction of benign among the selected",
    title="Twelve splits: mean, and 10 % to 90 %",
)
right.legend()
plt.show()

# %%
# What we learn
# -------------
# The detector was fitted without malignant tumours, and still finds most of
# them. With the default, the fraction of false alarms is well below the
# requested rate, because most new tumours are malignant here. "storey"
# estimates how many are benign, and its mean fraction of false alarms is about
# the requested rate.
