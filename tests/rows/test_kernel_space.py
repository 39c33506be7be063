"""Kernel-induced spaces of rows that are read block by block, beside those of arrays.

Processes are in `test_engines.py`, which starts them.
"""

import pickle
from copy import deepcopy
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
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    open_rows,
)
from typicality.exceptions import BandwidthWarning, DegenerateSpreadWarning
from typicality.kernels import Gaussian, Mixed
from typicality.operators.bases import FourierBasis, LandmarkBasis
from typicality.rows import ArrayRows, file

dask = pytest.importorskip("dask", reason="Dask is not installed: its engine is not tested")
import dask.array as da  # noqa: E402

CUTS = (300, 300, 900)
GAUSSIAN = {"kernel": "gaussian", "random_state": 0}
CLUSTERERS = [
    FuzzyCMeans(3, **GAUSSIAN),
    EntropyCMeans(3, **GAUSSIAN),
    PossibilisticCMeans(3, sigma=2.0, **GAUSSIAN),
    PossibilisticCMeans(3, objective="1993", **GAUSSIAN),
]
DENSITIES = [
    OneClusterPCM(),
    OneClusterPCM(eta_scale=0.3, sigma=1.5, contamination=0.01),
    OneClusterPCM(weights="uniform", sigma=1.0),
]


def groups(n_features, n_rows=400, seed=0):
    rng = np.random.default_rng([seed, n_features])
    rows = [rng.normal(m, 1.0, (n_rows, n_features)) for m in (0.0, 5.0, 10.0)]
    return rng.permutation(np.concatenate([*rows, rng.uniform(-4, 14, (60, n_features))]))


@pytest.fixture(scope="module", params=[2, 5], ids="{} features".format, name="X")
def rows_of_groups(request):
    """Two features: waves; five: landmarks."""
    return groups(request.param)


@pytest.fixture(scope="module")
def flat():
    return groups(2)


def chunked(X, cuts=CUTS):
    sizes = [stop - start for start, stop in pairwise((0, *cuts, len(X)))]
    return da.from_array(X, chunks=(tuple(sizes), *((n,) for n in X.shape[1:])))


def way_of(X):
    return "Fourier series" if X.shape[1] <= 3 else "landmarks"


# ---- every engine gives the same bits ------------------------------------------------------------


@pytest.mark.parametrize("estimator", [CLUSTERERS[0], CLUSTERERS[2]], ids=repr)
def test_clusterers_have_the_same_bits_in_every_engine(tmp_path, monkeypatch, X, estimator):
    monkeypatch.setattr(file, "_BLOCK_ENTRIES", 500 * X.shape[1])
    np.save(tmp_path / "rows.npy", X)
    cuts = range(500, len(X), 500)
    estimator = clone(estimator).set_params(tol=0, max_iter=8)
    blocks = clone(estimator).fit(ArrayRows(X, cuts=cuts))
    opened = open_rows(tmp_path / "rows.npy")
    read = clone(estimator).fit(opened)
    with dask.config.set(scheduler="synchronous"):
        spread = clone(estimator).fit(chunked(X, cuts))
        labels, memberships = dask.compute(spread.labels_, spread.memberships_)
    for other in (read, spread):
        assert_array_equal(other.objective_path_, blocks.objective_path_)
    assert_array_equal(read.predict_memberships(opened), blocks.predict_memberships(X))
    assert_array_equal(labels, blocks.labels_)
    assert_array_equal(read.labels_, blocks.labels_)
    assert_array_equal(memberships, blocks.predict_memberships(X))
    assert not hasattr(read, "memberships_")
    assert not hasattr(read, "cluster_centers_")


