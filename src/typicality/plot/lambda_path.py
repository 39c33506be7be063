"""The path of lambda: how many clusters there are at each value, and how good they are."""

from typing import Any, Self

import numpy as np

from typicality._words import counted
from typicality.fitted import last_step
from typicality.plot._axes import axes_for
from typicality.plot._colours import FIRST, GUIDE, SECOND
from typicality.solve.schedules import LambdaPath


class LambdaPathDisplay:
    """The number of clusters, and the criterion of the choice, for each value of lambda.

    Create it with `from_estimator`. The drawn artists are attributes.

    Parameters
    ----------
    path : LambdaPath
        The attribute `lambda_path_` of a :class:`~typicality.SequentialPCM`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the number of clusters.
    index_ax_ : matplotlib Axes
        The axes with the criterion, on the right.
    figure_ : matplotlib Figure
        The figure.
    counts_line_, index_line_, chosen_line_ : matplotlib Line2D
        The number of clusters, the criterion, and the chosen value.

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
        """Create the display from a fitted estimator.

        Parameters
        ----------
        estimator : SequentialPCM
            An estimator fitted with ``lam="auto"``, or a fitted pipeline that ends in one.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        LambdaPathDisplay
        """
        model = last_step(estimator)
        path = getattr(model, "lambda_path_", None)
        if path is None:
            raise ValueError(
                f"{model!r} has no path of lambda. Fit a SequentialPCM with lam='auto'."
            )
        return cls(path).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax, size=(7.0, 3.8))
        from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

        path = self.path
        ax.step(path.lam, path.n_clusters, where="mid", color=FIRST)
        (self.counts_line_,) = ax.plot(path.lam, path.n_clusters, ".", color=FIRST)
        ax.set(xscale="log", xlabel="lambda", ylim=(0, 1.1 * path.n_clusters.max() + 0.5))
        ax.set_ylabel("clusters", color=FIRST)
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        self.index_ax_ = ax.twinx()
        finite = np.isfinite(path.index)
        (self.index_line_,) = self.index_ax_.plot(
            path.lam[finite], path.index[finite], color=SECOND, lw=1.5
        )
        self.index_ax_.set_ylabel(path.criterion, color=SECOND)
        chosen = path.lam[path.chosen]
        self.chosen_line_ = ax.axvline(chosen, color=GUIDE, lw=1, ls="--")
        clusters = counted(path.n_clusters[path.chosen], "cluster")
        ax.set_title(f"{clusters} at lambda = {chosen:.3g}")
        return self
