"""The path of lambda: how many clusters there are at each value, and how good they are."""

from typing import Any, Self

import numpy as np

from typicality._checks import check_has_path
from typicality.solve.lambda_path import LambdaPath

__all__ = ["LambdaPathDisplay"]

_CLUSTERS, _INDEX, _CHOSEN = "#1f4e79", "#c05a1c", "#7f7f7f"


class LambdaPathDisplay:
    """The number of clusters and the index along the path of lambda.

    Make it by `from_estimator`; the parts of the picture are attributes afterwards.

    Parameters
    ----------
    path : LambdaPath
        The path, `lambda_path_` of a :class:`~typicality.SequentialPCM`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the number of clusters.
    index_ax_ : matplotlib Axes
        The axes with the index, on the right.
    figure_ : matplotlib Figure
        The figure of both.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from typicality import SequentialPCM
    >>> from typicality.plot import LambdaPathDisplay
    >>> model = SequentialPCM().fit(load_iris().data)
    >>> LambdaPathDisplay.from_estimator(model).figure_.savefig("path.png")  # doctest: +SKIP
    """

    def __init__(self, path: LambdaPath) -> None:
        self.path = path

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """The picture of a fitted estimator.

        Parameters
        ----------
        estimator : SequentialPCM
            Fitted with ``lam="auto"``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        LambdaPathDisplay
        """
        return cls(check_has_path(estimator)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        self
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

        path = self.path
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        ax.step(path.lam, path.n_clusters, where="mid", color=_CLUSTERS)
        ax.plot(path.lam, path.n_clusters, ".", color=_CLUSTERS)
        ax.set(xscale="log", xlabel="lambda", ylim=(0, 1.1 * path.n_clusters.max() + 0.5))
        ax.set_ylabel("clusters", color=_CLUSTERS)
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        self.index_ax_ = ax.twinx()
        finite = np.isfinite(path.index)
        self.index_ax_.plot(path.lam[finite], path.index[finite], color=_INDEX, lw=1.5)
        self.index_ax_.set_ylabel(path.criterion, color=_INDEX)
        ax.axvline(path.lam[path.chosen], color=_CHOSEN, lw=1, ls="--")
        count = path.n_clusters[path.chosen]
        clusters = "1 cluster" if count == 1 else f"{count} clusters"
        ax.set_title(f"{clusters} at lambda = {path.lam[path.chosen]:.3g}")
        return self
