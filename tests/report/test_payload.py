"""What a page is given, compared with what the model says."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from reference.page_labels import decode, labels_at, levels_to_try
from report.conftest import fitted, payload_of, three_groups
from typicality import (
    AlphaCutClustering,
    AutoClustering,
    FuzzyCMeans,
    JoinedMixture,
    OneClusterPCM,
    SequentialPCM,
)
from typicality.fitted import view
from typicality.preprocessing import PlaceScaler
from typicality.report.certainty import how_sure
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.report.payload import build_payload, profile_words

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


def test_payloads_are_those_recorded(cutter, detector, prototypes, rows, tmp_path):
    """To record them again, copy payload.json from the folder of the test: `--basetemp=FOLDER`."""
    cells = {"side": np.where(rows[:, 0] > 4, "right", "left").tolist()}
    models = {"tree": cutter, "detector": detector, "prototypes": prototypes}
    found = {
        f"{name}: {key}": value
        for name, model in models.items()
        for key, value in in_short(payload_of(model, rows, cells=cells)).items()
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (tmp_path / GOLDEN.name).write_text(text)
    assert json.loads(text) == json.loads(GOLDEN.read_text())


def explanation_of(model, rows):
    features = FeatureTable([f"column {j}" for j in range(3)], rows, rows)
    return Explanation(view(model, rows, training=True), features)


# ---- rows ----------------------------------------------------------------------------------------


def test_labels_of_a_tree_are_those_of_the_model_at_every_level(cutter, rows):
    payload = payload_of(cutter, rows)
    for level in levels_to_try(cutter.tree_):
        expected = cutter.tree_.labels_at(level, min_cluster_size=6)
        np.testing.assert_array_equal(labels_at(payload, level, min_size=6), expected)


def test_a_model_without_clusters_has_a_payload(rows):
    payload = payload_of(AlphaCutClustering(alpha=0.99).fit(rows), rows)
    assert [cluster["label"] for cluster in payload["clusters"]] == [-1]
    assert payload["cut"] == 0.99
    assert len(decode(payload["outliers"]["index"])) == len(rows)


# ---- clusters ------------------------------------------------------------------------------------


def test_the_table_of_clusters_is_finished(cutter, rows):
    side = np.where(rows[:, 0] > 4, "right", "left")
    payload = payload_of(cutter, rows, cells={"side": side.tolist(), "x": list(range(400))})
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


def test_branches_are_those_of_the_tree(cutter, rows):
    branches = pd.DataFrame(payload_of(cutter, rows)["tree"]["branches"])
    table = cutter.tree_.to_pandas(min_cluster_size=5).sort_values("merge_alpha", ascending=False)
    table = pd.concat([table.tail(1), table[:-1]])
    for name in ("peak_alpha", "merge_alpha", "size"):
        np.testing.assert_array_equal(branches[name], table[name])
    row_of = cutter.tree_.row_of[branches["peak"]]
    np.testing.assert_array_equal(row_of, table["peak"])
    np.testing.assert_array_equal(row_of[branches["parent"][1:]], table["parent"][1:])


# ---- outliers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_reason_for_an_outlier_is_found(name, rows, request):
    model = request.getfixturevalue(name)
    far = rows.copy()
    far[100] = (0.0, 0.0, 60.0)
    payload = payload_of(type(model)(**model.get_params()).fit(far), far)
    listed = decode(payload["outliers"]["index"])[: payload["outliers"]["n_listed"]].tolist()
    name, value, deviation = payload["outliers"]["reasons"][listed.index(100)][0]
    assert (name, value) == ("column 2", "60")
    assert deviation > 10.0
    for reasons in payload["outliers"]["reasons"]:
        assert (np.diff([abs(deviation) for _, _, deviation in reasons]) <= 0).all()


def test_deviations_are_from_the_prototype_in_spreads_of_its_cluster(prototypes, rows):
    payload = payload_of(prototypes, rows)
    row = int(decode(payload["outliers"]["index"])[0])
    names, _, found = zip(*payload["outliers"]["reasons"][0], strict=True)
    axis = [int(name.removeprefix("column ")) for name in names]
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


def test_labels_of_a_sample_are_those_of_all_rows(cutter, rows):
    payload = payload_of(cutter, rows, max_rows=60)
    shown = decode(payload["row"])
    assert len(shown) == 60
    np.testing.assert_allclose(decode(payload["axes"][0]["values"]), rows[shown, 0], rtol=1e-6)
    assert decode(payload["tree"]["node_weight"]).sum() == len(rows)
    for level in levels_to_try(cutter.tree_):
        expected = cutter.tree_.labels_at(level)[shown]
        found = labels_at(payload, level)
        np.testing.assert_array_equal(found < 0, expected < 0)
        assert adjusted_rand_score(expected, found) == 1.0


def test_too_many_unassigned_rows_are_thinned_to_the_least_typical(cutter, rows):
    payload = payload_of(cutter, rows, max_rows=40)
    nowhere = np.flatnonzero(cutter.labels_ < 0)
    depth = view(cutter, rows, training=True).depth[nowhere]
    assert len(nowhere) > 20
    assert set(nowhere[np.argsort(depth, kind="stable")[:20]]) <= set(decode(payload["row"]))


# ---- axes ----------------------------------------------------------------------------------------


def test_a_page_about_outliers_opens_with_the_columns_that_are_named_most_often(rng):
    X = rng.normal(size=(600, 5))
    X[:10, 3] += 30.0
    X[10:15, 1] -= 30.0
    payload = payload_of(OneClusterPCM(contamination=0.03).fit(X), X)
    assert payload["start_axes"] == [1, 3]
    assert "two columns" in payload["axes_note"]


def test_a_page_opens_with_two_columns_where_they_separate_the_clusters(rng):
    X = rng.normal(size=(300, 6))
    X[:, 4] += np.repeat([0.0, 12.0, 12.0], 100)
    X[:, 1] += np.repeat([0.0, 0.0, 12.0], 100)
    payload = payload_of(FuzzyCMeans(3, random_state=0).fit(X), X)
    assert payload["start_axes"] == [1, 4]
    assert "two columns" in payload["axes_note"]
    spread = rng.normal(size=(300, 20))
    spread[:100, :10] += 1.5
    spread[100:200, 10:] += 1.5
    payload = payload_of(fitted(FuzzyCMeans(3, m=1.1, random_state=0), spread), spread)
    assert [payload["axes"][k]["feature"] for k in payload["start_axes"]] == [False, False]


def test_columns_with_few_values_have_a_step(rng):
    X = np.column_stack([rng.integers(0, 2, 200), 0.25 * rng.integers(0, 9, 200), rng.random(200)])
    axes = payload_of(FuzzyCMeans(2, random_state=0).fit(X), X)["axes"]
    assert [axis["step"] for axis in axes[:3]] == [1.0, 0.25, None]


def test_a_rate_is_told_of_the_rows_of_the_fit_only(detector, rows):
    assert payload_of(detector, rows)["headline"].endswith("(5 % asked for); none stands apart.")
    assert " are outliers; " in payload_of(detector, rows + 0.1)["headline"]
    far = np.vstack([rows, [[90.0, 0.0, 0.0], [0.0, -99.0, 0.0]]])
    assert payload_of(OneClusterPCM().fit(far), far)["headline"].endswith("; 2 stand apart.")


def test_a_map_comes_before_principal_axes(rng):
    values = [rng.normal(47, 1, 90), rng.normal(size=90), rng.normal(8, 2, 90)]
    frame = pd.DataFrame(dict(zip(["lat", "height", "lon"], values, strict=True)))
    payload = payload_of(FuzzyCMeans(2, random_state=0).fit(frame), frame)
    assert payload["start_axes"] == [2, 0]
    assert [axis.get("place", False) for axis in payload["axes"][:3]] == [True, False, True]


def test_a_single_column_is_no_reason_where_its_deviation_rounds_to_zero():
    X = np.r_[np.linspace(-1, 1, 200), 30.0][:, None]
    reasons = payload_of(OneClusterPCM().fit(X), X)["outliers"]["reasons"]
    assert reasons[0][0][2] > 1.0
    assert [] in reasons
    assert min(abs(deviation) for own in reasons for _, _, deviation in own) >= 0.1


def test_deviations_on_a_sphere_that_contradict_the_medians_are_left_out(rng):
    centres, sizes = [(48, 11), (40.5, -3.5), (-17.5, 179)], [200, 200, 80]
    degrees = rng.normal(np.repeat(centres, sizes, axis=0), 0.3)
    scaler = PlaceScaler().fit(degrees)
    rows = scaler.transform(degrees)
    model = AlphaCutClustering().fit(rows)
    features = FeatureTable(["lat", "lon"], degrees, rows[:, :2], mixed=rows)
    found = Explanation(view(model, rows, training=True), features)
    profiles = [profile_words(found, k) for k in range(3)]
    south = next(words for words in profiles if "lat \N{MINUS SIGN}" in words)
    assert re.search(r"lat \S+ against \S+ elsewhere(,|$)", south)
    assert all(re.search(r"lon \S+ against \S+ elsewhere \(", words) for words in profiles)


def test_missing_constant_and_other_columns_can_be_displayed(prototypes, rows):
    display = np.column_stack([rows, rows[:, 0] * 2, np.full(len(rows), np.nan)])
    display[3, 0] = np.nan
    display[:, 2] = 7.0
    payload = payload_of(prototypes, rows, display=display)
    assert np.flatnonzero(np.isnan(decode(payload["axes"][0]["values"]))).tolist() == [3]
    assert "mean of the nearest cluster" in payload["outlier_words"]
    json.dumps(payload, allow_nan=False)


@pytest.mark.parametrize("values", [1.7e9 + np.arange(400), 1e300 * np.arange(1, 401)])
def test_dates_and_huge_numbers_keep_their_digits(prototypes, rows, values):
    display = np.column_stack([values, rows[:, 1:]])
    features = FeatureTable(["a", "b", "c"], display, rows)
    explained = Explanation(view(prototypes, rows), features)
    payload = build_payload(prototypes, explained, {})
    np.testing.assert_array_equal(decode(payload["axes"][0]["values"]), values)


# ---- cells and words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AlphaCutClustering(), "more than one cluster"),
        (AlphaCutClustering(alpha=0.3), "level was chosen"),
        (AlphaCutClustering(alpha=0.999), "No group"),
        (AutoClustering(), "more than one cluster"),
        (JoinedMixture(), "Runs on parts of the rows agree"),
        (FuzzyCMeans(3, random_state=0), "number of clusters was given"),
        (SequentialPCM(), "smallest separation"),
        (OneClusterPCM(), "of 1,000 ordinary rows are flagged too"),
    ],
    ids=str,
)
def test_every_method_says_how_sure_it_is(model, words):
    rows = three_groups(np.random.default_rng(5))
    assert words in payload_of(fitted(model, rows), rows)["certainty"]


@pytest.mark.parametrize(
    ("evidence", "n_clusters", "words"),
    [
        (0.0, 1, "One cluster: the density has no gap between groups."),
        (0.9999, 1, "One cluster: the clearest gap has 99 % of the depth of the gaps that chance"),
        (
            0.003,
            2,
            "A split was requested, but the evidence for it is weak: the clearest gap has 1 %",
        ),
        (3.14, 2, "There is more than one cluster: the clearest gap is 3.1 times as deep as"),
    ],
)
def test_evidence_is_never_rounded_to_the_other_side(evidence, n_clusters, words):
    rows = three_groups(np.random.default_rng(5))
    model = fitted(AlphaCutClustering(), rows)
    model.evidence_, model.n_clusters_ = evidence, n_clusters
    table = Explanation(view(model, rows), FeatureTable(["a", "b", "c"], rows, rows)).clusters
    assert how_sure(model, view(model, rows), table).startswith(words)


@pytest.mark.parametrize(("agreement", "count"), [(0.0, 0), (0.5, 1), (1.0, 2)])
def test_of_one_cluster_the_halves_that_find_it_are_counted(agreement, count):
    """Their share is no adjusted Rand index, whose 0 is chance."""
    rows = np.random.default_rng(5).normal(size=(60, 3))
    model = fitted(AutoClustering(), rows)
    model.agreement_ = agreement
    table = Explanation(view(model, rows), FeatureTable(["a", "b", "c"], rows, rows)).clusters
    words = how_sure(model, view(model, rows), table)
    assert words.endswith(f"; {count} of 2 fits to halves of the rows also find one cluster.")


def test_false_discoveries_are_told_as_they_were_asked_for():
    rows = three_groups(np.random.default_rng(5))
    model = OneClusterPCM(novelty=True).fit(rows)
    new = np.vstack([rows[:30] + 0.01, [[60.0, 60.0]]])
    explained = Explanation(view(model, new, fdr=0.2), FeatureTable(["x", "y"], new, new))
    payload = build_payload(model, explained, {})
    assert "At most 20 % of the flagged rows" in payload["certainty"]
