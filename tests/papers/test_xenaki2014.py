"""The claims of xenaki2014, from a fast run on Iris and Wine; its rows have a file of their own."""

import pytest

from regenerating import Page, Verdict
from xenaki2014 import make
from xenaki2014.page import tables_at_hand
from xenaki2014.propositions import cost, larger_root, minimum, slope

VERDICTS = [
    ("Tables 2 to 4", Verdict.IN_PART),
    ("Tables 2 to 4, SeqSAPCM", Verdict.HOLDS),
    ("conclusion, SAPCM", Verdict.HOLDS),
    ("conclusion, k-means and FCM", Verdict.HOLDS),
    ("experiment 4", Verdict.FAILS),
    ("experiments 2 to 4, PCM", Verdict.HOLDS),
    ("Table 1, SeqSAPCM", Verdict.IN_PART),
    ("Table 1, APCM", Verdict.HOLDS),
    ("abstract, λ", Verdict.FAILS),
    ("section 2, sparsity", Verdict.HOLDS),
    ("section 2, β", Verdict.IN_PART),
    ("section 2, footnote 3", Verdict.HOLDS),
    ("section 2, p", Verdict.IN_PART),
    ("section 3, footnote 5", Verdict.IN_PART),
    ("proposition 2", Verdict.FAILS),
    ("proposition 3", Verdict.IN_PART),
]
WITH_S2 = [("experiment 2, k-means", Verdict.IN_PART)]


def test_xenaki2014_verdicts_are_those_of_the_page(fast, kept_verdicts):
    page = fast(make)
    assert [(claim.place, claim.verdict) for claim in page.claims] == VERDICTS
    assert sorted(kept_verdicts("xenaki2014")) == sorted(VERDICTS + WITH_S2)
    assert page.lacking == []


def test_without_s2_the_page_lacks_a_table(monkeypatch):
    monkeypatch.delenv("TYPICALITY_DATA", raising=False)
    page = Page("xenaki2014")
    assert tables_at_hand(page) == [1, 3, 4]
    assert page.lacking[0].startswith("Table 2. s2.csv is not part of typicality")


def test_proposition_2_fails_for_a_large_lambda():
    """Proposition 2 fails where lambda p (1 - p) > eta."""
    assert minimum(lam=3.9) < 1 < minimum(lam=4.1)


@pytest.mark.parametrize(("sqdist", "sign"), [(0.5, -1), (1.5, -1), (1.9, 1)])
def test_larger_root_is_a_minimum_of_the_cost(sqdist, sign):
    """Proposition 3: a minimum of the cost, but one that may cost more than zero."""
    root = larger_root(sqdist)
    assert slope(0.9 * root, sqdist) < 0 < slope(1.1 * root, sqdist)
    assert cost(root, sqdist) < min(cost(0.9 * root, sqdist), cost(1.1 * root, sqdist))
    assert cost(root, sqdist) * sign > 0
