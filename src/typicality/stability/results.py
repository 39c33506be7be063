"""Scores of many repetitions: their summary, as text, as a table and as JSON."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from typicality._typing import Doubles
from typicality._words import counted


def words_of(estimator: Any) -> str:
    """An estimator as Python writes it, on one line."""
    return " ".join(repr(estimator).split())


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedScores(ABC):
    """Repeated scores for several settings; the base class of stability results.

    Parameters
    ----------
    estimator : str
        The estimator, as text.
    n_rows : int
        The number of rows.
    scores : array of shape (n_repeats, n_settings)
        One row per repetition, one column per setting.
    """

    setting_name: ClassVar[str]
    setting_is_found: ClassVar[bool] = False  # one that was not asked for: results may differ in it
    score_name: ClassVar[str]

    estimator: str
    n_rows: int
    scores: Doubles

    @property
    @abstractmethod
    def settings(self) -> tuple[Any, ...]:
        """The settings, one per column of `scores`."""

    @property
    def title(self) -> str:
        """A title of the result."""
        splits, rows = counted(self.n_repeats, "split"), counted(self.n_rows, "row")
        return f"Stability of {self.estimator}: {splits} of {rows} in halves"

    @property
    def n_repeats(self) -> int:
        """The number of repetitions."""
        return len(self.scores)

    @property
    def mean(self) -> Doubles:
        """The mean of each setting."""
        return np.asarray(self._known.mean(axis=0))

    @property
    def quartiles(self) -> Doubles:
        """The quartiles and the median of each setting: lower, median, upper; of shape (3, n)."""
        return np.percentile(self._known, (25, 50, 75), axis=0)

    @property
    def deviation(self) -> Doubles:
        """The standard deviation over the repetitions, per setting; NaN for one repetition."""
        known = self._known
        return known.std(axis=0, ddof=1) if len(known) > 1 else np.full(known.shape[1], np.nan)

    @property
    def standard_error(self) -> Doubles:
        """The standard error of each mean: deviation divided by the square root of n_repeats.

        It includes only the random choice of halves or subsets. Other rows from the same source can
        change the mean more.
        """
        return np.asarray(self.deviation / np.sqrt(len(self._known)))

    @property
    def _known(self) -> Doubles:
        """The repetitions that say something (not NaN); one of NaN where most say nothing."""
        known = self.scores[~np.isnan(self.scores).any(axis=1)]
        says_enough = len(known) > 0 and 2 * len(known) >= self.n_repeats
        return known if says_enough else np.full((1, self.scores.shape[1]), np.nan)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw a box plot of the scores of each setting.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        StabilityDisplay
        """
        from typicality.plot import StabilityDisplay

        return StabilityDisplay.from_results({"": self}, ax=ax)

    def summary(self) -> dict[str, list[Any]]:
        """The summary statistics of each setting, by their names."""
        lower, median, upper = self.quartiles.tolist()
        return {
            self.setting_name: list(self.settings),
            "mean": self.mean.tolist(),
            "standard error": self.standard_error.tolist(),
            "lower quartile": lower,
            "median": median,
            "upper quartile": upper,
        }

    def to_pandas(self) -> Any:
        """The summary as a pandas DataFrame, one row per setting."""
        import pandas as pd

        return pd.DataFrame(self.summary()).set_index(self.setting_name)

    def to_dict(self) -> dict[str, Any]:
        """Everything, with the single scores, as a dictionary for JSON."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return as_json(**told, summary=self.summary())

    def __repr__(self) -> str:
        (name, settings), *numbers = self.summary().items()
        columns = [[name, *map(str, settings)]]
        columns += [[name, *(f"{x:.3f}" for x in values)] for name, values in numbers]
        return f"{self.title}\n\n{text_table(list(zip(*columns, strict=True)))}"


def text_table(lines: Sequence[Sequence[str]], *, left: int | None = None) -> str:
    """A header and rows in columns of equal width, to the right but for the column `left`."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def as_json(**entries: Any) -> dict[str, Any]:
    """Entries as lists, dicts and numbers; None for numbers that JSON does not have."""
    return {name: _plain(entry) for name, entry in entries.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
