"""The page in a real browser: what it shows is what the model says."""

import re

import numpy as np
import pytest

from typicality.fitted import view
from typicality.report import Report


def check_against(opened, tree, min_size):
    """Counts, sizes and downloaded labels are those of the tree at the level shown."""
    expected = tree.labels_at(opened.level, min_cluster_size=min_size)
    assert opened.labels().tolist() == expected.tolist()
    assert opened.n_clusters == expected.max() + 1
    assert opened.sizes == np.bincount(expected[expected >= 0]).tolist()
    assert opened.n_unassigned == np.count_nonzero(expected < 0)
    return opened.n_clusters


# ---- the fitted clusters -------------------------------------------------------------------------


def test_page_opens_with_the_clusters_of_the_fit(visit, clustered):
    X, model, html = clustered
    opened = visit(html)
    assert opened.labels().tolist() == model.labels_.tolist()
    assert opened.page.inner_text("h1") == "groups.csv"
    n_unassigned = np.count_nonzero(model.labels_ < 0)
    assert opened.page.inner_text("#summary") == (
        f"{model.n_clusters_} clusters in {len(X)} rows; {n_unassigned} rows are unassigned."
    )
    assert opened.page.locator("#clusters tbody tr").count() == model.n_clusters_
    assert opened.page.is_disabled("#automatic")


# ---- the level -----------------------------------------------------------------------------------


def test_slider_by_mouse_labels_as_the_tree_does(visit, clustered):
    _, model, html = clustered
    opened = visit(html)
    seen = set()
    for start, end in [(0.1, 0.02), (0.02, 0.4), (0.4, 0.75), (0.75, 0.97)]:
        opened.drag("#alpha", (start, 0.5), (end, 0.5))
        seen.add(check_against(opened, model.tree_, 5))
    assert len(seen) > 1


def test_level_and_smallest_cluster_can_be_typed(visit, clustered):
    _, model, html = clustered
    opened = visit(html)
    low, high = np.quantile(model.typicality_, [0.3, 0.9])
    for level, min_size in [(low, 1), (low, 12), (high, 1), (high, 3)]:
        opened.page.fill("#alpha-value", repr(float(level)))
        opened.page.fill("#min-size", str(min_size))
        assert opened.level == level
        check_against(opened, model.tree_, min_size)


def test_sizes_are_of_all_rows_where_a_sample_is_shown(visit, clustered):
    X, model, _ = clustered
    opened = visit(Report.from_estimator(model, X, max_rows=80).html)
    assert opened.page.is_visible("#sample-note")
    assert opened.sizes == np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    opened.drag("#alpha", (0.1, 0.5), (0.5, 0.5))
    expected = model.tree_.labels_at(opened.level, min_cluster_size=5)
    estimates = np.array(opened.sizes)
    np.testing.assert_allclose(estimates, np.bincount(expected[expected >= 0]), atol=0.02 * len(X))
    assert opened.n_unassigned == len(X) - estimates.sum()
    assert "about" in opened.page.inner_text("#summary")


# ---- selecting -----------------------------------------------------------------------------------


def test_a_branch_selects_its_rows(visit, clustered):
    opened = visit(clustered[2])
    branches = opened.page.locator("#tree [role=treeitem]")
    assert branches.count() >= 3
    for place in range(branches.count()):
        branch = branches.nth(place)
        branch.locator(".target").dispatch_event("click")
        assert opened.n_selected == float(branch.get_attribute("data-size"))
        assert branch.get_attribute("aria-selected") == "true"


def test_a_rectangle_selects_rows_and_they_can_be_downloaded(visit, clustered):
    X, model, html = clustered
    opened = visit(html)
    opened.drag("#scatter", (0.3, 0.3), (0.8, 0.8))
    rows = opened.download("#download")
    assert 0 < len(rows) == opened.n_selected < len(X)
    numbers = [int(row["row"]) for row in rows]
    assert [row["name"] for row in rows] == [f'item "{i}", of\nmany' for i in numbers]
    features = [[np.float32(row[name]) for name in ("column 0", "column 1")] for row in rows]
    np.testing.assert_array_equal(features, X[numbers])
    assert [float(row["typicality"]) for row in rows] == model.typicality_[numbers].tolist()
    inside = X[numbers]
    in_box = np.all((inside.min(axis=0) <= X) & (inside.max(axis=0) >= X), axis=1)
    assert np.flatnonzero(in_box).tolist() == numbers


def test_outliers_are_listed_and_found_in_the_plot(visit, clustered):
    X, model, html = clustered
    rarest = int(view(model, X, training=True).depth.argmin())
    opened = visit(html)
    first = opened.page.locator("#outliers > li button").first
    assert int(first.get_attribute("data-row")) == rarest
    n_rows = len(X)
    said = opened.page.inner_text("#outliers > li .outlier-about >> nth=0")
    assert f"rarer than {np.floor(1000 * (n_rows - 1) / n_rows) / 10:.1f} % of the rows" in said
    first.click()
    assert opened.n_selected == 1
    assert opened.page.locator("#outliers > li").count() == 20
    opened.page.click("#outliers-on")
    opened.settle()
    assert int(opened.page.get_attribute("#outliers > li button >> nth=0", "data-row")) != rarest


# ---- everyone ------------------------------------------------------------------------------------


def test_page_can_be_used_by_keys_alone(visit, clustered):
    _, model, html = clustered
    opened = visit(html)
    keys = opened.page.keyboard
    opened.tab_to("#alpha")
    keys.press("PageUp")
    check_against(opened, model.tree_, 5)
    opened.page.focus("#alpha")
    opened.tab_to("#tree [role=treeitem]")
    keys.press("ArrowDown")
    keys.press("Enter")
    focused = opened.page.locator("#tree [role=treeitem]:focus")
    assert focused.get_attribute("aria-label")
    assert opened.n_selected == float(focused.get_attribute("data-size"))
    opened.tab_to("#clusters button[data-sort=share]")
    keys.press("Enter")
    opened.settle()
    assert opened.page.get_attribute("#clusters th.share", "aria-sort") == "descending"
    opened.tab_to("#download")
    with opened.page.expect_download():
        keys.press("Enter")


def relative_luminance(colour):
    parts = np.array(list(map(int, re.findall(r"\d+", colour)[:3]))) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_themes(visit, clustered, scheme):
    opened = visit(clustered[2], color_scheme=scheme)
    assert opened.data("theme") == scheme
    style = "([s, name]) => getComputedStyle(document.querySelector(s))[name]"
    panel = opened.page.evaluate(style, [".panel", "backgroundColor"])
    for selector in [".lead", ".hint", "#clusters thead th", "#automatic + *, h2", ".chip-size"]:
        text = opened.page.evaluate(style, [selector, "color"])
        low, high = sorted([relative_luminance(text), relative_luminance(panel)])
        assert (high + 0.05) / (low + 0.05) >= 4.5
    opened.page.click("#theme")
    assert opened.data("theme") != scheme


def test_page_fits_a_phone(visit, clustered):
    opened = visit(clustered[2], viewport={"width": 360, "height": 740}, has_touch=True)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    opened.page.tap("#legend button >> nth=0")
    opened.settle()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert opened.n_selected > 0
