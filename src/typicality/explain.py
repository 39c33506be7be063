"""Why a row is unusual: its features and categories, compared with those of typical rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality._words import YEARS
from typicality.rows import ArrayRows, robust_spreads
from typicality.spaces.nearest import NearestRows

N_COMPARED = 20  # neighbours that a row is compared with
_MOST_ROWS = 20_000  # with more of them, none is nearer to an outlier
TELLING = 0.5  # spreads: a smaller deviation explains nothing
REASONS = 3  # columns named for a row
_N_ALIKE = 30  # rows: a share of fewer says little
_N_LOOKED_AT = 100  # the most rows that are compared with one row
_ROWS_AT_ONCE = 1000
_TIED = 1e-9  # squared distances that differ by less are equal
_COMMON = 0.1  # a category with a larger share of the similar rows is not unusual
_TYPICAL_SHARE = 0.9  # a fixed share: reasons must not depend on how many rows are flagged


def are_typical(strength: Floats) -> NDArray[np.bool_]:
    """Which rows are among the nine tenths of the largest strength; all where they are equal."""
    typical = np.asarray(strength > np.quantile(strength, 1.0 - _TYPICAL_SHARE))
    return typical if typical.any() else np.full(len(strength), True)


def robust_scale(rows: Floats) -> Doubles:
    """The spread of each feature, as :class:`typicality.preprocessing.ColumnScaler` has it.

    One where all values are equal.
    """
    spreads = robust_spreads(ArrayRows(rows), np.quantile(rows, [0.25, 0.5, 0.75], axis=0))
    return np.where(spreads > 0, spreads, 1.0)


@dataclass(frozen=True, eq=False)
class TypicalRows:
    """Typical rows, with the nearest of which other rows are compared.

    Parameters
    ----------
    nearest : NearestRows
        A search among the typical rows, features in units of their spread about their median.
    middle, scale : arrays of shape (d,)
        The median and the spread of each feature over all rows.
    """

    nearest: NearestRows
    middle: Doubles
    scale: Doubles

    @classmethod
    def of(cls, rows: Floats, is_typical: NDArray[np.bool_]) -> Self:
        """The typical ones among rows; of more than 20,000 some."""
        middle, scale = np.asarray(np.median(rows, axis=0), dtype=np.float64), robust_scale(rows)
        typical = np.flatnonzero(is_typical)
        typical = typical[:: max(1, -(-len(typical) // _MOST_ROWS))]
        return cls(NearestRows((rows[typical] - middle) / scale), middle, scale)

    @property
    def rows(self) -> Doubles:
        """The typical rows in their own units."""
        return np.asarray(self.nearest.rows * self.scale + self.middle)

    @property
    def n_compared(self) -> int:
        """How many neighbours a row is compared with."""
        return min(N_COMPARED, self.nearest.n_rows)

    def deviations(self, rows: Floats) -> Doubles:
        """Rows minus the mean of their nearest typical rows, in units of the spread.

        A typical row that coincides with a row is not one of its neighbours: a row is compared
        with others, not with itself.
        """
        asking = np.asarray((rows - self.middle) / self.scale, dtype=np.float64)
        known, n_rows = self.nearest.rows, self.nearest.n_rows
        found = self.nearest.of(asking, min(self.n_compared + 1, n_rows))
        itself = (known[found[:, 0]] == asking).all(axis=1) & (n_rows > 1)
        weights = np.ones(found.shape)
        weights[itself, 0] = 0.0
        if found.shape[1] > self.n_compared:
            weights[~itself, -1] = 0.0
        weights /= weights.sum(axis=1, keepdims=True)
        expected = np.zeros_like(asking)
        for column, weight in zip(found.T, weights.T, strict=True):
            expected += weight[:, None] * known[column]
        return np.asarray(asking - expected)


def telling_features(deviations: Doubles, at_most: int) -> list[list[int]]:
    """For each row the features that explain it, the one with the largest deviation first.

    A deviation counts from half a spread on, and if it is at least half of the largest one. A
    single feature always explains its rows.
    """
    size = np.abs(deviations)
    order = np.argsort(-size, axis=1, kind="stable")[:, :at_most]
    least = np.maximum(TELLING * (size.shape[1] > 1), size.max(axis=1, initial=0.0) / 2)
    return [[int(j) for j in columns if size[i, j] >= least[i]] for i, columns in enumerate(order)]


class CategoryColumns(NamedTuple):
    """Where the columns of categories are, behind those of numbers.

    Parameters
    ----------
    n_numeric : int
        How many columns of numbers come first.
    names : tuple of str
        The columns of categories.
    values : tuple of tuple of str
        The categories of each: as many columns of the rows.
    """

    n_numeric: int
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    @property
    def blocks(self) -> list[slice]:
        """The columns of the rows that stand for each column of categories."""
        ends = self.n_numeric + np.cumsum([0, *map(len, self.values)])
        return [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def codes(self, rows: Floats) -> NDArray[np.intp]:
        """The category of each row and column; -1 for those that were not there in fit."""
        codes = np.full((len(rows), len(self.names)), -1, dtype=np.intp)
        for j, block in enumerate(self.blocks):
            known = rows[:, block].max(axis=1, initial=0.0) > 0
            codes[known, j] = rows[known, block].argmax(axis=1)
        return codes

    def texts(self, rows: Floats) -> dict[str, list[str]]:
        """The category of each row, by column."""
        codes = zip(self.names, self.values, self.codes(rows).T.tolist(), strict=True)
        return {
            name: [values[k] if k >= 0 else "a new category" for k in own]
            for name, values, own in codes
        }

    def shares(self, typical: Floats, asking: Floats) -> Doubles:
        """How many of the typical rows that are most alike have the category of a row, as a share.

        For each column of categories, rows are compared in all other columns, so that a category is
        judged by what else is known of the row. The 30 nearest rows count, and those that are as
        near, up to 100; a row does not count for itself. Costs a search for neighbours for each
        column. Shape (len(asking), n_columns).
        """
        known, own = self.codes(typical), self.codes(asking)
        shares = np.ones(own.shape)
        for j, block in enumerate(self.blocks):
            others = np.delete(np.arange(asking.shape[1]), np.r_[block])
            if not len(others):
                totals = np.bincount(known[:, 0] + 1, minlength=len(self.values[0]) + 1)
                shares[:, j] = totals[own[:, 0] + 1] / len(typical)
                continue
            search = NearestRows(np.ascontiguousarray(typical[:, others]))
            for first in range(0, len(asking), _ROWS_AT_ONCE):
                some = slice(first, first + _ROWS_AT_ONCE)
                rows = asking[some][:, others]
                near = search.of(rows, _N_LOOKED_AT + 1)
                sqdist = search.sqdist(rows, near)
                counts = sqdist <= sqdist[:, [min(_N_ALIKE, near.shape[1] - 1)]] + _TIED
                same = counts & (known[near, j] == own[some, j][:, None])
                itself = (same & (sqdist <= _TIED)).any(axis=1)
                n_same, n_all = same.sum(axis=1) - itself, counts.sum(axis=1) - itself
                shares[some, j] = n_same / np.maximum(n_all, 1)
        return shares


def surprise(shares: Doubles) -> Doubles:
    """The deviation of a number that is as rare: sqrt(-2 ln share), at most that of 1 in 60.

    Zero for common categories, which explain nothing.
    """
    rare = np.sqrt(-2.0 * np.log(np.maximum(shares, 0.5 / _N_ALIKE)))
    return np.asarray(np.where(shares < _COMMON, rare, 0.0))


def value_text(name: str, value: float | str) -> str:
    """A value of a column: 4.4, or 1990 in a column of years."""
    shown = value if isinstance(value, str) else f"{value:,.6g}"
    if "e+" in shown and abs(float(value)) < 1e15:
        return f"{value:,.0f}"
    return shown.replace(",", "") if name.strip().lower() in YEARS else shown


def reason_text(name: str, value: float | str, deviation: float) -> str:
    """A value and how unusual it is: "width 4.4 (+2.6)"."""
    return f"{name} {value_text(name, value)} ({deviation:+.1f})"


def category_text(name: str, value: str, share: float) -> str:
    """A category and how unusual it is: "island = Dream, which 3 % of similar rows have"."""
    if not value:
        return f"{name} is missing"
    if share == 0:
        return f"{name} = {value}, which no similar row has"
    return f"{name} = {value}, which {percent(share)} of similar rows have"


def percent(share: float) -> str:
    """A share for people: 3 %; < 1 % for less."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


