"""The package as a whole: imports, layers, citations, documentation."""

import ast
import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import typicality

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "typicality"
HEAVY = ["sklearn", "numba", "torch", "dask", "matplotlib", "finufft", "scipy", "pandas"]

# From the ground up: a module may import those above its own line only, or within its package.
LAYERS = [
    [
        "exceptions",
        "_arguments",
        "_compat",
        "_estimators",
        "_files",
        "_quantiles",
        "_words",
        "datasets",
        "plan",
        "compiled",
        "minimax",
    ],
    ["_threads", "kernels", "membership", "tables"],
    ["operators"],
    ["geometry"],
    ["bandwidth", "solve"],
    ["levelsets", "metrics"],
    ["report"],
    ["cluster", "plot", "preprocessing"],
    ["persistence", "comparison", "validation"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

PUBLIC_MODULES = [
    "typicality",
    "typicality.bandwidth",
    "typicality.cluster",
    "typicality.comparison",
    "typicality.datasets",
    "typicality.exceptions",
    "typicality.kernels",
    "typicality.levelsets",
    "typicality.membership",
    "typicality.membership.spread",
    "typicality.metrics",
    "typicality.persistence",
    "typicality.plan",
    "typicality.plot",
    "typicality.preprocessing",
    "typicality.report",
    "typicality.tables",
    "typicality.validation",
]


def python(code):
    """Run code in a fresh interpreter and read the JSON it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_loads_nothing_heavy():
    loaded = python("import json, sys, typicality; print(json.dumps(sorted(sys.modules)))")
    assert [name for name in HEAVY if name in loaded] == []


def test_compiled_code_is_loaded_only_when_needed():
    loaded = python(
        "import json, sys\nfrom typicality import FuzzyCMeans\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    assert "numba" not in loaded


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


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_downwards(path):
    part = path.relative_to(SOURCE).with_suffix("").parts[0]
    above_all = {"__init__": len(LAYERS)}
    level = (LEVEL | above_all)[part]  # a new module must be given a layer
    homes = {name: LEVEL[home.split(".")[1]] for name, home in typicality._HOMES.items()}
    known = LEVEL | homes | {"__version__": -1}
    wrong = [name for name in imports_of(path) if name != part and known[name] >= level]
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


def public_objects(kind):
    return [
        pytest.param(getattr(import_module(module), name), id=f"{module}.{name}")
        for module in PUBLIC_MODULES
        for name in import_module(module).__all__
        if kind(getattr(import_module(module), name))
    ]


@pytest.mark.parametrize(
    "obj", public_objects(lambda o: inspect.isclass(o) or inspect.isfunction(o))
)
def test_public_names_are_documented(obj):
    assert inspect.getdoc(obj)
    assert re.search(rf"\b{obj.__name__}\b", (ROOT / "docs" / "api.rst").read_text())


def is_our_function(obj):
    return inspect.isfunction(obj) and obj.__module__.startswith("typicality.")


@pytest.mark.parametrize("function", public_objects(is_our_function))
def test_public_functions_are_typed(function):
    signature = inspect.signature(function)
    annotations = [p.annotation for p in signature.parameters.values()]
    assert inspect.Signature.empty not in [*annotations, signature.return_annotation]


ESTIMATORS = {
    "AdaptivePCM": {},
    "AlphaCutClustering": {},
    "AutoClustering": {"random_state": 0},
    "EntropyCMeans": {"n_clusters": 3, "random_state": 0},
    "FuzzyCMeans": {"n_clusters": 3, "random_state": 0},
    "OneClusterPCM": {},
    "PossibilisticCMeans": {"n_clusters": 3, "random_state": 0},
    "SequentialPCM": {},
    "SparseAdaptivePCM": {},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_documented(name):
    estimator = getattr(typicality, name)
    documented = re.findall(r"^    (\w+) : ", estimator.__doc__, flags=re.MULTILINE)
    assert set(inspect.signature(estimator).parameters) <= set(documented)


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_attribute_is_documented(name, blobs):
    model = getattr(typicality, name)(**ESTIMATORS[name]).fit(blobs[0])
    public = {a for a in vars(model) if a.endswith("_") and not a.startswith("_")}
    documented = re.findall(r"^    (\w+_) : ", model.__doc__, flags=re.MULTILINE)
    assert public <= set(documented)
    assert set(documented) <= public | {"feature_names_in_"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_method_is_on_the_page_of_the_estimator(name):
    template = ROOT / "docs" / "_templates" / "autosummary" / "estimator.rst"
    listed = re.findall(r'"(\w+)"', template.read_text())
    own = inspect.getmembers(getattr(typicality, name), inspect.isfunction)
    ours = {m for m, f in own if not m.startswith("_") and f.__module__.startswith("typicality")}
    assert ours
    assert ours <= set(listed)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_examples_in_docstrings(name):
    import doctest

    estimator = getattr(typicality, name)
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(estimator, name, globs={}):
        runner.run(example)
    assert runner.tries > 0
    assert runner.failures == 0


def test_second_process_reuses_the_compiled_code():
    code = (
        "import json, numpy as np\nfrom typicality import FuzzyCMeans\n"
        "FuzzyCMeans(2, random_state=0).fit(np.arange(20.0).reshape(10, 2))\n"
        "from typicality.compiled.sweep import fold_chunks, write_rows\n"
        "stats = [loop.on_disk.stats for loop in (fold_chunks, write_rows)]\n"
        "print(json.dumps([sum(stat.cache_misses.values()) for stat in stats]))"
    )
    python(code)
    assert python(code) == [0, 0]


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_readme_example_prints_what_it_says(capsys):
    text = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL).group(1)
    printed = re.search(r"prints\n\n```text\n(.*?)```", text, flags=re.DOTALL).group(1)
    exec(code, {})
    assert capsys.readouterr().out == printed


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_recipes_run():
    import doctest

    import matplotlib.pyplot as plt

    results = doctest.testfile(str(ROOT / "docs" / "howto.md"), module_relative=False)
    plt.close("all")
    assert results.attempted > 20
    assert results.failed == 0


def test_compiling_and_loading_from_the_cache_give_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = (
        "import json, numpy as np\nfrom typicality import FuzzyCMeans\n"
        "X = np.random.default_rng(0).normal(size=(9000, 5)).astype(np.float32)\n"
        "model = FuzzyCMeans(4, m=1.6, tol=0, max_iter=9, random_state=0).fit(X)\n"
        "from typicality.compiled.sweep import fold_chunks\n"
        "hits = sum(fold_chunks.on_disk.stats.cache_hits.values())\n"
        "print(json.dumps([hits, model.cluster_centers_.tobytes().hex(), model.objective_]))"
    )
    compiling, loading = python(code), python(code)
    assert (compiling[0], loading[0]) == (0, 1)
    assert compiling[1:] == loading[1:]


def test_without_a_folder_for_compiled_code_a_fit_still_works():
    code = (
        "import json, numpy as np\nfrom numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\nfrom typicality import FuzzyCMeans\n"
        "model = FuzzyCMeans(2, random_state=0).fit(np.arange(20.0).reshape(10, 2))\n"
        "print(json.dumps(model.n_clusters_))"
    )
    assert python(code) == 2
