import pytest

from typicality.cli.notable import NotableRow, Reason
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
    reasons = tuple(Reason(name, 1.0, far) for name, far in zip("abc", deviations, strict=False))
    assert _reasons(NotableRow(0, 2, -1, 0.1, {}, reasons)) == words
