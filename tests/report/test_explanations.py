"""What sets a cluster apart, and what makes a row unusual; the features a page draws."""

import json

import numpy as np
import pandas as pd
import pytest

from reference.page_labels import decode
from typicality import AlphaCutClustering, FuzzyCMeans
from typicality.fitted import view
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.report.payload import build_payload

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


@pytest.fixture
def rows(scattered):
    return scattered


# ---- explained once ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cutter", "detector", "prototypes", "sequential"])
@pytest.mark.parametrize("max_rows", [50, 1000])
def test_payload_is_the_same_when_rows_were_explained_before(name, max_rows, rows, request):
    model = request.getfixturevalue(name)
    features = FeatureTable([f"column {j}" for j in range(3)], rows, rows)
    explained = Explanation.of(view(model, rows, training=True), features)
    payload = build_payload(model, None, explanation=explained, max_rows=max_rows)
    assert payload == build_payload(model, rows, max_rows=max_rows)


def test_explanation_holds_the_rows_that_a_page_lists(detector, rows):
    features = FeatureTable(["x", "y", "z"], rows, rows)
    explained = Explanation.of(view(detector, rows, training=True), features)
    listed = decode(build_payload(detector, rows)["outliers"]["index"])
    np.testing.assert_array_equal(explained.rows, listed)
    assert explained.deviations.shape == (len(listed), 3)
    some = np.arange(0, len(rows), 2)
    assert set(explained.among(some).rows) <= set(some)
    assert explained.among(np.arange(len(rows))) is explained


# ---- clusters and outliers -----------------------------------------------------------------------


def test_explanations_list_the_clusters_of_a_tree(cutter, rows):
    payload = build_payload(cutter, rows)
    tree, labels = cutter.tree_, cutter.labels_
    for cluster in payload["clusters"]:
        own = labels == cluster["label"]
        assert cluster["size"] == own.sum()
        assert own[cluster["typical_row"]]
        assert cutter.typicality_[cluster["typical_row"]] == cutter.typicality_[own].max()
        assert cluster["level"] == cutter.alpha_[cluster["label"]]
        # Just above the saddle the cluster is alone, just below it is not.
        peak = tree.heights[tree.node_of[cluster["typical_row"]]]
        saddle = peak / cluster["separation"]
        edge = np.abs(tree.saddles - saddle).argmin()
        assert tree.saddles[edge] == pytest.approx(saddle, rel=1e-9)
        below = np.nextafter(tree.saddle_alpha[edge], 0.0)
        others = labels[
            (labels >= 0)
            & ~own
            & (tree.labels_at(below)[cluster["typical_row"]] == tree.labels_at(below))
        ]
        alone = tree.labels_at(tree.saddle_alpha[edge])
        assert len(others) > 0
        assert not np.isin(alone[(labels >= 0) & ~own], alone[cluster["typical_row"]]).any()
    assert "denser" in payload["separation_words"]


def test_profiles_name_what_sets_a_cluster_apart(prototypes, rows):
    payload = build_payload(prototypes, rows)
    labels = prototypes.labels_
    quartiles = np.quantile(rows, [0.25, 0.75], axis=0)
    spread = (quartiles[1] - quartiles[0]) / 1.349
    for cluster in payload["clusters"]:
        own = labels == cluster["label"]
        expected = (rows[own].mean(axis=0) - rows[~own].mean(axis=0)) / spread
        order = np.argsort(-np.abs(expected))
        assert [item["axis"] for item in cluster["profile"]] == order.tolist()
        np.testing.assert_allclose([i["deviations"] for i in cluster["profile"]], expected[order])
        for key, expected in {
            "mean": rows[own].mean(axis=0),
            "median": np.median(rows[own], axis=0),
            "elsewhere": np.median(rows[~own], axis=0),
        }.items():
            np.testing.assert_allclose([i[key] for i in cluster["profile"]], expected[order])


def test_separation_of_prototypes_is_their_distance_over_the_radius(rng):
    X = np.concatenate([rng.normal(0.0, 1.0, (500, 2)), rng.normal(10.0, 1.0, (500, 2))])
    payload = build_payload(FuzzyCMeans(2, random_state=0).fit(X), X)
    # Twice the same shape in both features: the units of the features cancel.
    np.testing.assert_allclose([c["separation"] for c in payload["clusters"]], 10.0, rtol=0.15)


@pytest.mark.parametrize("name", ["cutter", "detector", "prototypes", "sequential"])
def test_the_reason_for_an_outlier_is_found(name, rows, request):
    model = request.getfixturevalue(name)
    far = rows.copy()
    far[100] = (0.0, 0.0, 60.0)
    payload = build_payload(type(model)(**model.get_params()).fit(far), far)
    outliers = payload["outliers"]
    axis = decode(outliers["axis"]).reshape(-1, 3)
    deviations = decode(outliers["tenths"]).reshape(-1, 3) / 10
    assert 100 in decode(outliers["index"])
    assert axis[100, 0] == 2
    assert deviations[100, 0] > 10.0
    assert (np.diff(np.abs(deviations), axis=1) <= 0).all()


@pytest.mark.parametrize("name", ["cutter", "detector", "prototypes", "sequential"])
def test_outliers_are_unassigned_rows_and_the_rarest_ones(name, rows, request):
    model = request.getfixturevalue(name)
    payload = build_payload(model, rows)
    index, labels = decode(payload["outliers"]["index"]), decode(payload["labels"])
    assert (np.diff(view(model, rows, training=True).depth[index]) >= 0).all()
    assert set(np.flatnonzero(labels < 0)) <= set(index)
    assert len(index) >= 20