@pytest.mark.parametrize(
    "estimator", [*DENSITIES[:2], OneClusterPCM(calibration="split", random_state=0)], ids=repr
)
def test_densities_have_the_same_bits_in_every_engine(tmp_path, monkeypatch, X, estimator):
    monkeypatch.setattr(file, "_BLOCK_ENTRIES", 500 * X.shape[1])
    np.save(tmp_path / "rows.npy", X)
    cuts = range(500, len(X), 500)
    estimator = clone(estimator).set_params(sigma=2.0 * np.sqrt(X.shape[1]))
    blocks = clone(estimator).fit(ArrayRows(X, cuts=cuts))
    opened = open_rows(tmp_path / "rows.npy")
    read = clone(estimator).fit(opened)
    with dask.config.set(scheduler="synchronous"):
        spread = clone(estimator).fit(chunked(X, cuts))
        typicality = spread.typicality_.compute()
        for name in ("predict", "score_samples", "decision_function", "p_values"):
            expected = getattr(blocks, name)(X)
            assert_array_equal(getattr(spread, name)(chunked(X)).compute(), expected)
            assert_array_equal(getattr(read, name)(opened), expected)
    assert_array_equal(typicality, blocks.typicality_)
    assert_array_equal(read.typicality_, blocks.typicality_)
    assert_array_equal(blocks.predict_typicality(X), blocks.typicality_)
    assert blocks.offset_ == read.offset_ == spread.offset_
    assert blocks.false_alarm_interval_ == read.false_alarm_interval_


def test_half_of_the_rows_calibrates_the_density_of_the_other_half(flat, rng):
    from typicality.cluster._density_by_blocks import _halves

    rows = ArrayRows(flat, cuts=CUTS)
    held_out = _halves(rows, 0)[1].map(lambda block: block.weight) > 0
    assert 0.4 < held_out.mean() < 0.6
    assert_array_equal(_halves(ArrayRows(flat), 0)[1].map(lambda block: block.weight) > 0, held_out)
    assert (_halves(rows, 1)[1].map(lambda block: block.weight) > 0)[held_out].mean() < 0.6
    estimator = OneClusterPCM(sigma=2.0, calibration="split", random_state=0)
    model = clone(estimator).fit(rows)
    half = OneClusterPCM(sigma=2.0).fit(flat[~held_out])
    new = flat[:200] + rng.normal(size=(200, 2))
    reference, scores = half.score_samples(flat[held_out]), half.score_samples(new)
    counts = (reference[None, :] <= scores[:, None]).sum(axis=1)
    more = model.p_values(new) * (1 + held_out.sum()) - (1 + counts)
    assert more.min() > -1e-6  # bins of a histogram make p-values larger, never smaller
    assert more.max() < 4
    assert np.median(more) == pytest.approx(0, abs=1e-6)
    assert np.mean(reference < model.offset_) == pytest.approx(0.05, abs=2 / held_out.sum())
    with pytest.raises(ValueError, match="takes no sample_weight"):
        clone(estimator).fit(ArrayRows(flat, np.ones(len(flat)), CUTS))
    with pytest.raises(ValueError, match="needs 4 to"):
        clone(estimator).fit(ArrayRows(flat[:3]))
    with pytest.raises(ValueError, match=r"at least 64 rows if they.*there are 5"):
        clone(estimator).fit(ArrayRows(flat[:5]))


# ---- and keeps the promise -----------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 3])
def test_one_and_three_features_have_waves_as_well(n_features):
    X = groups(n_features)
    blocks, plain = OneClusterPCM().fit(ArrayRows(X, cuts=CUTS)), OneClusterPCM().fit(X)
    assert "Fourier series" in blocks.sums_
    assert_allclose(blocks.typicality_, plain.typicality_, atol=1e-5)
    assert_allclose(blocks.offset_, plain.offset_, rtol=1e-5)


def weights_of(X, place):
    """Weights for every second estimator; with other features, for the others."""
    weighted = (place + X.shape[1]) % 2
    return np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None


@pytest.mark.parametrize(("place", "estimator"), list(enumerate(CLUSTERERS)), ids=repr)
def test_clusterers_give_what_arrays_give(X, place, estimator):
    weight = weights_of(X, place)
    blocks = clone(estimator).fit(ArrayRows(X, weight, CUTS))
    plain = clone(estimator).fit(X, sample_weight=weight)
    assert way_of(X) in blocks.sums_
    assert blocks.sigma_ == plain.sigma_
    assert blocks.n_iter_ == pytest.approx(plain.n_iter_, abs=1)
    assert_allclose(blocks.objective_, plain.objective_, rtol=2e-5)
    assert_allclose(blocks.predict_memberships(X), plain.memberships_, atol=3e-4)
    assert np.mean(blocks.labels_ != plain.labels_) < 2e-3


