"""Pages of random text and rows in a real browser: they open and complain of nothing."""

import re

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
    # A browser collapses the white space of ASCII only: a no-break space stays.
    assert opened.page.title() == re.sub(r"[ \t\n\f\r]+", " ", page.title).strip(" ")
