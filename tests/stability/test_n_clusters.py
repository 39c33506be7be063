"""The number of clusters by indices of validity."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_iris, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from typicality import FuzzyCMeans, PossibilisticCMeans
from typicality.metrics import fuzzy_silhouette_score, kwon_index, partition_coefficient
from typicality.validity import choose_n_clusters

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")

NUMBERS = range(2, 6)


@pytest.fixture(scope="module")
def apart():
    return make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


@pytest.fixture(scope="module")
def table(apart):
    return choose_n_clusters(FuzzyCMeans(n_init=3, random_state=0), apart, NUMBERS)


def test_every_index_finds_clusters_that_are_apart(table):
    assert table.chosen == 3
    assert set(table.best.values()) == {3}
    assert table.n_found == tuple(NUMBERS)


def test_values_are_those_of_the_metrics(table, apart):
    model = FuzzyCMeans(3, n_init=3, random_state=0).fit(apart)
    u, values = model.memberships_, {name: column[1] for name, column in table.values.items()}
    assert_allclose(values["fuzzy_silhouette"], fuzzy_silhouette_score(apart, u))
    assert_allclose(values["kwon"], kwon_index(apart, model.cluster_centers_, u, m=model.m_))
    assert_allclose(
        values["modified_partition_coefficient"], partition_coefficient(u, rescale=True)
    )


def test_values_on_iris_are_those_of_the_literature():
    table = choose_n_clusters(FuzzyCMeans(m=2, random_state=0), load_iris().data, (2, 3))
    assert_allclose(table.values["partition_coefficient"], [0.892, 0.783], atol=5e-4)
    assert_allclose(table.values["partition_entropy"], [0.196, 0.396], atol=1e-3)
    assert_allclose(table.values["xie_beni"], [0.054, 0.137], atol=5e-4)


def test_a_pipeline_is_compared_on_the_rows_that_its_last_step_sees(apart):
    stretched = apart * [1.0, 1000.0]
    pipeline = make_pipeline(StandardScaler(), FuzzyCMeans(random_state=0))
    found = choose_n_clusters(pipeline, stretched, NUMBERS)
    scaled = StandardScaler().fit_transform(stretched)
    expected = choose_n_clusters(FuzzyCMeans(random_state=0), scaled, NUMBERS)
    assert_allclose(found.values["xie_beni"], expected.values["xie_beni"])


def test_kernels_have_the_indices_that_need_no_centres(apart):
    model = FuzzyCMeans(kernel="gaussian", random_state=0)
    table = choose_n_clusters(model, apart, (2, 3), by="partition_entropy")
    assert "xie_beni" not in table.values
    assert table.chosen == 3
    with pytest.raises(ValueError, match="by"):
        choose_n_clusters(model, apart, (2, 3), by="xie_beni")


def test_rows_with_missing_values_have_the_indices_of_memberships(apart):
    holes = apart.copy()
    holes[::7, 0] = np.nan
    model = FuzzyCMeans(missing="partial", n_init=3, random_state=0)
    table = choose_n_clusters(model, holes, NUMBERS, by="modified_partition_coefficient")
    assert len(table.values) == 3
    assert table.chosen == 3


def test_typicalities_can_be_shares(apart):
    rows = np.vstack([apart, [[40.0, 40.0]]])
    model = PossibilisticCMeans(eta_scale=1, random_state=0)
    by_weight, by_share = (
        choose_n_clusters(model, rows, (3,), normalize=how).values["fukuyama_sugeno"][0]
        for how in (False, True)
    )
    u = model.set_params(n_clusters=3).fit(rows).memberships_
    shares = u / np.where(u.sum(axis=1) > 0, u.sum(axis=1), 1.0)[:, None]
    sqdist = ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    counted = shares.any(axis=1)
    mean = rows[counted].mean(axis=0)
    to_mean = ((model.cluster_centers_ - mean) ** 2).sum(axis=1)
    assert_allclose(by_share, (shares**model.m_ * (sqdist - to_mean)).sum())
    assert by_weight != by_share


def test_table_can_be_printed_drawn_and_made_a_frame(table):
    lines = repr(table).splitlines()
    assert len(lines) == 1 + len(NUMBERS)
    assert lines[2].split()[0] == "3"
    assert lines[2].count("*") == len(table.values)
    frame = table.to_pandas()
    assert frame.loc[3, "n_found"] == 3
    assert frame["xie_beni"].idxmin() == 3
    figure = table.plot()
    assert len(figure.axes) == len(table.values)
    plt.close(figure)


def test_settings_without_clusters_have_no_silhouette():
    rows = np.array([[0.0], [1.0], [7.0], [8.0]])
    model = PossibilisticCMeans(eta=1e-9, init="max-min")  # each prototype has one row
    table = choose_n_clusters(model, rows, (4,))
    assert np.isnan(table.values["fuzzy_silhouette"][0])
    assert table.chosen is None


def test_what_has_no_number_of_clusters_is_refused(apart):
    with pytest.raises(ValueError, match="n_clusters"):
        choose_n_clusters(DBSCAN(), apart)
    with pytest.raises(ValueError, match="by"):
        choose_n_clusters(FuzzyCMeans(), apart, by="gap")
