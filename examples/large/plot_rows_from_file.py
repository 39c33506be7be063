"""
How can I cluster a file without loading it?
============================================

A file may hold more rows than fit into memory. Can a clustering read it in
blocks and still give the same result as with all rows in memory?
"""

# %%
# A file of rows
# --------------
# Here, 300,000 rows with two columns represent a file that is too large. The
# file can be an array file (npy), a parquet file or a csv file.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from typicality import FuzzyCMeans, open_rows

rng = np.random.default_rng(0)
centres = np.array([[-8, -6], [-7, 6], [0, 0], [2, 9], [8, -7], [9, 4]])
X = centres[rng.integers(6, size=300_000)] + rng.normal(0, 1.6, (300_000, 2))
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "rows.npy")
np.save(path, X.astype(np.float32))
print(f"{path.stat().st_size / 2**20:.0f} MiB")

# %%
# Fit from the file
# -----------------
# :func:`~typicality.open_rows` opens the file. Each iteration reads all blocks
# of the file once.

rows = open_rows(path)
from_file = FuzzyCMeans(n_clusters=6, tol=1e-3, random_state=0).fit(rows)
in_memory = FuzzyCMeans(n_clusters=6, tol=1e-3, random_state=0).fit(
    np.load(path)
)
difference = np.abs(
    from_file.cluster_centers_ - in_memory.cluster_centers_
).max()
print(f"largest difference of the centres: {difference:.1e}")

# %%
# Draw the file and the clusters
# ------------------------------
# ``labels_`` has the cluster of each row of the file. The right panel shows
# every hundredth row.

part, labels = X[::100], from_file.labels_[::100]
folder.cleanup()

colours = np.array(
    ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"]
)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained", sharey=True
)
image = left.hexbin(*X.T, gridsize=70, cmap="Greys", bins="log")
left.set(
    title=f"{len(X):,} rows in the file", xlabel="column 1", ylabel="column 2"
)
figure.colorbar(image, ax=left, label="rows (log scale)")
right.scatter(*part.T, c=colours[labels], s=5)
right.scatter(
    *from_file.cluster_centers_.T,
    marker="X",
    c="black",
    edgecolors="white",
    s=120,
)
right.set(title=f"centres, and {len(part):,} labelled rows", xlabel="column 1")
plt.show()

# %%
# What we learn
# -------------
# The estimators accept an opened file instead of an array, and the centres
# agree up to rounding. Only two blocks of rows are in memory at a time. Start
# with a coarse ``tol``: each iteration reads the whole file.