class RowReasons(NamedTuple):
    """In which columns rows are unusual: numbers, then categories.

    Parameters
    ----------
    columns : list of str
        The columns.
    values : list of sequences
        What each column holds, row by row: numbers, or text for ranks and categories.
    deviations : array of shape (m, d)
        How unusual each value is; of a category, the deviation of a number that is as rare.
    shares : array of shape (m, k)
        The share of similar rows that have the category, for the last columns.
    """

    columns: list[str]
    values: list[Sequence[Any]]
    deviations: Doubles
    shares: Doubles

    @classmethod
    def of(
        cls,
        numbers: Mapping[str, Sequence[Any]],
        texts: Mapping[str, Sequence[Any]],
        deviations: Doubles,
        shares: Doubles | None = None,
    ) -> Self:
        """The reasons of some rows from the deviations of numbers and the shares of categories."""
        shares = np.empty((len(deviations), 0)) if shares is None or not texts else shares
        every = np.column_stack([deviations, surprise(shares)])
        return cls([*numbers, *texts], [*numbers.values(), *texts.values()], every, shares)

    def item(self, i: int, j: int) -> dict[str, Any]:
        """A reason as run.json has it."""
        found = {
            "column": self.columns[j],
            "value": self.values[j][i],
            "deviations": float(self.deviations[i, j]),
        }
        k = j - (len(self.columns) - self.shares.shape[1])
        return found if k < 0 else found | {"share": float(self.shares[i, k])}

    def items(self) -> list[list[dict[str, Any]]]:
        """For each row the columns with the largest deviations, the largest first."""
        order = np.argsort(-np.abs(self.deviations), axis=1, kind="stable")[:, :REASONS]
        return [
            [self.item(i, j) for j in some if self.deviations[i, j] != 0.0]
            for i, some in enumerate(order.tolist())
        ]

    def texts(self) -> list[str]:
        """Why rows are unusual, one text for each; empty where no single column explains it."""
        telling = telling_features(self.deviations, REASONS)
        return [
            "; ".join(reason_words(self.item(i, j)) for j in some) for i, some in enumerate(telling)
        ]


def reason_words(item: Mapping[str, Any], name: str | None = None) -> str:
    """A reason in words; its column may be called by another name."""
    name = item["column"] if name is None else name
    if "share" in item:
        return category_text(name, item["value"], item["share"])
    return reason_text(name, item["value"], item["deviations"])
