"""
Which kinds of customers does a shop have?
==========================================

A shop knows age, spending, visits, channel and loyalty card of its customers.
Some ages are missing, spending is skewed, and two columns have categories.
Which three kinds of customers are there, and who lies between them?
"""

# %%
# Create the table
# ----------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from typicality import FuzzyCMeans
from typicality.preprocessing import MixedColumns

rng = np.random.default_rng(0)


def customers(n, age, log_spending, visits, channel, card):
    """Draw n customers of one kind."""
    return pd.DataFrame(
        {
            "age": rng.normal(age, 5, n).round(),
            "spending": rng.lognormal(log_spending, 0.5, n).round(2),
            "visits": rng.poisson(visits, n).astype(float),
            "channel": rng.choice(["app", "web", "store"], n, p=channel),
            "card": rng.choice(["none", "silver", "gold"], n, p=card),
        }
    )


table = pd.concat(
    [
        customers(180, 26, 4.6, 6, [0.80, 0.15, 0.05], [0.85, 0.10, 0.05]),
        customers(140, 41, 6.6, 25, [0.25, 0.35, 0.40], [0.20, 0.50, 0.30]),
        customers(100, 63, 5.6, 12, [0.03, 0.07, 0.90], [0.50, 0.30, 0.20]),
    ],
    ignore_index=True,
)
table.loc[rng.choice(len(table), 25, replace=False), "age"] = np.nan
print(table.sample(5, random_state=0))

# %%
# Prepare the columns and fit
# ---------------------------
# :class:`~typicality.preprocessing.MixedColumns` takes the logarithm of skewed
# columns, fills missing ages, ranks the cards and encodes the channel.
# ``mismatch="balanced"`` gives a category the same influence as a column of
# numbers.

columns = MixedColumns(
    mismatch="balanced",
    log="auto",
    missing="median",
    ordered={"card": ["none", "silver", "gold"]},
)
pipeline = make_pipeline(
    columns, FuzzyCMeans(n_clusters=3, random_state=0)
).fit(table)
model = pipeline[-1]
table["cluster"] = model.labels_
table["doubtful"] = model.memberships_.max(axis=1) < 0.5
print(table.groupby("cluster")[["age", "spending", "visits"]].median())
print(f"{table['doubtful'].sum()} customers have no membership above 0.5")

# %%
# Draw the kinds of customers
# ---------------------------

colours = ["#0072B2", "#E69F00", "#009E73"]
figure, axes = plt.subplots(
    1, 3, figsize=(9, 3.8), layout="constrained", width_ratios=[2, 1, 1]
)
for label, group in table[~table["doubtful"]].groupby("cluster"):
    axes[0].scatter(
        group["age"],
        group["spending"],
        s=14,
        c=colours[label],
        label=f"kind {label}",
    )
doubtful = table[table["doubtful"]]
axes[0].scatter(
    doubtful["age"],
    doubtful["spending"],
    marker="x",
    c="black",
    s=22,
    label="between",
)
axes[0].set(
    title="Age and spending",
    yscale="log",
    xlabel="age",
    ylabel="spending in a year (log scale)",
)
axes[0].legend(loc="upper left", fontsize=8)
orders = {
    "channel": ["app", "web", "store"],
    "card": ["none", "silver", "gold"],
}
for ax, (column, order) in zip(axes[1:], orders.items(), strict=True):
    shares = pd.crosstab(
        table[column], table["cluster"], normalize="columns"
    ).loc[order]
    shares.plot.bar(ax=ax, color=colours, legend=False, rot=0, width=0.8)
    ax.set(title=f"share of each {column}", xlabel="", ylim=(0, 1))
plt.show()

# %%
# What we learn
# -------------
# The three kinds differ in all columns: young customers who use the app and
# spend little, frequent customers with a card, and older customers who come to
# the store. No column alone shows this. It is also useful to know the customers
# between two kinds, because a campaign for one kind may not fit them.
