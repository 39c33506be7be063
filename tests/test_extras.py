"""The library without the packages of the command line: click, rich and pyarrow are extras."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

EXTRA = 'pip install "typicality[cli]"'
WITHOUT = """
import sys
from importlib.util import find_spec
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, *more):
        hidden = name.partition(".")[0] in ("click", "rich", "pyarrow")
        return None if hidden else super().find_spec(name, *more)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
"""


def python_without_extras(code):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=False
    )


def test_library_works_without_extras(tmp_path):
    done = python_without_extras(
        "import numpy as np, pandas as pd, polars as pl, typicality\n"
        "from typicality import *\n"
        "for kind in (np.asarray, pd.DataFrame, pl.DataFrame):\n"
        "    X = kind(np.random.default_rng(0).normal(size=(90, 2)))\n"
        "    model = FuzzyCMeans(3, random_state=0).fit(X)\n"
        f"    again = load(save(model, {str(tmp_path / 'model')!r}, overwrite=True))\n"
        "    print((again.predict(X) == model.labels_).all())\n"
    )
    assert done.stdout.split() == ["True"] * 3, done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "import typicality; typicality.open_rows('rows.parquet')",
        "from typicality.tables import open_table",
        "import typicality.__main__; typicality.__main__.run()",
    ],
    ids=["files", "tables", "command"],
)
def test_what_needs_an_extra_names_it(code):
    done = python_without_extras(code)
    assert done.returncode == 1
    assert EXTRA in done.stderr.splitlines()[-1]


def test_saving_imports_neither_torch_nor_dask(tmp_path):
    """Which skops would bring along where they are installed; they can be imported later."""
    code = (
        "import sys, typicality\n"
        f"typicality.save(typicality.FuzzyCMeans(2), {str(tmp_path / 'model')!r})\n"
        f"typicality.load({str(tmp_path / 'model')!r})\n"
        "assert not {'torch', 'dask'} & {*sys.modules}, 'imported'\n"
    ) + "import dask\n" * (find_spec("dask") is not None)
    subprocess.run([sys.executable, "-c", code], check=True)
