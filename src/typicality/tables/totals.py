"""A last row with the totals of a table, as people write it below their columns."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from typicality._typing import Doubles
from typicality._words import shown
from typicality.tables.base import Block
from typicality.tables.cells import texts_of

_WORDS = frozenset(
    [
        *("sum", "sums", "total", "totals", "grand total", "overall total", "summe", "summen"),
        *("gesamtsumme", "gesamt", "insgesamt", "somme", "total général", "ensemble", "suma"),
        *("suma total", "total general", "totales", "soma", "totale", "totali", "somma"),
        *("totaal", "som", "totalt", "summa", "yhteensä", "razem", "итого", "всего", "сумма"),
        *("合计", "总计", "合計", "總計", "합계", "총계"),
    ]
)
_NEARLY = 1e-3  # of a sum: the cells above it may be rounded


class TotalCell(NamedTuple):
    """A cell of the last row that is a word for a total, and where the row is."""

    text: str
    row: int
    place: str

    @property
    def doubt(self) -> tuple[str, str]:
        """What may be wrong with the row, and what to do, where it is used like the others."""
        seen = (
            f"The last row, {self.place}, has {shown(self.text)} in a cell, but its numbers are "
            "not known to be the totals of the rows above. It is treated like any other row."
        )
        return seen, "If it is a total, delete it from the file."


def find_total(block: Block) -> TotalCell | None:
    """The cell of the last row of a block that is a word for a total; None without one."""
    last = block.n_rows - 1
    for column in block.columns(block.names):
        text: str = texts_of(column.slice(last))[0].as_py()
        if text.strip().rstrip(":").rstrip().casefold() in _WORDS:
            return TotalCell(text.strip(), *block.position(last))
    return None


def are_totals(block: Block, columns: Iterable[tuple[str, Doubles]]) -> bool:
    """Whether the last number of each column is the sum or the mean of the numbers above it.

    Missing numbers are left out. The last row must have one number or more.

    Parameters
    ----------
    block : Block
        The last block of the table.
    columns : iterable of pairs of str and array
        The names and the numbers of all columns of numbers.
    """
    is_total = []
    for name, numbers in columns:
        above, last = numbers[:-1][~np.isnan(numbers[:-1])], numbers[-1]
        if not np.isnan(last) and len(above):
            total = above.sum()
            expected = np.array([total, total / len(above)])
            rounding = 0.5 * _last_digit(block.cells(name)[-1], block.table.decimal)
            far = np.abs(last - expected) - np.maximum(rounding, _NEARLY * np.abs(expected))
            is_total.append(bool((far <= 0).any()))
    return bool(is_total) and all(is_total)


def _last_digit(cell: str, decimal: str) -> float:
    """The value of a one in the last digit of a number as it is written: 0.01 for 1.25."""
    decimals = cell.partition(decimal)[2]
    digits = len(decimals) - len(decimals.lstrip("0123456789"))
    return 10.0**-digits if digits else 0.0