@pytest.mark.parametrize(("place", "estimator"), list(enumerate(DENSITIES)), ids=repr)
def test_densities_give_what_arrays_give(X, place, estimator):
    weight = weights_of(X, place)
    if not isinstance(estimator.sigma, str):
        estimator = clone(estimator).set_params(sigma=estimator.sigma * np.sqrt(X.shape[1]))
    blocks = clone(estimator).fit(ArrayRows(X, weight, CUTS))
    plain = clone(estimator).fit(X, sample_weight=weight)
    new = groups(X.shape[1], seed=1)
    assert way_of(X) in blocks.sums_
    assert_allclose(blocks.typicality_, plain.typicality_, atol=1e-5)
    assert_allclose(blocks.offset_, plain.offset_, rtol=1e-5)
    assert_allclose(blocks.eta_, plain.eta_, rtol=1e-5)
    assert_allclose(blocks.false_alarm_interval_, plain.false_alarm_interval_, rtol=1e-12)
    assert_array_equal(blocks.predict(new), plain.predict(new))
    scores, promise = plain.score_samples(new), blocks._left_out.mean.sums.rtol
    known = scores > np.log(4 * promise)
    allowed = 1e-5 + 2 * promise / np.exp(scores[known])
    assert (np.abs(blocks.score_samples(new) - scores)[known] <= allowed).all()
    assert blocks.n_iter_ == pytest.approx(plain.n_iter_, abs=2)
    ratio = blocks.p_values(new) / plain.p_values(new)
    assert ratio.min() > 0.98  # sums of the plain fit have bounds, too
    common = plain.p_values(new) > 0.05
    assert ratio[common].max() < 1.1


def test_weights_count_as_copies(flat):
    weight = np.random.default_rng(2).integers(0, 3, len(flat)).astype(float)
    weighted = OneClusterPCM().fit(ArrayRows(flat, weight, CUTS))
    copies = OneClusterPCM().fit(ArrayRows(np.repeat(flat, weight.astype(int), axis=0)))
    assert_allclose(weighted.offset_, copies.offset_, rtol=1e-9)
    assert_allclose(weighted.p_values(flat), copies.p_values(flat), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy"])
def test_other_kernels_of_a_distance_have_landmarks(flat, kernel):
    estimator = FuzzyCMeans(3, kernel=kernel, sigma=30.0, rtol=1e-3, tol=1e-2, random_state=0)
    blocks = clone(estimator).fit(ArrayRows(flat, cuts=CUTS))
    assert "landmarks" in blocks.sums_
    plain = clone(estimator).fit(flat)
    assert_allclose(blocks.predict_memberships(flat), plain.memberships_, atol=5e-3)


@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
def test_bases_keep_their_promise_for_all_rows(n_features):
    X = groups(n_features)
    rows = ArrayRows(X, cuts=CUTS)
    kernel = Gaussian(2.0 * np.sqrt(X.shape[1]))
    weights = np.random.default_rng(3).random((len(X), 3))
    weights /= weights.sum(axis=0)
    exact = kernel(X, X) @ weights
    for rtol in (1e-3, 1e-6):
        found = [LandmarkBasis.of(kernel, rows, rtol), FourierBasis.of(kernel, rows, rtol, 3)]
        for basis in found[: 1 + (X.shape[1] <= 3)]:
            sums = basis.coefficients(basis.summing(X, weights))
            assert basis.rtol <= rtol
            assert np.abs(basis.expansion(sums).at(X) - exact).max() <= basis.rtol
            products = weights.T @ exact
            own = np.diagonal(products)
            assert np.abs(basis.sqnorms(sums) - own).max() <= 2 * basis.rtol
            apart = [basis.sqnorms(sums - one) for one in sums]
            expected = own + own[:, None] - 2 * products
            assert np.abs(apart - expected).max() <= 8 * basis.rtol


def test_landmarks_cover_rows_outside_of_the_sample(monkeypatch):
    from typicality.operators import bases

    monkeypatch.setattr(bases, "_SAMPLE", 50)
    X = groups(4)
    kernel = Gaussian(3.0)
    basis = LandmarkBasis.of(kernel, ArrayRows(X, cuts=CUTS), 1e-3)
    against = np.linalg.solve(basis.triangle, kernel(basis.landmarks, X))
    assert (1.0 - np.sum(against**2, axis=0)).max() <= basis.rtol <= 1e-3


# ---- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [OneClusterPCM(), FuzzyCMeans(3, **GAUSSIAN), AlphaCutClustering()],
    ids=repr,
)
def test_models_are_saved_without_what_is_lazy(tmp_path, X, estimator):
    with dask.config.set(scheduler="synchronous"):
        model = clone(estimator).fit(chunked(X))
        typicality.save(model, tmp_path / "model")
    loaded = typicality.load(tmp_path / "model")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(loaded, "labels_")
    assert not hasattr(loaded, "typicality_")


