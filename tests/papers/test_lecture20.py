"""The claims of lecture20, and its formulas one by one."""

import numpy as np
import pytest

from lecture20 import make
from lecture20.exponent import gradient_spread, memberships, objective
from lecture20.fuzzy import n_defuzzified_elsewhere
from lecture20.mixture import after_passes, responsibilities, updated
from lecture20.normalisation import integral, printed_factor, right_factor
from lecture20.rand import CLUSTERS, GROUPS, lowest_adjusted_rand, pairs_by_hand
from lecture20.sample import fitted, rows, squared_distances
from regenerating import Verdict
from typicality.metrics import adjusted_rand_score, pair_confusion

VERDICTS = [
    ("section 20.1, partition", Verdict.HOLDS),
    ("section 20.1, centroids", Verdict.HOLDS),
    ("section 20.1, defuzzification", Verdict.HOLDS),
    ("section 20.1, k-means", Verdict.HOLDS),
    ("section 20.1, exponent", Verdict.FAILS),
    ("Fig. 20.3", Verdict.HOLDS),
    ("eq. 20.1", Verdict.HOLDS),
    ("section 20.2, updates", Verdict.HOLDS),
    ("section 20.2, derivative", Verdict.IN_PART),
    ("section 20.2, Gaussian", Verdict.FAILS),
    ("section 20.3, pairs", Verdict.HOLDS),
    ("section 20.3, chance", Verdict.HOLDS),
    ("section 20.3, range", Verdict.FAILS),
]


def test_lecture20_verdicts_are_those_of_the_page(fast, kept_verdicts):
    page = fast(make)
    assert [(claim.place, claim.verdict) for claim in page.claims] == VERDICTS
    assert kept_verdicts("lecture20") == VERDICTS
    for name in ("figure_20_1", "figure_20_2", "exponent", "figure_20_3"):
        assert f"(figures/{name}.png)" in page.text


@pytest.mark.parametrize("m", [1.3, 4.0])
def test_exponent_of_the_notes_is_not_stationary(m):
    """Only 1 / (m - 1) is stationary, and lower than 2 / (m - 1) at the same centres."""
    X, _ = rows()
    model = fitted(X, m)
    sqdist = squared_distances(X, model.cluster_centers_)
    right, printed = memberships(sqdist, 1 / (m - 1)), memberships(sqdist, 2 / (m - 1))
    np.testing.assert_allclose(right, model.memberships_, atol=1e-9)
    assert gradient_spread(right, sqdist, m) < 1e-8
    assert gradient_spread(printed, sqdist, m) > 0.5
    assert objective(right, sqdist, m) < objective(printed, sqdist, m)


@pytest.mark.parametrize("m", [1.2, 3.0])
def test_largest_membership_is_nearest_centre(m):
    X, _ = rows()
    points = np.random.RandomState(0).uniform(-20, 20, size=(500, 2))
    assert n_defuzzified_elsewhere(fitted(X, m), np.vstack([X, points])) == 0


def test_updates_of_the_notes_are_a_pass_of_em():
    """The updates of the notes take the mixture after one pass to that after two."""
    X, _ = rows()
    before, after = after_passes(X, 1), after_passes(X, 2)
    weights, means, covariances = updated(responsibilities(before, X), X)
    np.testing.assert_allclose(weights, after.weights_, rtol=1e-10)
    np.testing.assert_allclose(means, after.means_, rtol=1e-10)
    np.testing.assert_allclose(covariances, after.covariances_, rtol=1e-8)


@pytest.mark.parametrize("covariance", [[[0.3]], [[1.0, 0.6], [0.6, 2.0]]])
def test_factor_of_the_gaussian_is_misprinted(covariance):
    covariance = np.array(covariance)
    excess = (2 * np.pi) ** ((len(covariance) - 1) / 2)
    assert integral(right_factor(covariance), covariance) == pytest.approx(1.0, abs=1e-10)
    assert integral(printed_factor(covariance), covariance) == pytest.approx(excess, abs=1e-10)


def test_pairs_of_the_example_come_out():
    counts = pair_confusion(GROUPS, CLUSTERS)
    assert pairs_by_hand(GROUPS, CLUSTERS) == (7, 7, 5, 26)
    assert (counts.true_positives, counts.false_positives) == (7, 7)
    assert (counts.false_negatives, counts.true_negatives) == (5, 26)


@pytest.mark.parametrize(("n_rows", "least"), [(3, -0.5), (5, -3 / 7)])
def test_least_adjusted_rand_is_below_zero(n_rows, least):
    found = lowest_adjusted_rand(n_rows)
    assert found.value == pytest.approx(least)
    assert adjusted_rand_score(found.groups, found.clusters) == pytest.approx(least)
