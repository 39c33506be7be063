"""The page in a real browser: what it says is true, of weights, samples and missing values too."""

import re

import numpy as np
import pytest

from report.conftest import fitted, three_groups
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.report import Report


def profile_of(opened):
    opened.settle()
    opened.page.wait_for_function(
        "() => document.querySelector('#clusters tbody .profile').textContent"
    )
    return opened.page.inner_text("#clusters tbody .profile >> nth=0")


def test_a_tap_shows_the_row(visit, clustered):
    opened = visit(clustered[2], viewport={"width": 360, "height": 740}, has_touch=True)
    opened.page.locator("#scatter").scroll_into_view_if_needed()
    opened.page.focus("#scatter")
    opened.page.keyboard.press("ArrowLeft")
    box = opened.page.locator("#scatter").bounding_box()
    opened.page.keyboard.press("Escape")
    assert not opened.page.is_visible("#tooltip")
    for share in np.linspace(0.3, 0.7, 9):  # along a line through the largest cluster
        opened.page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + 0.6 * box["height"])
    assert opened.n_selected > 0
    assert "Row" in opened.page.inner_text("#tooltip")


def test_whatever_takes_the_focus_has_a_name(visit, clustered):
    opened = visit(clustered[2])
    session = opened.page.context.new_cdp_session(opened.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    focusable = [
        node
        for node in nodes
        if {"focusable"} & {item["name"] for item in node.get("properties", [])}
        and node["role"]["value"] != "RootWebArea"
    ]
    assert len(focusable) > 30
    assert [node["role"]["value"] for node in focusable if not node["name"]["value"]] == []


def test_the_smallest_cluster_can_be_asked_for_at_once(visit, clustered):
    _, model, html = clustered
    opened = visit(html)
    opened.page.fill("#min-size", "60")
    assert opened.page.is_enabled("#automatic")
    expected = model.tree_.labels_at(opened.level, min_cluster_size=60)
    assert opened.labels().tolist() == expected.tolist()
    opened.page.fill("#min-size", "100000")
    opened.settle()
    assert "smaller cluster" in opened.page.inner_text("#clusters-none")


def test_a_selection_remembers_that_the_level_moved(visit, clustered):
    opened = visit(clustered[2])
    opened.page.click("#legend button >> nth=0")
    opened.settle()
    assert opened.page.inner_text("#selection-words").endswith("selected: cluster 0")
    opened.drag("#alpha", (0.2, 0.5), (0.8, 0.5))
    assert opened.page.inner_text("#selection-words").endswith("cluster 0, before the level moved")


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_weights_are_not_called_rows(visit):
    X = three_groups(np.random.default_rng(5))
    # Whole numbers, about as many as the rows in sum: they look like counts, and are none.
    model = AlphaCutClustering().fit(X, sample_weight=np.arange(len(X)) % 2 * 2.0)
    opened = visit(Report.from_estimator(model, X).html)
    whole = opened.page.get_attribute("#tree [role=treeitem] >> nth=0", "aria-label")
    assert whole.startswith(f"Branch of weight {model.tree_.weight.sum():g},")
    assert "weight" in opened.page.inner_text("#min-size-field")


def test_missing_values_do_not_move_the_means(visit):
    X = three_groups(np.random.default_rng(5))
    model = fitted(AlphaCutClustering(alpha=0.3), X)
    display = X + 100.0
    display[::2, 1] = np.nan
    profiles = []
    for shown in (X + 100.0, display):
        opened = visit(Report.from_estimator(model, X, display=shown).html)
        opened.page.fill("#alpha-value", repr(float(np.quantile(model.typicality_, 0.5))))
        profiles.append(profile_of(opened))
    # Half of the values have gone; had they been counted, the mean would have halved.
    deviations = [
        float(words.split("column 1 ")[1].split("(")[1].split(")")[0].replace("\u2212", "-"))
        for words in profiles
    ]
    assert deviations[1] == pytest.approx(deviations[0], abs=0.3)


def test_typical_rows_differ_from_outliers_at_any_threshold(visit):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)), rng.normal([9.0, 0.0], 2.0, size=(12, 2))])
    opened = visit(Report.from_estimator(fitted(OneClusterPCM(contamination=0.1), X), X).html)
    assert re.match(r"column 0 \S+ against \S+ elsewhere \(\u2212", profile_of(opened))
    opened.page.focus("#alpha")
    opened.page.keyboard.press("ArrowRight")
    assert re.match(r"column 0 \S+ against \S+ elsewhere \(\u2212", profile_of(opened))


def test_a_sample_says_what_it_cannot_know(visit, clustered):
    X, model, _ = clustered
    opened = visit(Report.from_estimator(model, X, max_rows=80).html)
    assert "look more frequent than they are" in opened.page.inner_text("#sample-note")
    assert opened.page.inner_text("#histogram-words") == "Rows shown, by typicality"
    opened.page.click("#legend button >> nth=0")
    opened.settle()
    assert "of those shown selected: cluster 0" in opened.page.inner_text("#selection-words")
    opened.drag("#alpha", (0.1, 0.5), (0.5, 0.5))
    assert "clusters among the rows shown" in opened.page.inner_text("#summary")
    assert opened.page.inner_text("#outliers-words").startswith("About ")
    assert "estimates" in opened.page.inner_text("#clusters-now")


def test_clusters_without_rows_are_not_counted(visit, clustered):
    X = clustered[0]
    model = FuzzyCMeans(3, random_state=0).fit(X)
    opened = visit(Report.from_estimator(model, X).html)
    level = np.sort(model.memberships_.max(axis=1))[-2]
    opened.page.fill("#alpha-value", repr(float(level)))
    opened.settle()
    assert opened.page.inner_text("#summary") == (
        f"1 cluster in {len(X)} rows; {len(X) - 1} rows are unassigned."
    )
    assert opened.page.locator("#clusters tbody tr").count() == 1
    assert opened.page.locator("#legend button").count() == 2


def test_the_threshold_of_the_fit_is_not_rounded_to_the_slider(visit):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(120, 2)), [[1e6, 1e6]]])  # far away: steps are long
    model = fitted(OneClusterPCM(), X)
    opened = visit(Report.from_estimator(model, X).html)
    assert opened.level == pytest.approx(model.offset_, rel=1e-3)


def test_clusters_say_what_their_columns_of_text_hold(visit):
    X = three_groups(np.random.default_rng(5))
    model = FuzzyCMeans(3, random_state=0).fit(X)
    names = np.array(["oak", "elm", "ash"])[model.labels_]
    html = Report.from_estimator(model, X, cells={"number": range(len(X)), "tree": names}).html
    opened = visit(html)
    texts = opened.texts("#clusters tbody td.texts")
    assert texts == [
        f"tree: {name} ({n} of {n})"
        for name, n in zip(["oak", "elm", "ash"], np.bincount(model.labels_), strict=True)
    ]
    typical = opened.page.inner_text("#clusters tbody td.typical >> nth=0")
    assert typical.endswith("\u00b7 oak")
    assert opened.page.is_visible("#how")
    assert (
        opened.page.locator("#how").bounding_box()["y"]
        < (opened.page.locator("#scatter").bounding_box()["y"])
    )
