"""The picture of p-values."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from typicality import FuzzyCMeans, OneClusterPCM
from typicality.plot import PValueDisplay


def test_p_value_display_shows_what_outliers_at_returns(rng, ax):
    X, new = rng.normal(size=(300, 2)), 3 * rng.normal(size=(40, 2))
    model = make_pipeline(StandardScaler(), OneClusterPCM()).fit(X)
    display = PValueDisplay.from_estimator(model, new, fdr=0.2, method="storey", ax=ax)
    scaled = model[0].transform(new)
    assert_array_equal(display.rejected, model[1].outliers_at(scaled, fdr=0.2, method="storey"))
    kept, rejected = (line.get_ydata() for line in display.points_)
    assert_array_equal(np.append(rejected, kept), np.sort(model[1].p_values(scaled)))
    assert ax.get_title() == f"{len(rejected)} outliers among 40 rows"


def test_the_line_of_the_procedure_separates_rejected_p_values(ax):
    display = PValueDisplay([0.5, 0.001, 0.02, 0.9], fdr=0.1).plot(ax=ax)
    (first, last), (low, high) = display.level_line_.get_data()
    assert (first, last, low, high) == (1.0, 4.0, 0.025, 0.1)
    assert_array_equal(display.rejected, [False, True, True, False])


def test_estimators_without_p_values_are_refused(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(ValueError, match="no p-values"):
        PValueDisplay.from_estimator(FuzzyCMeans(2).fit(X), X)
