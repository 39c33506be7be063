"""Rows, and models of every kind fitted to them."""

import warnings

import numpy as np
import pytest

from report.browser import FLAGS, OpenPage, find_chromium
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM, SequentialPCM
from typicality.exceptions import ClusteringWarning
from typicality.report import Report
from typicality.report._report import explain
from typicality.report.payload import build_payload


@pytest.fixture(scope="session")
def scattered():
    """Three clusters of 120 rows, with copies, in three features, amid 40 rows of noise."""
    rng = np.random.default_rng(5)
    centers = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]])
    clusters = np.repeat(centers, 120, axis=0) + rng.normal(size=(360, 3))
    clusters[::7] = clusters[1::7][: len(clusters[::7])]
    return np.concatenate([clusters, rng.uniform(-6.0, 15.0, (40, 3))])


def payload_of(model, X, display=None, **options):
    """What a page is given."""
    return build_payload(*explain(model, X, display), **options)


def fitted(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        return model.fit(rows)


@pytest.fixture(scope="session")
def cutter(scattered):
    return fitted(AlphaCutClustering(), scattered)


@pytest.fixture(scope="session")
def detector(scattered):
    return fitted(OneClusterPCM(), scattered)


@pytest.fixture(scope="session")
def prototypes(scattered):
    return fitted(FuzzyCMeans(3, random_state=0), scattered)


@pytest.fixture(scope="session")
def sequential(scattered):
    return fitted(SequentialPCM(), scattered)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api",
        reason="playwright is not installed: the page was tried in no browser",
    )
    if find_chromium() is None:
        pytest.skip("there is no chromium here: the page was tried in no browser")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page; in the end it must have asked for itself alone and complained of nothing."""
    opened = []

    def open_page(html, **context):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        settings = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True} | context
        opened.append(OpenPage.of(browser.new_context(offline=True, **settings), path))
        return opened[-1]

    yield open_page
    for page in opened:
        page.page.context.close()
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith("blob:")] == [
            (tmp_path / "report.html").as_uri()
        ]


def three_groups(rng):
    centers = np.repeat([[0.0, 0.0], [6.0, 0.0], [2.0, 7.0]], [90, 60, 40], axis=0)
    groups = centers + rng.normal(size=centers.shape)
    rows = np.vstack([groups, rng.uniform(-12, 16, size=(30, 2)), groups[:5]])
    return rows.astype(np.float32).astype(np.float64)  # a page has 32 bits for a value


@pytest.fixture(scope="session")
def clustered():
    """A model with duplicates and noise among its rows, and its report."""
    X = three_groups(np.random.default_rng(5))
    model = AlphaCutClustering().fit(X)
    names = [f'item "{i}", of\nmany' for i in range(len(X))]
    return X, model, Report.from_estimator(model, X, title="groups.csv", cells={"name": names}).html
