"""The picture of an iteration."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from plot.models import ESTIMATORS, fitted
from typicality.plot import ConvergenceDisplay
from typicality.solve.picard import picard


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_convergence_display_shows_the_objective_of_every_estimator(name, ax):
    model = fitted(name)
    display = ConvergenceDisplay.from_estimator(model, ax=ax)
    assert_array_equal(display.line_.get_ydata(), model.objective_path_)
    assert_array_equal(display.line_.get_xdata(), np.arange(model.n_iter_))
    assert display.residual_ax_ is None
    assert ax.get_title().startswith("Converged after")


def test_convergence_display_shows_the_residuals(ax):
    result = picard(lambda x: (x / 2, x / 2, x**2), 1.0, tol=0.1, max_iter=9)
    display = ConvergenceDisplay.from_result(result, ax=ax)
    assert_array_equal(display.line_.get_ydata(), result.objectives)
    assert_array_equal(display.residual_line_.get_ydata(), result.residuals)
    assert_array_equal(display.residual_line_.get_xdata(), np.arange(1, result.n_iter + 1))
    assert display.residual_ax_.get_yscale() == "log"
    assert ax.get_title() == f"Converged after {result.n_iter} iterations"


def test_residuals_without_a_logarithm_are_left_out(ax):
    shown = ConvergenceDisplay([3.0, 2.0, 1.0], residuals=[np.inf, 0.5, 0.0]).plot(ax=ax)
    assert_array_equal(shown.residual_line_.get_ydata(), [np.nan, 0.5, np.nan])
    none = ConvergenceDisplay([3.0], residuals=[0.0], status="max_iter").plot(ax=ax)
    assert none.residual_ax_.get_yscale() == "linear"
    assert ax.get_title() == "Not converged after 1 iteration"


def test_bad_paths_are_refused():
    with pytest.raises(ValueError, match="objectives must be a list of one or more finite numbers"):
        ConvergenceDisplay([])
    with pytest.raises(ValueError, match="objectives has 2 rows, but residuals has 1"):
        ConvergenceDisplay([2.0, 1.0], residuals=[0.5])
