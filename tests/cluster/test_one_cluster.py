"""One-cluster PCM: typicalities as in the papers, scores that keep the nominal rate."""

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from instances import DETECTORS
from reference import kernel_space as reference
from typicality import OneClusterPCM, PossibilisticCMeans
from typicality.bandwidth import bandwidth
from typicality.exceptions import BandwidthWarning, DegenerateSpreadWarning, IndefiniteKernelWarning
from typicality.kernels import Cauchy, Gaussian, Laplacian, Linear, Polynomial

every_detector = pytest.mark.parametrize("detector", DETECTORS, ids=str)
exact = {"tol": 1e-14, "max_iter": 5000}


@pytest.fixture
def contaminated(rng):
    """Two hundred rows around two centres and ten anywhere."""
    centres = np.repeat([[0.0, 0.0], [4.0, 1.0]], 100, axis=0)
    return np.vstack([centres + rng.normal(size=(200, 2)), rng.uniform(-9, 9, size=(10, 2))])


@pytest.mark.parametrize(("d", "eta_scale"), [(2, 1.0), (5, 0.4)])
@pytest.mark.parametrize(
    "kernel", [Gaussian(1.2), Laplacian(1.5), Cauchy(0.8), Linear(), Polynomial(2)], ids=str
)
def test_typicalities_are_those_of_the_paper(rng, kernel, d, eta_scale):
    X = rng.normal(size=(80, d))
    model = OneClusterPCM(kernel=kernel, eta_scale=eta_scale, **exact).fit(X)
    u, eta = reference.one_cluster(kernel(X, X), eta_scale)
    assert_allclose(model.typicality_, u, atol=1e-10)
    assert_allclose(model.eta_, eta, rtol=1e-12)
    assert_allclose(model.weights_, u / u.sum(), atol=1e-12)
    new = rng.normal(size=(7, d))
    distance = reference.sqdist(kernel(X, X), kernel(new, X), kernel.diag(new), u[:, None])
    assert_allclose(model.predict_typicality(new), np.exp(-distance[:, 0] / eta), atol=1e-10)


def test_a_very_wide_kernel_is_pcm(rng):
    X = rng.normal(size=(100, 2))
    variance = X.var(axis=0).sum()
    with pytest.warns(BandwidthWarning, match="too wide"):
        wide = OneClusterPCM(sigma=1e7, **exact).fit(X)
    start = X.mean(axis=0, keepdims=True)
    plain = PossibilisticCMeans(1, eta=variance, init=start, **exact).fit(X)
    assert_allclose(wide.typicality_, plain.memberships_[:, 0], atol=1e-9)
    assert_allclose(wide.eta_, variance * 1e-14, rtol=1e-9)
    linear = OneClusterPCM(kernel="linear", **exact).fit(X)
    assert_allclose(linear.typicality_, plain.memberships_[:, 0], atol=1e-10)


def test_uniform_weights_are_kernel_density_estimation(contaminated, rng):
    new = rng.uniform(-3, 7, size=(50, 2))
    model = OneClusterPCM(sigma=0.7, weights="uniform").fit(contaminated)
    density = KernelDensity(bandwidth=0.7).fit(contaminated).score_samples(new)
    normalisation = np.log(2 * np.pi * 0.7**2)
    assert_allclose(model.score_samples(new) - normalisation, density, rtol=1e-9)
    assert (model.n_iter_, len(model.objective_path_)) == (1, 1)
    assert_allclose(model.weights_, 1 / len(contaminated))


@every_detector
def test_scores_thresholds_and_flags_agree(detector, contaminated):
    model = clone(detector)
    flags = model.fit_predict(contaminated)
    assert_array_equal(flags, model.predict(contaminated))
    scores = model.score_samples(contaminated)
    assert_array_equal(model.decision_function(contaminated), scores - model.offset_)
    assert_array_equal(flags, np.where(scores < model.offset_, -1, 1))
    assert_array_equal(model.typicality_, model.predict_typicality(contaminated))
    assert ((model.typicality_ >= 0) & (model.typicality_ <= 1)).all()
    assert_allclose(model.weights_.sum(), 1.0)


@pytest.mark.parametrize(
    "detector",
    [d for d in DETECTORS if d.kernel != "connectivity"],
    ids=str,  # which has ties
)
@pytest.mark.parametrize("contamination", [0.01, 0.5])
def test_the_nominal_part_of_the_training_rows_is_flagged(detector, contamination, contaminated):
    model = clone(detector).set_params(contamination=contamination)
    flagged = (model.fit_predict(contaminated) == -1).sum()
    assert flagged == int(contamination * (len(contaminated) + 1))


