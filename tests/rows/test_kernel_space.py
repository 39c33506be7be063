"""Kernel-induced spaces are learned from rows in memory; every engine gives what an array gives."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import typicality
from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    open_rows,
)
from typicality.cluster import _learned
from typicality.rows import ArrayRows, DistinctRows

dask = pytest.importorskip("dask", reason="Dask is not installed: its engine is not tested")
import dask.array as da  # noqa: E402

CUTS = (150, 150, 450)
GAUSSIAN = {"kernel": "gaussian", "random_state": 0}
ESTIMATORS = [
    FuzzyCMeans(3, **GAUSSIAN),
    EntropyCMeans(3, **GAUSSIAN),
    PossibilisticCMeans(3, sigma=2.0, **GAUSSIAN),
    FuzzyCMeans(3, kernel="local", m=1.2, random_state=0),
    AdaptivePCM(5, kernel="gaussian"),
    SequentialPCM(kernel="laplacian", lam=0.05),
    OneClusterPCM(),
    OneClusterPCM(trim=0.2),
    OneClusterPCM(kernel="polynomial"),
    OneClusterPCM(kernel="linear"),
    OneClusterPCM(sigma=1.5, contamination=0.01, novelty=True),
    OneClusterPCM(weights="uniform", sigma=1.0),
    OneClusterPCM(calibration="split", random_state=0),
]
IN_THE_KIND = ("labels_", "typicality_")
pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


@pytest.fixture(scope="module", params=[2, 5], ids="{} features".format, name="X")
def rows_of_groups(request):
    return groups(request.param)


def groups(n_features):
    rng = np.random.default_rng([0, n_features])
    rows = [rng.normal(m, 1.0, (200, n_features)) for m in (0.0, 5.0, 10.0)]
    return rng.permutation(np.concatenate([*rows, rng.uniform(-4, 14, (30, n_features))]))


@pytest.fixture(scope="module")
def flat():
    return groups(2)


@pytest.fixture
def too_large(monkeypatch):
    """Whatever is not an array does not fit into memory."""
    monkeypatch.setattr(_learned, "_READ_BYTES", 0)


def chunked(X, cuts=CUTS):
    sizes = [stop - start for start, stop in pairwise((0, *cuts, len(X)))]
    return da.from_array(X, chunks=(tuple(sizes), *((n,) for n in X.shape[1:])))


def engines(X, folder):
    """The same rows in blocks, in a file, in a Dask collection."""
    np.save(folder / "rows.npy", X)
    return ArrayRows(X, cuts=CUTS), open_rows(folder / "rows.npy"), chunked(X)


def with_weights(place, n_rows):
    """Weights for every second estimator."""
    weight = np.random.default_rng(1).integers(0, 3, n_rows).astype(float)
    return {"sample_weight": weight} if place % 2 else {}


def of_kind(rows, options):
    """The weights in the kind of the rows."""
    is_dask = dask.is_dask_collection(rows)
    return {name: chunked(value) if is_dask else value for name, value in options.items()}


# ---- every engine gives the labels of the array --------------------------------------------------


@pytest.mark.parametrize(("place", "estimator"), list(enumerate(ESTIMATORS)), ids=repr)
def test_small_collections_are_the_array(tmp_path, X, place, estimator):
    options = with_weights(place, len(X))
    plain = clone(estimator).fit(X, **options)
    with dask.config.set(scheduler="synchronous"):
        for rows in engines(X, tmp_path):
            model = clone(estimator).fit(rows, **of_kind(rows, options))
            for name in vars(plain).keys() & {"objective_path_", "offset_", "eta_", "n_iter_"}:
                assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
            for name in vars(plain).keys() & set(IN_THE_KIND):
                found = np.asarray(getattr(model, name))
                assert_allclose(found, getattr(plain, name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("estimator", [ESTIMATORS[0], ESTIMATORS[4], ESTIMATORS[6]], ids=repr)
def test_large_collections_are_a_sample_of_the_array(tmp_path, X, estimator):
    estimator = clone(estimator).set_params(max_samples=250)
    plain = clone(estimator).fit(X)
    with dask.config.set(scheduler="synchronous"):
        for rows in engines(X, tmp_path):
            model = clone(estimator).fit(rows)
            assert_array_equal(model.objective_path_, plain.objective_path_)
            for name in vars(plain).keys() & set(IN_THE_KIND):
                found = np.asarray(getattr(model, name))
                assert_allclose(found, getattr(plain, name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("estimator", [ESTIMATORS[0], ESTIMATORS[6]], ids=repr)
def test_a_sample_does_not_depend_on_the_order_of_rows_and_weights_are_copies(X, rng, estimator):
    estimator = clone(estimator).set_params(max_samples=250)
    order = rng.permutation(len(X))
    one, other = clone(estimator).fit(X), clone(estimator).fit(X[order])
    assert_array_equal(one.objective_path_, other.objective_path_)
    assert_array_equal(one.predict(X), other.predict(X))
    weight = rng.integers(0, 4, len(X))
    copies = clone(estimator).fit(rng.permutation(np.repeat(X, weight, axis=0)))
    few = DistinctRows.of(X, weight.astype(float), at_most=250)
    alone = clone(estimator).set_params(max_samples=None).fit(few.rows, sample_weight=few.weight)
    assert_allclose(copies.objective_path_, alone.objective_path_, rtol=1e-9)
    weighted = clone(estimator).fit(X, sample_weight=weight.astype(float))
    assert_array_equal(weighted.predict(X), copies.predict(X))


def test_auto_takes_all_rows_only_where_sums_are_linear(monkeypatch, X):
    monkeypatch.setattr(_learned, "_MOST_ROWS", 250)
    is_sample = X.shape[1] > 3
    model = OneClusterPCM().fit(X)
    assert hasattr(model, "weights_") != is_sample
    assert len(model.typicality_) == len(X)
    assert len(OneClusterPCM(kernel="laplacian").fit(X)._left_out.weights) == 250
    assert len(OneClusterPCM(max_samples=None).fit(X).weights_) == len(X)
    memberships = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    assert len(FuzzyCMeans(3, kernel="laplacian", init=memberships).fit(X).labels_) == len(X)


# ---- outliers and rates --------------------------------------------------------------------------


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("n_features", [2, 6])
def test_outliers_of_a_file_are_those_of_an_array(tmp_path, n_features):
    """Isolated rows do not vouch for themselves, whether or not they are in the sample."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, n_features))
    X[990:] *= 1000
    for estimator in (
        OneClusterPCM(contamination=0.01),
        OneClusterPCM(contamination=0.01, max_samples=400),
    ):
        for rows in (X, *engines(X, tmp_path)):
            with dask.config.set(scheduler="synchronous"):
                model = clone(estimator).fit(rows)
                assert_array_equal(np.flatnonzero(model.predict(X) < 0), np.arange(990, 1000))
                assert_array_equal(np.asarray(model.predict(rows)), model.predict(X))


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("max_samples", ["auto", 300])
def test_rates_hold_on_new_rows_of_heavy_tails(tmp_path, max_samples):
    flagged, small = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        np.save(tmp_path / "rows.npy", rng.standard_t(4, (600, 10)))
        new = rng.standard_t(4, (1000, 10))
        model = OneClusterPCM(contamination=0.1, novelty=True, max_samples=max_samples)
        model.fit(open_rows(tmp_path / "rows.npy"))
        flagged.append(np.mean(model.predict(new) < 0))
        small.append(np.mean(model.p_values(new) <= 0.1))
    assert np.mean(flagged) == pytest.approx(0.1, abs=0.02)
    assert np.mean(small) == pytest.approx(0.1, abs=0.02)


