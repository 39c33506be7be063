"""What a page is given, compared with what the model says."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from reference.page_labels import decode, labels_at, levels_to_try
from report.conftest import fitted, three_groups
from typicality import AlphaCutClustering, AutoClustering, FuzzyCMeans, OneClusterPCM, SequentialPCM
from typicality.fitted import view
from typicality.levelsets import AlphaTree
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.report.payload import build_payload
from typicality.report.shown import choose_branches

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")

MODELS = ["cutter", "detector", "prototypes", "sequential"]
GOLDEN = Path(__file__).with_name("payload.json")


@pytest.fixture
def rows(scattered):
    return scattered


# ---- the whole payload ---------------------------------------------------------------------------


def in_short(value):
    """A payload with numbers rounded, and arrays by their type, length, mean and largest value."""
    if isinstance(value, dict) and set(value) == {"dtype", "data"}:
        array = decode(value).astype(float)
        return [value["dtype"], len(array), *in_short([array.mean(), array.max()])]
    if isinstance(value, dict):
        return {key: in_short(each) for key, each in value.items() if key != "made_by"}
    if isinstance(value, list | tuple):
        return [in_short(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def test_payloads_are_those_recorded(cutter, detector, prototypes, rows):
    """Delete payload.json to record it again."""
    cells = {"side": np.where(rows[:, 0] > 4, "right", "left").tolist()}
    models = {"tree": cutter, "detector": detector, "prototypes": prototypes}
    found = {
        f"{name}: {key}": json.dumps(value)
        for name, model in models.items()
        for key, value in in_short(build_payload(model, rows, cells=cells)).items()
    }
    if not GOLDEN.exists():
        lines = [f"{json.dumps(key)}: {value}" for key, value in found.items()]
        GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    recorded = json.loads(GOLDEN.read_text())
    assert recorded == {key: json.loads(value) for key, value in found.items()}


@pytest.mark.parametrize("name", MODELS)
def test_payload_is_the_same_when_rows_were_explained_before(name, rows, request):
    model = request.getfixturevalue(name)
    payload = build_payload(model, None, explanation=explanation_of(model, rows), max_rows=50)
    assert payload == build_payload(model, rows, max_rows=50)


def explanation_of(model, rows):
    features = FeatureTable([f"column {j}" for j in range(3)], rows, rows)
    return Explanation(view(model, rows, training=True), features)


# ---- rows ----------------------------------------------------------------------------------------


def test_rows_are_called_by_the_numbers_given(cutter, rows):
    lines = 2 + 3 * np.arange(len(rows))
    plain = build_payload(cutter, rows, max_rows=60)
    payload = build_payload(cutter, rows, max_rows=60, row_numbers=("line", lines))
    assert payload["row_word"] == "line"
    np.testing.assert_array_equal(decode(payload["row"]), lines[decode(plain["row"])])


def test_labels_of_a_tree_are_those_of_the_model_at_every_level(cutter, rows):
    payload = build_payload(cutter, rows)
    for level in levels_to_try(cutter.tree_):
        expected = cutter.tree_.labels_at(level, min_cluster_size=6)
        np.testing.assert_array_equal(labels_at(payload, level, min_size=6), expected)


def test_the_threshold_on_the_page_is_that_of_the_detector(detector, rows):
    payload = build_payload(detector, rows)
    flags = np.where(detector.predict(rows) < 0, -1, 0)
    np.testing.assert_array_equal(decode(payload["labels"]), flags)
    np.testing.assert_array_equal(labels_at(payload, payload["cut"]), flags)


def test_prototypes_that_share_a_label_share_a_column(rows):
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    model.prototype_labels_ = np.array([0, 1, 0], dtype=np.int32)
    payload = build_payload(model, rows)
    expected = model.predict_memberships(rows)
    found = decode(payload["memberships"]).reshape(len(rows), 2)
    np.testing.assert_allclose(found[:, 0], expected[:, [0, 2]].sum(axis=1), rtol=1e-6)
    assert [cluster["label"] for cluster in payload["clusters"]] == [0, 1]


def test_a_model_without_clusters_has_a_payload(rows):
    payload = build_payload(AlphaCutClustering(alpha=0.99).fit(rows), rows)
    assert [cluster["label"] for cluster in payload["clusters"]] == [-1]
    assert payload["cut"] == 0.99
    assert len(decode(payload["outliers"]["index"])) == len(rows)


# ---- clusters ------------------------------------------------------------------------------------


def test_the_table_of_clusters_is_finished(cutter, rows):
    side = np.where(rows[:, 0] > 4, "right", "left")
    payload = build_payload(cutter, rows, cells={"side": side.tolist(), "x": list(range(400))})
    tree, labels = cutter.tree_, cutter.labels_
    *clusters, unassigned = payload["clusters"]
    keys = [column["key"] for column in payload["cluster_columns"]]
    separation = explanation_of(cutter, rows).clusters.separation
    assert unassigned["label"] == -1
    for k, cluster in enumerate(clusters):
        own = labels == cluster["label"]
        cells = dict(zip(keys, cluster["cells"], strict=True))
        assert cluster["size"] == own.sum()
        assert cutter.typicality_[cluster["typical"]] == cutter.typicality_[own].max()
        assert cells["typical"].startswith(f"Row {cluster['typical']} \u00b7 ")
        assert float(cells["strength"]) == pytest.approx(cutter.typicality_[own].mean(), abs=1e-4)
        assert float(cells["level"]) == pytest.approx(cutter.alpha_[cluster["label"]], abs=1e-4)
        commonest = max(("left", "right"), key=lambda text: (side[own] == text).sum())
        assert cells["texts"] == (
            f"side: {commonest} ({(side[own] == commonest).sum()} of {own.sum()})"
        )
        # Just above the saddle the cluster is alone, just below it is not.
        peak = tree.heights[tree.node_of[cluster["typical"]]]
        edge = np.abs(tree.saddles - peak / separation[k]).argmin()
        others = (labels >= 0) & ~own
        below = tree.labels_at(np.nextafter(tree.saddle_alpha[edge], 0.0))
        alone = tree.labels_at(tree.saddle_alpha[edge])
        assert (below[others] == below[cluster["typical"]]).any()
        assert not (alone[others] == alone[cluster["typical"]]).any()


def test_profiles_name_what_sets_a_cluster_apart(prototypes, rows):
    display = pd.DataFrame(rows * 1000.0, columns=["price", "height", "age"])
    payload = build_payload(prototypes, rows, display=display)
    spread = np.diff(np.quantile(rows, [0.25, 0.75], axis=0), axis=0)[0] / 1.349
    assert payload["cluster_columns"][-1]["key"] == "profile"
    for cluster in payload["clusters"]:
        profile = cluster["cells"][-1]
        own = prototypes.labels_ == cluster["label"]
        deviations = (rows[own].mean(axis=0) - rows[~own].mean(axis=0)) / spread
        for phrase in profile.split(" elsewhere ")[:-1]:
            name = next(name for name in display if name in phrase)
            own_median = np.median(display.loc[own, name])
            shown = phrase[phrase.index(name) :].split()[1].replace("\N{MINUS SIGN}", "-")
            assert float(shown.replace(",", "")) == pytest.approx(own_median, rel=1e-2, abs=1)
        first = list(display)[int(np.abs(deviations).argmax())]
        assert profile.startswith(first)
        assert (
            f"({deviations[np.abs(deviations).argmax()]:+.1f})".replace("-", "\N{MINUS SIGN}")
            in profile
        )


def test_branches_are_those_of_the_tree(cutter, rows):
    branches = build_payload(cutter, rows)["tree"]["branches"]
    table = cutter.tree_.to_pandas(min_cluster_size=5)
    for name in ("peak_alpha", "merge_alpha", "size"):
        np.testing.assert_array_equal([b[name] for b in branches], table[name])
    row_of = cutter.tree_.row_of[[b["peak"] for b in branches]]
    np.testing.assert_array_equal(row_of, table["peak"])
    parents = [row_of[b["parent"]] for b in branches[1:]]
    np.testing.assert_array_equal(parents, table["parent"][1:])


def test_branches_that_were_left_out_pass_their_children_on(cutter, scattered):
    # The third peak meets the second, and that the first; only the third is a cluster.
    heights, saddles = np.array([1.0, 0.9, 0.8]), np.array([0.5, 0.2])
    pairs, rows = np.array([(1, 2), (0, 1)], dtype=np.intp), np.arange(3)
    tree = AlphaTree(
        heights, np.full(3, 9.0), pairs, saddles, heights, saddles, rows, heights, rows
    )
    found = replace(
        view(cutter, scattered, training=True),
        tree=tree,
        strength=heights,
        labels=np.array([-1, -1, 0], dtype=np.int32),
        min_size=1,
    )
    two = choose_branches(found, max_rows=20)
    assert [(branch["peak"], branch["parent"]) for branch in two] == [(0, -1), (2, 0)]


# ---- outliers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_reason_for_an_outlier_is_found(name, rows, request):
    model = request.getfixturevalue(name)
    far = rows.copy()
    far[100] = (0.0, 0.0, 60.0)
    payload = build_payload(type(model)(**model.get_params()).fit(far), far)
    listed = decode(payload["outliers"]["index"])[: payload["outliers"]["n_listed"]].tolist()
    axis = decode(payload["outliers"]["axis"]).reshape(-1, 3)
    deviations = decode(payload["outliers"]["tenths"]).reshape(-1, 3) / 10
    assert axis[listed.index(100), 0] == 2
    assert deviations[listed.index(100), 0] > 10.0
    assert (np.diff(np.abs(deviations), axis=1) <= 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_outliers_are_unassigned_rows_and_the_rarest_ones(name, rows, request):
    model = request.getfixturevalue(name)
    payload = build_payload(model, rows)
    every, n_listed = decode(payload["outliers"]["index"]), payload["outliers"]["n_listed"]
    index, labels = every[:n_listed], decode(payload["labels"])
    assert sorted(every) == list(range(len(rows)))
    assert (np.diff(view(model, rows, training=True).depth[index]) >= 0).all()
    assert set(np.flatnonzero(labels < 0)) <= set(index)
    assert len(index) >= 20


def test_deviations_are_from_the_prototype_in_spreads_of_its_cluster(prototypes, rows):
    payload = build_payload(prototypes, rows)
    row = int(decode(payload["outliers"]["index"])[0])
    axis = decode(payload["outliers"]["axis"])[:3]
    found = decode(payload["outliers"]["tenths"])[:3] / 10
    label = prototypes.labels_[row]
    own = prototypes.labels_ == label
    away = rows - prototypes.cluster_centers_[label]
    weights = prototypes.memberships_[own].max(axis=1)
    spread = np.sqrt(np.average(away[own] ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(found, (away / spread)[row, axis], atol=0.0501)


def test_a_value_that_others_have_too_is_not_a_hundred_spreads_away(rng):
    terms = np.where(np.arange(200) < 60, 60.0, 36.0)  # of one value within each cluster
    X = np.column_stack([terms, np.where(terms > 40, 50.0, 0.0) + rng.normal(size=200)])
    X[0, 0] = 36.0
    model = FuzzyCMeans(n_clusters=2, random_state=0).fit(X)
    explanation = Explanation(view(model, X), FeatureTable(["term", "size"], X, X))
    of_row = explanation.found.values[explanation.rows == 0][0]
    np.testing.assert_allclose(of_row[0], -1.349, rtol=0.05)


# ---- a sample of the rows ------------------------------------------------------------------------


@pytest.mark.parametrize("max_rows", [60, 399])
def test_labels_of_a_sample_are_those_of_all_rows(cutter, rows, max_rows):
    payload = build_payload(cutter, rows, max_rows=max_rows)
    shown = decode(payload["row"])
    assert len(shown) == max_rows
    assert decode(payload["tree"]["node_weight"]).sum() == len(rows)
    for level in levels_to_try(cutter.tree_):
        expected = cutter.tree_.labels_at(level)[shown]
        found = labels_at(payload, level)
        np.testing.assert_array_equal(found < 0, expected < 0)
        assert adjusted_rand_score(expected, found) == 1.0


@pytest.mark.parametrize("name", ["cutter", "detector", "sequential"])
def test_a_sample_keeps_all_unassigned_rows(name, rows, request):
    model = request.getfixturevalue(name)
    whole = decode(build_payload(model, rows)["labels"])
    payload = build_payload(model, rows, max_rows=300)
    shown, unassigned = decode(payload["row"]), np.flatnonzero(whole < 0)
    assert 0 < len(unassigned) <= 150
    assert set(unassigned) <= set(shown)
    np.testing.assert_array_equal(decode(payload["labels"]), whole[shown])
    assert f"shows 300 of 400 rows: all {len(unassigned)} rows" in payload["sample_note"]


def test_too_many_unassigned_rows_are_thinned_to_the_least_typical(cutter, rows):
    payload = build_payload(cutter, rows, max_rows=40)
    nowhere = np.flatnonzero(cutter.labels_ < 0)
    depth = view(cutter, rows, training=True).depth[nowhere]
    assert len(nowhere) > 20
    assert set(nowhere[np.argsort(depth, kind="stable")[:20]]) <= set(decode(payload["row"]))


# ---- axes ----------------------------------------------------------------------------------------


def test_a_page_about_outliers_opens_with_the_columns_that_are_named_most_often(rng):
    X = rng.normal(size=(600, 5))
    X[:10, 3] += 30.0
    X[10:15, 1] -= 30.0
    payload = build_payload(OneClusterPCM(contamination=0.03).fit(X), X)
    assert payload["start_axes"] == [1, 3]
    assert "two columns" in payload["start_words"]


def test_a_page_opens_with_two_columns_where_they_separate_the_clusters(rng):
    X = rng.normal(size=(300, 6))
    X[:, 4] += np.repeat([0.0, 12.0, 12.0], 100)
    X[:, 1] += np.repeat([0.0, 0.0, 12.0], 100)
    payload = build_payload(FuzzyCMeans(3, random_state=0).fit(X), X)
    assert payload["start_axes"] == [1, 4]
    assert "two columns" in payload["start_words"]
    spread = rng.normal(size=(300, 20))
    spread[:100, :10] += 1.5
    spread[100:200, 10:] += 1.5
    payload = build_payload(fitted(FuzzyCMeans(3, m=1.1, random_state=0), spread), spread)
    assert [payload["axes"][k]["feature"] for k in payload["start_axes"]] == [False, False]


def test_columns_with_few_values_have_a_step(rng):
    X = np.column_stack([rng.integers(0, 2, 200), 0.25 * rng.integers(0, 9, 200), rng.random(200)])
    axes = build_payload(FuzzyCMeans(2, random_state=0).fit(X), X)["axes"]
    assert [axis["step"] for axis in axes[:3]] == [1.0, 0.25, None]


@pytest.mark.parametrize("new", [False, True])
def test_a_rate_is_told_of_the_rows_of_the_fit_only(detector, rows, new):
    payload = build_payload(detector, rows + 0.1 if new else rows)
    assert payload["rate"] == (None if new else 0.05)
    far = np.vstack([rows, [[90.0, 0.0, 0.0], [0.0, -99.0, 0.0]]])
    assert build_payload(OneClusterPCM().fit(far), far)["n_apart"] == 2


def test_a_map_comes_before_principal_axes(rng):
    values = [rng.normal(47, 1, 90), rng.normal(size=90), rng.normal(8, 2, 90)]
    frame = pd.DataFrame(dict(zip(["lat", "height", "lon"], values, strict=True)))
    assert build_payload(FuzzyCMeans(2, random_state=0).fit(frame), frame)["start_axes"] == [2, 0]


def test_one_feature_is_drawn_against_the_strength(rows):
    payload = build_payload(AlphaCutClustering().fit(rows[:, :1]), rows[:, :1])
    assert [axis["name"] for axis in payload["axes"]] == ["column 0"]
    assert payload["start_axes"] == [0, 1]  # the page adds the strength as its last axis


def test_missing_constant_and_other_columns_can_be_displayed(prototypes, rows):
    display = np.column_stack([rows, rows[:, 0] * 2, np.full(len(rows), np.nan)])
    display[3, 0] = np.nan
    display[:, 2] = 7.0
    payload = build_payload(prototypes, rows, display=display)
    assert np.flatnonzero(np.isnan(decode(payload["axes"][0]["values"]))).tolist() == [3]
    assert "mean of the nearest cluster" in payload["outlier_words"]
    json.dumps(payload, allow_nan=False)


def test_many_features_are_fewer_on_the_page(rng):
    X = rng.normal(size=(60, 1500))
    X[:30, 1400] += 50.0
    payload = build_payload(FuzzyCMeans(2, m=1.1, random_state=0).fit(X), X)
    names = [axis["name"] for axis in payload["axes"]]
    assert len(names) == 1002  # two of PCA
    assert "column 1400" in names
    assert "This page shows 1,000 of 1,500 columns" in payload["features_note"]


@pytest.mark.parametrize("values", [1.7e9 + np.arange(400), 1e300 * np.arange(1, 401)])
def test_dates_and_huge_numbers_keep_their_digits(prototypes, rows, values):
    display = np.column_stack([values, rows[:, 1:]])
    features = FeatureTable(["a", "b", "c"], display, rows)
    explained = Explanation(view(prototypes, rows), features)
    payload = build_payload(prototypes, explanation=explained)
    np.testing.assert_array_equal(decode(payload["axes"][0]["values"]), values)


# ---- cells and words -----------------------------------------------------------------------------


def test_long_cells_and_too_many_columns_are_left_out_with_a_note(prototypes, rows, monkeypatch):
    monkeypatch.setattr("typicality.report.shown._MOST_CHARACTERS", 2_500)
    cells = {"story": ["x" * 500] * len(rows), "number": [str(i) for i in range(len(rows))]}
    payload = build_payload(prototypes, rows, cells=cells)
    assert [column["name"] for column in payload["cells"]] == ["story"]
    assert len(payload["cells"][0]["values"][0]) == 201
    assert "number" in payload["cells_note"]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AlphaCutClustering(), "more than one cluster"),
        (AlphaCutClustering(alpha=0.3), "level was chosen"),
        (AlphaCutClustering(alpha=0.999), "No group"),
        (AutoClustering(random_state=0), "The methods agree"),
        (FuzzyCMeans(3, random_state=0), "number of clusters was given"),
        (SequentialPCM(), "smallest separation"),
        (OneClusterPCM(), "of 1,000 ordinary rows are flagged too"),
    ],
    ids=str,
)
def test_every_method_says_how_sure_it_is(model, words):
    rows = three_groups(np.random.default_rng(5))
    assert words in build_payload(fitted(model, rows), rows)["certainty"]


def test_false_discoveries_are_told_as_they_were_asked_for():
    rows = three_groups(np.random.default_rng(5))
    model = OneClusterPCM(novelty=True).fit(rows)
    new = np.vstack([rows[:30] + 0.01, [[60.0, 60.0]]])
    explained = Explanation(view(model, new, fdr=0.2), FeatureTable(["x", "y"], new, new))
    payload = build_payload(model, explanation=explained)
    assert "At most 20 % of the flagged rows" in payload["certainty"]