@pytest.mark.parametrize(("d", "sigma"), [(2, "auto"), (10, 0.3)])
@pytest.mark.filterwarnings("ignore::typicality.exceptions.BandwidthWarning")  # 0.3 in 10-D
def test_new_rows_are_rejected_at_the_nominal_rate(d, sigma):
    """The mean over draws is within four standard errors of the nominal rate."""
    n_training, n_new, n_draws = 400, 2000, 12
    for nominal in (0.01, 0.1):
        rates = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            model = OneClusterPCM(sigma=sigma, contamination=nominal)
            model.fit(rng.normal(size=(n_training, d)))
            rates.append(np.mean(model.predict(rng.normal(size=(n_new, d))) == -1))
        error = np.sqrt(nominal * (1 - nominal) * (1 / n_training + 1 / n_new) / n_draws)
        assert abs(np.mean(rates) - nominal) < 4 * error


def test_dissimilarities_are_points_in_some_space(contaminated, rng):
    new = rng.normal(size=(30, 2)) * 3
    plain = OneClusterPCM(kernel="linear").fit(contaminated)
    distances = np.sqrt(Linear().sqdist(contaminated, contaminated))
    given = OneClusterPCM(kernel="dissimilarities").fit(distances)
    assert_allclose(given.typicality_, plain.typicality_, atol=1e-10)
    assert_allclose(
        given.score_samples(np.sqrt(Linear().sqdist(new, contaminated))), plain.score_samples(new)
    )


def test_novelty_chooses_the_bandwidth_only(contaminated):
    contaminated_data, clean_data = OneClusterPCM(), OneClusterPCM(novelty=True)
    wide = contaminated_data.fit(contaminated).sigma_
    narrow = clean_data.fit(contaminated).sigma_
    assert_allclose(wide, 4 * narrow)
    given = OneClusterPCM(sigma=0.7, novelty=True).fit(contaminated)
    assert_array_equal(given.typicality_, OneClusterPCM(sigma=0.7).fit(contaminated).typicality_)


# ---- suspicious data: no NaN, and the right warning ---------------------------------------------


def all_finite(model, X):
    numbers = [model.typicality_, model.weights_, model.score_samples(X), [model.offset_]]
    return all(np.isfinite(values).all() for values in numbers)


@pytest.mark.parametrize(
    ("n", "sigma"), [(1, "auto"), (1, 0.5), (50, "scott"), (50, "knn"), (50, "loo-likelihood")]
)
def test_detector_warns_of_copies_of_one_point(n, sigma):
    X = np.full((n, 2), 3.0)
    with pytest.warns(DegenerateSpreadWarning, match="every typicality is 1"):
        model = OneClusterPCM(sigma=sigma).fit(X)
    assert_array_equal(model.typicality_, 1.0)
    assert all_finite(model, X)
    assert_array_equal(model.predict(X), 1)
    assert model.predict([[9.0, 9.0]]) == -1


def test_detector_warns_of_a_tiny_gamma(contaminated):
    with pytest.warns(DegenerateSpreadWarning, match=r"row \d+ alone"):
        model = OneClusterPCM(sigma=0.5, eta_scale=1e-4).fit(contaminated)
    assert all_finite(model, contaminated)
    assert model.typicality_.max() > 0.9
    assert_allclose(model.weights_.sum(), 1.0)


def test_detector_warns_of_a_narrow_kernel_in_many_dimensions(rng):
    X = rng.normal(size=(100, 200))
    with pytest.warns(BandwidthWarning, match="too narrow"):
        model = OneClusterPCM(sigma=1.0).fit(X)
    assert np.ptp(np.log(model.typicality_)) < 1e-3
    assert all_finite(model, X)
    assert len(np.unique(model.score_samples(X))) == 100


def test_detector_warns_of_a_kernel_that_is_no_scalar_product(rng):
    X = rng.normal(size=(60, 2))
    indefinite = -(np.abs(Linear().sqdist(X, X)) ** 2)
    with pytest.warns(IndefiniteKernelWarning, match=r"[1-9]\d* squared distances .* set to zero"):
        model = OneClusterPCM(kernel="precomputed").fit(indefinite)
    assert all_finite(model, indefinite)


def test_detector_warns_of_dissimilarities_of_no_space(rng):
    """The triangle inequality is violated: double centring leaves negative eigenvalues."""
    D = np.ones((20, 20)) - np.eye(20)
    D[0, 1:] = D[1:, 0] = 0.1
    with pytest.warns(IndefiniteKernelWarning, match="not positive semidefinite") as record:
        model = OneClusterPCM(kernel="dissimilarities").fit(D)
    assert all_finite(model, D)
    constant = float(re.search(r"X\*\*2 \+ ([\d.e+]+) \*", str(record[0].message)).group(1))
    OneClusterPCM(kernel="dissimilarities").fit(np.sqrt(D**2 + constant * (1 - np.eye(20))))


