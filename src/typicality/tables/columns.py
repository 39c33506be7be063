"""What is known of a column of a table after some blocks: numbers, or why it is left out."""

import re
from typing import NamedTuple

import numpy as np

from typicality._typing import Doubles
from typicality._words import listed, shown
from typicality.exceptions import OptionOf, Remedy, TableError
from typicality.tables.base import Block, Place
from typicality.tables.cells import TRUTH, ParsedColumn, is_mostly_digits, look_of

_FEWEST_TO_NUMBER = 10  # rows: fewer whole numbers in a row may well be measurements
_NEARLY = 0.05  # of the cells may be no numbers in a column that is nearly numeric
ALL_MISSING = "all values are missing"
_N_LOOKED_AT = 100
_ADVICE = {
    "dates or times": ": write them as numbers to use them, e.g. as days since the first date",
}
_REMEDIES = {
    "numbers with a decimal comma": Remedy("decimal", ",", "use {} to use them"),
    "numbers with a decimal point": Remedy("decimal", ".", "use {}, as others have commas"),
}
_CATEGORIES = ("text", TRUTH)  # looks of columns that may be categories


class LeftOut(NamedTuple):
    """A column that is left out, and why; `reason` is the whole sentence in Python's words.

    Parameters
    ----------
    name : str
        The name of the column.
    what : str
        What is wrong with it.
    remedy : Remedy, optional
        A parameter that helps.
    """

    name: str
    what: str
    remedy: Remedy | None = None

    @property
    def reason(self) -> str:
        """The whole reason in the words of Python."""
        return self.sentence()

    def sentence(self, option_of: OptionOf | None = None) -> str:
        """The whole reason, with the parameter of the remedy as `option_of` writes it."""
        return self.what + (f": {self.remedy.sentence(option_of)}" if self.remedy else "")


