"""The report of a run: the page about its model and rows, and what was run in words."""

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from typicality._typing import Doubles, Places
from typicality._words import counted, listed
from typicality.fitted import FittedView
from typicality.report import Report
from typicality.report.assembly import assemble
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.report.payload import build_payload

_SCALES = {
    "robust": "Each column was centred at its median and divided by IQR / 1.349, a spread that a "
    "few far rows do not change.",
    "standard": "Each column was centred at its mean and divided by its standard deviation.",
    "none": "Columns were compared as they are, without scaling.",
}
_MISSING = {
    "error": "There were none, and none are accepted.",
    "drop": "Rows with missing values were left out.",
    "median": "Missing values were replaced by the median of their column.",
}


@dataclass(frozen=True, eq=False)
class PageRows:
    """The rows a page shows.

    Parameters
    ----------
    names : sequence of str
        The columns.
    values : array of shape (n, d)
        The rows in the units of the user.
    scaled : array of shape (n, d)
        The rows as the model sees them.
    cells : mapping of str to sequence of str
        Further columns, of text.
    numbers : (str, array of shape (n,))
        What rows are called: their lines, or their numbers where the file has no lines.
    """

    names: Sequence[str]
    values: Doubles
    scaled: Doubles
    cells: Mapping[str, Sequence[str]]
    numbers: tuple[str, Places]


def write_page(
    path: Path,
    record: Mapping[str, Any],
    *,
    model: Any,
    rows: PageRows,
    found: FittedView | None = None,
    overwrite: bool = False,
    notes: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw the report of a run and write it.

    Parameters
    ----------
    path : Path
        The file.
    record : mapping
        What run.json says.
    model : estimator
        The fitted estimator.
    rows : PageRows
        What is shown.
    found : FittedView, optional
        What the estimator says of them, where it was asked already.
    overwrite : bool, default=False
        Whether a file that is there is replaced.
    notes : sequence of (str, str), default=()
        What else should be said, before what the record says.
    """
    named = copy(model)  # the page calls columns by the names the model knows
    named.feature_names_in_ = np.asarray(rows.names, dtype=object)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        payload = build_payload(
            named,
            rows.scaled,
            explanation=None
            if found is None
            else Explanation.of(found, FeatureTable(list(rows.names), rows.values, rows.scaled)),
            title=record["data"]["file"],
            display=rows.values,
            cells=rows.cells,
            row_numbers=rows.numbers,
            notes=[*notes, *notes_of(record)],
            warnings=record["warnings"],
            random_state=record["seed"],
        )
    Report(payload["title"], assemble(payload)).save(path, overwrite=overwrite)


def notes_of(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was run on what, as headings and sentences."""
    data, results = record["data"], record["results"]
    left_out = [f"{column['name']}: {column['reason']}" for column in data["columns_left_out"]]
    explained = results.get("explanation")
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    return [
        ("File", f"{data['file']}, {counted(data['n_rows'], 'row')}, {data['fingerprint']}."),
        ("Columns", f"{listed(data['columns'], at_most=20)}."),
        ("Left out", f"{'; '.join(left_out)}." if left_out else "No column."),
        ("Scale", _SCALES[record["preparation"]["parameters"]["scale"]]),
        ("Missing values", _missing(data)),
        ("Method", f"{record['estimator']['class']}, {_parameters(record)}."),
        *([] if explained is None else [("Choice", explained)]),
        ("Iterations", f"{counted(results['n_iter'], 'iteration')}, {results['status']}."),
        ("Sums", f"{results['plan']['method']}: {results['plan']['reason']}"),
        ("Command", record["command"]),
        ("Versions", f"{versions}."),
    ]


def _missing(data: Mapping[str, Any]) -> str:
    words = _MISSING[data["missing"]]
    n_left_out = data["n_rows_left_out"]
    return f"{words} These are {counted(n_left_out, 'row')}." if n_left_out else words


def _parameters(record: Mapping[str, Any]) -> str:
    parameters = record["estimator"]["parameters"]
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())
