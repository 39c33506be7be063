"""The tables and notes of a comparison as text, for the console and for `repr`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from typicality.comparison.agreement import AgreementMatrix
from typicality.comparison.results import ClustererResult, DetectorResult
from typicality.comparison.stability import Repeats

_NOTHING = "-"


class TextTable(NamedTuple):
    """A table of cells as they are printed."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def clusterer_table(results: Sequence[ClustererResult]) -> TextTable:
    """A row for each clusterer."""
    header = ("method", "clusters", "by", "left out", "stability", "seconds")
    return TextTable("Clusters", header, tuple(map(_clusterer_row, results)))


def _clusterer_row(result: ClustererResult) -> tuple[str, ...]:
    if result.failure is not None:
        return (result.name, "failed", *[_NOTHING] * 4)
    choosing = f" + {_seconds(result.seconds_choosing)}" if result.seconds_choosing else ""
    return (
        result.name,
        _number_and_range(result),
        result.number_from,
        _percent(result.left_out),
        _mean_and_deviation(result.stability),
        _seconds(result.seconds) + choosing,
    )


def _number_and_range(result: ClustererResult) -> str:
    """The number of clusters, and those of the refits where they differ from it."""
    number = result.n_clusters or 0
    numbers = (number, *result.refit_n_clusters)
    least, most = min(numbers), max(numbers)
    return f"{number}" if least == most else f"{number} ({least}-{most})"


def detector_table(results: Sequence[DetectorResult]) -> TextTable:
    """A row for each detector."""
    header = ("method", "flagged", "of unseen", "stability", "seconds")
    return TextTable("Outliers", header, tuple(map(_detector_row, results)))


def _detector_row(result: DetectorResult) -> tuple[str, ...]:
    if result.failure is not None:
        return (result.name, "failed", *[_NOTHING] * 3)
    return (
        result.name,
        _percent(result.flagged_share),
        _percent(None if result.held_out is None else result.held_out.mean),
        _mean_and_deviation(result.stability),
        _seconds(result.seconds),
    )


def agreement_table(title: str, above: AgreementMatrix, below: AgreementMatrix) -> TextTable:
    """Two measures in one square, one above the diagonal and one below it."""
    names = above.names
    square = np.triu(above.values, 1) + np.tril(below.values, -1)
    rows = tuple(
        (f"{i + 1} {name}", *("" if i == j else _decimal(square[i, j]) for j in range(len(names))))
        for i, name in enumerate(names)
    )
    return TextTable(title, ("", *(str(i + 1) for i in range(len(names)))), rows)


def as_text(table: TextTable) -> str:
    """The table in columns of equal width; the first to the left, the others to the right."""
    lines = [table.header, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def notes_on_run(
    *,
    n_rows: int,
    n_compared: int,
    seed: int,
    n_repeats: int,
    detectors: Sequence[DetectorResult],
) -> tuple[str, ...]:
    """What was run on what, in sentences."""
    notes = [
        "Methods chosen by name run with the defaults of their libraries; with other settings they "
        "may do better."
    ]
    if n_compared < n_rows:
        notes.append(
            f"Compared is a random sample of {n_compared:,} of the {n_rows:,} rows (seed {seed})."
        )
    notes += [
        f"Fitted on {result.n_fitted:,} rows only: {result.name}, whose cost grows with their "
        "square."
        for result in detectors
        if 0 < result.n_fitted < n_compared
    ]
    notes.append(
        "Clusters: their number, in brackets the smallest and the largest in refits, and who chose "
        "it: the method found it, it was given, or it has the best silhouette or the smallest BIC."
    )
    notes.append(
        f"Stability: every method was fitted again on {n_repeats} subsamples of 80 % of the rows; "
        "the number is the mean agreement of every two of these fits on the rows they share, 1 at "
        "best, with its standard deviation. Numbers of clusters that were chosen are kept there; a "
        "single cluster of all rows is always stable."
    )
    notes.append(
        "Seconds: one fit with the labels or flags of all rows compared, code compiled before; "
        "what follows a + is the choice of the number of clusters, on one thread."
    )
    return tuple(notes)


def _decimal(value: float) -> str:
    return _NOTHING if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}"  # never -0.00


def _percent(share: float | None) -> str:
    return _NOTHING if share is None else f"{100 * share:.1f} %"


def _mean_and_deviation(repeats: Repeats | None) -> str:
    if repeats is None:
        return _NOTHING
    deviation = f" ± {repeats.deviation:.2f}" if len(repeats.values) > 1 else ""
    return f"{repeats.mean:.2f}{deviation}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"