def test_deviations_are_from_the_prototype_in_spreads_of_its_cluster(prototypes, rows):
    payload = build_payload(prototypes, rows)
    row = int(decode(payload["outliers"]["index"])[0])
    axis = decode(payload["outliers"]["axis"])[3 * row : 3 * row + 3]
    found = decode(payload["outliers"]["tenths"])[3 * row : 3 * row + 3] / 10
    label = prototypes.labels_[row]
    own = prototypes.labels_ == label
    weight = prototypes.memberships_[own].max(axis=1)
    away = rows - prototypes.cluster_centers_[label]
    spread = np.sqrt(np.average(away[own] ** 2, axis=0, weights=weight))
    np.testing.assert_allclose(found, (away / spread)[row, axis], atol=0.0501)


# ---- features ------------------------------------------------------------------------------------


def test_a_value_that_others_have_too_is_not_a_hundred_spreads_away(rng):
    terms = np.where(np.arange(200) < 60, 60.0, 36.0)  # of one value within each cluster
    X = np.column_stack([terms, np.where(terms > 40, 50.0, 0.0) + rng.normal(size=200)])
    X[0, 0] = 36.0
    model = FuzzyCMeans(n_clusters=2, random_state=0).fit(X)
    explanation = Explanation.of(view(model, X), FeatureTable(["term", "size"], X, X))
    assert 0 in explanation.rows
    of_row = explanation.deviations[explanation.rows == 0][0]
    np.testing.assert_allclose(of_row[0], -1.349, rtol=0.05)


def test_axes_are_the_features_and_two_principal_axes(prototypes, rows):
    payload = build_payload(prototypes, rows)
    names = [axis["name"] for axis in payload["axes"]]
    assert names[:3] == ["column 0", "column 1", "column 2"]
    assert [name[:5] for name in names[3:]] == ["PCA 1", "PCA 2"]
    assert payload["start_axes"] == [3, 4]
    assert [axis["feature"] for axis in payload["axes"]] == [True] * 3 + [False] * 2
    np.testing.assert_array_equal(decode(payload["axes"][1]["values"]), rows[:, 1].astype("f4"))


def test_one_feature_is_drawn_against_the_strength(rows):
    model = AlphaCutClustering().fit(rows[:, :1])
    payload = build_payload(model, rows[:, :1])
    assert [axis["name"] for axis in payload["axes"]] == ["column 0"]
    assert payload["start_axes"] == [0, 1]  # the page adds the strength as its last axis


def test_the_page_speaks_in_the_units_of_the_user(rows):
    display = pd.DataFrame(rows * 1000.0 + 5.0, columns=["price", "height", "age"])
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    plain, shown = build_payload(model, rows), build_payload(model, rows, display=display)
    assert [axis["name"] for axis in shown["axes"][:3]] == ["price", "height", "age"]
    np.testing.assert_allclose(
        decode(shown["axes"][0]["values"]), display["price"].to_numpy(), rtol=1e-6
    )
    mean = shown["clusters"][0]["profile"][0]["mean"]
    assert mean == pytest.approx(1000 * plain["clusters"][0]["profile"][0]["mean"] + 5)
    assert shown["outliers"]["tenths"] == plain["outliers"]["tenths"]


def test_missing_and_constant_values_can_be_displayed(prototypes, rows):
    display = rows.copy()
    display[3, 0] = np.nan
    display[:, 2] = 7.0
    payload = build_payload(prototypes, rows, display=display)
    values = decode(payload["axes"][0]["values"])
    assert np.flatnonzero(np.isnan(values)).tolist() == [3]
    json.dumps(payload, allow_nan=False)


def test_other_columns_than_those_of_the_model_are_measured_by_themselves(prototypes, rows):
    display = np.column_stack([rows, rows[:, 0] * 2, np.full(len(rows), np.nan)])
    payload = build_payload(prototypes, rows, display=display)
    assert sum(axis["feature"] for axis in payload["axes"]) == 5
    assert "mean of the nearest cluster" in payload["outlier_words"]
    json.dumps(payload, allow_nan=False)


def test_many_features_are_fewer_on_the_page(rng):
    X = rng.normal(size=(60, 1500))
    X[:30, 1400] += 50.0
    payload = build_payload(FuzzyCMeans(2, m=1.1, random_state=0).fit(X), X)
    names = [axis["name"] for axis in payload["axes"]]
    assert len(names) == 1000
    assert "column 1400" in names
    assert "This page shows 998 of 1,500 columns" in payload["features_note"]


def test_dates_keep_their_digits(prototypes, rows):
    display = rows.copy()
    display[:, 0] = 1.7e9 + np.arange(len(rows))
    payload = build_payload(prototypes, rows, display=display)
    np.testing.assert_array_equal(decode(payload["axes"][0]["values"]), display[:, 0])


def test_wild_values_do_not_make_the_principal_axes(rows):
    wild = rows.copy()
    wild[7, 2] = 1e6
    payload = build_payload(FuzzyCMeans(3, random_state=0).fit(rows), wild)
    first, second = (decode(payload["axes"][k]["values"]) for k in (3, 4))
    others = np.delete(np.arange(len(rows)), 7)
    plain = build_payload(FuzzyCMeans(3, random_state=0).fit(rows), rows)
    for axis, wild_axis in zip(plain["axes"][3:], (first, second), strict=True):
        np.testing.assert_allclose(
            np.abs(wild_axis[others]), np.abs(decode(axis["values"])[others]), atol=0.3
        )
    assert max(abs(first[7]), abs(second[7])) > 1000  # drawn where it is
