"""Pictures that several papers have."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_classification_function"]

_FLOOR = -1.0  # where the rows lie below the surface
_MARGIN = 0.08  # of the range of the rows, on each side
_COLOURS = ("#0072B2", "#E69F00", "#009E73")


def draw_classification_function(
    ax: Any, model: Any, X: NDArray[np.float64], *, cluster: int, resolution: int
) -> None:
    """The membership of a cluster as a surface over the plane, with the rows below it.

    The axes have three dimensions, the rows two.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    margin = _MARGIN * (high - low)
    xx, yy = np.meshgrid(*np.linspace(low - margin, high + margin, resolution).T)
    memberships = model.predict_memberships(np.column_stack([xx.ravel(), yy.ravel()]))[:, cluster]
    for label in np.unique(model.labels_):
        rows = X[model.labels_ == label]
        dots = {"s": 25 / np.sqrt(len(X) / 100), "edgecolors": "black", "linewidths": 0.5}
        ax.scatter(*rows.T, zs=_FLOOR, depthshade=False, color=_COLOURS[label], **dots)
    ax.plot_surface(
        xx,
        yy,
        memberships.reshape(xx.shape),
        cmap="cividis",
        rcount=resolution,
        ccount=resolution,
        antialiased=False,  # no seams between cells
    )
    ax.set(zlim=(_FLOOR, 1.0), zticks=[0.0, 0.5, 1.0])
    ax.view_init(elev=25, azim=-60)