def test_detector_warns_of_too_few_iterations(contaminated):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 .*prototypes still move"):
        OneClusterPCM(max_iter=2).fit(contaminated)


# ---- errors -------------------------------------------------------------------------------------

SQUARE = np.eye(4)
BAD_INPUT = {
    "not square": ("precomputed", np.ones((3, 4)), r"shape \(3, 4\).*square matrix in fit"),
    "not symmetric": ("precomputed", np.triu(np.ones((4, 4))), "not symmetric.*differ by 1"),
    "distances as a kernel": (
        "precomputed",
        1 - SQUARE,
        "looks like a matrix of distances.*dissimilarities",
    ),
    "distances not square": ("dissimilarities", np.zeros((3, 4)), "square matrix in fit"),
    "negative distance": ("dissimilarities", -SQUARE + 1 - 2 * SQUARE, "negative dissimilarity"),
    "far from itself": ("dissimilarities", SQUARE + 1.0, "nonzero value on the diagonal, 2"),
    "distances too large": ("dissimilarities", 1e200 - 1e200 * SQUARE, "overflow or vanish"),
    "distances too small": ("dissimilarities", 1e-200 - 1e-200 * SQUARE, "overflow or vanish"),
    "overflow": (lambda X, Y: np.full((len(X), len(Y)), np.inf), SQUARE, "not finite for row 0"),
    "class": (Gaussian, SQUARE, r"kernel is the class Gaussian: pass an object"),
    "wrong shape": (lambda X, Y: np.ones(3), SQUARE, r"kernel returned shape \(3,\)"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_detector_refuses_bad_input(case):
    kernel, X, message = BAD_INPUT[case]
    model = OneClusterPCM(kernel=kernel)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [("gaussian", np.float32), ("polynomial", np.float64), ("connectivity", np.float64)],
)
def test_a_pipeline_recognises_its_training_rows(rng, dtype, kernel):
    X = rng.normal(size=(300, 10)).astype(dtype)
    pipeline = make_pipeline(
        PCA(5, svd_solver="full"), OneClusterPCM(kernel=kernel, sigma="auto", contamination=0.1)
    )
    assert_array_equal(pipeline.fit_predict(X), pipeline.predict(X))


def test_rules_for_sigma_are_not_second_guessed(rng):
    X = rng.normal(size=(500, 20))
    OneClusterPCM(novelty=True).fit(X)
    with pytest.warns(BandwidthWarning, match="too narrow"):
        OneClusterPCM(kernel=Gaussian(1e-3)).fit(X)


def test_detector_refuses_bad_rows_to_predict(contaminated):
    distant = OneClusterPCM(kernel="dissimilarities").fit(np.ones((4, 4)) - np.eye(4))
    with pytest.raises(ValueError, match="negative dissimilarity"):
        distant.predict(-np.ones((1, 4)))


def test_an_exact_fit_needs_little_of_the_memory_of_all_pairs():
    """One iteration, because memory does not grow with their number."""
    X = np.random.default_rng(0).normal(size=(15_000, 2))
    tracemalloc.start()
    model = OneClusterPCM(tol=10, rtol=0.0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.n_iter_ == 1
    assert peak < 8 * len(X) ** 2 / 10


@pytest.mark.parametrize(("kernel", "dtype"), [("gaussian", np.float32), ("laplacian", np.float64)])
def test_many_features_give_the_same_bits_in_any_batch_and_with_any_threads(rng, kernel, dtype):
    X = rng.normal(size=(512, 300)).astype(dtype)
    X[-1] = X[-2]  # rows that coincide are recognised, whatever the batch
    points = np.vstack([X[-3:], rng.normal(size=(70, 300)).astype(dtype)])
    with threadpool_limits(1):
        model = OneClusterPCM(kernel=kernel).fit(X)
        together = model.score_samples(points)
    with threadpool_limits(4):
        assert_array_equal(OneClusterPCM(kernel=kernel).fit(X).typicality_, model.typicality_)
        assert_array_equal(model.score_samples(points), together)
    assert_array_equal(model.score_samples(points[::-5]), together[::-5])
    alone = [model.score_samples(points[[row]])[0] for row in range(4)]
    assert_array_equal(alone, together[:4])
    assert together[1] == together[2] > together[0]


def test_rows_are_explained_by_features(rng):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    X.loc[7, "b"] = 9.0
    reasons = OneClusterPCM(contamination=0.02).fit(X).explain(X)
    assert reasons.features == ["a", "b", "c"]
    assert reasons.deviations[7].argmax() == 1
    assert reasons.words()[7].startswith("b 9 (+")
    assert_array_equal(reasons.values, X)
    again = OneClusterPCM(contamination=0.3).fit(X).explain(X.iloc[[7]])
    assert_array_equal(again.deviations[0], reasons.deviations[7])
    assert_allclose(again.expected[0], reasons.expected[7])


def test_reasons_can_be_read(rng):
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "<b>", "c"])
    X.loc[7] = 0.0, 9.0, 0.0
    reasons = OneClusterPCM(contamination=0.02).fit(X).explain(X)
    heading, *lines = repr(reasons).splitlines()
    assert heading.startswith("Reasons for 200 rows")
    assert lines[7] == f"row 7: {reasons.words()[7]}"
    assert lines[-1] == "and 180 more rows"
    assert len(lines) == 21
    page = reasons._repr_html_()
    assert "<td>7</td><td>&lt;b&gt;</td><td>9</td>" in page
    assert "<b>" not in page


