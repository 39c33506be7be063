"""A column as it is read: whether it is numbers to work with, and what else it is."""

import re

import numpy as np

from typicality._typing import Doubles, Places
from typicality.exceptions import TableError
from typicality.tables._words import shown
from typicality.tables.base import Block, Place
from typicality.tables.cells import look_of

_NEARLY = 0.05  # of the cells may be no numbers in a column that is nearly numeric
_N_LOOKED_AT = 100
_REMEDIES = {
    "text": "",
    "true or false": ": write 1 and 0 to use them",
    "dates or times": ": write a number with a meaning to use them, e.g. days since the first",
    "numbers with commas between thousands": ": save the file without them to use the numbers",
    "numbers with a decimal comma": ": save the file with decimal points to use them",
}


class ColumnJudge:
    """What is known of a column after some blocks.

    Attributes
    ----------
    name : str
        The column.
    low, high : float
        The smallest and the largest number.
    n_missing : int
        How many numbers are missing.
    first_missing : Place or None
        The first of them.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.low, self.high = np.inf, -np.inf
        self.n_missing = 0
        self.first_missing: Place | None = None
        self._n_seen = self._n_strangers = 0
        self._are_whole = True
        self._look = ""
        self._first_stranger = ""
        self._stranger: TableError | None = None
        self._endless: TableError | None = None

    @property
    def is_numeric(self) -> bool:
        """All cells so far are numbers, or missing."""
        return self._n_strangers == 0

    @property
    def is_counting(self) -> bool:
        """Nearly all cells so far are numbers: those that are not will be counted to the end."""
        return 0 < self._n_strangers <= _NEARLY * self._n_seen

    @property
    def fills_a_range(self) -> bool:
        """Whole numbers, none missing, from a range with as many numbers as there are rows."""
        complete = self._are_whole and self.n_missing == 0
        return complete and self.high - self.low == self._n_seen - 1

    def parse(self, block: Block) -> Doubles:
        """Look at the column in one more block; its numbers."""
        numbers, strangers = block.parsed(self.name)
        if len(strangers):
            self._meet(strangers, block)
        self.see(numbers, block)
        return numbers

    def see(self, numbers: Doubles, block: Block) -> None:
        """Take in numbers of one more block."""
        missing = np.isnan(numbers)
        if missing.any():
            self.n_missing += int(missing.sum())
            if self.first_missing is None:
                row = int(missing.argmax())
                self.first_missing = Place(block.first_row + row, block.line_of(row), self.name)
        present = numbers[~missing] if missing.any() else numbers
        if len(present):
            self.low, self.high = min(self.low, present.min()), max(self.high, present.max())
            if self._endless is None and not np.isfinite([self.low, self.high]).all():
                self._endless = block.not_finite(int(np.isinf(numbers).argmax()), self.name)
            self._are_whole = self._are_whole and bool((present == np.rint(present)).all())
        self._n_seen += len(numbers)

    def _meet(self, strangers: Places, block: Block) -> None:
        if self._stranger is None:
            cells = block.cells(self.name)
            first = int(strangers[0])
            self._stranger = block.not_a_number(first, self.name)
            self._first_stranger = f"{shown(cells[first])} in {block.place(first)}"
            self._look = look_of(cells[i] for i in strangers[:_N_LOOKED_AT])
        self._n_strangers += len(strangers)

    def refuse_strangers(self) -> None:
        """An error where a cell was no number."""
        if self._stranger is not None:
            raise self._stranger

    def refuse_infinity(self) -> None:
        """An error where a number was infinite."""
        if self._endless is not None:
            raise self._endless

    def reason(self) -> str | None:
        """Why the column is not one to work with; None where it is."""
        if self.is_counting:
            return (
                f"{self._n_strangers:,} of {self._n_seen:,} cells are not numbers (first "
                f"{self._first_stranger}): correct them or leave them empty to use it"
            )
        if self._n_strangers:
            return f"{self._look} (first {self._first_stranger}){_REMEDIES[self._look]}"
        if self.n_missing == self._n_seen:
            return "all values are missing"
        if self.low == self.high:
            return f"constant (always {self.low:g})"
        return None

    def reason_by_name(self) -> str | None:
        """Why a column of numbers is no measurement by what it is called."""
        if self._are_whole and _is_called_id(self.name):
            return "whole numbers that are called an id: choose it by name to use it"
        return None


def _is_called_id(name: str) -> bool:
    """Names such as id, user_id, "Order ID" and userId, and not paid or grid."""
    words = re.sub(r"(?<=[a-z])(?=I[dD]$)", " ", name.strip())
    return re.split(r"[\W_]+", words)[-1].lower() == "id"
