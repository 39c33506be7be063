"""A sample of the rows: labels at any level are those among all rows; nobody unusual is lost."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from reference.page_labels import decode, labels_at, levels_to_try
from typicality.fitted import FittedView, view
from typicality.report.payload import build_payload
from typicality.report.shown import choose_rows

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


@pytest.fixture
def rows(scattered):
    return scattered


# ---- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_rows", [60, 399])
def test_labels_of_a_sample_are_those_of_all_rows(cutter, rows, max_rows):
    payload = build_payload(cutter, rows, max_rows=max_rows)
    shown = decode(payload["row"])
    assert len(shown) == max_rows
    for level in levels_to_try(cutter.tree_):
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
    depth = view(cutter, rows, training=True).depth[nowhere]
    least = nowhere[np.argsort(depth, kind="stable")[:20]]
    assert len(nowhere) > 20
    assert set(least) <= set(decode(payload["row"]))
    assert f"the 20 least typical of the {len(nowhere)} rows" in payload["sample_note"]


def test_small_clusters_are_in_the_sample():
    labels = np.repeat([0, 1, 2], [50_000, 12, 30]).astype(np.int32)
    words = dict.fromkeys(["strength_name", "strength_words", "fitted_words"], "")
    found = FittedView(kind="prototypes", labels=labels, strength=np.ones(50_042), **words)
    shown, _ = choose_rows(found, 200, wanted=np.array([7]))
    assert len(shown) == 200
    assert 7 in shown
    assert np.bincount(labels[shown]).tolist() == [158, 12, 30]


def test_sample_is_decided_by_the_seed(cutter, rows):
    first, same, other = (
        decode(build_payload(cutter, rows, max_rows=200, random_state=seed)["row"])
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert set(first) != set(other)
