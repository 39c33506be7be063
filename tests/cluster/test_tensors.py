"""Tensors of torch: fitted arrays and results live where X lives, with the numbers of arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import _array_api, get_tags
from sklearn.utils.estimator_checks import check_array_api_input
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import has_fit_parameter

from instances import CUTTERS, DETECTORS, KERNEL_ESTIMATORS, OTHERS, TRANSFORMERS
from sklearn_checks import VERSION
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM, load, save
from typicality._tensors import tensor_of
from typicality.fitted import view
from typicality.report import Report

torch = pytest.importorskip("torch")

ESTIMATORS = [*OTHERS, *TRANSFORMERS, KERNEL_ESTIMATORS[0], DETECTORS[2], CUTTERS[4]]
METHODS = [
    "predict",
    "predict_memberships",
    "predict_typicality",
    "transform",
    "score_samples",
    "decision_function",
    "p_values",
]


def ids(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'kernel', '')}"


def public(model):
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }


def seeded(estimator):
    seed = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    return clone(estimator).set_params(**seed)


@pytest.fixture
def rows(blobs):
    return blobs[0]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=ids)
def test_tensors_in_tensors_out_with_the_numbers_of_arrays(estimator, rows):
    by_arrays = seeded(estimator).fit(rows)
    model = seeded(estimator).fit(torch.as_tensor(rows))
    for name, expected in public(by_arrays).items():
        ours = getattr(model, name)
        numbers = isinstance(expected, np.ndarray) and expected.dtype.kind in "bif"
        assert isinstance(ours, torch.Tensor) == numbers
        if numbers:
            assert_array_equal(ours.numpy(), expected)
    for name in filter(lambda name: hasattr(model, name), METHODS):
        ours = getattr(model, name)(torch.as_tensor(rows[::2]))
        assert isinstance(ours, torch.Tensor)
        assert_array_equal(ours.numpy(), getattr(by_arrays, name)(rows[::2]))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_type_of_a_tensor_decides_the_precision(dtype, rows):
    X = torch.as_tensor(10 * rows).to(getattr(torch, dtype))
    expected = torch.float64 if dtype == "int64" else torch.float32
    assert OneClusterPCM().fit(X).typicality_.dtype == expected


def test_weights_and_starts_may_be_tensors(rows, rng):
    weight, init = rng.random(len(rows)), rows[[0, 60, 120]]
    expected = FuzzyCMeans(n_clusters=3, init=init).fit(rows, sample_weight=weight)
    tensors = map(torch.as_tensor, (rows, weight, init))
    X, weight, init = tensors
    model = FuzzyCMeans(n_clusters=3, init=init).fit(X, sample_weight=weight)
    assert model.init is init
    assert_array_equal(model.cluster_centers_.numpy(), expected.cluster_centers_)
    assert model.score(X, sample_weight=weight) == expected.score(
        rows, sample_weight=weight.numpy()
    )


def test_model_must_not_see_its_tensor_change(rows):
    X = torch.as_tensor(rows.copy())
    model = OneClusterPCM().fit(X)
    before = model.score_samples(torch.as_tensor(rows))
    X += 1.0
    assert_array_equal(model.score_samples(torch.as_tensor(rows)), before)


since_1_9 = pytest.mark.skipif(
    parse_version("1.9") > VERSION,
    reason="scikit-learn before 1.9 cannot move an estimator, and its check uses different seeds",
)
STRICT = ("array_api_strict", "CPU_DEVICE", "float64")


@since_1_9
@pytest.mark.parametrize(
    ("estimator", "kind"),
    [(FuzzyCMeans(random_state=0), ("torch", "cpu", "float32")), (OneClusterPCM(), STRICT)],
    ids=str,
)
def test_estimators_follow_the_array_api_as_scikit_learn_checks_it(estimator, kind):
    assert get_tags(estimator).array_api_support
    check_array_api_input(
        type(estimator).__name__, estimator, *kind, check_values=True, check_sample_weight=True
    )


def test_other_libraries_are_followed_where_dispatch_is_on(rows):
    xp = pytest.importorskip("array_api_strict")
    X = xp.asarray(rows)
    with config_context(array_api_dispatch=True):
        model = OneClusterPCM().fit(X)
        assert isinstance(model.predict(X), type(X))
        with pytest.raises(ValueError, match="Pass an array of array_api_strict"):
            model.predict(rows)
        with pytest.raises(ValueError, match="Pass an array of NumPy"):
            OneClusterPCM().fit(rows).predict(X)


@since_1_9
def test_a_model_can_be_moved_to_numpy(rows):
    xp = pytest.importorskip("array_api_strict")
    with config_context(array_api_dispatch=True):
        model = OneClusterPCM().fit(xp.asarray(rows))
        moved = _array_api.move_estimator_to(model, np, device="cpu")
    assert_array_equal(moved.predict(rows), OneClusterPCM().fit(rows).predict(rows))


def test_devices_without_float64_get_float32(monkeypatch):
    made = []
    monkeypatch.setattr(torch, "tensor", lambda values, device: made.append((values.dtype, device)))
    tensor_of(np.zeros(3), "mps:0")
    tensor_of(np.zeros(3), "cuda:0")
    assert made == [(np.float32, "mps:0"), (np.float64, "cuda:0")]


@pytest.mark.parametrize(
    "estimator",
    [FuzzyCMeans(n_clusters=3, random_state=0), OneClusterPCM(), AlphaCutClustering()],
    ids=ids,
)
def test_reports_and_views_of_tensors_are_those_of_arrays(estimator, rows):
    X = torch.as_tensor(rows)
    model, expected = clone(estimator).fit(X), clone(estimator).fit(rows)
    assert Report.from_estimator(model, X).html == Report.from_estimator(expected, rows).html
    ours, theirs = view(model, X, training=True), view(expected, rows, training=True)
    assert_array_equal(ours.strength, theirs.strength)


@pytest.mark.parametrize("method", ["predict", "score_samples", "p_values"])
def test_predicting_with_another_kind_of_rows_is_refused(method, rows):
    X = torch.as_tensor(rows)
    with pytest.raises(ValueError, match=r"array.*tensor on cpu"):
        getattr(OneClusterPCM().fit(X), method)(rows)
    with pytest.raises(ValueError, match=r"tensor on cpu.*array"):
        getattr(OneClusterPCM().fit(rows), method)(X)


def test_a_fit_on_an_array_forgets_the_device(rows):
    model = OneClusterPCM().fit(torch.as_tensor(rows)).fit(rows)
    assert isinstance(model.typicality_, np.ndarray)
    assert isinstance(model.predict(rows), np.ndarray)


def test_a_saved_model_of_tensors_is_one_of_arrays(rows, tmp_path):
    X = torch.as_tensor(rows)
    model = OneClusterPCM().fit(X)
    loaded = load(save(model, tmp_path / "model"))
    assert_array_equal(loaded.typicality_, model.typicality_.numpy())
    assert_array_equal(loaded.score_samples(rows), model.score_samples(X).numpy())


PLAIN = [pytest.param(one, False, id=f"{ids(one)}-plain") for one in ESTIMATORS]
WEIGHTED = [
    pytest.param(one, True, id=f"{ids(one)}-weighted")
    for one in ESTIMATORS
    if has_fit_parameter(one, "sample_weight")
]


@pytest.fixture
def device(monkeypatch):
    """A CPU that is taken for a device of its own."""
    monkeypatch.setattr("typicality.cluster._estimator._ON_CPU", ())
    return "cpu"


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("estimator", "weighted"), [*PLAIN[::2], *WEIGHTED[1::2]])
def test_a_device_gives_what_compiled_code_gives(estimator, weighted, rows, rng):
    weight = {"sample_weight": rng.integers(0, 3, len(rows)).astype(float)} if weighted else {}
    expected = seeded(estimator).fit(rows, **weight)
    X = torch.as_tensor(rows)
    model = seeded(estimator).fit(X, **weight)
    for name in filter(lambda name: hasattr(model, name), METHODS):
        ours = getattr(model, name)(X)
        assert_allclose(ours.numpy(), getattr(expected, name)(rows), rtol=1e-6, atol=1e-9)


@pytest.mark.usefixtures("device")
def test_sums_on_a_device_are_kept_as_compiled_ones(rows, tmp_path):
    X = torch.as_tensor(rows)
    model = OneClusterPCM(kernel="cauchy").fit(X)
    assert "on cpu" in model.sums_
    loaded = load(save(model, tmp_path / "model"))
    assert_allclose(loaded.score_samples(rows), model.score_samples(X).numpy(), rtol=1e-9)
    expected = OneClusterPCM(kernel="cauchy").fit(rows)
    assert_allclose(loaded.score_samples(rows), expected.score_samples(rows), rtol=1e-6)
    assert_allclose(model.typicality_.numpy(), expected.typicality_, rtol=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=ids)
def test_a_gpu_gives_what_a_cpu_gives(estimator, rows):
    """Labels are the same, and numbers within the promise."""
    X = torch.as_tensor(rows, device="cuda")
    by_arrays = seeded(estimator).fit(rows)
    model = seeded(estimator).fit(X)
    for name, expected in public(by_arrays).items():
        ours = getattr(model, name)
        if isinstance(ours, torch.Tensor):
            assert ours.device.type == "cuda"
            assert ours.shape == expected.shape
    for name in filter(lambda name: hasattr(model, name), METHODS):
        ours = getattr(model, name)(X)
        assert ours.device.type == "cuda"
        expected = getattr(by_arrays, name)(rows)
        assert_allclose(ours.cpu().numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("d", [2, 8, 40])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
def test_one_cluster_on_a_gpu_keeps_its_promise(kernel, d):
    rng = np.random.default_rng(d)
    # More rows than those whose sums are always exact.
    X = np.vstack([rng.normal(size=(8000, d)), 30.0 * rng.normal(size=(20, d))])
    expected = OneClusterPCM(kernel=kernel, rtol=0.0).fit(X)
    tensor = torch.as_tensor(X, device="cuda")
    model = OneClusterPCM(kernel=kernel).fit(tensor)
    assert ("fused" in model.sums_) == (kernel == "gaussian")
    off = np.abs(model.typicality_.cpu().numpy() - expected.typicality_)
    assert off.max() < 2e-5
    scores, exact = model.score_samples(tensor).cpu().numpy(), expected.score_samples(X)
    assert_allclose(scores, exact, rtol=1e-4, atol=1e-4)
    assert (model.predict(tensor).cpu().numpy() == expected.predict(X)).mean() > 0.999
