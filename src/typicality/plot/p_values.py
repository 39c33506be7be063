"""p-values in order, and which of them a rate of false discoveries rejects."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality._words import counted
from typicality.fitted import last_step, prepared
from typicality.metrics.discoveries import penalty, select_discoveries
from typicality.plot._axes import (
    CUT,
    GUIDE,
    POINT,
    axes_for,
    check_values,
    require_matplotlib,
)


class PValueDisplay:
    r"""The p-values of rows in increasing order, and those rejected at a false discovery rate.

    Both axes are logarithmic. If all rows come from the same source as the training rows, their
    p-values are near the dashed diagonal. The solid line is :math:`\alpha k / (c m)`, see
    :func:`typicality.metrics.select_discoveries`. Find the last p-value below this line; it and all
    smaller p-values are rejected.

    Create it with `from_estimator`, or from p-values. The drawn artists are attributes.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        The p-values, in (0, 1].
    fdr : float, default=0.1
        The false discovery rate.
    method : {"bh", "by", "storey"}, default="bh"
        The procedure, as in :func:`typicality.metrics.select_discoveries`.

    Attributes
    ----------
    rejected : array of shape (m,), bool
        Which p-values are rejected.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    points_ : list of matplotlib Line2D
        The p-values that are not rejected, and those that are.
    level_line_ : matplotlib Line2D
        The line of the procedure.

    Examples
    --------
    >>> from typicality.plot import PValueDisplay
    >>> display = PValueDisplay([0.001, 0.8, 0.02, 0.3]).plot()  # doctest: +SKIP
    """

    def __init__(self, p_values: ArrayLike, *, fdr: float = 0.1, method: str = "bh") -> None:
        self.p_values = check_values(p_values, name="p_values")
        self.fdr = fdr
        self.method = method
        self.rejected = select_discoveries(self.p_values, fdr=fdr, method=method)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, fdr: float = 0.1, method: str = "bh", ax: Any = None
    ) -> Self:
        """Create the display for new rows.

        Parameters
        ----------
        estimator : OneClusterPCM
            A fitted estimator, or a fitted pipeline that ends in one.
        X : array-like or dataframe of shape (n_samples, n_features)
            New rows, as for `predict`.
        fdr : float, default=0.1
            The false discovery rate.
        method : {"bh", "by", "storey"}, default="bh"
            The procedure, as in :func:`typicality.metrics.select_discoveries`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        PValueDisplay
        """
        require_matplotlib(cls)
        model = last_step(estimator)
        if not hasattr(model, "p_values"):
            raise ValueError(f"{model!r} has no p-values of new rows. Fit a OneClusterPCM.")
        return cls(model.p_values(prepared(estimator, X)), fdr=fdr, method=method).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the p-values.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax, size=(6.4, 4.4))
        order = np.argsort(self.p_values, kind="stable")
        rank, p = np.arange(1, len(order) + 1), self.p_values[order]
        rejected = self.rejected[order]
        ends = np.array([1.0, max(len(order), 2)])
        level = self.fdr / penalty(self.p_values, self.method)
        ax.plot(ends, ends / len(order), color=GUIDE, ls="--", lw=1.0, label="same source")
        words = f"{self.method}, false discovery rate {self.fdr:g}"
        (self.level_line_,) = ax.plot(ends, level * ends / len(order), color=CUT, label=words)
        dots = {"ls": "none", "marker": "o", "ms": 4.0}
        self.points_ = [
            *ax.plot(rank[~rejected], p[~rejected], color=POINT, mfc="none", **dots, label="kept"),
            *ax.plot(rank[rejected], p[rejected], color=CUT, **dots, label="rejected"),
        ]
        found = counted(int(rejected.sum()), "outlier")
        ax.set(
            xscale="log",
            yscale="log",
            xlabel="rank of the row",
            ylabel="p-value",
            title=f"{found} among {counted(len(order), 'row')}",
        )
        ax.legend(loc="lower right", fontsize="small")
        return self
