"""The package as a whole: imports, layers, citations, documentation."""

import ast
import inspect
import os
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mutations
import typicality
from processes import python
from typicality.cli import main

pytestmark = pytest.mark.xdist_group("package")  # long: it begins first

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "typicality"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
HEAVY = ["sklearn", "numba", "torch", "dask", "matplotlib", "finufft", "scipy", "pandas"]

# From the ground up: a module may import those above its own line only, or within its package.
LAYERS = [
    ["_typing", "_words"],
    [
        "exceptions",
        "_arguments",
        "_cached",
        "_compat",
        "_estimators",
        "_files",
        "datasets",
        "minimax",
    ],
    ["_progress", "_record", "_sparse", "_tensors", "compiled"],
    ["_threads", "kernels", "membership"],
    ["tables"],
    ["rows"],
    ["sums"],
    ["spaces"],
    ["_checks", "bandwidth", "density", "explain", "solve"],
    ["levelsets", "metrics"],
    ["fitted"],
    ["report"],
    ["cluster", "plot", "preprocessing"],
    ["compare", "run_folder"],
    ["model", "stability", "validity"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

PUBLIC_MODULES = [
    "typicality",
    "typicality.bandwidth",
    "typicality.cluster",
    "typicality.datasets",
    "typicality.exceptions",
    "typicality.kernels",
    "typicality.levelsets",
    "typicality.membership",
    "typicality.membership.spread",
    "typicality.metrics",
    "typicality.model",
    "typicality.plot",
    "typicality.preprocessing",
    "typicality.report",
    "typicality.run_folder",
    "typicality.stability",
    "typicality.tables",
    "typicality.validity",
]


def test_import_loads_nothing_heavy():
    at_first, with_parts = python(
        "import json, sys, typicality\nfirst = list(sys.modules)\n"
        "import typicality.metrics, typicality.plot\ntypicality.FuzzyCMeans\n"
        "print(json.dumps([first, list(sys.modules)]))"
    )
    assert set(HEAVY) & set(at_first) == set()
    assert {"numba", "matplotlib"} & set(with_parts) == set()  # until they are needed


def test_public_names_resolve_lazily():
    for name in typicality.__all__:
        assert getattr(typicality, name) is not None
    assert set(typicality.__all__) <= set(dir(typicality))
    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        typicality.KMeans


def modules():
    return sorted(SOURCE.rglob("*.py"))


def imports_of(path):
    """Names of the top-level parts of typicality that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{a.name}" for a in node.names]
        yield from (n.split(".")[1] for n in names if n.startswith("typicality."))


def part_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def test_imports_point_downwards():
    above_all = {"__init__": len(LAYERS)}
    homes = {name: LEVEL[home.split(".")[1]] for name, home in typicality._HOMES.items()}
    known = LEVEL | homes | {"__version__": -1} | above_all
    parts = {path: part_of(path) for path in modules()}
    assert set(parts.values()) - set(known) == set(), "give each new module a layer"
    wrong = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path, part in parts.items()
        for name in imports_of(path)
        if name != part and known[name] >= known[part]
    ]
    assert wrong == []


def test_private_scikit_learn_stands_in_one_place():
    private = re.compile(r"from sklearn[\w.]*\._\w+ import|from sklearn[\w.]* import .*\b_\w+")
    found = [p.name for p in modules() if private.search(p.read_text())]
    assert found == ["_compat.py"]


def test_citations_are_in_the_bibliography():
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text()))
    cited = {
        key
        for path in modules()
        for keys in re.findall(r":cite:`([^`]+)`", path.read_text())
        for key in keys.split(",")
    }
    assert cited
    assert cited - known == set()


def public_objects():
    """Public classes and functions, by their full names."""
    names = [(module, name) for module in PUBLIC_MODULES for name in import_module(module).__all__]
    objects = {f"{m}.{name}": getattr(import_module(m), name) for m, name in names}
    return {
        name: obj
        for name, obj in objects.items()
        if inspect.isclass(obj) or inspect.isfunction(obj)
    }


def test_public_names_are_documented():
    pages = [(ROOT / "docs" / name).read_text() for name in ("api.rst", "api_parts.rst")]
    listed = set(re.findall(r"\w+", "".join(pages)))
    wrong = [
        name
        for name, obj in public_objects().items()
        if not inspect.getdoc(obj) or obj.__name__ not in listed
    ]
    assert wrong == [], "these have no docstring or are not in docs/api.rst or api_parts.rst"


@pytest.mark.parametrize("page", ["api.rst", "api_parts.rst"])
def test_documented_names_exist(page):
    missing, module = [], None
    for line in (ROOT / "docs" / page).read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = import_module(line.split()[-1])
        elif re.fullmatch(r" {3}\w+", line) and not hasattr(module, line.strip()):
            missing.append(line.strip())
    assert missing == ["api_parts"] * (page == "api.rst")  # which is a page


ESTIMATORS = {
    "AdaptivePCM": {},
    "AlphaCutClustering": {},
    "AutoClustering": {"random_state": 0},
    "EntropyCMeans": {"n_clusters": 3, "random_state": 0},
    "FuzzyCMeans": {"n_clusters": 3, "covariance_type": "full", "random_state": 0},
    "JoinedMixture": {},
    "OneClusterPCM": {},
    "PossibilisticCMeans": {"n_clusters": 3, "covariance_type": "full", "random_state": 0},
    "SequentialPCM": {},
    "SparseAdaptivePCM": {},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_documents_every_parameter(name):
    estimator = getattr(typicality, name)
    documented = re.findall(r"^    (\w+) : ", estimator.__doc__, flags=re.MULTILINE)
    assert set(inspect.signature(estimator).parameters) <= set(documented)


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_documents_every_attribute(name, blobs):
    model = getattr(typicality, name)(**ESTIMATORS[name]).fit(blobs[0])
    public = {a for a in vars(model) if a.endswith("_") and not a.startswith("_")}
    documented = re.findall(r"^    (\w+_) : ", model.__doc__, flags=re.MULTILINE)
    assert public <= set(documented)
    assert set(documented) <= public | {"feature_names_in_"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_docstring_examples_print_what_they_say(name):
    import doctest

    estimator = getattr(typicality, name)
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(estimator, name, globs={}):
        runner.run(example)
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_readme_example_prints_what_it_says(capsys):
    text = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL).group(1)
    printed = re.search(r"prints\n\n```text\n(.*?)```", text, flags=re.DOTALL).group(1)
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_llms_txt_names_estimators_parameters_and_commands_that_exist():
    text = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    calls = re.findall(r"\b([A-Z]\w+)\(([^)]*)\)", text)
    assert {name for name, _ in calls} == ESTIMATORS.keys()
    for name, arguments in calls:
        parameters = set(re.findall(r"[a-z]\w*", re.sub(r"=[^,]*", "", arguments)))
        assert parameters <= set(inspect.signature(getattr(typicality, name)).parameters)
    commands = re.findall(r"typicality ([a-z-]+) [A-Z]", text)
    assert commands
    assert set(commands) <= set(main.list_commands(None))


FIT = """
import gc, json, numpy as np
from numba.core.dispatcher import Dispatcher
from typicality import FuzzyCMeans
X = np.random.default_rng(0).normal(size=(9000, 5)).astype(np.float32)
model = FuzzyCMeans(4, m=1.6, tol=0, max_iter=9, random_state=0).fit(X)
bits = [model.cluster_centers_.tobytes().hex(), model.objective_]
"""
COUNTED = """
kept = [f.stats for f in gc.get_objects() if isinstance(f, Dispatcher) and f.stats.cache_path]
misses = sum(sum(stats.cache_misses.values()) for stats in kept)
print(json.dumps([misses, bits]))
"""
NO_FOLDER = "from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n"


def test_fit_reuses_compiled_code_and_gives_the_same_bits_where_it_cannot_be_kept():
    _, bits = python(FIT + COUNTED)  # compiles, unless an earlier process has
    assert python(FIT + COUNTED) == [0, bits]
    assert python(NO_FOLDER + FIT + COUNTED) == [0, bits]


def test_the_table_of_layers_is_true():
    """docs/architecture.md: packages from the top to the ground, and each one is there."""
    table = ARCHITECTURE.read_text("utf-8").partition("## Layers")[2].partition("\n## ")[0]
    rows = [
        re.findall(r"`(\w+)/?`", row) for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    ]
    levels = [min(LEVEL[name] for name in names) for names in rows]
    assert levels == sorted(levels, reverse=True)
    named = {name for names in rows for name in names}
    assert {name for name in LEVEL if not name.startswith("_")} == named - {"_checks"}


def packages_entered(action):
    """The packages of typicality that an action enters, in the order of first entry."""
    home, entered = f"{SOURCE}{os.sep}", {}

    def profile(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_flags & 1 and code.co_filename.startswith(home):
            entered[code.co_filename.removeprefix(home).split(os.sep)[0]] = True  # not an import

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return [name.removesuffix(".py") for name in entered]


def test_the_picture_of_the_house_is_true(blobs, tmp_path):
    """docs/architecture.md: a command and a fit enter the packages from left to right."""
    table = tmp_path / "rows.csv"
    np.savetxt(table, blobs[0], delimiter=",", header="x,y", comments="")
    command = ["cluster", str(table), "--output", str(tmp_path / "run"), "--force"]
    walks = {
        "fit": lambda: typicality.FuzzyCMeans(3, random_state=0).fit(blobs[0]),
        "command": lambda: CliRunner().invoke(main, command, catch_exceptions=False),
    }
    text = ARCHITECTURE.read_text("utf-8")
    drawn = dict(re.findall(r"^(\w+): +(.*──>.*)$", text, re.MULTILINE))
    assert drawn.keys() == walks.keys()
    for name, walk in walks.items():
        packages = re.split(r" *──> *", drawn[name])
        walk()  # imports, which call functions of other packages
        entered = packages_entered(walk)
        assert [package for package in entered if package in packages] == packages


def test_deliberate_bugs_are_about_the_source_of_today():
    assert len(mutations.bugs()) > 100  # it ends with the entry whose text is gone
