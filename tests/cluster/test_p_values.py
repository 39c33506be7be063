"""p-values of one-cluster PCM: valid by the theorem, equal to the formula, safe under errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics.pairwise import rbf_kernel

from reference import p_values as reference
from typicality import OneClusterPCM
from typicality.exceptions import CalibrationWarning, FeatureWarning
from typicality.kernels import Cauchy, Gaussian, Laplacian
from ways import summed_by

radial = pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(0.9), Cauchy(0.8)], ids=str)


@radial
@pytest.mark.parametrize(("weights", "d"), [("uniform", 1), ("typicality", 4)])
def test_p_values_are_those_of_the_formulas(rng, kernel, weights, d):
    X, new = rng.normal(size=(60, d)), 1.5 * rng.normal(size=(40, d))
    model = OneClusterPCM(kernel=kernel, weights=weights).fit(X)
    log_K, log_new = kernel.log(X, X), kernel.log(new, X)
    assert_allclose(model.p_values(new), reference.loo(log_K, log_new, model.weights_))
    u = model.typicality_ if weights == "typicality" else np.ones(60)
    u_new = model.predict_typicality(new) if weights == "typicality" else np.ones(40)
    expected = reference.full(log_K, log_new, model.weights_, u_new / u.sum())
    assert_allclose(model.p_values(new, "full"), expected)


def test_full_p_values_of_rows_left_out_in_turn_take_every_rank_once(rng):
    """The theorem: n + 1 exchangeable rows, each in turn the new one, have all ranks."""
    Z = rng.standard_t(2, size=(31, 3))
    full = OneClusterPCM(kernel=Gaussian(0.5), weights="uniform")
    ranks = [full.fit(np.delete(Z, i, 0)).p_values(Z[[i]], "full")[0] * 31 for i in range(31)]
    assert_allclose(np.sort(ranks), np.arange(1, 32))
    loo = [full.fit(np.delete(Z, i, 0)).p_values(Z[[i]])[0] * 31 for i in range(31)]
    assert all(np.sum(np.array(loo) <= k + 1e-9) <= k for k in range(1, 32))


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_loo_p_values_are_never_below_full_ones(data):
    numbers = st.floats(-50, 50).map(lambda v: round(v, 2))
    n, m = data.draw(st.integers(2, 25)), data.draw(st.integers(1, 6))
    X = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))[:, None]
    new = np.array(data.draw(st.lists(numbers, min_size=m, max_size=m)))[:, None]
    kernel = data.draw(st.sampled_from([Gaussian(0.3), Gaussian(20.0), Laplacian(2.0), Cauchy(1)]))
    model = OneClusterPCM(
        kernel=kernel, weights=data.draw(st.sampled_from(["uniform", "typicality"]))
    )
    loo, full = (model.fit(X).p_values(new, method) for method in ("loo", "full"))
    assert (loo >= full).all()
    assert (full >= 1 / (n + 1)).all()
    assert (loo <= 1).all()


@pytest.mark.parametrize("way", ["tiles", "truncated", "nufft"])
def test_fast_sums_never_make_p_values_smaller(rng, way):
    X, new = rng.standard_t(3, size=(2500, 2)), 2 * rng.standard_t(3, size=(300, 2))
    kernel = Gaussian(0.4)
    with summed_by(way):
        fast = OneClusterPCM(kernel=kernel, weights="uniform").fit(X)
    exact = reference.loo(kernel.log(X, X), kernel.log(new, X), np.full(2500, 1 / 2500))
    assert (fast.p_values(new) >= exact - 1e-12).all()
    assert_allclose(fast.p_values(new), exact, atol=1.5 / 2501)
    assert (fast.p_values(new, "full") <= fast.p_values(new)).all()


@pytest.mark.parametrize(
    ("weights", "calibration", "n_rows"),
    [
        ("uniform", "leave-one-out", 40),
        ("typicality", "leave-one-out", 1100),
        ("typicality", "split", 40),
        ("uniform", "split", 1100),
    ],
)
def test_weights_are_copies_for_p_values(rng, weights, calibration, n_rows):
    X, copies = rng.normal(size=(n_rows, 2)), rng.integers(0, 4, n_rows)
    new = 2 * rng.normal(size=(30, 2))
    model = OneClusterPCM(sigma=0.5, weights=weights, calibration=calibration, random_state=3)
    by_weight = model.fit(X, sample_weight=copies).p_values(new)
    offset, interval = model.offset_, model.false_alarm_interval_
    by_copies = model.fit(np.repeat(X, copies, axis=0)).p_values(new)
    assert_allclose(by_weight, by_copies, rtol=1e-9)
    assert_allclose(model.offset_, offset, rtol=1e-9)
    assert_allclose(model.false_alarm_interval_, interval)


def test_rows_of_the_fit_are_taken_as_new():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    model = OneClusterPCM(kernel=Gaussian(1.0), weights="uniform").fit(X)
    assert_allclose(model.p_values([[3.0]]) * 5, 2)  # its own sum is less: it lacks itself
    assert (model.p_values(X) >= 2 / 5).all()


@pytest.mark.parametrize("n_rows", [200, 3000])
def test_compressed_models_give_p_values_within_the_stated_bounds(rng, n_rows):
    X, new = rng.normal(size=(n_rows, 2)), 2 * rng.normal(size=(200, 2))
    kernel = Gaussian(0.5)
    model = OneClusterPCM(kernel=kernel, weights="uniform").fit(X)
    small = model.compress(1e-3)
    p = small.p_values(new)
    assert (p >= model.p_values(new)).all()
    sums = kernel(new, X).mean(axis=1) + 2e-3
    sums_without = (kernel(X, X).sum(axis=1) - 1) / n_rows
    most = (1 + (sums_without <= sums[:, None]).sum(axis=1)) / (n_rows + 1)
    assert (p <= 1.02 * most + 1e-12).all()
    assert len(small._calibration.log_sums) <= 2048


def test_split_p_values_compare_with_rows_that_take_no_part(rng):
    X, new = rng.normal(size=(81, 2)), 2 * rng.normal(size=(50, 2))
    model = OneClusterPCM(kernel=Gaussian(0.6), calibration="split", random_state=0).fit(X)
    held_out = model.weights_ == 0
    assert held_out.sum() == 40
    score = np.log(Gaussian(0.6)(np.vstack([X, new]), X) @ model.weights_)
    reference_scores = score[:81][held_out]
    expected = (1 + (reference_scores <= score[81:, None]).sum(axis=1)) / 41
    assert_allclose(model.p_values(new), expected)
    assert_allclose(model.offset_, np.quantile(reference_scores, 0.05, method="weibull"))


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "local"])
def test_split_p_values_are_valid_for_every_kernel(rng, kernel):
    """Halves drawn again for each of 300 rows: ranks are uniform whatever was fitted."""
    p = []
    for seed in range(300):
        Z = rng.standard_t(4, size=(25, 2))
        model = OneClusterPCM(kernel=kernel, calibration="split", random_state=seed).fit(Z[:24])
        p.append(model.p_values(Z[[24]])[0])
    ranks = np.round(np.array(p) * 13)
    assert stats.chisquare(np.bincount(ranks.astype(int), minlength=14)[1:]).pvalue > 1e-4


@pytest.mark.parametrize("n_rows", [200, 5000])
def test_split_flags_rows_of_a_coarse_grid_at_the_nominal_rate(rng, n_rows):
    """Rows that fall on training rows are scored like those the threshold comes from."""
    model = OneClusterPCM(sigma=0.2, calibration="split", random_state=0)
    rates = []
    for _ in range(8000 // n_rows + 1):
        model.fit(np.round(rng.normal(size=(n_rows, 2))))
        rates.append(np.mean(model.predict(np.round(rng.normal(size=(1000, 2)))) == -1))
    assert np.mean(rates) <= 0.06


def test_few_rows_and_the_local_kernel_are_a_warning(rng):
    X = rng.normal(size=(30, 2))
    with pytest.warns(CalibrationWarning, match="kernel='local'"):
        OneClusterPCM(kernel="local").fit(X).p_values(X)


def test_precomputed_kernels_have_p_values(rng):
    X, new = rng.normal(size=(60, 2)), 2 * rng.normal(size=(20, 2))
    plain = OneClusterPCM(kernel=Gaussian(0.7)).fit(X)
    given_values = OneClusterPCM(kernel="precomputed").fit(rbf_kernel(X, gamma=0.5 / 0.49))
    new_values = rbf_kernel(new, X, gamma=0.5 / 0.49)
    for method in ("loo", "full"):
        assert_allclose(given_values.p_values(new_values, method), plain.p_values(new, method))


def test_the_false_alarm_interval_holds_for_new_rows(rng):
    """The false alarms of 200 models, by the distribution function, beside the range they name."""
    rates, models = [], OneClusterPCM(kernel=Gaussian(0.4), weights="uniform", contamination=0.1)
    fresh = np.random.default_rng(7).normal(size=(4000, 1))
    for _ in range(200):
        models.fit(rng.normal(size=(99, 1)))
        rates.append(np.mean(models.predict(fresh) == -1))
    low, high = models.false_alarm_interval_
    assert_allclose((low, high), stats.beta.interval(0.95, 10, 90))
    assert 0.9 <= np.mean((np.array(rates) >= low) & (np.array(rates) <= high)) <= 0.99


def test_outliers_at_a_rate_of_false_discoveries(rng):
    X = rng.normal(size=(800, 2))
    new = np.vstack([rng.normal(size=(90, 2)), rng.normal(8, 1, size=(10, 2))])
    model = OneClusterPCM().fit(X)
    assert_array_equal(model.outliers_at(new), reference.rejected(model.p_values(new), 0.1))
    assert model.outliers_at(new)[90:].all()
    assert (model.outliers_at(new, method="by") <= model.outliers_at(new)).all()


def test_too_few_reference_rows_are_reported_with_a_number_that_would_do(rng):
    X, far = rng.normal(size=(50, 1)), np.append(np.zeros(99), 100.0)[:, None]
    with pytest.warns(CalibrationWarning, match="at least 999 reference rows"):
        assert not OneClusterPCM().fit(X).outliers_at(far).any()
    enough = OneClusterPCM().fit(rng.normal(size=(999, 1)))
    assert_array_equal(enough.outliers_at(far), far[:, 0] > 50)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OneClusterPCM(calibration="split"), "calibration='split'"),
        (OneClusterPCM(kernel="linear"), "kernel that depends only on the distance"),
        (OneClusterPCM(sigma=2.0), "compressed"),
    ],
    ids=["split", "linear", "compressed"],
)
def test_full_p_values_are_refused_where_there_are_none(rng, model, message):
    X = rng.normal(size=(100, 2))
    model.fit(X)
    compressed = model.compress(1e-3) if message == "compressed" else model
    with pytest.raises(ValueError, match=message):
        compressed.p_values(X, "full")
    with pytest.raises(ValueError, match="'loo' or 'full'"):
        model.p_values(X, "half")


def test_split_refuses_fractions_of_rows_and_too_few(rng):
    X = rng.normal(size=(10, 2))
    model = OneClusterPCM(calibration="split")
    with pytest.raises(ValueError, match="weights must be whole numbers"):
        model.fit(X, sample_weight=np.full(10, 1.5))
    with pytest.raises(ValueError, match="needs 4 to 100,000,000 rows"):
        model.fit(X[:3])
    with pytest.raises(ValueError, match="there are 1,000,000,010"):
        model.fit(X, sample_weight=np.append(np.ones(9), 1e9 + 1))
    with pytest.warns(FeatureWarning, match="Constant"):
        model.fit(np.column_stack([X[:8], np.ones(8)]))
