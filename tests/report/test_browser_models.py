"""The page in a real browser: strange text, other kinds of model, and many rows."""

import re
from pathlib import Path

import numpy as np
import pytest

from report.conftest import fitted, three_groups
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality.report import Report

PAGE = Path(__file__).parents[2] / "src" / "typicality" / "report"
HOSTILE = '</script><img src=x onerror="alert(1)">'


# ---- strangers -----------------------------------------------------------------------------------


def test_hostile_text_stays_text(visit):
    X = three_groups(np.random.default_rng(5))
    model = AlphaCutClustering().fit(X)
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    display = pd.DataFrame(X, columns=[HOSTILE, 'a "b", <b>c</b>\n\u2028'])
    report = Report.from_estimator(
        model,
        X,
        title=HOSTILE,
        display=display,
        cells={f"{HOSTILE}<!--": [HOSTILE, "<!--<script>", "=1+1,\r\n'"] * 75},
        notes=[(HOSTILE, HOSTILE)],
        warnings=[HOSTILE],
    )
    opened = visit(report.html)
    opened.page.focus("#scatter")
    opened.page.keyboard.press("ArrowRight")
    opened.page.click("#outliers > li button >> nth=0")
    opened.settle()
    assert opened.page.locator("img, b, iframe, object").count() == 0
    assert opened.page.locator("script").count() == 2
    assert opened.page.inner_text("h1") == HOSTILE
    rows = opened.download()
    np.testing.assert_array_equal([np.float32(row[HOSTILE]) for row in rows], X[:, 0])
    assert {row[f"{HOSTILE}<!--"] for row in rows} == {HOSTILE, "<!--<script>", "=1+1,\ufffd\n'"}


@pytest.mark.parametrize(
    "path", [*PAGE.glob("page.*"), *PAGE.glob("page/*.js")], ids=lambda p: p.name
)
def test_sources_load_nothing_and_write_no_markup(path):
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|https?:"
        r"|\sstyle=|\son\w+="
    )
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(forbidden, text) == []
    assert len(text.splitlines()) < 400


# ---- other kinds of model ------------------------------------------------------------------------


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
    opened.page.focus("#scatter")
    opened.page.keyboard.press("ArrowRight")
    assert "in cluster 0" in opened.page.inner_text("#tooltip")


def test_threshold_of_a_detector_can_be_moved(visit, clustered):
    X = clustered[0]
    model = OneClusterPCM(contamination=0.05).fit(X)
    opened = visit(Report.from_estimator(model, X).html)
    flagged = model.predict(X) < 0
    assert opened.labels().tolist() == np.where(flagged, -1, 0).tolist()
    assert opened.page.inner_text("#summary") == f"{flagged.sum()} of {len(X)} rows are outliers."
    scores = np.array([float(row["score (log density)"]) for row in opened.download()])
    opened.drag("#histogram", (0.5, 0.5), (0.7, 0.5))
    expected = np.where(scores >= opened.level, 0, -1)
    assert opened.labels().tolist() == expected.tolist()
    assert opened.n_unassigned > flagged.sum()


# ---- outliers, categories and the search --------------------------------------------------------


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


def test_outliers_are_drawn_over_all_other_rows(visit, strange):
    opened = visit(strange[1])
    opened.page.select_option("#x-axis", label="column 0")
    opened.page.select_option("#y-axis", label="column 1")
    opened.settle()
    # The outlier stands amid the others here: nothing covers its 30 pixels or so.
    assert opened.page.evaluate(PIXELS, OUTLIER) >= 20


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


@pytest.mark.parametrize("asked", ["line 3001", "PERSON 2999"])
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


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_weights_are_not_called_rows(visit):
    X = three_groups(np.random.default_rng(5))
    # Whole numbers, about as many as the rows in sum: they look like counts, and are none.
    model = AlphaCutClustering().fit(X, sample_weight=np.arange(len(X)) % 2 * 2.0)
    opened = visit(Report.from_estimator(model, X).html)
    whole = opened.page.get_attribute("#tree [role=treeitem] >> nth=0", "aria-label")
    assert whole.startswith(f"Branch of weight {model.tree_.weight.sum():g},")
    assert "weight" in opened.page.inner_text("#min-size-field")


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
