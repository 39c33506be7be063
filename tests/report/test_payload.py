"""What a page is told, compared with what the model says."""

import json

import numpy as np
import pytest

from reference.page_labels import decode, labels_at, levels_to_try
from typicality import AlphaCutClustering, FuzzyCMeans
from typicality.levelsets import AlphaTree
from typicality.report.clusters import choose_branches
from typicality.report.payload import build_payload

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


@pytest.fixture
def rows(scattered):
    return scattered


# ---- all rows ------------------------------------------------------------------------------------


def test_all_rows_are_shown_where_there_is_room(cutter, rows):
    payload = build_payload(cutter, rows)
    assert payload["sample_note"] is None
    np.testing.assert_array_equal(decode(payload["row"]), np.arange(len(rows)))
    np.testing.assert_array_equal(decode(payload["labels"]), cutter.labels_)
    np.testing.assert_array_equal(decode(payload["strength"]), cutter.typicality_)


def test_rows_are_called_by_the_numbers_given(cutter, rows):
    lines = 2 + 3 * np.arange(len(rows))
    plain = build_payload(cutter, rows, max_rows=60)
    payload = build_payload(cutter, rows, max_rows=60, row_numbers=("line", lines))
    assert (payload["row_word"], payload["row_words"]) == (
        "line",
        "Rows are named by their line in the data.",
    )
    np.testing.assert_array_equal(decode(payload["row"]), lines[decode(plain["row"])])
    typical = [cluster["typical_row"] for cluster in plain["clusters"]]
    assert [c["typical_row"] for c in payload["clusters"]] == lines[typical].tolist()


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (lambda n: range(2), "one for each row"),
        (lambda n: [0.5] * n, "integers"),
        (lambda n: [-1] * n, "0 to"),
    ],
)
def test_payload_refuses_row_numbers_that_cannot_be(cutter, rows, numbers, message):
    with pytest.raises(ValueError, match=message):
        build_payload(cutter, rows, row_numbers=("line", numbers(len(rows))))


@pytest.mark.parametrize("min_size", [1, 30])
def test_labels_on_the_page_are_those_of_the_tree(cutter, rows, min_size):
    payload = json.loads(json.dumps(build_payload(cutter, rows)))
    for level in levels_to_try(cutter.tree_):
        expected = cutter.tree_.labels_at(level, min_cluster_size=min_size)
        np.testing.assert_array_equal(labels_at(payload, level, min_size=min_size), expected)


def test_rows_of_weight_zero_have_the_labels_of_the_tree(rows):
    weight = np.where(np.arange(len(rows)) % 5 == 0, 0.0, 2.0)
    model = AlphaCutClustering().fit(rows, sample_weight=weight)
    payload = build_payload(model, rows)
    for level in levels_to_try(model.tree_)[::4]:
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
    np.testing.assert_allclose(found[:, 0], expected[:, [0, 2]].sum(axis=1), rtol=1e-6)
    assert [cluster["label"] for cluster in payload["clusters"]] == [0, 1]


def test_a_model_without_clusters_has_a_payload(rows):
    model = AlphaCutClustering(alpha=0.99).fit(rows)
    payload = build_payload(model, rows)
    assert model.n_clusters_ == 0
    assert payload["clusters"] == []
    assert payload["cut"] == 0.99
    assert len(decode(payload["outliers"]["index"])) == len(rows)


# ---- the tree ------------------------------------------------------------------------------------


def test_branches_are_those_of_the_tree(cutter, rows):
    branches = build_payload(cutter, rows)["tree"]["branches"]
    table = cutter.tree_.to_pandas(min_cluster_size=5)
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
    assert [branch["peak"] for branch in all_three] == [0, 1, 2]
    assert [branch["parent"] for branch in all_three] == [-1, 0, 1]
    two = choose_branches(tree, labels, min_cluster_size=1, max_rows=20)
    assert [branch["peak"] for branch in two] == [0, 2]
    assert [branch["parent"] for branch in two] == [-1, 0]


def test_the_branches_of_clusters_come_before_those_of_noise(cutter, rows):
    branches = build_payload(cutter, rows, max_rows=40)["tree"]["branches"]
    peaks = {branch["peak_alpha"] for branch in branches}
    highest = [cutter.typicality_[cutter.labels_ == k].max() for k in range(3)]
    assert set(highest) <= peaks


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
    monkeypatch.setattr("typicality.report.shown._MOST_CHARACTERS", 2_500)
    cells = {"story": ["x" * 500] * len(rows), "number": [str(i) for i in range(len(rows))]}
    payload = build_payload(prototypes, rows, cells=cells)
    assert [column["name"] for column in payload["cells"]] == ["story"]
    assert len(payload["cells"][0]["values"][0]) == 201
    assert payload["cells_note"] == (
        "Not shown, to keep the page small: number. "
        "Only the first 200 characters of long cells are shown."
    )
