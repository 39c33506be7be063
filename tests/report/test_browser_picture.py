"""The page in a real browser: colours, shapes, outliers in the picture, the search for a row."""

import numpy as np
import pytest

from report.conftest import fitted, three_groups
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.report import Report

# The share of the pixels of the scatter that have exactly a colour.
PIXELS = """([red, green, blue]) => {
    const canvas = document.getElementById("points");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let k = 0; k < data.length; k += 4) {
        if (data[k] === red && data[k + 1] === green && data[k + 2] === blue) found++;
    }
    return found;
}"""
OUTLIER = [0xD2, 0x1D, 0x12]


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
    return X, Report.from_estimator(model, X, cells=cells, row_numbers=lines).html


@pytest.fixture(scope="module")
def twenty():
    rng = np.random.default_rng(1)
    places = np.array([(x, y) for x in range(5) for y in range(4)], dtype=float)
    X = np.repeat(places, 40, axis=0) + rng.normal(scale=0.08, size=(800, 2))
    model = fitted(FuzzyCMeans(20, m=1.2, random_state=0, init=places), X)
    return model, Report.from_estimator(model, X).html


# ---- outliers ------------------------------------------------------------------------------------


def test_outliers_are_drawn_over_all_other_rows(visit, strange):
    opened = visit(strange[1])
    opened.page.select_option("#x-axis", label="column 0")
    opened.page.select_option("#y-axis", label="column 1")
    opened.settle()
    # The outlier stands amid the others here: nothing covers its 30 pixels or so.
    assert opened.page.evaluate(PIXELS, OUTLIER) >= 20


def test_the_page_opens_with_an_axis_in_which_the_outlier_is_far(visit, strange):
    opened = visit(strange[1])
    axes = [opened.page.locator(f"#{side}-axis option:checked").inner_text() for side in "xy"]
    assert "column 2" in axes
    assert "stand out most" in opened.page.inner_text("#axes-note")


def test_the_page_tells_how_sure_the_answer_is_until_the_level_moves(visit, strange):
    opened = visit(strange[1])
    assert opened.page.inner_text("#certainty").startswith("How sure? Between ")
    opened.page.focus("#alpha")
    opened.page.keyboard.press("PageUp")
    opened.settle()
    assert not opened.page.is_visible("#certainty")


# ---- many clusters -------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_twenty_clusters_differ_by_colour_or_shape_and_have_their_number(visit, twenty, scheme):
    model, html = twenty
    opened = visit(html, color_scheme=scheme)
    assert model.n_clusters_ == 20
    looks = opened.page.evaluate(
        """() => Array.from(document.querySelectorAll("#legend .swatch"),
            (mark) => `${mark.className} ${getComputedStyle(mark).backgroundColor}`)"""
    )
    assert len(looks) == len(set(looks)) == 20
    assert len({look.split("rgb")[0] for look in looks}) == 3
    assert int(opened.data("numbered")) == 20


# ---- colours -------------------------------------------------------------------------------------


def test_rows_can_be_coloured_by_any_column(visit, strange):
    X, html = strange
    opened = visit(html)
    offered = opened.texts("#colour-by option")
    names = ["column 0", "column 1", "column 2", "town", "age"]
    assert offered == ["typical or outlier", "rarer than", *names]
    for name in ["rarer than", "column 1", "age"]:
        opened.page.select_option("#colour-by", label=name)
        opened.settle()
        assert opened.page.inner_text("#legend .ramp-line").startswith(name)
    assert "missing" in opened.page.inner_text("#legend")  # the last row has no age
    opened.page.select_option("#colour-by", label="column 1")
    opened.settle()
    low, high = X[:, 1].min(), X[:, 1].max()
    shown = opened.page.inner_text("#legend").replace("\u2212", "-")
    assert f"{low:.4g}" in shown
    assert f"{high:.4g}" in shown


def test_values_of_a_text_column_have_colours_and_select_their_rows(visit, strange):
    opened = visit(strange[1])
    towns = [row["town"] for row in opened.download()]
    before = opened.page.evaluate(PIXELS, OUTLIER)
    opened.page.select_option("#colour-by", label="town")
    opened.settle()
    assert opened.page.evaluate(PIXELS, OUTLIER) < before
    chips = opened.texts("#legend .chip")
    assert {chip.split()[0]: int(chip.split()[1].replace(",", "")) for chip in chips} == {
        town: towns.count(town) for town in set(towns)
    }
    opened.page.click("#legend .chip >> nth=0")
    first = chips[0].split()[0]
    assert opened.n_selected == towns.count(first)
    assert f"town: {first}" in opened.page.inner_text("#selection-words")


def test_colours_of_columns_stay_while_the_level_moves(visit):
    X = three_groups(np.random.default_rng(5))
    model = fitted(AlphaCutClustering(), X)
    html = Report.from_estimator(model, X, cells={"kind": ["a", "b", "b"] * 75}).html
    opened = visit(html)
    opened.page.select_option("#colour-by", label="kind")
    opened.drag("#alpha", (0.1, 0.5), (0.8, 0.5))
    assert opened.texts("#legend .chip") == ["b\n150", "a\n75"]


# ---- the search ----------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["3001", "line 3001", "PERSON 2999"])
def test_a_row_is_found_by_number_or_name_with_its_reasons(visit, strange, asked):
    opened = visit(strange[1])
    opened.page.fill("#find", asked)
    opened.page.press("#find", "Enter")
    opened.settle()
    card = opened.page.inner_text("#found")
    assert "Line 3001" in card
    assert "person 2999" in card
    assert "rarer than 99.9" in card
    first = opened.page.inner_text("#found .reasons li >> nth=0")
    assert first.startswith("column 2")
    assert "high" in first
    assert opened.n_selected == 1
    opened.page.click("#clear")
    opened.settle()
    assert not opened.page.is_visible("#found")


def test_ordinary_rows_are_found_too_and_many_matches_are_counted(visit, strange):
    opened = visit(strange[1])
    opened.page.fill("#find", "person 12")
    opened.settle()
    assert opened.page.locator("#find-list button").count() == 8
    n_found = sum(str(i).startswith("12") for i in range(3000))
    assert opened.page.inner_text("#find-words") == f"and {n_found - 8} more rows"
    opened.page.click("#find-list button >> nth=0")
    opened.settle()
    assert "person 12" in opened.page.inner_text("#found")
    assert opened.page.locator("#found .reasons li").count() >= 1


def test_a_search_without_a_match_says_so(visit, strange):
    opened = visit(strange[1])
    opened.page.fill("#find", "<b>nobody</b>")
    opened.settle()
    assert opened.page.inner_text("#find-words").startswith("No row has this number")
    assert opened.page.locator("#find-list li").count() == 0