class Column:
    """What is known of a column after some blocks.

    Attributes
    ----------
    pieces : list of array
        Its numbers, block by block, if they are kept; none where it is no column of numbers.
    n_seen, n_missing, n_strangers : int
        How many cells it has, how many of them are missing, and how many are text.
    first_missing : Place or None
        The first of those that are missing.
    text, endless : TableError or None
        An error about the first cell of text, and about the first infinity.
    signs : set of str
        The signs of its numbers, where cells are more than digits.
    bare : set of str
        "" where other cells are digits only.
    """

    def __init__(
        self, name: str, *, is_chosen: bool, truth_is_text: bool = False, kept: bool
    ) -> None:
        self.name = name
        self._truth_is_text = truth_is_text
        self._is_kept = kept
        self._sums = [0, 0]  # of its whole numbers and their squares, modulo 2**64
        self.signs: set[str] = set()
        self.bare: set[str] = set()
        self._is_chosen = is_chosen
        self.pieces: list[Doubles] = []
        self.n_seen = self.n_missing = self.n_strangers = 0
        self.first_missing: Place | None = None
        self.text: TableError | None = None
        self.endless: TableError | None = None
        self._low, self._high = np.inf, -np.inf
        self._are_whole = True
        self._look = self._first_stranger = ""
        self._is_in_digits = False

    @property
    def is_candidate(self) -> bool:
        """Nearly all cells so far are numbers: further blocks are used, or text is counted."""
        return self.n_strangers <= _NEARLY * self.n_seen

    @property
    def has_digits(self) -> bool:
        """Whether it has text, and most of it is digits, or most other cells are numbers."""
        return self._is_in_digits or (self.n_strangers > 0 and self.is_candidate)

    @property
    def holds_categories(self) -> bool:
        """Whether it has text that is no number, date or time."""
        return self.n_strangers > 0 and not self.is_candidate and self._look in _CATEGORIES

    def see(self, block: Block, parsed: ParsedColumn) -> None:
        """Take in one more block."""
        if len(parsed.strangers):
            stripped, signs = block.strip_signs(self.name, parsed, also_plain=self._is_chosen)
            if not (self._truth_is_text and TRUTH in signs):
                parsed = stripped
                self.signs |= signs
        elif not self.bare and np.isfinite(parsed.numbers).any():
            self.bare = {""}
        numbers, strangers = parsed
        if len(strangers) and self.text is None:
            cells, first = block.cells(self.name), int(strangers[0])
            self.text = block.not_a_number(first, self.name)
            self._first_stranger = f"{shown(cells[first])} in {block.place(first)}"
            some = [cells[i] for i in strangers[:_N_LOOKED_AT]]
            self._look = look_of(some, block.decimal)
            self._is_in_digits = 2 * sum(map(is_mostly_digits, some)) > len(some)
            self.pieces.clear()
        self.n_strangers += len(strangers)
        missing = np.isnan(numbers)
        n_missing = int(np.count_nonzero(missing))
        if n_missing and self.first_missing is None:
            row = int(missing.argmax())
            self.first_missing = block.cell(row, self.name)
        present = numbers[~missing] if n_missing else numbers
        if len(present):
            self._low = min(self._low, present.min())
            self._high = max(self._high, present.max())
            if self.endless is None and not np.isfinite([self._low, self._high]).all():
                self.endless = block.not_finite(int(np.isinf(numbers).argmax()), self.name)
            self._are_whole = self._are_whole and bool((present == np.rint(present)).all())
            if self._are_whole:
                whole = np.clip(present, -(2.0**62), 2.0**62).astype(np.int64).view(np.uint64)
                added = [int(whole.sum()), int((whole * whole).sum())]
                self._sums = [(a + b) % 2**64 for a, b in zip(self._sums, added, strict=True)]
        self.n_missing += n_missing
        self.n_seen += len(numbers)
        if self._is_kept and not self.n_strangers:
            self.pieces.append(numbers)

    def left_out(self) -> LeftOut | None:
        """Why the column is not one to work with; None if it is."""
        if self.n_strangers and self.is_candidate:
            what = (
                f"{self.n_strangers:,} of {self.n_seen:,} cells are not numbers (first "
                f"{self._first_stranger}): correct them or leave them empty to use it"
            )
            return LeftOut(self.name, what)
        if self.n_strangers:
            what = f"{self._look} (first {self._first_stranger}){_ADVICE.get(self._look, '')}"
            return LeftOut(self.name, what, _REMEDIES.get(self._look))
        if self.signs and (mixed := mixed_signs(self.signs | self.bare)):
            return LeftOut(self.name, mixed)
        reason = self._reason()
        return None if reason is None else LeftOut(self.name, reason)

    def _reason(self) -> str | None:
        if self.n_missing == self.n_seen:
            return ALL_MISSING
        if self._low == self._high:
            return f"constant (always {self._low:g})"
        if self.name.startswith("__index_level_"):
            return "the index of a pandas data frame: choose it by name to use it"
        if self._numbers_the_rows():
            return f"an identifier: it numbers the rows from {self._low:.0f} to {self._high:.0f}"
        if self._are_whole and _is_called_id(self.name):
            return "whole numbers in a column called id: choose it by name to use it"
        return None

    def _numbers_the_rows(self) -> bool:
        """Whether these are the whole numbers of a range, by two sums of them."""
        n = self.n_seen
        complete = self._are_whole and self.n_missing == 0 and n >= _FEWEST_TO_NUMBER
        if not complete or self._high - self._low != n - 1:
            return False
        low, high = int(self._low), int(self._high)
        squares = [m * (m + 1) * (2 * m + 1) // 6 for m in (low - 1, high)]
        return self._sums == [(low + high) * n // 2 % 2**64, (squares[1] - squares[0]) % 2**64]


def mixed_signs(signs: set[str]) -> str | None:
    """What is wrong with these signs in one column; an amount may be without its sign."""
    if len(signs - {""}) < 2 and not any(signs >= {sign, ""} for sign in ("%", TRUTH)):
        return None
    found = listed(shown(sign) if sign else "none" for sign in sorted(signs))
    return f"numbers have different currency or percent signs ({found})"


def _is_called_id(name: str) -> bool:
    """Names such as id, user_id, "Order ID" and userId, and not paid or grid."""
    words = re.sub(r"(?<=[a-z])(?=I[dD]$)", " ", name.strip())
    return re.split(r"[\W_]+", words)[-1].lower() == "id"
