"""One page that runs and loads nothing but its own: nothing in the data is markup."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from reference.page_labels import decode
from sklearn_checks import needs_names_of_polars
from typicality import AlphaCutClustering, FuzzyCMeans
from typicality.report import Report

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")

HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>"
STRANGE = "\ud800 \x00\x07 \u2028 \U0001f600 & \\u003c /*js*/ <!--payload--> \"'"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    return np.repeat([[0.0, 0.0], [8.0, 8.0]], 30, axis=0) + rng.normal(size=(60, 2))


@pytest.fixture(scope="module")
def model(rows):
    return AlphaCutClustering().fit(rows)


@pytest.fixture(scope="module")
def report(model, rows):
    return model.report(rows)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and what stands inside each."""

    def __init__(self, page):
        super().__init__()
        self.starts, self.texts, self.comments, self.last = [], {}, [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.starts.append((tag, tuple(name for name, _ in attributes)))
        self.last = dict(attributes).get("id", tag)

    def handle_endtag(self, tag):
        self.last = ""

    def handle_data(self, text):
        self.texts[self.last] = self.texts.get(self.last, "") + text

    def handle_comment(self, text):
        self.comments.append(text)


def payload_of(report):
    return json.loads(Elements(report.html).texts["payload"])


# ---- what a page is made of ----------------------------------------------------------------------


def test_the_policy_names_the_style_and_the_script_by_their_hashes(report):
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', report.html)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (style,) = re.findall(r"<style>(.*?)</style>", report.html, flags=re.DOTALL)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', report.html, flags=re.DOTALL)
    assert rules == {
        "default-src": "'none'",
        "script-src": hash_of(script),
        "style-src": hash_of(style),
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def hash_of(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


# ---- hostile text --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [HOSTILE, STRANGE])
def test_text_from_the_data_is_harmless(rows, report, text):
    names = pd.Index([text, f"b{text}"], dtype=object)  # text of Arrow cannot be half a character
    frame = pd.DataFrame(rows, columns=names)
    hostile = (
        AlphaCutClustering()
        .fit(rows)
        .report(
            rows,
            title=text,
            display=frame,
            cells={text: [text] * len(rows)},
            row_numbers=(text, np.arange(len(rows))),
            notes=[(text, text)],
            warnings=[text],
        )
    )
    page, plain = Elements(hostile.html), Elements(report.html)
    assert page.starts == plain.starts
    assert page.comments == []
    payload = payload_of(hostile)
    assert page.texts["title"] == text.replace("\ud800", "?")
    assert payload["title"] == payload["axes"][0]["name"] == payload["cells"][0]["name"] == text
    assert payload["cells"][0]["values"] == [text]
    assert payload["row_words"] == f"Rows are named by their {text} in the data."
    assert payload["notes"] == [[text, text]]
    assert payload["warnings"] == [text]
    hostile.html.encode("utf-8")


# ---- a report ------------------------------------------------------------------------------------


def test_matrices_for_pairs_of_rows_need_features_to_display(rows):
    matrix = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2))
    model = FuzzyCMeans(2, kernel="precomputed", random_state=0).fit(matrix)
    with pytest.raises(ValueError, match=r"values for pairs of rows.*as display"):
        model.report(matrix)
    payload = payload_of(model.report(matrix, display=rows))
    assert sum(axis["feature"] for axis in payload["axes"]) == 2


def test_a_report_is_saved_whole(report, tmp_path):
    path = report.save(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == report.html
    with pytest.raises(FileExistsError):
        report.save(path)
    assert report.save(path, overwrite=True) == path


def test_a_notebook_shows_the_page_in_a_frame(report):
    (frame,) = Elements(report._repr_html_()).starts
    assert frame == ("iframe", ("title", "srcdoc", "sandbox", "style"))
    (page,) = re.findall(r'srcdoc="([^"]*)"', report._repr_html_())
    assert html.unescape(page) == report.html
    assert 'sandbox="allow-scripts allow-downloads"' in report._repr_html_()


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"max_rows": 5}, ValueError, "max_rows"),
        ({"display": np.zeros((3, 2))}, ValueError, "display has 3 rows"),
        ({"display": np.full((60, 2), np.inf)}, ValueError, "display contains infinity"),
        ({"cells": {"a": ["x"] * 3}}, ValueError, r"cells\['a'\] has 3 rows"),
    ],
)
def test_errors_name_the_input_and_the_remedy(model, rows, changes, error, words):
    with pytest.raises(error, match=words):
        model.report(rows, **changes)


@pytest.mark.parametrize("other", [np.s_[:-1], np.s_[::-1]], ids=["fewer", "another order"])
def test_a_tree_knows_the_rows_it_was_grown_from(model, rows, other):
    with pytest.raises(ValueError, match="is not the X that the model was fitted on"):
        model.report(rows[other])


def test_only_estimators_with_typicalities_are_reported_on(rows):
    from sklearn.cluster import KMeans
    from sklearn.exceptions import NotFittedError

    with pytest.raises(TypeError, match="not an estimator of typicality"):
        Report.from_estimator(KMeans(2), rows)
    with pytest.raises(NotFittedError):
        FuzzyCMeans(2).report(rows)


def test_pipeline_is_reported_on_in_the_units_of_its_rows(rows):
    frame = pd.DataFrame(rows * [1000.0, 0.1] + [5e4, 0.0], columns=["income", "share"])
    frame["city"] = ["Bern"] * 30 + ["Rome"] * 30
    scaler = ColumnTransformer([("numbers", StandardScaler(), ["income", "share"])])
    plain = make_pipeline(StandardScaler(), AlphaCutClustering()).fit(frame[["income", "share"]])
    chosen = make_pipeline(scaler, AlphaCutClustering()).fit(frame)
    for pipeline, X in ((plain, frame[["income", "share"]]), (plain, frame), (chosen, frame)):
        given = {"display": X} if pipeline is plain else {}
        used = frame[["income", "share"]] if pipeline is plain else frame
        payload = payload_of(Report.from_estimator(pipeline, used, **given))
        assert [axis["name"] for axis in payload["axes"]][:2] == ["income", "share"]
        assert_allclose(decode(payload["axes"][0]["values"]), frame["income"], rtol=1e-6)
        assert [column["name"] for column in payload["cells"]] == ["city"] * ("city" in X)


@pytest.mark.parametrize("step", [PCA(2), FunctionTransformer(np.arcsinh)], ids=str)
def test_columns_that_steps_make_are_shown_where_they_take_the_place_of_others(rows, step):
    pipeline = make_pipeline(step, FuzzyCMeans(2, random_state=0)).fit(rows)
    payload = payload_of(Report.from_estimator(pipeline, rows))
    shown = decode(payload["axes"][0]["values"])
    assert_allclose(shown, pipeline[:-1].transform(rows)[:, 0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "library",
    [pytest.param(pd, id="pandas"), pytest.param(pl, id="polars", marks=needs_names_of_polars)],
)
def test_text_columns_of_display_are_shown_as_cells(model, rows, library):
    words = ["left"] * 30 + ["right"] * 30
    display = library.DataFrame({"x": rows[:, 0], "side": words, "y": rows[:, 1]})
    payload = payload_of(model.report(rows, display=display, cells={"note": words}))
    assert [axis["name"] for axis in payload["axes"]][:2] == ["x", "y"]
    assert [column["name"] for column in payload["cells"]] == ["side", "note"]