@pytest.mark.parametrize(
    "estimator", [OneClusterPCM(), FuzzyCMeans(3, random_state=0), AlphaCutClustering()], ids=repr
)
def test_models_with_lazy_attributes_are_pickled_copied_and_cloned(flat, estimator):
    with dask.config.set(scheduler="synchronous"):
        model = clone(estimator).fit(chunked(flat))
        loaded = pickle.loads(pickle.dumps(model))
        lazy = vars(model).keys() & {"labels_", "typicality_", "memberships_"}
        assert lazy
        for name in lazy:
            assert_array_equal(getattr(loaded, name), getattr(model, name).compute())
        assert_array_equal(deepcopy(model).predict(flat), model.predict(flat))
    assert_array_equal(loaded.predict(flat), model.predict(flat))
    assert repr(clone(model)) == repr(estimator)


def test_models_of_files_are_saved_with_their_labels(tmp_path, flat):
    np.save(tmp_path / "rows.npy", np.concatenate([flat, flat[:5]]))
    model = AlphaCutClustering().fit(open_rows(tmp_path / "rows.npy"))
    typicality.save(model, tmp_path / "model")
    assert_array_equal(typicality.load(tmp_path / "model").labels_, model.labels_)


def test_models_compress_to_what_they_are(flat):
    model = OneClusterPCM().fit(ArrayRows(flat, cuts=CUTS))
    assert_array_equal(model.compress(1e-4).score_samples(flat), model.score_samples(flat))
    with pytest.raises(ValueError, match="already compressed"):
        model.compress(1e-13)


# ---- alpha-cuts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        AlphaCutClustering(),
        AlphaCutClustering(kernel="gaussian", alpha=0.1),
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

    monkeypatch.setattr(base, "LARGEST_SAMPLE", 600)
    monkeypatch.setattr(base.Rows.sample, "__defaults__", (600,))
    plain = AlphaCutClustering().fit(flat)
    some = AlphaCutClustering().fit(ArrayRows(flat, cuts=CUTS))
    assert some.tree_.n_nodes == 600
    assert "a sample of" in some.sums_
    assert len(some.labels_) == len(flat)
    assert plain.n_clusters_ == some.n_clusters_ == 3
    assert adjusted_rand_score(some.labels_, plain.labels_) > 0.9


@pytest.mark.parametrize("weights", ["typicality", "uniform"])
def test_heights_above_a_sample_are_sums_over_all_rows(monkeypatch, tmp_path, flat, weights):
    from typicality.rows import base

    estimator = AlphaCutClustering(sigma=0.5, weights=weights, tol=1e-8)
    plain = clone(estimator).fit(flat)
    monkeypatch.setattr(base, "LARGEST_SAMPLE", 600)
    monkeypatch.setattr(base.Rows.sample, "__defaults__", (600,))
    some = clone(estimator).fit(ArrayRows(flat, cuts=CUTS))
    assert some.tree_.n_nodes == 600
    assert some.tree_.weight.sum() == pytest.approx(len(flat))
    assert "heights are sums over all rows" in some.sums_
    assert some.n_clusters_ == plain.n_clusters_ == 3
    assert adjusted_rand_score(some.labels_, plain.labels_) > 0.99
    # The heights are off by a hundredth of a row at the most.
    within = 2 * 0.01 / len(flat) / some.eta_ + 1e-6
    assert_allclose(np.log(some.typicality_), np.log(plain.typicality_), rtol=0, atol=within)
    with dask.config.set(scheduler="synchronous"):
        spread = clone(estimator).fit(chunked(flat))
        assert_array_equal(spread.labels_.compute(), some.labels_)
    typicality.save(some, tmp_path / "model")
    assert_array_equal(typicality.load(tmp_path / "model").predict(flat), some.labels_)


