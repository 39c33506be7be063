"""A `predict` for clusterers that have none."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_clusterer
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
)

from sklearn_checks import parametrize_with_checks
from typicality.stability import PredictByNearest

LINE = np.array([[0.0], [1.0], [7.0], [8.0], [20.0]])


@parametrize_with_checks(
    [
        PredictByNearest(DBSCAN()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_rows_that_belong_nowhere_draw_new_rows_to_nowhere():
    model = PredictByNearest(DBSCAN(eps=1.5, min_samples=2)).fit(LINE)
    assert_array_equal(model.labels_, [0, 0, 1, 1, -1])
    assert_array_equal(model.predict([[2.0], [6.0], [15.0], [300.0]]), [0, 1, -1, -1])


@pytest.mark.parametrize(("n_neighbors", "like"), [(1, 4), (3, 0), (100, 0)])
def test_predict_by_nearest_follows_most_of_the_neighbours(n_neighbors, like):
    X = [[0.0], [1.0], [2.0], [2.4], [9.0], [10.0]]
    model = PredictByNearest(AgglomerativeClustering(2), n_neighbors=n_neighbors).fit(X)
    assert_array_equal(model.labels_, AgglomerativeClustering(2).fit(X).labels_)
    assert model.predict([[5.8]]) == model.labels_[like]
    assert model.labels_[4] != model.labels_[0]


def test_predict_by_nearest_passes_parameters_and_names_of_features():
    model = PredictByNearest(DBSCAN(eps=0.3)).set_params(clusterer__eps=1.5, n_neighbors=2)
    assert is_clusterer(model)
    assert clone(model).get_params()["clusterer__eps"] == 1.5
    frame = pd.DataFrame({"height": [0.0, 1.0, 7.0, 8.0], "width": [0.0, 0.0, 0.0, 0.0]})
    model.fit(frame)
    assert list(model.feature_names_in_) == ["height", "width"]
    assert list(model.clusterer_.feature_names_in_) == ["height", "width"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["width", "height"]])
