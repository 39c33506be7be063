"""What clusters are: medians in the units of the file, and the text columns that took no part."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from typicality._typing import Labels
from typicality._words import YEARS
from typicality.cli.errors import UnusableError
from typicality.cli.parameters import near_name
from typicality.tables import TableFile
from typicality.tables.cells import look_of

if TYPE_CHECKING:
    from typicality.cli.writing import ShownRows
    from typicality.report.clusters import ClusterTable

MOST_VALUES = 20  # of a column of text that is counted
_CALLED = ("name", "title")  # columns that name rows
_YES_OR_NO = frozenset(["yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein"])
TELLING = 0.5  # spreads: a smaller deviation explains nothing, here as on the page


# ---- medians -------------------------------------------------------------------------------------


def describe_clusters(
    table: "ClusterTable", names: Sequence[str], words: Callable[[str, float], str | None]
) -> list[dict[str, Any]]:
    """Each cluster with its medians, and the columns that set it apart, as run.json has them.

    `words` gives the category of a rank.
    """
    from typicality.report.clusters import PROFILE_LENGTH
    from typicality.report.features import largest

    found = []
    columns, deviations = largest(table.deviations, PROFILE_LENGTH)
    for k, label in enumerate(table.labels[: len(table.medians)].tolist()):
        apart = [
            {
                "column": names[j],
                "median": float(table.medians[k, j]),
                "elsewhere": float(table.elsewhere[k, j]),
                "deviations": float(deviation),
            }
            for j, deviation in zip(columns[k], deviations[k], strict=True)
            if j >= 0 and abs(deviation) >= TELLING and np.isfinite(table.elsewhere[k, j])
        ]
        for each in apart:
            for key in ("median", "elsewhere"):
                each[key] = words(each["column"], each[key]) or each[key]
        medians = {
            name: words(name, value) or value
            for name, value in zip(names, table.medians[k].tolist(), strict=True)
        }
        commonest = [each._asdict() for each in table.commonest[k]]
        found.append({"label": label, "medians": medians, "apart": apart, "categories": commonest})
    return sorted(found, key=lambda cluster: cluster["label"])


def clusters_csv(
    clusters: Sequence[Mapping[str, Any]],
    sizes: Sequence[int],
    n_rows: int,
    typical_rows: Sequence[Mapping[str, Any]],
    name: str | None,
) -> bytes:
    """A line for each cluster: size, share, its most typical row, and the median of each column."""
    typical = {row["label"]: row for row in typical_rows}
    names = list(clusters[0]["medians"]) if clusters else []
    heading = ["cluster", "rows", "share", "typical_row", "typical_line"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    named = [] if name is None else [f"typical_{name}"]
    categories = [each["column"] for each in clusters[0]["categories"]] if clusters else []
    commonest = [f"{word}_{name}" for name in categories for word in ("commonest", "share")]
    medians = [f"median_{column}" for column in names]
    writer.writerow([*heading, *named, *medians, *commonest])
    for cluster in clusters:
        label = cluster["label"]
        row = typical[label]
        cells = [label, sizes[label], f"{sizes[label] / n_rows:.4g}", row["row"], row["line"]]
        values = map(_median_text, cluster["medians"].values())
        shares = [
            text
            for each in cluster["categories"]
            for text in (each["category"], f"{each['n_rows'] / each['of']:.4g}")
        ]
        writer.writerow([*cells, *([] if name is None else [row["name"]]), *values, *shares])
    return stream.getvalue().encode("utf-8", "surrogateescape")


def _median_text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.9g}"


# ---- columns of text -----------------------------------------------------------------------------


class Tabulated(NamedTuple):
    """How often each value of a text column occurs in each cluster.

    Parameters
    ----------
    column : str
        The column, which took no part in the fit.
    counts : dict of int to dict of str to int
        For each label the values and how often they occur, the most frequent first.
    association : float
        Cramer's V of labels and values: 0 where they are independent, 1 where one determines the
        other.
    """

    column: str
    counts: dict[int, dict[str, int]]
    association: float


def tabulate_texts(texts: Mapping[str, Sequence[str]], labels: Labels) -> list[Tabulated]:
    """Text columns against labels, the most closely related first.

    Only columns with 2 to 20 different values, each of them twice on average at the least.
    """
    found = []
    labels_present, label_places = np.unique(labels, return_inverse=True)
    for column, cells in texts.items():
        values = Counter(cell.strip() for cell in cells)
        if not 2 <= len(values) <= min(MOST_VALUES, len(cells) / 2):
            continue
        place = {value: k for k, value in enumerate(values)}
        counts = np.zeros((len(labels_present), len(values)), np.intp)
        np.add.at(counts, (label_places, np.array([place[cell.strip()] for cell in cells])), 1)
        by_label = {
            int(label): {
                value: int(n)
                for n, value in sorted(zip(row, values, strict=True), key=lambda pair: -pair[0])
                if n
            }
            for label, row in zip(labels_present, counts, strict=True)
        }
        found.append(Tabulated(column, by_label, _cramers_v(counts)))
    return sorted(found, key=lambda each: -each.association)


def _cramers_v(counts: Any) -> float:
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    least = min(counts.shape) - 1
    return float(
        np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / max(least, 1))
    )


# ---- names of rows -------------------------------------------------------------------------------


def column_of_names(cells: Mapping[str, Sequence[str]], notable: Sequence[int]) -> str | None:
    """The most useful column of text to name rows; None where there is none.

    A useful column tells the notable rows apart; one that is called a name or a title comes first,
    and words, or dates of which no two are equal, are better than codes. Numbers, which identifiers
    are, name nothing, except years that number the rows; nor do yes and no.
    """
    best, most = None, (False, False, 1)
    for name, texts in cells.items():
        some = [texts[i].strip() for i in notable]
        distinct = {cell for cell in some if cell}
        if len(distinct) < 2 or 2 * some.count("") > len(some):
            continue
        if {cell.lower() for cell in distinct} <= _YES_OR_NO:
            continue
        if all(map(_is_number, distinct)):
            if best is None and name.strip().lower() in YEARS and len({*texts}) == len(texts):
                best = name
            continue
        tells_apart = 2 * len(distinct) > len(some)  # the name of a study names no row
        called = tells_apart and any(word in name.lower() for word in _CALLED)
        are_dates = len({*texts}) == len(texts) and look_of(texts) == "dates or times"
        worth = (called, are_dates or _are_words(distinct), len(distinct))
        if worth > most:
            best, most = name, worth
    return best


def check_name(table: TableFile, wanted: str | None) -> None:
    """Refuse a name of rows that is no column."""
    if wanted is not None and wanted not in table.names:
        raise UnusableError(
            f"{table.name} has no column {wanted!r}; {near_name(wanted, table.names)}"
        )


def names_of(shown: "ShownRows", column: str | None) -> Sequence[str]:
    """What that column says of each row; empty texts where there is none."""
    X, names = shown.rows.X, shown.rows.names
    if column is None:
        return [""] * len(X)
    if column in names:
        return [f"{value:.9g}" for value in X[:, names.index(column)]]
    if column.strip().lower() in YEARS:
        return [text.removesuffix(".0") for text in shown.cells[column]]
    return shown.cells[column]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _are_words(cells: set[str]) -> bool:
    """Whether most cells are words: letters without digits, not all of them capitals."""
    words = [c for c in cells if not any(map(str.isdigit, c)) and not c.isupper() and len(c) > 1]
    return 2 * len(words) > len(cells)