@pytest.mark.parametrize(
    "parameters",
    [{"kernel": "laplacian", "sigma": 1.0}, {"sigma": 0.5, "rtol": 0.0}],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_heights_are_sums_over_the_sample_without_a_series(monkeypatch, flat, parameters):
    from typicality.rows import base

    monkeypatch.setattr(base, "LARGEST_SAMPLE", 600)
    monkeypatch.setattr(base.Rows.sample, "__defaults__", (600,))
    some = AlphaCutClustering(**parameters).fit(ArrayRows(flat, cuts=CUTS))
    assert "heights are sums over the sample" in some.sums_
    assert len(some.labels_) == len(flat)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", ["local", "connectivity", "polynomial", "precomputed", Mixed(1), np.dot]
)
def test_kernels_of_all_rows_are_refused(flat, kernel):
    with pytest.raises(ValueError, match="needs all rows in memory"):
        OneClusterPCM(kernel=kernel).fit(ArrayRows(flat))
    with pytest.raises(ValueError, match="needs all rows in memory"):
        FuzzyCMeans(3, kernel=kernel).fit(ArrayRows(flat))


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (OneClusterPCM(rtol=0.0), "rtol=0"),
        (OneClusterPCM(kernel="laplacian"), "Laplacian, not Gaussian"),
        (OneClusterPCM(sigma=1e-7), "landmarks: the kernel is not smooth enough"),
        (AlphaCutClustering(kernel="dissimilarities"), "needs all distances in memory"),
        (AdaptivePCM(5, kernel="gaussian"), "needs all rows in memory"),
        (AutoClustering(), "AutoClustering compares methods on all rows"),
    ],
    ids=lambda value: str(value),
)
def test_what_takes_all_rows_is_refused(monkeypatch, flat, estimator, reason):
    from typicality.operators import landmarks

    monkeypatch.setattr(landmarks, "LARGEST_RANK", 100)
    with pytest.raises(ValueError, match=reason):
        estimator.fit(ArrayRows(flat))


def test_explanations_are_refused_block_by_block(flat):
    model = OneClusterPCM().fit(ArrayRows(flat, cuts=CUTS))
    with pytest.raises(ValueError, match="fitted block by block"):
        model.explain(flat[:3])


def test_full_p_values_are_refused_block_by_block(flat):
    with pytest.raises(ValueError, match="takes arrays only"):
        OneClusterPCM().fit(flat).p_values(ArrayRows(flat), method="full")


def test_p_values_of_blocks_are_those_of_an_array(flat):
    model = OneClusterPCM().fit(flat)
    assert_array_equal(model.p_values(ArrayRows(flat, cuts=CUTS)), model.p_values(flat))


# ---- warnings ------------------------------------------------------------------------------------


def test_suspicious_kernels_give_the_warnings_of_arrays(flat):
    with pytest.warns(BandwidthWarning, match="too wide"):
        OneClusterPCM(sigma=1e3).fit(ArrayRows(flat, cuts=CUTS))
    with pytest.warns(BandwidthWarning, match="too narrow"):
        OneClusterPCM(sigma=5e-3).fit(ArrayRows(flat, cuts=CUTS))


def test_equal_rows_give_the_warning_of_arrays():
    with pytest.warns(DegenerateSpreadWarning, match="all rows of positive weight are one point"):
        model = OneClusterPCM(sigma=1.0).fit(ArrayRows(np.ones((50, 2)), cuts=(20,)))
    assert_allclose(model.typicality_, 1.0)
