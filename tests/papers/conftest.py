"""What the tests of all papers share."""

from functools import cache
from importlib import import_module

import matplotlib as mpl
import pytest

from regenerating import Setting


@pytest.fixture(scope="session")
def fast(tmp_path_factory):
    """A fast run of a paper: what was measured, where the paper has a step for it, and the page."""

    @cache
    def run(paper):
        mpl.use("Agg")
        module = import_module(f"{paper}.page")
        setting = Setting(tmp_path_factory.mktemp(paper), fast=True, n_jobs=1)
        measure = getattr(module, "measure", lambda setting: None)
        write = getattr(module, "write", lambda found, setting: module.make(setting))
        found = measure(setting)
        return found, write(found, setting)

    return run