def test_models_without_rows_of_features_explain_nothing(rng):
    X = rng.normal(size=(400, 2))
    kernel = rbf_kernel(X)
    compressed = OneClusterPCM().fit(X).compress(1e-3)
    for model, rows in [(compressed, X), (OneClusterPCM(kernel="precomputed").fit(kernel), kernel)]:
        with pytest.raises(ValueError, match="explain needs the features of the training rows"):
            model.explain(rows)


# ---- trim ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [2, 10, 50])
def test_trimming_ranks_copies_of_an_outlier_first(rng, copies):
    X = np.vstack([rng.standard_t(3, size=(500, 3)), np.full((copies, 3), 30.0)])
    hidden, found = (OneClusterPCM(trim=trim).fit(X).score_samples(X) for trim in (0.0, 0.2))
    assert (found[-copies:].max() < found[:500]).all()
    assert not (hidden[-copies:].max() < hidden[:500]).all()


def test_trimming_fits_the_rows_of_the_highest_scores(contaminated):
    first = OneClusterPCM(sigma="median").fit(contaminated).score_samples(contaminated)
    kept = first > np.sort(first)[41]  # 42 of 210 rows are a fifth
    model = OneClusterPCM(trim=0.2).fit(contaminated)
    assert_array_equal(model.weights_ > 0, kept)
    assert_allclose(model.sigma_, bandwidth("median", contaminated) / 4)
    alone = OneClusterPCM(sigma=model.sigma_, contamination=0.05).fit(contaminated[kept])
    assert_allclose(model.score_samples(contaminated), alone.score_samples(contaminated))
    every = np.quantile(model.score_samples(contaminated), 0.05, method="weibull")
    assert_allclose(model.offset_, every)


def test_trimming_keeps_a_given_width_and_clean_rows(contaminated):
    for sigma in (0.8, "knn"):
        given = OneClusterPCM(sigma=sigma).fit(contaminated)
        assert OneClusterPCM(sigma=sigma, trim=0.2).fit(contaminated).sigma_ == given.sigma_
    clean = OneClusterPCM(novelty=True).fit(contaminated)
    trimmed = OneClusterPCM(novelty=True, trim=0.2).fit(contaminated)
    assert_array_equal(trimmed.weights_, clean.weights_)


def test_trimming_compares_new_rows_with_all_rows(contaminated):
    model = OneClusterPCM(trim=0.2).fit(contaminated)
    assert_allclose(model.p_values([[1e3, 1e3]]), 1 / 211)
    with pytest.raises(ValueError, match="trim"):
        model.p_values(contaminated, "full")


def test_trimmed_models_can_be_compressed(rng):
    X = rng.normal(size=(1000, 2))
    model = OneClusterPCM(trim=0.2).fit(X)
    small = model.compress(1e-3)
    assert_allclose(small.predict_typicality(X), model.predict_typicality(X), atol=1e-2)
    assert (small.p_values(X) >= model.p_values(X)).all()


def test_trimming_a_sample_judges_all_rows(rng):
    X = np.vstack([rng.standard_t(3, size=(3000, 5)), np.full((40, 5), 30.0)])
    model = OneClusterPCM(trim=0.2, max_samples=1000, contamination=0.02).fit(X)
    assert "sample of 1,000" in model.sums_
    flags = model.predict(X)
    assert (flags[-40:] == -1).all()
    assert (flags == -1).sum() == 60
