"""The automatic method, and the joined mixture it uses from four columns on."""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import typicality
from typicality import AlphaCutClustering, AutoClustering, EntropyCMeans, JoinedMixture
from typicality.cluster._gaussians import GaussianParts, fit_mixtures
from typicality.cluster.auto import _Methods
from typicality.cluster.mixture import _Owned, _valleys
from typicality.exceptions import ClusteringWarning
from typicality.preprocessing import ColumnScaler
from typicality.rows import rows_in_memory

pytestmark = [
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.xdist_group("auto"),  # long: it begins first
]


def groups(rng, sizes, centres, n_columns=6):
    """Round Gaussian groups around multiples of (1, ..., 1), and their labels."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(np.asarray(centres, float)[truth, None], 1, (len(truth), n_columns)), truth


@pytest.fixture(scope="module")
def three():
    return groups(np.random.default_rng(1), [120, 80, 50], [0, 3, 7])


@pytest.fixture(scope="module")
def model(three):
    return AutoClustering(random_state=0).fit(three[0])


# ---- which method is chosen, and what is said of it ----------------------------------------------


def test_density_decides_with_few_columns():
    X, truth = make_moons(300, noise=0.05, random_state=0)
    found = AutoClustering(random_state=0).fit(X)
    assert isinstance(found.estimator_, AlphaCutClustering)
    core = found.labels_ >= 0
    assert adjusted_rand_score(truth[core], found.labels_[core]) > 0.95
    assert found.explanation_.startswith("2 clusters by density, the first choice for fewer")


def test_mixture_decides_from_four_columns_on(model, three):
    assert isinstance(model.estimator_, JoinedMixture)
    assert adjusted_rand_score(three[1], model.labels_) > 0.97
    assert model.explanation_.startswith(
        "3 clusters by a Gaussian mixture, the first choice for four"
    )
    assert model.explanation_.endswith("all 4 runs of the mixture find 3.")
    assert 0.9 < model.agreement_ <= 1


def test_density_is_asked_where_the_mixture_sees_one(monkeypatch):
    monkeypatch.setattr("typicality.cluster.mixture._FEWEST_ROWS", 1000)
    X, _ = groups(np.random.default_rng(0), [100, 100], [0, 8], n_columns=4)
    found = AutoClustering(random_state=0).fit(X)
    assert isinstance(found.estimator_, AlphaCutClustering)
    assert found.explanation_.startswith("2 clusters by density, because a Gaussian mixture sees")


@pytest.mark.parametrize(
    ("n_columns", "method", "words"),
    [(2, AlphaCutClustering, "density"), (5, EntropyCMeans, "round groups")],
)
def test_one_group_is_one_cluster_and_the_split_a_convention(n_columns, method, words):
    X = np.random.default_rng(0).normal(size=(150, n_columns))
    found = AutoClustering(random_state=0).fit(X)
    assert found.n_clusters_ == 1
    assert "gap between groups, so any split is arbitrary" in found.explanation_
    forced = AutoClustering(at_least=2, random_state=0).fit(X)
    assert forced.n_clusters_ >= 2
    assert isinstance(forced.estimator_, method)
    assert f"by {words}, because at_least=2 asks for a split" in forced.explanation_


def test_overlapping_gaussians_in_the_plane_are_found_by_a_mixture():
    """Density sees one cluster of so few rows, and each group is one Gaussian."""
    X, truth = groups(np.random.default_rng(2), [100, 100], [0, 2.2], n_columns=2)
    assert AlphaCutClustering().fit(X).n_clusters_ == 1
    found, forced = AutoClustering().fit(X), AutoClustering(at_least=2).fit(X)
    np.testing.assert_array_equal(found.labels_, forced.labels_)
    assert adjusted_rand_score(truth, found.labels_) > 0.6
    assert "by a Gaussian mixture, because density sees fewer" in found.explanation_
    assert "by a Gaussian mixture, because at_least=2 asks for a split" in forced.explanation_


def test_an_arc_in_the_plane_is_split_by_density_on_request():
    """A mixture needs several components for a piece of the arc."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 1.2 * np.pi, 300)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.12 * rng.normal(size=(300, 2))
    mixture = JoinedMixture().fit(X)
    assert mixture.n_clusters_ > 1
    assert not mixture._is_plain
    assert isinstance(AutoClustering(at_least=2).fit(X).estimator_, AlphaCutClustering)


