"""c-means of R on Iris, recorded by tests/reference/r_output.R, against the same call here."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from typicality import FuzzyCMeans, PossibilisticCMeans
from typicality.metrics import partition_coefficient

RECORDED = json.loads((Path(__file__).parents[1] / "reference" / "r_output.json").read_text())
X = load_iris().data
CENTRES = X[[0, 50, 100]]
MEMBERSHIPS = np.where(np.repeat(np.arange(3), 50)[:, None] == np.arange(3), 0.5, 0.25)
TIGHT = {"tol": 1e-12, "max_iter": 10_000}


def columns_like(recorded, u):
    """The columns of every tenth row of u, in the order of R."""
    tenth = u[::10]
    return tenth[:, linear_sum_assignment(cdist(np.transpose(recorded), tenth.T))[1]]


@pytest.mark.parametrize(
    ("name", "m", "weights"),
    [("cmeans", 2, None), ("cmeans_weighted", 1.5, np.tile([1, 2, 3], 50))],
)
def test_centres_and_memberships_are_those_of_e1071_cmeans(name, m, weights):
    model = FuzzyCMeans(3, m=m, init=CENTRES, **TIGHT).fit(X, sample_weight=weights)
    centres, u = (np.array(RECORDED[f"{name}_{what}"]) for what in ("centers", "membership"))
    np.testing.assert_allclose(model.cluster_centers_, centres, atol=1e-8)
    np.testing.assert_allclose(columns_like(u, model.memberships_), u, atol=1e-8)


def test_memberships_are_those_of_fanny_with_squared_distances():
    u = np.array(RECORDED["fanny_squared_membership"])
    model = FuzzyCMeans(3, m=2, init=MEMBERSHIPS, **TIGHT).fit(X)
    np.testing.assert_allclose(columns_like(u, model.memberships_), u, atol=1e-7)


def test_memberships_are_those_of_fanny_for_roots_of_distances():
    u = np.array(RECORDED["fanny_membership"])
    roots = np.sqrt(pairwise_distances(X))
    model = FuzzyCMeans(3, m=1.5, kernel="dissimilarities", init=MEMBERSHIPS, **TIGHT).fit(roots)
    np.testing.assert_allclose(columns_like(u, model.memberships_), u, atol=1e-7)
    assert model.objective_ == pytest.approx(RECORDED["fanny_objective"], rel=1e-10)
    coefficients = [partition_coefficient(model.memberships_, rescale=r) for r in (False, True)]
    assert coefficients == pytest.approx(RECORDED["fanny_coeff"], abs=1e-8)


def test_objective_is_withinerror_of_e1071_times_the_number_of_rows():
    model = FuzzyCMeans(3, m=2, init=CENTRES, **TIGHT).fit(X)
    assert model.objective_ == pytest.approx(len(X) * RECORDED["cmeans_withinerror"], rel=1e-10)


def test_centres_and_typicalities_are_those_of_the_vignette_of_ppclust_pfcm():
    """The printed output of pfcm(iris[, -5], centers = 3), with the defaults of ppclust."""
    model = PossibilisticCMeans(3, objective="2005", m=2, eta_scale=1, init=CENTRES, **TIGHT).fit(X)
    centres = [
        [5.004632, 3.410189, 1.484259, 0.2520773],
        [5.921892, 2.788865, 4.396931, 1.4071926],
        [6.623684, 3.014813, 5.462464, 1.9919289],
    ]
    typicalities = [
        [0.9270364, 0.04773061, 0.03002591],
        [0.6445196, 0.04809470, 0.02949375],
        [0.01609019, 0.2053347, 0.6177031],
        [0.02042037, 0.4564195, 0.4990126],
    ]
    np.testing.assert_allclose(model.cluster_centers_, centres, atol=6e-7)
    np.testing.assert_allclose(model.memberships_[[0, 1, 148, 149]], typicalities, atol=6e-8)
    assert model.objective_ == pytest.approx(238.0171, abs=6e-5)
