"""What a run prints."""

import pytest

from typicality.cli.summary import _reasons


@pytest.mark.parametrize(
    ("deviations", "words"),
    [
        ([], "no single column"),
        ([-0.3, 0.2], "no single column"),
        ([-2.0, 0.9], "a 1 (-2.0)"),
        ([-2.0, 1.2, 1.1], "a 1 (-2.0)\nb 1 (+1.2)"),
    ],
)
def test_columns_are_named_where_they_stand_out(deviations, words):
    named = zip("abc", deviations, strict=False)
    reasons = [{"column": name, "value": 1.0, "deviations": far} for name, far in named]
    assert _reasons(reasons, {name: name for name in "abc"}, 0.5) == words
