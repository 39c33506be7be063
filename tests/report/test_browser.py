"""The page in a real browser: what it shows is what the model says."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import ImageColor

from report.conftest import fitted, three_groups
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.fitted import view
from typicality.report import Report

PAGE = Path(__file__).parents[2] / "src" / "typicality" / "report"
HOSTILE = '</script><img src=x onerror="alert(1)">'


def check_against(opened, tree):
    """Counts, sizes and downloaded labels are those of the tree at the level shown."""
    expected = tree.labels_at(opened.level, min_cluster_size=5)
    assert opened.labels().tolist() == expected.tolist()
    assert opened.n_clusters == expected.max() + 1
    assert opened.sizes == np.bincount(expected[expected >= 0]).tolist()
    assert opened.n_unassigned == np.count_nonzero(expected < 0)
    return opened.n_clusters


# ---- the level -----------------------------------------------------------------------------------


def test_page_opens_with_the_clusters_of_the_fit(visit, clustered):
    X, model, html = clustered
    opened = visit(html)
    assert opened.labels().tolist() == model.labels_.tolist()
    assert opened.page.inner_text("h1") == "groups.csv"
    n_unassigned = np.count_nonzero(model.labels_ < 0)
    assert opened.page.inner_text("#summary") == (
        f"{model.n_clusters_} clusters in {len(X)} rows; {n_unassigned} rows are unassigned."
    )
    *profiles, unassigned = opened.texts("#clusters tbody td.profile")
    assert len(profiles) == model.n_clusters_
    assert "against" in profiles[0]
    assert unassigned == ""
    assert opened.page.is_disabled("#automatic")


def test_the_level_labels_as_the_tree_does(visit, clustered):
    _, model, html = clustered
    opened = visit(html)
    seen = set()
    for start, end in [(0.1, 0.02), (0.02, 0.4), (0.4, 0.75), (0.75, 0.97)]:
        opened.drag("#alpha", (start, 0.5), (end, 0.5))
        seen.add(check_against(opened, model.tree_))
    assert len(seen) > 1
    assert opened.page.locator("#clusters td.profile").count() == 0  # sizes only
    opened.page.click("#automatic")
    assert opened.labels().tolist() == model.labels_.tolist()


def test_sizes_are_of_all_rows_where_a_sample_is_shown(visit, clustered):
    X, model, _ = clustered
    opened = visit(Report.from_estimator(model, X, max_rows=80).html)
    assert opened.page.is_visible("#sample-note")
    assert opened.sizes == np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    opened.drag("#alpha", (0.1, 0.5), (0.5, 0.5))
    shown = [int(row["row"]) for row in opened.download()]
    expected = model.tree_.labels_at(opened.level, min_cluster_size=5)[shown]
    assert sorted(opened.sizes) == sorted(np.unique(expected[expected >= 0], return_counts=True)[1])
    assert opened.n_unassigned == np.count_nonzero(expected < 0)
    assert "80 rows shown" in opened.page.inner_text("#summary")


def test_memberships_can_be_cut(visit, clustered):
    X = clustered[0]
    model = FuzzyCMeans(3, random_state=0).fit(X)
    opened = visit(Report.from_estimator(model, X).html)
    assert opened.labels().tolist() == model.labels_.tolist()
    assert not opened.page.is_visible("#tree")
    opened.drag("#alpha", (0.02, 0.5), (0.8, 0.5))
    largest = model.memberships_.max(axis=1)
    expected = np.where(largest > opened.level, model.labels_, -1)
    assert opened.labels().tolist() == expected.tolist()
    assert 0 < opened.n_unassigned == np.count_nonzero(expected < 0)


def test_threshold_of_a_detector_can_be_moved(visit, clustered):
    X = clustered[0]
    model = OneClusterPCM(contamination=0.05).fit(X)
    opened = visit(Report.from_estimator(model, X).html)
    flagged = model.predict(X) < 0
    assert opened.labels().tolist() == np.where(flagged, -1, 0).tolist()
    headline = f"The {flagged.sum()} most unusual of {len(X)} rows (5 % asked for)"
    assert opened.page.inner_text("#summary").startswith(headline)
    scores = np.array([float(row["score (log density)"]) for row in opened.download()])
    opened.drag("#alpha", (0.5, 0.5), (0.8, 0.5))
    assert opened.labels().tolist() == np.where(scores >= opened.level, 0, -1).tolist()
    assert opened.n_unassigned > flagged.sum()


# ---- rows ----------------------------------------------------------------------------------------


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
    rows = opened.download()
    assert 0 < len(rows) == opened.n_selected < len(X)
    numbers = [int(row["row"]) for row in rows]
    assert [row["name"] for row in rows] == [f'item "{i}", of\nmany' for i in numbers]
    features = [[np.float32(row[name]) for name in ("column 0", "column 1")] for row in rows]
    np.testing.assert_allclose(features, X[numbers], rtol=1e-6)
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
    about = opened.page.inner_text("#outliers > li .outlier-about >> nth=0")
    assert f"rarer than {np.floor(1000 * (len(X) - 1) / len(X)) / 10:.1f} % of the rows" in about
    first.click()
    assert opened.n_selected == 1
    assert opened.page.locator("#outliers > li").count() == 20
    opened.page.click("#outliers-more")
    opened.settle()
    assert opened.page.locator("#outliers > li").count() > 20


@pytest.fixture(scope="module")
def strange():
    """Ordinary rows, the last one far off in the third column only; names, towns and ages."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[-1] = (0.0, 0.0, 30.0)
    cells = {
        "name": [f"person {i}" for i in range(len(X))],
        "town": rng.choice(["Rome", "Oslo", "Bern"], len(X)).tolist(),
        "age": [str(age) for age in rng.integers(20, 60, len(X) - 1)] + [""],
    }
    model = fitted(OneClusterPCM(contamination=1e-3), X)
    lines = ("line", np.arange(2, len(X) + 2))
    return cells, Report.from_estimator(model, X, cells=cells, row_numbers=lines).html


