"""Typical rows as a yardstick: how far a row is from those nearest to it, feature by feature."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality._words import YEARS
from typicality.rows import ArrayRows, robust_spreads
from typicality.spaces.nearest import NearestRows

N_COMPARED = 20  # neighbours that a row is compared with
_MOST_ROWS = 20_000  # with more of them, none is nearer to an outlier
_TELLING = 0.5  # spreads: a smaller deviation explains nothing, here as on the page
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
    least = np.maximum(_TELLING * (size.shape[1] > 1), size.max(axis=1, initial=0.0) / 2)
    return [[int(j) for j in columns if size[i, j] >= least[i]] for i, columns in enumerate(order)]


def reason_text(name: str, value: float | str, deviation: float) -> str:
    """A value and how unusual it is: "width 4.4 (+2.6)"."""
    shown = value if isinstance(value, str) else f"{value:,.6g}"
    if "e+" in shown and abs(float(value)) < 1e15:
        shown = f"{value:,.0f}"
    elif name.strip().lower() in YEARS:
        shown = shown.replace(",", "")
    return f"{name} {shown} ({deviation:+.1f})"


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