def test_thresholds_of_very_many_rows_are_found_by_passes(monkeypatch, flat, rng):
    estimator = OneClusterPCM(max_samples=250)
    plain = clone(estimator).fit(flat)
    monkeypatch.setattr(_learned, "_SCORES_IN_MEMORY", 100)
    passes = clone(estimator).fit(ArrayRows(flat, cuts=CUTS))
    assert passes.offset_ == pytest.approx(plain.offset_, rel=1e-12)
    new = flat[:200] + rng.normal(size=(200, 2))
    ratio = passes.p_values(new) / plain.p_values(new)
    assert ratio.min() > 1 - 1e-9  # bins of a histogram make p-values larger, never smaller
    assert np.median(ratio) == pytest.approx(1, abs=1e-3)


@pytest.mark.usefixtures("too_large")
def test_half_of_the_rows_calibrates_the_density_of_the_other_half(flat):
    rows = ArrayRows(flat, cuts=CUTS)
    fitted, _, held_out = _learned._halves(rows, 0.0)
    kept = held_out.map(lambda block: block.weight) > 0
    assert 0.4 < kept.mean() < 0.6
    assert_array_equal(fitted.map(lambda block: block.weight) > 0, ~kept)
    other = _learned._halves(ArrayRows(flat), 0.0)[2].map(lambda block: block.weight) > 0
    assert_array_equal(other, kept)
    estimator = OneClusterPCM(sigma=2.0, calibration="split", random_state=0)
    model = clone(estimator).fit(rows)
    assert np.mean(model.predict(flat) < 0) == pytest.approx(0.05, abs=0.03)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        clone(estimator).fit(ArrayRows(flat, np.ones(len(flat)), CUTS))
    with pytest.raises(ValueError, match="needs 4 to"):
        clone(estimator).fit(ArrayRows(flat[:3]))