# The number of pixels of the scatter that have exactly a colour.
PIXELS = """([red, green, blue]) => {
    const canvas = document.getElementById("points");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((_, k) => k % 4 === 0 && data[k] === red && data[k + 1] === green
        && data[k + 2] === blue).length;
}"""


def test_colour_shows_outliers_values_and_columns(visit, strange):
    cells, html = strange
    opened = visit(html)
    outlier = list(ImageColor.getrgb("#d21d12"))
    opened.page.select_option("#x-axis", label="column 0")
    opened.page.select_option("#y-axis", label="column 1")
    assert opened.page.evaluate(PIXELS, outlier) >= 20  # drawn over all other rows
    for column in ("rarer than", "column 2", "age"):
        opened.page.select_option("#colour-by", label=column)
        assert opened.texts("#legend")[0].startswith(column)
    opened.page.select_option("#colour-by", label="town")
    counts = {town: cells["town"].count(town) for town in set(cells["town"])}
    chips = [chip.split() for chip in opened.texts("#legend .chip")]
    assert {town: int(n.replace(",", "")) for town, n in chips} == counts
    opened.page.click("#legend .chip >> nth=0")
    assert opened.n_selected == counts[chips[0][0]]


@pytest.mark.parametrize("asked", ["line 3001", "PERSON 2999"])
def test_a_row_is_found_by_number_or_name_with_its_reasons(visit, strange, asked):
    opened = visit(strange[1])
    opened.page.fill("#find", asked)
    opened.page.press("#find", "Enter")
    card = opened.texts("#found")[0]
    for words in ("Line 3001", "person 2999", "rarer than 99.9"):
        assert words in card
    first = opened.texts("#found .reasons li")[0]
    assert first.startswith("column 2")
    assert "high" in first
    assert opened.n_selected == 1
    opened.page.click("#clear")
    opened.settle()
    assert not opened.page.is_visible("#found")


def test_hostile_text_stays_text(visit):
    X = three_groups(np.random.default_rng(5))
    report = Report.from_estimator(
        AlphaCutClustering().fit(X),
        X,
        title=HOSTILE,
        display=pd.DataFrame(X, columns=[HOSTILE, 'a "b", <b>c</b>\n\u2028']),
        cells={f"{HOSTILE}<!--": [HOSTILE, "<!--<script>", "=1+1,\r\n'"] * 75},
        notes=[(HOSTILE, HOSTILE)],
        warnings=[HOSTILE],
    )
    opened = visit(report.html)
    opened.page.locator("#scatter").hover()
    opened.page.click("#outliers > li button >> nth=0")
    opened.page.select_option("#colour-by", label=f"{HOSTILE}<!--")
    opened.settle()
    assert opened.page.locator("img, b, iframe, object").count() == 0
    assert opened.page.locator("script").count() == 2
    assert opened.page.inner_text("h1") == HOSTILE
    opened.page.click("#clear")
    opened.settle()
    rows = opened.download()
    np.testing.assert_allclose([float(row[HOSTILE]) for row in rows], X[:, 0], rtol=1e-6)
    assert {row[f"{HOSTILE}<!--"] for row in rows} == {HOSTILE, "<!--<script>", "=1+1,\n'"}


