"""What a page is told, compared with what the model says."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from reference.page_labels import decode, labels_at
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM, SequentialPCM
from typicality.levelsets import AlphaTree
from typicality.report.findings import Findings
from typicality.report.payload import build_payload
from typicality.report.sampling import choose_rows
from typicality.report.shown_tree import choose_branches

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


@pytest.fixture(scope="module")
def rows():
    """Three clusters of 120 rows, with copies, in three features, amid 40 rows of noise."""
    rng = np.random.default_rng(5)
    centers = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]])
    clusters = np.repeat(centers, 120, axis=0) + rng.normal(size=(360, 3))
    clusters[::7] = clusters[1::7][: len(clusters[::7])]
    return np.concatenate([clusters, rng.uniform(-6.0, 15.0, (40, 3))])


@pytest.fixture(scope="module")
def cutter(rows):
    return AlphaCutClustering().fit(rows)


@pytest.fixture(scope="module")
def detector(rows):
    return OneClusterPCM().fit(rows)


@pytest.fixture(scope="module")
def prototypes(rows):
    return FuzzyCMeans(3, random_state=0).fit(rows)


@pytest.fixture(scope="module")
def sequential(rows):
    return SequentialPCM().fit(rows)


def levels_of(tree):
    """Levels between, at and beyond those where something happens."""
    where = np.concatenate([tree.saddle_alpha, tree.node_alpha])
    return np.concatenate([[0.0], np.quantile(where, np.linspace(0, 1, 25), method="nearest"), [1]])


# ---- all rows ------------------------------------------------------------------------------------


def test_all_rows_are_shown_where_there_is_room(cutter, rows):
    payload = build_payload(cutter, rows)
    assert payload["sample_note"] is None
    np.testing.assert_array_equal(decode(payload["row"]), np.arange(len(rows)))
    np.testing.assert_array_equal(decode(payload["labels"]), cutter.labels_)
    np.testing.assert_array_equal(decode(payload["strength"]), cutter.typicality_)


@pytest.mark.parametrize("min_size", [1, 5, 30])
def test_labels_on_the_page_are_those_of_the_tree(cutter, rows, min_size):
    payload = json.loads(json.dumps(build_payload(cutter, rows)))
    for level in levels_of(cutter.tree_):
        expected = cutter.tree_.labels_at(level, min_cluster_size=min_size)
        np.testing.assert_array_equal(labels_at(payload, level, min_size=min_size), expected)


def test_rows_of_weight_zero_have_the_labels_of_the_tree(rows):
    weight = np.where(np.arange(len(rows)) % 5 == 0, 0.0, 2.0)
    model = AlphaCutClustering().fit(rows, sample_weight=weight)
    payload = build_payload(model, rows)
    for level in levels_of(model.tree_)[::4]:
        expected = model.tree_.labels_at(level, min_cluster_size=6)
        np.testing.assert_array_equal(labels_at(payload, level, min_size=6), expected)


def test_the_threshold_on_the_page_is_that_of_the_detector(detector, rows):
    payload = build_payload(detector, rows)
    assert payload["kind"] == "typicality"
    np.testing.assert_array_equal(decode(payload["strength"]), detector.score_samples(rows))
    flags = np.where(detector.predict(rows) < 0, -1, 0)
    np.testing.assert_array_equal(decode(payload["labels"]), flags)
    np.testing.assert_array_equal(labels_at(payload, payload["cut"]), flags)


def test_memberships_are_those_of_the_model(prototypes, rows):
    payload = build_payload(prototypes, rows)
    found = decode(payload["memberships"]).reshape(len(rows), -1)
    expected = prototypes.predict_memberships(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_array_equal(decode(payload["strength"]), expected.max(axis=1))
    assert payload["strength_name"] == "largest membership"
    np.testing.assert_array_equal(labels_at(payload, 0.0), prototypes.predict(rows))


def test_new_rows_are_welcome_where_no_tree_asks_for_the_old_ones(sequential, rows):
    payload = build_payload(sequential, rows[::3])
    np.testing.assert_array_equal(decode(payload["labels"]), sequential.predict(rows[::3]))
    assert payload["strength_name"] == "typicality"
    assert payload["n_rows"] == len(rows[::3])


def test_prototypes_that_share_a_label_share_a_column(rows):
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    model.prototype_labels_ = np.array([0, 1, 0], dtype=np.int32)
    payload = build_payload(model, rows)
    expected = model.predict_memberships(rows)
    found = decode(payload["memberships"]).reshape(len(rows), 2)
    np.testing.assert_allclose(found[:, 0], expected[:, [0, 2]].max(axis=1), rtol=1e-6)
    assert [cluster["label"] for cluster in payload["clusters"]] == [0, 1]


def test_a_model_without_clusters_has_a_payload(rows):
    model = AlphaCutClustering(alpha=0.99).fit(rows)
    payload = build_payload(model, rows)
    assert model.n_clusters_ == 0
    assert payload["clusters"] == []
    assert payload["cut"] == 0.99
    assert len(decode(payload["outliers"]["index"])) == len(rows)


# ---- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_rows", [60, 150, 399])
def test_labels_of_a_sample_are_those_of_all_rows(cutter, rows, max_rows):
    payload = build_payload(cutter, rows, max_rows=max_rows)
    shown = decode(payload["row"])
    assert len(shown) == max_rows
    for level in levels_of(cutter.tree_):
        expected = cutter.tree_.labels_at(level)[shown]
        found = labels_at(payload, level)
        np.testing.assert_array_equal(found < 0, expected < 0)
        assert adjusted_rand_score(expected, found) == 1.0


def test_sizes_of_a_sample_estimate_those_of_all_rows(cutter, rows):
    payload = build_payload(cutter, rows, max_rows=200)
    weight = decode(payload["tree"]["node_weight"])
    assert weight.sum() == len(rows)
    assert [c["size"] for c in payload["clusters"]] == np.bincount(
        cutter.labels_[cutter.labels_ >= 0]
    ).tolist()


@pytest.mark.parametrize("name", ["cutter", "detector", "sequential"])
def test_a_sample_keeps_all_rows_that_belong_nowhere(name, rows, request):
    model = request.getfixturevalue(name)
    whole = decode(build_payload(model, rows)["labels"])
    payload = build_payload(model, rows, max_rows=300)
    shown = decode(payload["row"])
    nowhere = np.flatnonzero(whole < 0)
    assert 0 < len(nowhere) <= 150
    assert set(nowhere) <= set(shown)
    np.testing.assert_array_equal(decode(payload["labels"]), whole[shown])
    assert f"all {len(nowhere)} rows" in payload["sample_note"]
    assert "300 of 400 rows" in payload["sample_note"]
    assert "seed 0" in payload["sample_note"]


def test_too_many_rows_that_belong_nowhere_are_thinned_to_the_least_typical(cutter, rows):
    payload = build_payload(cutter, rows, max_rows=40)
    nowhere = np.flatnonzero(cutter.labels_ < 0)
    least = nowhere[np.argsort(cutter.typicality_[nowhere], kind="stable")[:20]]
    assert len(nowhere) > 20
    assert set(least) <= set(decode(payload["row"]))
    assert f"the 20 least typical of the {len(nowhere)} rows" in payload["sample_note"]


def test_small_clusters_are_in_the_sample():
    labels = np.repeat([0, 1, 2], [50_000, 12, 30]).astype(np.int32)
    words = dict.fromkeys(["strength_name", "strength_words", "fitted_words"], "")
    found = Findings(kind="memberships", labels=labels, strength=np.ones(50_042), **words)
    shown = choose_rows(found, 200, wanted=np.array([7])).rows
    assert len(shown) == 200
    assert 7 in shown
    assert np.bincount(labels[shown]).tolist() == [158, 12, 30]


def test_the_seed_decides(cutter, rows):
    first, same, other = (
        decode(build_payload(cutter, rows, max_rows=200, random_state=seed)["row"])
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert set(first) != set(other)


# ---- the tree ------------------------------------------------------------------------------------


def test_branches_are_those_of_the_tree(cutter, rows):
    branches = build_payload(cutter, rows)["tree"]["branches"]
    table = cutter.tree_.to_frame(min_cluster_size=5)
    assert branches[0]["parent"] == -1
    for name in ("peak_alpha", "merge_alpha", "size"):
        np.testing.assert_array_equal([b[name] for b in branches], table[name])
    row_of = cutter.tree_.row_of[[b["peak"] for b in branches]]
    np.testing.assert_array_equal(row_of, table["peak"])
    parents = [row_of[b["parent"]] for b in branches[1:]]
    np.testing.assert_array_equal(parents, table["parent"][1:])


def test_branches_that_were_left_out_pass_their_children_on():
    # The third peak meets the second, and that the first; only the third is a cluster.
    heights, saddles = np.array([1.0, 0.9, 0.8]), np.array([0.5, 0.2])
    pairs, rows = np.array([(1, 2), (0, 1)], dtype=np.intp), np.arange(3)
    tree = AlphaTree(
        heights, np.full(3, 9.0), pairs, saddles, heights, saddles, rows, heights, rows
    )
    labels = np.array([-1, -1, 0], dtype=np.int32)
    all_three = choose_branches(tree, labels, min_cluster_size=1, max_rows=30)
    assert all_three.peak.tolist() == [0, 1, 2]
    assert all_three.parent.tolist() == [-1, 0, 1]
    two = choose_branches(tree, labels, min_cluster_size=1, max_rows=20)
    assert two.peak.tolist() == [0, 2]
    assert two.parent.tolist() == [-1, 0]


def test_the_branches_of_clusters_come_before_those_of_noise(cutter, rows):
    branches = build_payload(cutter, rows, max_rows=40)["tree"]["branches"]
    peaks = {branch["peak_alpha"] for branch in branches}
    highest = [cutter.typicality_[cutter.labels_ == k].max() for k in range(3)]
    assert set(highest) <= peaks


@pytest.mark.parametrize(("given", "shown"), [(1, 5), (12, 12)])
def test_smallest_cluster_to_begin_with(rows, given, shown):
    model = AlphaCutClustering(min_cluster_size=given).fit(rows)
    assert build_payload(model, rows)["tree"]["min_size"] == shown


# ---- clusters and outliers -----------------------------------------------------------------------


def test_clusters_of_a_tree(cutter, rows):
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
        np.testing.assert_allclose(
            [i["mean"] for i in cluster["profile"]], rows[own].mean(axis=0)[order]
        )


def test_the_largest_clusters_are_described(prototypes, rows, monkeypatch):
    whole = build_payload(prototypes, rows)["clusters"]
    monkeypatch.setattr("typicality.report.clusters._MOST_DESCRIBED", 2)
    clusters = build_payload(prototypes, rows)["clusters"]
    assert clusters[:2] == whole[:2]
    assert clusters[2] == whole[2] | {"profile": []}


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
    value = decode(outliers["value"]).reshape(-1, 3)
    deviations = decode(outliers["deviations"]).reshape(-1, 3)
    place = decode(outliers["index"]).tolist().index(100)
    assert axis[place, 0] == 2
    assert value[place, 0] == 60.0
    assert deviations[place, 0] > 10.0
    assert (np.diff(np.abs(deviations), axis=1) <= 0).all()


@pytest.mark.parametrize("name", ["cutter", "detector", "prototypes", "sequential"])
def test_outliers_are_rows_that_belong_nowhere_and_the_least_typical_ones(name, rows, request):
    payload = build_payload(request.getfixturevalue(name), rows)
    index = decode(payload["outliers"]["index"])
    strength, labels = decode(payload["strength"]), decode(payload["labels"])
    assert (np.diff(strength[index]) >= 0).all()
    assert set(np.flatnonzero(labels < 0)) <= set(index)
    assert len(index) >= 20


def test_deviations_are_from_the_prototype_in_spreads_of_its_cluster(prototypes, rows):
    payload = build_payload(prototypes, rows)
    row = int(decode(payload["outliers"]["index"])[0])
    axis = decode(payload["outliers"]["axis"])[:3]
    found = decode(payload["outliers"]["deviations"])[:3]
    label = prototypes.labels_[row]
    own = prototypes.labels_ == label
    weight = prototypes.memberships_[own].max(axis=1)
    away = rows - prototypes.cluster_centers_[label]
    spread = np.sqrt(np.average(away[own] ** 2, axis=0, weights=weight))
    np.testing.assert_allclose(found, (away / spread)[row, axis], rtol=1e-5)


# ---- features ------------------------------------------------------------------------------------


def test_axes_are_the_features_and_two_principal_axes(prototypes, rows):
    payload = build_payload(prototypes, rows)
    names = [axis["name"] for axis in payload["axes"]]
    assert names[:3] == ["feature 0", "feature 1", "feature 2"]
    assert [name[:5] for name in names[3:]] == ["PCA 1", "PCA 2"]
    assert payload["start_axes"] == [3, 4]
    assert [axis["feature"] for axis in payload["axes"]] == [True] * 3 + [False] * 2
    np.testing.assert_array_equal(decode(payload["axes"][1]["values"]), rows[:, 1].astype("f4"))


def test_two_features_need_no_principal_axes(rows):
    model = FuzzyCMeans(3, random_state=0).fit(rows[:, :2])
    payload = build_payload(model, rows[:, :2])
    assert len(payload["axes"]) == 2
    assert payload["start_axes"] == [0, 1]


def test_one_feature_is_drawn_against_the_strength(rows):
    model = AlphaCutClustering().fit(rows[:, :1])
    payload = build_payload(model, rows[:, :1])
    assert [axis["name"] for axis in payload["axes"]] == ["feature 0", "typicality"]
    assert payload["start_axes"] == [0, 1]


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
    assert shown["outliers"]["deviations"] == plain["outliers"]["deviations"]


def test_names_come_from_the_model_where_display_has_none(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = FuzzyCMeans(3, random_state=0).fit(frame)
    payload = build_payload(model, frame, display=rows * 2.0)
    assert [axis["name"] for axis in payload["axes"][:3]] == ["a", "b", "c"]


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
    assert "feature 1400" in names
    assert "Of 1,500 features 998 are on this page" in payload["features_note"]


def test_dates_keep_their_digits(prototypes, rows):
    display = rows.copy()
    display[:, 0] = 1.7e9 + np.arange(len(rows))
    payload = build_payload(prototypes, rows, display=display)
    np.testing.assert_array_equal(decode(payload["axes"][0]["values"]), display[:, 0])


def test_wild_values_do_not_make_the_principal_axes(rows):
    wild = rows.copy()
    wild[7, 2] = 1e6
    payload = build_payload(FuzzyCMeans(3, random_state=0).fit(rows), wild)
    first = decode(payload["axes"][3]["values"])
    assert np.abs(first).max() < 30
    assert "drawn in" in payload["features_note"]


# ---- cells and words -----------------------------------------------------------------------------


def test_cells_are_kept_as_distinct_texts(prototypes, rows):
    town = ["Rome", "Oslo"] * (len(rows) // 2)
    payload = build_payload(prototypes, rows, cells={"town": town}, max_rows=100)
    (column,) = payload["cells"]
    shown = decode(payload["row"])
    texts = [column["values"][code] for code in decode(column["codes"])]
    assert texts == [town[i] for i in shown]
    assert payload["cells_note"] is None


def test_long_cells_and_too_many_columns_are_left_out_with_a_note(prototypes, rows, monkeypatch):
    monkeypatch.setattr("typicality.report.cells._MOST_CHARACTERS", 5_000)
    cells = {"story": ["x" * 500] * len(rows), "number": [str(i) for i in range(len(rows))]}
    payload = build_payload(prototypes, rows, cells=cells)
    assert [column["name"] for column in payload["cells"]] == ["story"]
    assert len(payload["cells"][0]["values"][0]) == 201
    assert payload["cells_note"] == (
        "Left out, to keep the page small: number. "
        "Of long cells the first 200 characters are shown."
    )


def test_notes_say_what_was_run(cutter, detector, sequential, rows):
    notes = dict(build_payload(cutter, rows)["notes"])
    assert notes["Data"] == "400 rows, 3 features."
    assert "core of no cluster" in notes["Result"]
    assert "default parameters" in notes["Method"]
    assert "onverged after" in notes["Iterations"]
    assert "belong nowhere" in dict(build_payload(sequential, rows)["notes"])["Result"]
    assert "contamination" in dict(build_payload(detector, rows)["notes"])["Result"]
    given = FuzzyCMeans(3, random_state=0, init=rows[[0, 200, 300]] + 0.5).fit(rows)
    words = dict(build_payload(given, rows)["notes"])["Method"]
    assert "init=an array of shape (3, 3), n_clusters=3, random_state=0" in words


def test_notes_and_warnings_of_the_caller_take_their_place(cutter, rows):
    payload = build_payload(cutter, rows, notes=[("File", "a.csv")], warnings=["Look out."])
    assert payload["notes"] == [["File", "a.csv"]]
    assert payload["warnings"] == ["Look out."]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "Automatic: each cluster at a level of its own"),
        ({"alpha": 0.3679}, "Cut at 0.368"),
        ({"rejection_rate": 0.1}, ", so that 10 % of the rows are below"),
        ({"alpha": "valley"}, "the valley between"),
        ({"assign": "all"}, "; other rows go to the nearest cluster"),
    ],
)
def test_how_labels_were_made(rows, parameters, words):
    model = AlphaCutClustering(**parameters).fit(rows)
    assert words in build_payload(model, rows)["fitted_words"]
