"""Pages of random text and rows in a real browser: they open and complain of nothing."""

from hypothesis import HealthCheck, Phase, assume, given, settings

from fuzz.contract import outcome_of
from fuzz.pages import TARGETS, page_of


@settings(max_examples=8, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(value=TARGETS["page"].inputs)
def test_page_of_anything_opens(visit, tmp_path, value):
    assume(outcome_of(TARGETS["page"], value, tmp_path) == "success")
    page = page_of(value)
    opened = visit(page.html)
    assert opened.data("ready") == "true"
    assert opened.page.title() == " ".join(page.title.split())
