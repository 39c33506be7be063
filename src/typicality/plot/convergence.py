"""The objective of an iteration, and how much changed in each step."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality._arguments import check_same_length
from typicality._words import counted
from typicality.fitted import last_step
from typicality.plot._axes import axes_for, check_values
from typicality.plot._colours import FIRST, SECOND
from typicality.solve.picard import PicardResult

_DOTS = 60  # iterations that are still seen one by one
_ENDS = {
    "converged": "Converged",
    "max_iter": "Not converged",
    "nonfinite": "No finite objective",
    "stopped": "Stopped by a callback",
}


class ConvergenceDisplay:
    """The objective before each iteration of a fit, and the residuals if they are known.

    The objective never rises if the spreads are fixed. It can rise if spreads adapt, or if clusters
    are added or removed. Estimators have the objective as `objective_path_`.

    Create it with `from_estimator` or `from_result`. The drawn artists are attributes.

    Parameters
    ----------
    objectives : array-like of shape (n_iter,)
        The objective before each iteration.
    residuals : array-like of shape (n_iter,), optional
        The change of the prototypes in each iteration; infinite if the number of clusters changed.
    status : str, optional
        Why the iterations ended.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the objective.
    figure_ : matplotlib Figure
        The figure.
    line_ : matplotlib Line2D
        The objective.
    residual_ax_ : matplotlib Axes or None
        The axes with the residuals, on the right, with a logarithmic scale.
    residual_line_ : matplotlib Line2D or None
        The residuals.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from typicality import FuzzyCMeans
    >>> from typicality.plot import ConvergenceDisplay
    >>> model = FuzzyCMeans(3, random_state=0).fit(load_iris().data)
    >>> display = ConvergenceDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        objectives: ArrayLike,
        *,
        residuals: ArrayLike | None = None,
        status: str | None = None,
    ) -> None:
        self.objectives = check_values(objectives, name="objectives")
        self.residuals = None if residuals is None else np.asarray(residuals, dtype=np.float64)
        self.status = status
        if self.residuals is not None:
            n_residuals = len(self.residuals)
            check_same_length(len(self.objectives), "objectives", n_residuals, "residuals")

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Create the display from a fitted estimator.

        Parameters
        ----------
        estimator : estimator of typicality
            A fitted estimator, or a fitted pipeline that ends in one.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        ConvergenceDisplay
        """
        model = last_step(estimator)
        path = getattr(model, "objective_path_", None)
        if path is None:
            raise ValueError(
                f"{model!r} does not keep the objective of its iterations (objective_path_). "
                "Fit an estimator of typicality."
            )
        return cls(path, status=getattr(model, "status_", None)).plot(ax=ax)

    @classmethod
    def from_result(cls, result: PicardResult[Any], *, ax: Any = None) -> Self:
        """Create the display from the result of the solver, with residuals.

        Parameters
        ----------
        result : PicardResult
            The result of `typicality.solve.picard.picard`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        ConvergenceDisplay
        """
        display = cls(result.objectives, residuals=result.residuals, status=result.status)
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax, size=(7.0, 3.8))
        from matplotlib.ticker import MaxNLocator

        done = np.arange(len(self.objectives))
        dots = {"marker": "o", "markersize": 3.5} if len(done) <= _DOTS else {}
        (self.line_,) = ax.plot(done, self.objectives, color=FIRST, **dots)
        title = counted(len(done), "iteration")
        if self.status is not None:
            title = f"{_ENDS[self.status]} after {title}"
        ax.set(xlabel="iterations done", title=title)
        ax.set_ylabel("objective", color=FIRST)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.residual_ax_ = self.residual_line_ = None
        if self.residuals is None:
            return self
        # Zero has no logarithm; a residual is infinite where the number of clusters changed.
        known = np.isfinite(self.residuals) & (self.residuals > 0)
        shown = np.where(known, self.residuals, np.nan)
        self.residual_ax_ = ax.twinx()
        (self.residual_line_,) = self.residual_ax_.plot(
            done + 1, shown, color=SECOND, ls="--", **dots
        )
        self.residual_ax_.set_ylabel("residual", color=SECOND)
        if known.any():
            self.residual_ax_.set_yscale("log")
        return self
