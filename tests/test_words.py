"""Numbers and names in sentences."""

from typicality._words import counted, enumerated, listed, share


def test_counted_puts_things_in_the_plural():
    assert (counted(1, "row"), counted(12345, "row")) == ("1 row", "12,345 rows")


def test_listed_and_enumerated_join_names():
    assert listed(["a", "b", "c"], at_most=2) == "a, b and 1 more"
    assert listed(["a", "b"], separator="; ") == "a; b"
    assert [enumerated(list("abc")[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_shares_are_never_nothing_or_all_unless_they_are():
    shares = [share(n, 1000) for n in (0, 1, 20, 999, 1000)]
    assert shares == ["0 %", "< 1 %", "2 %", "> 99 %", "100 %"]
