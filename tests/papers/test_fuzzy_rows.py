"""The fuzzy c-means rows of xenaki2014 that do not depend on an unknown start."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from typicality import FuzzyCMeans
from typicality.metrics import rand_score, success_rate


def z_scored_iris():
    iris = load_iris()
    return StandardScaler().fit_transform(iris.data), iris.target


def raw_wine():
    wine = load_wine()
    return wine.data, wine.target


@pytest.mark.filterwarnings(
    "ignore:The scales of the features:typicality.exceptions.FeatureWarning"
)
@pytest.mark.parametrize(
    ("load", "rand", "success"),
    [(z_scored_iris, 83.68, 84.00), (raw_wine, 71.05, 68.54)],
)
@pytest.mark.parametrize("init", ["k-means++", "max-min", "random"])
def test_fuzzy_row_of_the_paper_comes_out(load, rand, success, init):
    X, truth = load()
    labels = FuzzyCMeans(3, m=2.0, init=init, random_state=0, max_iter=100).fit_predict(X)
    assert np.round(100 * rand_score(truth, labels), 2) == rand
    assert np.round(100 * success_rate(truth, labels), 2) == success
