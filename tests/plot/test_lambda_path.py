"""The picture of the path of lambda."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from typicality import FuzzyCMeans, SequentialPCM
from typicality.plot import LambdaPathDisplay

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: no pictures")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.3, size=(60, 2)) for m in ([0, 0], [5, 0], [0, 5])])
    return SequentialPCM().fit(X)


def test_lambda_path_display_shows_the_path_and_the_choice(model):
    display = LambdaPathDisplay.from_estimator(model)
    path = model.lambda_path_
    drawn = display.ax_.lines[1].get_xydata()
    assert_array_equal(drawn, np.column_stack([path.lam, path.n_clusters]))
    assert display.ax_.lines[2].get_xdata()[0] == model.lam_
    assert f"{model.n_clusters_} clusters" in display.ax_.get_title()
    assert display.index_ax_.get_ylabel() == path.criterion
    plt.close(display.figure_)


def test_lambda_path_display_draws_where_it_is_told(model):
    figure, ax = plt.subplots()
    display = LambdaPathDisplay(model.lambda_path_).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    plt.close(figure)


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (SequentialPCM(), NotFittedError, "not fitted yet"),
        (FuzzyCMeans(2), ValueError, "SequentialPCM"),
        (SequentialPCM(lam=0.05), ValueError, "lam='auto'"),
    ],
)
def test_lambda_path_display_refuses_what_has_no_path(estimator, error, message, rng):
    fitted = estimator if error is NotFittedError else estimator.fit(rng.normal(size=(30, 2)))
    with pytest.raises(error, match=message):
        LambdaPathDisplay.from_estimator(fitted)
