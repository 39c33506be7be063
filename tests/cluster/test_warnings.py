"""Suspicious data and results: the warning of each, and what it names."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from typicality import (
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
)
from typicality.exceptions import (
    CoincidentClustersWarning,
    CollapsedMembershipsWarning,
    DegenerateSpreadWarning,
    EmptyClustersWarning,
    FeatureWarning,
)


def test_centre_collapse_names_an_m_that_works(many_dimensions):
    X, truth = many_dimensions
    with pytest.warns(CollapsedMembershipsWarning, match=r"1/10") as record:
        collapsed = FuzzyCMeans(10, m=2.0, random_state=0).fit(X)
    assert np.abs(collapsed.memberships_ - 0.1).max() < 0.005
    assert collapsed.n_clusters_ == 1
    better = float(re.search(r"Try m=([\d.]+)\.", str(record[0].message)).group(1))
    model = FuzzyCMeans(10, m=better, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_collapse_of_the_preliminary_partition_is_named(many_dimensions):
    X, _ = many_dimensions
    with pytest.warns() as record:
        PossibilisticCMeans(10, m=2.0, eta_scale=1.0, random_state=0).fit(X)
    messages = {w.category: str(w.message) for w in record}
    assert messages[CollapsedMembershipsWarning].startswith("Preliminary fuzzy c-means: All")
    assert CoincidentClustersWarning in messages


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (PossibilisticCMeans(4, max_iter=3), "Preliminary fuzzy c-means: Not converged"),
        (EntropyCMeans(9, max_iter=2), "Hard c-means for lam='auto': Not converged"),
    ],
)
def test_stages_that_do_not_converge_are_named(rng, estimator, message):
    X = rng.normal(size=(500, 2))
    with pytest.warns() as record:
        estimator.set_params(random_state=0).fit(X)
    assert any(str(w.message).startswith(message) for w in record)


def test_entropic_collapse_names_a_lam_that_works(blobs):
    X, truth = blobs
    with pytest.warns(CollapsedMembershipsWarning, match="lam=") as record:
        EntropyCMeans(3, lam=1e-3, random_state=0).fit(X)
    better = float(re.search(r"Try lam=([\d.e-]+),", str(record[0].message)).group(1))
    model = EntropyCMeans(3, lam=better, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_coincident_possibilistic_clusters_are_merged(blobs):
    X, truth = blobs
    with pytest.warns(CoincidentClustersWarning, match="eta_scale='auto'"):
        model = PossibilisticCMeans(7, eta_scale=1.0, random_state=0, n_init=3).fit(X)
    assert model.n_clusters_ < 7
    assert len(model.cluster_centers_) == 7
    assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
    assert np.array_equal(model.labels_, model.predict(X))
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_fit_warns_when_it_does_not_converge(blobs):
    X, _ = blobs
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = FuzzyCMeans(3, max_iter=2, tol=1e-9, random_state=0).fit(X)
    assert model.status_ == "max_iter"


def test_constant_data_have_no_spread():
    with pytest.warns() as record:
        model = PossibilisticCMeans(1).fit(np.ones((9, 2)))
    assert {w.category for w in record} == {FeatureWarning, DegenerateSpreadWarning}
    assert np.array_equal(model.memberships_, np.ones((9, 1)))


def test_possibilistic_fit_warns_when_a_spread_reaches_no_row():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    with pytest.warns(DegenerateSpreadWarning, match="no row is close enough"):
        model = PossibilisticCMeans(2, eta=1e-6, init=[[0.5], [10.5]]).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "estimator",
    [
        EntropyCMeans(2, lam=1e-300),
        EntropyCMeans(2, lam=1e300),
        PossibilisticCMeans(2, eta=1e-300),
        PossibilisticCMeans(2, eta=1e300),
        PossibilisticCMeans(2, eta_scale=1e-300),
        FuzzyCMeans(2, m=1e6),
        FuzzyCMeans(2, m=1 + 1e-9),
    ],
    ids=str,
)
def test_extreme_parameters_give_finite_numbers(blobs, estimator, dtype):
    X = blobs[0].astype(dtype)
    model = estimator.set_params(random_state=0).fit(X)
    assert np.isfinite(model.memberships_).all()
    assert np.isfinite(model.cluster_centers_).all()
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize(("objective", "dtype"), [("1993", np.float32), ("1996", np.float64)])
def test_a_prototype_out_of_reach_stays_and_is_reported(blobs, objective, dtype):
    X = blobs[0].astype(dtype)
    start = [[0.0, 0.0], [6.0, 0.0], [500.0, 500.0]]
    with pytest.warns() as record:
        model = PossibilisticCMeans(3, objective=objective, m=1.01, eta=1.0, init=start).fit(X)
    assert DegenerateSpreadWarning in {w.category for w in record}
    assert model.cluster_centers_[2].tolist() == [500.0, 500.0]


def test_fit_warns_of_a_constant_feature_by_its_name(blobs):
    import pandas as pd

    X, _ = blobs
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "unit": 1.0, "zero": 0.0})
    with pytest.warns(FeatureWarning, match=r"Constant: feature 'unit', feature 'zero'\. "):
        FuzzyCMeans(3, random_state=0).fit(frame)


def test_fit_warns_of_a_prototype_that_no_row_prefers():
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    with pytest.warns(EmptyClustersWarning, match="1 of the 3 prototypes have no row"):
        model = EntropyCMeans(3, lam=1e3, init=[[50.0], [0.0], [1.0]]).fit(X)
    assert model.n_clusters_ == 2
    assert np.unique(model.labels_).tolist() == [0, 1]
    assert model.cluster_centers_[2, 0] == 50.0
    assert model.predict([[49.0]]).tolist() == [2]


# Of these rows density may ask for a second look; that is no matter here.
ONE_CLUSTER = pytest.mark.filterwarnings("ignore:The rows look like one cluster")
UNITS = [FuzzyCMeans(2, random_state=0), OneClusterPCM(), AlphaCutClustering()]


@ONE_CLUSTER
@pytest.mark.parametrize("model", UNITS, ids=lambda model: type(model).__name__)
def test_columns_in_very_different_units_are_noticed(model, rng):
    """Grams beside millimetres, as in tables of penguins: scales differ by 400, not by 1000."""
    X = rng.normal([4200.0, 200.0, 44.0, 17.0], [800.0, 14.0, 5.5, 2.0], (150, 4))
    with pytest.warns(FeatureWarning, match=r"by a factor of (3|4|5)\d\d .*of feature 0") as record:
        clone(model).fit(X)
    assert [str(w.message.finding) for w in record].count("different scales") == 1


def test_a_warning_has_the_name_and_the_fields_of_its_finding():
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    with pytest.warns(FeatureWarning) as record:
        OneClusterPCM().fit(X)
    warning = record[0].message
    assert warning.finding == "constant features"
    assert warning.fields == {"names": "feature 1", "columns": [1]}
    assert str(warning) == f"{warning.seen} {warning.remedy}"
    assert warning.remedy.startswith("Drop it")


def test_a_search_over_the_number_of_clusters_warns_once():
    X = load_iris().data
    pipeline = make_pipeline(StandardScaler(), FuzzyCMeans(random_state=0))
    numbers = {"fuzzycmeans__n_clusters": [2, 3]}
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("default")  # as in a session of Python
        search = GridSearchCV(pipeline, numbers, cv=3).fit(X)
    assert search.best_params_ == {"fuzzycmeans__n_clusters": 3}
    (warning,) = record
    assert warning.message.finding == "search over clusters"
    assert warning.filename == __file__


@pytest.mark.parametrize(
    ("searched", "scoring"),
    [({"n_clusters": [2, 3]}, lambda model, X, y=None: 0.0), ({"tol": [1e-3, 1e-4]}, None)],
    ids=["own scoring", "other parameter"],
)
def test_other_searches_do_not_warn(searched, scoring):
    search = GridSearchCV(FuzzyCMeans(3, random_state=0), searched, cv=2, scoring=scoring)
    search.fit(load_iris().data)
