"""The level of a report moved through its whole range: milliseconds until all is drawn anew.

Rows in three normal clusters among uniform noise, in two features; the page is opened in a real
chromium, and the slider takes 60 positions, each with new labels, histogram, tree, tables and
plot. Needs playwright and a chromium.

Usage: python benchmarks/page_update.py [ROWS ...]
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from typicality import AlphaCutClustering

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
N_POSITIONS = 60
# Sets the slider, and waits until the frame after is drawn.
MOVE = """position => new Promise(done => {
    const slider = document.getElementById("alpha");
    slider.value = position;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    requestAnimationFrame(() => requestAnimationFrame(
        () => done(Number(document.documentElement.dataset.updateMs))));
})"""


def rows(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.uniform(-5, 5, size=(3, 2))[rng.integers(3, size=n - n // 10)]
    clusters = centres + rng.normal(scale=0.5, size=centres.shape)
    return np.concatenate([clusters, rng.uniform(-8, 8, size=(n // 10, 2))])


def measured(browser: Browser, page_file: Path) -> tuple[float, np.ndarray]:
    """Seconds until the page is ready, and the milliseconds of each update."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    began = time.perf_counter()
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    seconds = time.perf_counter() - began
    positions = np.linspace(0, 1000, N_POSITIONS).tolist()
    updates = np.array([page.evaluate(MOVE, position) for position in positions])
    page.close()
    return seconds, updates


def main(sizes: list[int]) -> None:
    print("rows, page MB, seconds to open, update ms: median, 90 %, largest")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for n in sizes:
            X = rows(n)
            path = AlphaCutClustering().fit(X).report(X).save(Path(folder) / f"{n}.html")
            seconds, ms = measured(browser, path)
            middle, high = np.percentile(ms, [50, 90])
            megabytes = path.stat().st_size / 1e6
            print(f"{n:,} {megabytes:.1f} {seconds:.1f} {middle:.1f} {high:.1f} {ms.max():.1f}")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [1_000, 10_000, 100_000])
