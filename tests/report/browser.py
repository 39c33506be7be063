"""A real browser for tests: one page, offline, and everything it complains about."""

import csv
import io
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def find_chromium():
    """Where a chromium is, or None; CHROMIUM names one that is not on the path."""
    names = (
        os.environ.get("CHROMIUM", "chromium"),
        "chromium",
        "chromium-browser",
        "google-chrome",
    )
    return next(filter(None, map(shutil.which, names)), None)


@dataclass
class OpenPage:
    """A page, with what it asked for and what it complained about."""

    tab: object
    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    @classmethod
    def of(cls, context, path):
        opened = cls(context.new_page())
        page = opened.tab
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("console", lambda message: opened.complaints.append(message.text))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (opened.complaints.append("dialog"), dialog.dismiss()))
        page.goto(Path(path).as_uri())
        page.wait_for_selector("html[data-ready=true]")
        return opened

    @property
    def page(self):
        """The page, once what was asked for before is drawn: nothing is read too early."""
        self.settle()
        return self.tab

    # ---- what the page says ----

    def data(self, name):
        self.settle()
        return self.tab.evaluate("name => document.documentElement.dataset[name]", name)

    def settle(self):
        """Wait until what was asked for is drawn."""
        self.tab.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def texts(self, selector):
        """The text of every element that matches, as shown.

        Read in one step: the page redraws its lists when its size changes, and the text of an
        element that was replaced meanwhile has lost its line breaks.
        """
        self.settle()
        read = "selector => [...document.querySelectorAll(selector)].map(e => e.innerText)"
        return self.tab.evaluate(read, selector)

    @property
    def n_clusters(self):
        return int(self.data("nClusters"))

    @property
    def n_unassigned(self):
        return int(self.data("nUnassigned"))

    @property
    def sizes(self):
        return json.loads(self.data("sizes"))

    @property
    def level(self):
        return float(self.data("level"))

    @property
    def n_selected(self):
        self.settle()
        return int(self.tab.get_attribute("#selection", "data-count"))

    def download(self):
        """The rows that can be downloaded, as a list of dicts."""
        with self.tab.expect_download() as coming:
            self.tab.click("#download")
        text = Path(coming.value.path()).read_text(encoding="utf-8")
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def labels(self):
        """The labels of all rows."""
        if self.n_selected:
            self.tab.click("#clear")
            self.settle()
        return np.array([int(row["label"]) for row in self.download()])

    # ---- hands ----

    def drag(self, selector, start, end):
        """Press, move and release the mouse between two places, as shares of a box."""
        self.tab.locator(selector).scroll_into_view_if_needed()
        box = self.tab.locator(selector).bounding_box()
        places = [
            (box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)
        ]
        self.tab.mouse.move(*places[0])
        self.tab.mouse.down()
        self.tab.mouse.move(*places[1], steps=4)
        self.tab.mouse.up()
        self.settle()

    def tab_to(self, selector):
        """Press Tab until an element has the focus."""
        for _ in range(80):
            self.tab.keyboard.press("Tab")
            if self.tab.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached by Tab")
