"""
How small can a fitted model be?
================================

An outlier detector with a kernel stores its training rows. Are all of them
needed to score new rows, for example on a small device?
"""

# %%
# Fit and compress
# ----------------
# ``compress`` replaces the training rows by a short sum. ``rtol`` bounds the
# error of the density at every point, relative to its largest possible value.

import pickle

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from typicality import OneClusterPCM

X, _ = make_moons(20_000, noise=0.1, random_state=0)
model = OneClusterPCM(sigma=0.15, contamination=0.02).fit(X)
promises = np.array([1e-3, 1e-4, 1e-5, 1e-6])
small = [model.compress(rtol=rtol) for rtol in promises]

# %%
# Measure size and error
# ----------------------
# The error is the largest difference of the density on new rows.

new, _ = make_moons(2000, noise=0.15, random_state=1)
exact = np.exp(model.score_samples(new))
errors = [
    np.abs(np.exp(other.score_samples(new)) - exact).max() for other in small
]
sizes = [len(pickle.dumps(other)) / 1024 for other in small]
full = len(pickle.dumps(model)) / 1024
different = [
    np.sum(other.predict(new) != model.predict(new)) for other in small
]
for rtol, size, count in zip(promises, sizes, different, strict=True):
    print(f"{rtol:.0e}: {size:.0f} of {full:.0f} KiB, {count} labels differ")

# %%
# Draw the borders and the errors
# -------------------------------

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained"
)
xx, yy = np.meshgrid(np.linspace(-1.7, 2.7, 120), np.linspace(-1.2, 1.7, 120))
grid = np.column_stack([xx.ravel(), yy.ravel()])
left.scatter(*X[::10].T, s=3, c="#B0B0B0")
for detector, colour, width in (
    (model, "#E69F00", 5),
    (small[0], "#0072B2", 1.5),
):
    border = detector.decision_function(grid).reshape(xx.shape)
    left.contour(xx, yy, border, levels=[0], colors=colour, linewidths=width)
left.plot([], [], c="#E69F00", lw=5, label=f"full model, {full:.0f} KiB")
left.plot([], [], c="#0072B2", lw=1.5, label=f"rtol=1e-3, {sizes[0]:.0f} KiB")
left.set(
    title="Borders of the ordinary rows", xlabel="column 1", ylabel="column 2"
)
left.legend(loc="lower left", fontsize=9)

right.loglog(
    promises, promises, "--", c="black", lw=1, label="error bound (rtol)"
)
right.loglog(
    promises, errors, "o-", c="#0072B2", label="measured on 2,000 new rows"
)
for rtol, error, size in zip(promises, errors, sizes, strict=True):
    right.annotate(
        f"{size:.0f} KiB",
        (rtol, error),
        xytext=(6, -12),
        textcoords="offset points",
    )
right.set(
    xlabel="rtol", ylabel="largest error of the density", title="Size and error"
)
right.margins(0.22)
right.legend()
plt.show()

# %%
# What we learn
# -------------
# A compressed model is much smaller, and its border is the same. The measured
# errors are well below the bound ``rtol``. A compressed model cannot rank rows
# far outside: if the density is below ``rtol``, the model only knows that it is
# low.
