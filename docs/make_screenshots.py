"""Makes the screenshots of the report in docs/_static again: needs playwright and a chromium.

.. code-block:: console

    $ .venv/bin/python docs/make_screenshots.py
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sklearn.datasets import load_wine

from typicality import AlphaCutClustering, OneClusterPCM
from typicality.preprocessing import ColumnScaler
from typicality.report import Report

FOLDER = Path(__file__).parent / "_static"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
WIDE = {"width": 1280, "height": 1150}


def shapes(n: int, noise: int) -> np.ndarray:
    """Two arcs that embrace each other, a ball, and noise."""
    rng = np.random.default_rng(7)
    angle = rng.uniform(0, np.pi, n)
    upper = np.column_stack([3 * np.cos(angle), 3 * np.sin(angle)])
    lower = np.column_stack([3 + 3 * np.cos(angle), 1.3 - 3 * np.sin(angle)])
    ball = rng.normal((-2.6, -2.8), 0.25, size=(n // 2, 2))
    dense = np.vstack([upper, lower, ball]) + rng.normal(scale=0.24, size=(n * 5 // 2, 2))
    return np.vstack([dense, rng.uniform((-6, -5.5), (8.5, 5.5), size=(noise, 2))])


def report_of_shapes(n: int, noise: int, title: str) -> str:
    """The report of automatic clusters."""
    X = shapes(n, noise)
    names = [f"star {i}" for i in range(len(X))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AlphaCutClustering().fit(X)
    display = pd.DataFrame(X, columns=["right ascension", "declination"])
    cells = {"name": names}
    return Report.from_estimator(model, X, title=title, display=display, cells=cells).html


def report_of_outliers() -> str:
    """The report of a detector: measurements of wines, two of them mistyped."""
    wine = load_wine(as_frame=True)
    data = wine.data[["alcohol", "malic_acid", "ash", "flavanoids", "color_intensity", "proline"]]
    data = data.copy()
    data.loc[41, "ash"], data.loc[120, "alcohol"] = 23.2, 21.3
    X = ColumnScaler().fit_transform(data)
    model = OneClusterPCM(contamination=0.03).fit(X)
    cells = {"cultivar": [f"cultivar {kind}" for kind in wine.target]}
    return Report.from_estimator(model, X, title="wine.csv", display=data, cells=cells).html


def find_row(page: Page) -> None:
    """Ask for a row by its number."""
    page.fill("#find", "41")
    page.press("#find", "Enter")
    page.wait_for_timeout(800)  # the plot comes into sight


def stay(page: Page) -> None:
    """Leave the page as it opens."""


def shoot(
    browser: Browser, html: str, name: str, act: Callable[[Page], None], **context: Any
) -> None:
    """Open a page, do something, and write what is seen."""
    settings = {"viewport": WIDE, "color_scheme": "light"} | context
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_context(offline=True, **settings).new_page()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        act(page)
        page.wait_for_timeout(300)
        page.screenshot(path=Path(folder) / "page.png")
        page.context.close()
        with Image.open(Path(folder) / "page.png") as image:  # 256 colours: a third of the bytes
            image.convert("RGB").quantize(256).save(FOLDER / f"report-{name}.png", optimize=True)


def main() -> None:
    """Make all of them."""
    FOLDER.mkdir(exist_ok=True)
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    stars = report_of_shapes(220, 40, "stars.csv")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        whole = {"viewport": {"width": 1280, "height": 1640}}
        shoot(browser, stars, "light", stay, **whole)
        low = {"viewport": {"width": 1280, "height": 980}}
        shoot(browser, report_of_outliers(), "outliers", find_row, **low)


if __name__ == "__main__":
    main()