# ---- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [OneClusterPCM(), FuzzyCMeans(3, **GAUSSIAN), AlphaCutClustering()], ids=repr
)
def test_models_are_saved_without_what_is_lazy(tmp_path, X, estimator):
    with dask.config.set(scheduler="synchronous"):
        model = clone(estimator).fit(chunked(X))
        typicality.save(model, tmp_path / "model")
    loaded = typicality.load(tmp_path / "model")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(loaded, "labels_")
    assert not hasattr(loaded, "typicality_")


# ---- alpha-cuts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        AlphaCutClustering(),
        AlphaCutClustering(kernel="gaussian", alpha=0.1),
        AlphaCutClustering(kernel="cauchy", alpha=0.1),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_cuts_of_few_rows_are_those_of_an_array(tmp_path, flat, estimator):
    X = np.concatenate([flat, flat[:100]])
    plain = clone(estimator).fit(X)
    np.save(tmp_path / "rows.npy", X)
    read = clone(estimator).fit(open_rows(tmp_path / "rows.npy"))
    with dask.config.set(scheduler="synchronous"):
        spread = clone(estimator).fit(chunked(X))
        assert_array_equal(spread.labels_.compute(), plain.labels_)
        assert_array_equal(spread.memberships_.compute(), plain.memberships_)
    assert_array_equal(read.labels_, plain.labels_)
    assert_array_equal(read.typicality_, plain.typicality_)
    assert_array_equal(X[read.medoid_indices_], plain.medoids_)
    assert not hasattr(read, "memberships_")
    with pytest.raises(ValueError, match="labels_at cannot label"):
        read.labels_at(0.5)
    with pytest.raises(ValueError, match="fit the model on an array"):
        spread.report(X)


def test_cuts_of_a_sample_label_every_row(monkeypatch, flat):
    from typicality.rows import base

    monkeypatch.setattr(base, "LARGEST_SAMPLE", 300)
    monkeypatch.setattr(base.Rows.sample, "__defaults__", (300,))
    plain = AlphaCutClustering().fit(flat)
    some = AlphaCutClustering().fit(ArrayRows(flat, cuts=CUTS))
    assert some.tree_.n_nodes == 300
    assert "a sample of" in some.sums_
    assert len(some.labels_) == len(flat)
    assert plain.n_clusters_ == some.n_clusters_ == 3
    assert adjusted_rand_score(some.labels_, plain.labels_) > 0.9


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["connectivity", "precomputed", "dissimilarities"])
@pytest.mark.usefixtures("too_large")
def test_kernels_of_all_rows_are_refused(flat, kernel):
    for estimator in (OneClusterPCM(kernel=kernel), FuzzyCMeans(3, kernel=kernel)):
        with pytest.raises(ValueError, match="needs all rows in memory"):
            estimator.fit(ArrayRows(flat))
