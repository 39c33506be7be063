"""Procedures that reject p-values at a rate of false discoveries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.stats import false_discovery_control

from reference import p_values as reference
from typicality.metrics import select_discoveries

some_p_values = st.lists(st.integers(1, 40).map(lambda k: k / 40), min_size=1, max_size=30)


@given(p=some_p_values, fdr=st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_procedures_are_the_step_up_rule_at_their_level(p, fdr):
    p, m = np.array(p), len(p)
    harmonic = np.sum(1 / np.arange(1, m + 1))
    true_share = (1 + np.sum(p > 0.5)) / (0.5 * m)
    slack = 1 + 1e-9
    assert_array_equal(select_discoveries(p, fdr=fdr), reference.rejected(p, fdr * slack))
    by = reference.rejected(p, fdr / harmonic * slack)
    assert_array_equal(select_discoveries(p, fdr=fdr, method="by"), by)
    adjusted = false_discovery_control(p, method="by") <= fdr * slack
    assert_array_equal(select_discoveries(p, fdr=fdr, method="by"), adjusted)
    storey = reference.rejected(p, fdr / true_share * slack) & (p <= 0.5)
    assert_array_equal(select_discoveries(p, fdr=fdr, method="storey"), storey)


@pytest.mark.parametrize("method", ["bh", "by", "storey"])
def test_true_hypotheses_are_rejected_at_most_at_the_rate(method):
    p = np.random.default_rng(0).uniform(size=(3000, 5))
    any_rejected = np.mean([select_discoveries(row, fdr=0.2, method=method).any() for row in p])
    assert any_rejected <= 0.2 + 3 * np.sqrt(0.16 / 3000)


def test_no_p_values_give_no_discoveries():
    assert select_discoveries([]).shape == (0,)


@pytest.mark.parametrize(
    ("p", "options", "message"),
    [
        ([[0.1]], {}, "shape"),
        ([0.1, np.nan], {}, "from 0 to 1"),
        ([0.1], {"fdr": 0}, "fdr"),
        ([0.1], {"method": "bonferroni"}, "'bh', 'by', 'storey'"),
    ],
)
def test_bad_p_values_and_options_are_named(p, options, message):
    with pytest.raises(ValueError, match=message):
        select_discoveries(p, **options)