# ---- everyone ------------------------------------------------------------------------------------


def test_page_can_be_used_by_keys_alone(visit, clustered):
    _, model, html = clustered
    opened = visit(html)
    keys = opened.page.keyboard
    opened.tab_to("#alpha")
    keys.press("PageUp")
    check_against(opened, model.tree_)
    opened.page.click("#automatic")
    opened.page.focus("#alpha")
    opened.tab_to("#tree [role=treeitem]")
    keys.press("Tab")
    keys.press("Enter")
    focused = opened.page.locator("#tree [role=treeitem]:focus")
    assert opened.n_selected == float(focused.get_attribute("data-size"))
    opened.tab_to("#clusters tr[data-label='1']")
    keys.press("Enter")
    opened.settle()
    assert opened.n_selected == opened.sizes[1]
    opened.page.focus("#theme")
    opened.tab_to("#download")
    with opened.page.expect_download():
        keys.press("Enter")


def relative_luminance(colour):
    parts = np.array(ImageColor.getrgb(colour)[:3]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(*colours):
    low, high = sorted(map(relative_luminance, colours))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_colours_stand_out_in_both_themes(visit, clustered, scheme):
    opened = visit(clustered[2], color_scheme=scheme)
    assert opened.data("theme") == scheme
    style = "([s, name]) => getComputedStyle(document.querySelector(s))[name]"
    panel = opened.page.evaluate(style, [".panel", "backgroundColor"])
    for selector in [".lead", ".hint", "#clusters thead th", "h2", ".chip-size"]:
        text = opened.page.evaluate(style, [selector, "color"])
        assert contrast(text, panel) >= 4.5
    script = (PAGE / "page" / "2-scale.js").read_text(encoding="utf-8")
    hues = re.findall(r"#\w{6}", re.search(rf"{scheme}: \[(.*?)\]", script, re.DOTALL)[1])
    assert len(hues) == len(set(hues)) == 16
    assert min(contrast(hue, panel) for hue in hues) >= 3.0
    opened.page.click("#theme")
    assert opened.data("theme") != scheme


def test_page_fits_a_phone(visit, clustered):
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
    opened = visit(clustered[2], color_scheme="light", **phone)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert opened.page.locator("#theme").bounding_box()["height"] < 40  # one line
    assert not opened.page.is_visible("#how")
    assert visit(clustered[2]).page.is_visible("#how")


# ---- numbers that people read, and take with them ------------------------------------------------


def test_memberships_are_never_rounded_up_to_one(visit):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.01, (40, 2)), rng.normal(9, 0.01, (40, 2))])
    opened = visit(Report.from_estimator(fitted(FuzzyCMeans(2, random_state=0), X), X).html)
    assert opened.texts("#clusters td.strength") == ["> 0.9999", "> 0.9999"]
    opened.page.locator("#scatter").hover()
    opened.page.fill("#find", "3")
    opened.page.press("#find", "Enter")
    assert "0.99999" not in opened.page.inner_text("body")


def test_the_table_of_clusters_is_copied_with_tabs(visit, clustered):
    X, model, _ = clustered
    frame = pd.DataFrame(X, columns=["=width", "height"])
    opened = visit(Report.from_estimator(model, X, display=frame).html)
    opened.page.click("#clusters-copy")
    opened.page.evaluate("document.body.append(document.createElement('textarea'))")
    opened.page.focus("textarea")
    opened.page.keyboard.press("Control+V")
    lines = [line.split("\t") for line in opened.page.input_value("textarea").split("\n")]
    names, *clusters = lines
    assert {len(cells) for cells in lines} == {len(names)}
    assert names[-2:] == ["Median =width", "Median height"]
    assert [int(cells[1]) for cells in clusters] == [
        *np.bincount(model.labels_[model.labels_ >= 0]),
        np.count_nonzero(model.labels_ < 0),
    ]
    medians = [float(number) for number in clusters[0][-2:]]
    np.testing.assert_allclose(medians, np.median(X[model.labels_ == 0], axis=0), rtol=1e-6)
    profile = clusters[0][names.index("How it differs")]
    assert profile.startswith(("'=width", "height"))
