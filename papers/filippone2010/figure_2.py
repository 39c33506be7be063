"""Figure 2: the synthetic set of the study of stability."""

from pathlib import Path

from regenerating import Setting
from typicality.datasets import make_gaussian_and_outliers

SEED = 0  # of the set that is split; the paper, too, has one


def picture(setting: Setting) -> Path:
    """The rows, outliers as crosses."""
    import matplotlib.pyplot as plt

    X, y = make_gaussian_and_outliers(random_state=SEED)
    figure, axes = plt.subplots(figsize=(4.6, 4.9), layout="constrained")
    axes.scatter(*X[y == 0].T, s=6, color="tab:blue", label="Gaussian (400 rows)")
    axes.scatter(*X[y < 0].T, s=22, marker="x", color="tab:red", label="outliers (20 and 10)")
    axes.set(aspect="equal", xlim=(-10.5, 10.5), ylim=(-10.5, 10.5))
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return setting.save(figure, "figure_2")