def test_more_clusters_than_are_seen_can_be_asked_for(three):
    assert AutoClustering(at_least=5, random_state=0).fit(three[0]).n_clusters_ >= 5
    with pytest.raises(ValueError, match="at_least=3 is more than the number of distinct rows"):
        AutoClustering(at_least=3).fit([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


def test_as_many_round_groups_are_taken_as_the_silhouette_prefers():
    X, _ = groups(np.random.default_rng(0), [60, 60, 60], [0, 4, 8])
    assert _Methods(X, 0)._best_number(2) == 3


def test_very_wide_tables_are_left_to_density_at_once(monkeypatch):
    monkeypatch.delattr(GaussianParts, "log_densities")  # factors matrices of 600 columns
    X, truth = groups(np.random.default_rng(0), [40, 40], [0, 2], n_columns=600)
    assert JoinedMixture().fit(X).n_clusters_ == 1
    found = AutoClustering(random_state=0).fit(X)
    assert isinstance(found.estimator_, AlphaCutClustering)
    assert adjusted_rand_score(truth, found.labels_) == 1.0
    assert "the first choice for more than 500 columns" in found.explanation_


# ---- orders of rows, seeds, power, lattices ------------------------------------------------------


def standardised(load):
    X = load().data
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("n_columns", [2, 5])
def test_order_of_rows_changes_no_bit(n_columns):
    X = np.round(groups(np.random.default_rng(3), [90, 60], [0, 3], n_columns)[0], 1)
    found = AutoClustering().fit(X)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        again = AutoClustering().fit(X[order])
        np.testing.assert_array_equal(again.labels_, found.labels_[order])
        np.testing.assert_array_equal(again.memberships_, found.memberships_[order])
        assert (again.explanation_, again.agreement_) == (found.explanation_, found.agreement_)


def test_rows_alone_have_the_memberships_of_the_fit(model, three):
    X = three[0]
    for rows in ([3], [7, 120], range(40, 100)):
        alone = model.predict_memberships(X[list(rows)])
        np.testing.assert_array_equal(alone, model.memberships_[list(rows)])


@pytest.mark.parametrize(
    ("load", "expected"), [(load_iris, 3), (load_wine, 3), (load_breast_cancer, 2)]
)
def test_seeds_change_no_label_of_a_mixture(load, expected):
    X = standardised(load)
    fits = [AutoClustering(random_state=seed).fit(X) for seed in range(3)]
    assert {fit.n_clusters_ for fit in fits} == {expected}
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)


def test_no_random_state_is_the_seed_0(three):
    found = AutoClustering().fit(three[0])
    np.testing.assert_array_equal(
        found.memberships_, AutoClustering(random_state=0).fit(three[0]).memberships_
    )


def test_runs_that_disagree_are_named():
    found = AutoClustering().fit(standardised(load_iris))
    (number, count), (other, rest) = Counter(found.estimator_.runs_).most_common()
    assert count + rest == 8
    words = f"{count} of 8 runs of the mixture find {number} clusters, {rest} find {other}; "
    assert words in found.explanation_
    assert 0.5 < found.agreement_ < 1.0


def test_more_runs_follow_only_where_the_first_disagree(model):
    assert len(model.estimator_.runs_) == 4
    assert len(AutoClustering().fit(standardised(load_iris)).estimator_.runs_) == 8


@pytest.mark.parametrize("n_columns", [5, 10])
def test_two_gaussians_that_overlap_are_two_clusters(n_columns):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 1000)
    X = rng.normal(size=(1000, n_columns))
    X[:, 0] += 3.5 * truth
    found = AutoClustering().fit(X)
    assert found.n_clusters_ == 2
    assert adjusted_rand_score(truth, found.labels_) > 0.75


def customers(rng, n):
    """Two flags, ages in years, and a bill with a heavy tail."""
    age = np.clip(np.round(21 + rng.gamma(2.5, 6.0, n)), 21, 79)
    bill = np.round(np.exp(rng.normal(9.5, 1.3, n)))
    return np.column_stack([rng.random(n) < 0.4, rng.random(n) < 0.2, age, bill]).astype(float)


def answers(rng, n):
    """Answers on a scale of five that share a common factor."""
    return np.clip(np.round(3 + rng.normal(size=(n, 1)) + rng.normal(size=(n, 3))), 1, 5)


def ages(rng, n):
    return np.round(rng.normal(40, 10, (n, 1)))


@pytest.mark.parametrize("make", [customers, answers, ages])
def test_steps_of_columns_are_no_gaps(make):
    for seed in range(3):
        X = ColumnScaler().fit_transform(make(np.random.default_rng(seed), 1000))
        assert AutoClustering().fit(X).n_clusters_ == 1


