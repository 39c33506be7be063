"""The first fit on a machine: small c-means compile nothing, and agree with compiled code."""

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

import instances
import typicality
from processes import python
from typicality.cli import main, warm_up
from typicality.compiled import small
from typicality.spaces.euclidean import Centroids

FITS = """
import json, os, sys, warnings
from importlib import import_module
import numpy as np
from typicality._estimators import ESTIMATORS
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(100, 4)), 9 + rng.normal(size=(100, 4))])
for info in ESTIMATORS.values():
    if info.name in ("AlphaCutClustering", "AutoClustering", "JoinedMixture"):  # votes are compiled
        continue
    number = {"n_clusters": 2} if info.number in ("given", "start") else {}
    model = getattr(import_module(info.module), info.name)(**number).fit(X)
    model.predict(X[:5])
print(json.dumps(["numba" in sys.modules, os.listdir(os.environ["NUMBA_CACHE_DIR"])]))
"""


def test_small_fits_load_no_numba(tmp_path):
    assert python(FITS, NUMBA_CACHE_DIR=str(tmp_path)) == [False, []]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", ["FuzzyCMeans", "PossibilisticCMeans", "SequentialPCM", "AdaptivePCM"]
)
def test_estimators_find_the_same_with_and_without_compiled_code(name, monkeypatch):
    X, _ = make_blobs([120, 80, 60], 3, random_state=4)
    drawn = {"n_clusters": 3, "random_state": 0}
    number = drawn if name in ("FuzzyCMeans", "PossibilisticCMeans") else {}
    made = []
    for longest in (-1.0, np.inf):
        monkeypatch.setattr(small, "_LONGEST", longest)
        made.append(getattr(typicality, name)(**number).fit(X))
    compiled, by_arrays = made
    assert_array_equal(by_arrays.labels_, compiled.labels_)
    assert_array_equal(by_arrays.predict(X), compiled.predict(X))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("rule", instances.rules(3), ids=instances.describe)
def test_rows_get_the_same_numbers_on_both_sides_of_the_switch(rule, dtype, rng, monkeypatch):
    X = rng.normal(size=(400, 5)).astype(dtype)
    centroids = Centroids.at(X[:3], X.mean(axis=0))
    last = 300  # rows that arrays do, and one row more that they do not
    monkeypatch.setattr(
        Centroids,
        "form_of",
        lambda self, rule, X, n_rows: None if n_rows <= last else rule.compiled_form,
    )
    precision = 1e-11 if dtype == "f8" else 2e-5
    at_most, more = X[:last], X[: last + 1]
    for method in (centroids.memberships, centroids.labels):
        assert_allclose(method(rule, at_most), method(rule, more)[:last], precision, precision)
    assert_allclose(centroids.sqdist(at_most), centroids.sqdist(more)[:last], precision, precision)
    weight = np.append(np.ones(last), 0.0).astype(dtype)
    by_arrays = instances.sums_of(rule, centroids, at_most)
    compiled = instances.sums_of(rule, centroids, more, weight)
    for field in ("sums", "mass", "within", "objective"):
        expected = getattr(compiled, field)
        assert_allclose(getattr(by_arrays, field), expected, 100 * precision, 100 * precision)


# ---- the cache, and what fills it ----------------------------------------------------------------


def test_warm_up_runs_fits_in_processes(monkeypatch):
    monkeypatch.setattr(warm_up, "KERNELS", ())
    monkeypatch.setattr(warm_up, "FITS", [("FuzzyCMeans", {"n_clusters": 2})])
    result = CliRunner().invoke(main, ["warm-up", "--jobs", "1"])
    assert (result.exit_code, result.output) == (0, "All code is compiled.\n")


@pytest.mark.usefixtures("compiling")
def test_warm_up_compiles_the_loops_of_all_rules_and_kernels():
    from typicality.compiled.pair_sums import sum_pairs
    from typicality.compiled.point_sums import coincidences_at, log_sums_at, sum_at
    from typicality.compiled.sweep import fold_rows

    for kernel in warm_up.KERNELS:
        warm_up.run_sums(kernel)
    for name, parameters in warm_up.FITS:
        warm_up.run_fit(name, **parameters)

    def forms(loop):
        return {signature[0].instance_class.__name__ for signature in loop.on_disk.signatures}

    for loop in (sum_pairs, sum_at, coincidences_at, log_sums_at):
        assert forms(loop) >= {"GaussianForm", "LaplacianForm", "CauchyForm"}
    ours = {type(rule.compiled_form).__name__ for rule in instances.rules(2)} - {"NoneType"}
    assert forms(fold_rows) >= ours