def test_clusters_of_whole_numbers_are_found_where_gaps_are_wider_than_steps():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    X = np.round(rng.normal(size=(600, 2)) * 2 + 14 * truth[:, None])
    found = AutoClustering().fit(X)
    core = found.labels_ >= 0
    assert found.n_clusters_ == 2
    assert adjusted_rand_score(truth[core], found.labels_[core]) > 0.95
    np.testing.assert_array_equal(found.predict(X), found.labels_)


def test_a_column_with_one_other_value_hides_no_clusters():
    """Spread over its step, it would be noise that drowns columns of small numbers."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    small = np.round(rng.normal(size=(500, 2)) + 9 * truth[:, None], 1) / 1e6
    X = np.column_stack([small, np.arange(500) == 7])
    found = AutoClustering().fit(X)
    assert found.n_clusters_ == 2
    assert adjusted_rand_score(truth, found.labels_) > 0.9


def test_labels_of_rows_without_steps_are_those_of_predict():
    X = ColumnScaler().fit_transform(customers(np.random.default_rng(0), 1000))
    found = AutoClustering().fit(X)
    assert AlphaCutClustering().fit(X).n_clusters_ > 1 == found.n_clusters_
    assert "gaps no wider than the step of a column were ignored" in found.explanation_
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    np.testing.assert_array_equal(found.predict_memberships(X), found.memberships_)


@pytest.mark.parametrize(("n_columns", "nearest", "farthest"), [(4, 3.6, 7.0), (2, 5.0, 9.0)])
def test_agreement_is_higher_for_better_answers(n_columns, nearest, farthest):
    """Over groups at growing distances, it follows the agreement with the truth."""
    agreements, indices = [], []
    for seed, apart in enumerate(np.linspace(nearest, farthest, 10)):
        centres = [0, 0.5 * apart, apart]
        X, truth = groups(np.random.default_rng(seed), [80, 80, 80], centres, n_columns)
        found = AutoClustering().fit(X)
        agreements.append(found.agreement_)
        indices.append(adjusted_rand_score(truth, found.labels_))
    assert spearmanr(agreements, indices).statistic > 0.5


def test_agreement_of_density_is_that_of_fits_to_two_halves():
    rng = np.random.default_rng(0)
    moons = make_moons(400, noise=0.05, random_state=0)[0]
    assert AutoClustering().fit(moons).agreement_ > 0.95
    disc = rng.normal(size=(400, 2))
    assert AutoClustering().fit(disc).agreement_ in (0.0, 0.5, 1.0)  # the share with one cluster
    assert AutoClustering().fit(disc[:19]).agreement_ is None
    split = AutoClustering(at_least=2).fit(rng.normal(size=(400, 5)))
    assert isinstance(split.estimator_, EntropyCMeans)
    assert 0.0 < split.agreement_ < 0.7


@pytest.mark.parametrize("n_rows", [22, 23])
def test_agreement_is_none_where_a_half_has_fewer_rows_than_round_groups(n_rows):
    rows = np.random.default_rng(0).normal(size=(n_rows, 5))
    found = AutoClustering(at_least=12).fit(rows)
    assert isinstance(found.estimator_, EntropyCMeans)
    assert found.agreement_ is None


# ---- the contract of an estimator ----------------------------------------------------------------


def test_prediction_names_the_estimator_when_columns_are_missing(model, three):
    with pytest.raises(ValueError, match="but AutoClustering is expecting 6 features"):
        model.predict(three[0][:, :4])
    with pytest.raises(ValueError, match="NaN"):
        model.predict_memberships(np.full((5, 6), np.nan))


@pytest.mark.parametrize("n_columns", [2, 5])
def test_rows_of_weight_k_are_k_copies(n_columns):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (60, n_columns)), rng.normal(5, 1, (40, n_columns))])
    copies = rng.integers(0, 4, len(X))
    found = AutoClustering(random_state=0).fit(X, sample_weight=copies)
    expected = AutoClustering(random_state=0).fit(np.repeat(X, copies, axis=0))
    assert found.n_clusters_ == expected.n_clusters_ == 2
    np.testing.assert_array_equal(found.labels_, expected.predict(X))
    np.testing.assert_array_equal(found.memberships_, expected.predict_memberships(X))
    with pytest.raises(ValueError, match="whole numbers of copies"):
        AutoClustering().fit(X, sample_weight=copies + 0.5)


def test_warnings_of_the_chosen_method_are_passed_on():
    with pytest.warns(ClusteringWarning, match="all rows of positive weight are one point"):
        AutoClustering().fit(np.ones((10, 2)))


def test_large_tables_are_decided_by_a_sample():
    X, truth = groups(np.random.default_rng(0), [1400, 700], [0, 4], n_columns=4)
    found = AutoClustering(random_state=0).fit(X)
    assert found.labels_.shape == (2100,)
    assert adjusted_rand_score(truth, found.labels_) > 0.98


@pytest.fixture(scope="module", params=[2, 5])
def two(request):
    """Two groups, and what was found in them: in few columns by density, in more by a mixture."""
    X, _ = groups(np.random.default_rng(0), [60, 40], [0, 5], n_columns=request.param)
    return X, AutoClustering(random_state=0).fit(X)


def test_report_and_saved_model_keep_the_explanation(two, tmp_path):
    X, found = two
    assert found.explanation_ in found.report(X).html
    again = typicality.load(typicality.save(found, tmp_path / "model"))
    assert again.explanation_ == found.explanation_
    np.testing.assert_array_equal(again.predict_memberships(X), found.memberships_)


def test_pictures_show_the_method_that_was_chosen(two):
    pytest.importorskip("matplotlib").use("agg")
    from typicality.plot import MembershipContourDisplay, MembershipHistogramDisplay

    X, found = two
    contour = MembershipContourDisplay.from_estimator(found, X, grid_resolution=20)
    assert contour.ax_.get_title().startswith("2 clusters")
    assert MembershipHistogramDisplay.from_estimator(found, X).counts_.sum() == len(X)


# ---- the joined mixture --------------------------------------------------------------------------


def n_groups(X):
    return JoinedMixture().fit(X).n_clusters_


def test_a_group_that_is_not_gaussian_stays_whole():
    rng = np.random.default_rng(0)
    assert n_groups(np.exp(rng.normal(0, 0.8, (300, 5)))) == 1  # several parts fit it better
    assert n_groups(rng.standard_t(3, (300, 5))) == 1
    assert n_groups(rng.uniform(size=(300, 5))) == 1


def test_a_few_outliers_are_no_group(three):
    rng = np.random.default_rng(0)
    X = np.vstack([three[0], rng.normal(0, 40, (6, 6))])
    found = JoinedMixture().fit(X)
    assert adjusted_rand_score(three[1], found.labels_[:250]) > 0.9
    assert np.bincount(found.labels_).min() > 0.05 * len(X)


def test_groups_of_unequal_width_are_not_joined_in_many_columns():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1.5, (200, 20)), rng.normal(1.5, 0.5, (200, 20))])
    assert n_groups(X) == 2


def test_columns_of_few_values_make_no_groups_by_themselves():
    rng = np.random.default_rng(0)
    assert n_groups(np.round(rng.normal(0, 1.2, (250, 6)))) == 1
    assert n_groups(np.column_stack([rng.normal(size=(250, 4)), rng.random(250) < 0.5])) == 1


def test_units_of_columns_do_not_matter(three):
    X, _ = three
    found = JoinedMixture().fit(X)
    other = JoinedMixture().fit(X * [1, 1e-6, 1e6, 2, 3, 4] + 1.0)
    np.testing.assert_array_equal(found.labels_, other.labels_)


@pytest.mark.parametrize("apart", [3.0, 5.0])
def test_the_valley_between_two_gaussians_is_that_of_their_densities(apart):
    """For the mixture itself, and for a kernel density estimate of many rows."""
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [apart, 0.0]])
    parts = GaussianParts(np.full(2, 0.5), means, np.stack([np.eye(2)] * 2), np.arange(2), 1)
    owner = np.repeat([0, 1], 20_000)
    rows = means[owner] + rng.normal(size=(40_000, 2))
    each = np.eye(2, dtype=bool)
    owned = _Owned(rows, owner, np.zeros(2))
    (depth,), (n_rows,) = _valleys(parts, each[:1], each[1:], owned)

    def density(x):
        return np.exp(-0.5 * x**2) + np.exp(-0.5 * (x - apart) ** 2)

    exact = np.log(density(0.0) / density(apart / 2))
    assert 0.8 * exact < depth <= exact + 1e-3  # the kernel makes it shallower
    kernel = 1.06 * 20_000**-0.2
    expected = 0.5 * len(rows) * density(apart / 2) * kernel
    assert n_rows == pytest.approx(expected, rel=0.25)


def test_valleys_of_whole_numbers_are_those_of_rows_spread_over_the_steps():
    """A half of the rows at 0 and 1 each: a valley of the rows, but not over their steps."""
    means = np.array([[0.0, 0.0], [1.0, 0.0]])
    parts = GaussianParts(np.full(2, 0.5), means, np.stack([np.eye(2) / 9] * 2), np.arange(2), 1)
    owner = np.repeat([0, 1], 2000)
    rows = np.column_stack([owner, np.random.default_rng(0).normal(size=4000)])
    each = np.eye(2, dtype=bool)

    def depth(steps):
        return _valleys(parts, each[:1], each[1:], _Owned(rows, owner, np.array(steps)))[0][0]

    assert depth([1.0, 0.0]) < 0.01
    assert depth([0.2, 0.0]) > 0.3


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_mixtures_of_rows_with_steps_are_those_of_many_draws_of_noise(kind):
    rng = np.random.default_rng(0)
    start = np.repeat([0, 1], 300)
    rows = np.round(rng.normal(size=(600, 2)) + 4 * start[:, None])
    copies = np.repeat(rows, 100, axis=0)
    copies += rng.uniform(-0.5, 0.5, copies.shape)
    (found,) = fit_mixtures(rows, np.ones(2), kind, [start])
    (expected,) = fit_mixtures(copies, np.zeros(2), kind, [np.repeat(start, 100)])
    np.testing.assert_allclose(found.parts.means, expected.parts.means, atol=0.02)
    np.testing.assert_allclose(found.parts.covariances, expected.parts.covariances, atol=0.03)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((10, 5)),
        np.random.default_rng(0).normal(size=(7, 5)),
        np.random.default_rng(0).normal(size=(30, 80)),
        np.repeat(np.random.default_rng(0).normal(size=(15, 4)), 10, axis=0),
        np.random.default_rng(0).normal(size=(200, 3))[:, [0, 1, 2, 0, 1]],
        np.column_stack([np.random.default_rng(0).normal(size=(200, 4)), np.ones(200)]),
        np.random.default_rng(0).normal(size=(200, 5)) * 1e150,
    ],
    ids=["equal", "few", "wide", "duplicates", "rank", "constant", "huge"],
)
def test_degenerate_rows_have_an_answer(X):
    found = JoinedMixture().fit(X)
    assert np.isfinite(found.memberships_).all()
    np.testing.assert_array_equal(np.unique(found.labels_), np.arange(found.n_clusters_))
    np.testing.assert_array_equal(found.predict(X), found.labels_)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 7])
def test_a_given_number_of_clusters_is_so_many_gaussians(n_clusters, three):
    found = JoinedMixture(n_clusters).fit(three[0])
    assert found.n_clusters_ == n_clusters == len(found._parts.weights)
    assert found.agreement_ is None


def test_a_mixture_of_given_number_is_that_of_scikit_learn():
    """From the same clusters and without its regularisation, EM of scikit-learn ends there."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)) + 4 * k for k in range(3)])
    found = JoinedMixture(3).fit(X)
    theirs = GaussianMixture(3, means_init=found.cluster_centers_, reg_covar=0, tol=1e-6).fit(X)
    order = cdist(found.cluster_centers_, theirs.means_).argmin(axis=1)
    np.testing.assert_allclose(found.cluster_centers_, theirs.means_[order], atol=0.05)
    np.testing.assert_allclose(found.memberships_, theirs.predict_proba(X)[:, order], atol=0.1)
    np.testing.assert_array_equal(found.predict_proba(X), found.memberships_)


def test_a_mixture_says_what_it_cannot_fit(three):
    with pytest.raises(ValueError, match="n_clusters=9 needs 45 rows or more"):
        JoinedMixture(9).fit(three[0][:44])
    with pytest.raises(ValueError, match="must be in memory"):
        JoinedMixture().fit(rows_in_memory(three[0]))


def test_labels_fall_by_size_and_centres_are_means(three):
    X, truth = three
    found = JoinedMixture().fit(X)
    assert np.bincount(found.labels_).tolist() == sorted(np.bincount(truth))[::-1]
    means = [X[truth == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(found.cluster_centers_, means, atol=0.2)


def test_a_mixture_of_fewer_distinct_rows_than_clusters_warns():
    X = np.repeat([[0.0, 1.0], [5.0, 6.0]], 20, axis=0)
    with pytest.warns(ClusteringWarning, match="2 clusters were found, fewer than n_clusters=3"):
        assert JoinedMixture(n_clusters=3).fit(X).n_clusters_ == 2
