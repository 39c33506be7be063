"""The report of a run: the page about its model and rows, and what was run in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typicality._words import counted, listed
from typicality.cli.rows import RowTexts
from typicality.report import Report
from typicality.report.assembly import assemble
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


def write_page(
    path: Path,
    record: Mapping[str, Any],
    *,
    model: Any,
    explanation: Explanation,
    texts: RowTexts,
    remarks: Sequence[tuple[str, str]] = (),
    overwrite: bool = False,
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
    explanation : Explanation
        What the model says of the rows that are shown.
    texts : RowTexts
        Text and lines of the rows.
    remarks : sequence of (str, str), default=()
        What else should be said, before what the record says.
    overwrite : bool, default=False
        Whether a file that is there is replaced.
    """
    payload = build_payload(
        model,
        explanation=explanation,
        title=record["data"]["file"],
        cells=texts.columns,
        row_numbers=texts.numbers,
        notes=[*remarks, *notes_of(record)],
        warnings=record["warnings"],
        random_state=record["seed"],
    )
    Report(payload["title"], assemble(payload)).save(path, overwrite=overwrite)


def notes_of(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was run on what, as headings and sentences."""
    data, results, estimator = record["data"], record["results"], record["estimator"]
    left_out = [f"{column['name']}: {column['reason']}" for column in data["columns_left_out"]]
    missing, n_left_out = _MISSING[data["missing"]], data["n_rows_left_out"]
    if n_left_out:
        missing = f"{missing} These are {counted(n_left_out, 'row')}."
    parameters = ", ".join(f"{name} = {value}" for name, value in estimator["parameters"].items())
    explained = results.get("explanation")
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    return [
        ("File", f"{data['file']}, {counted(data['n_rows'], 'row')}, {data['fingerprint']}."),
        ("Columns", f"{listed(data['columns'], at_most=20)}."),
        ("Left out", f"{'; '.join(left_out)}." if left_out else "No column."),
        ("Scale", _SCALES[record["preparation"]["parameters"]["scale"]]),
        ("Missing values", missing),
        ("Method", f"{estimator['class']}, {parameters}."),
        *([] if explained is None else [("Choice", explained)]),
        ("Iterations", f"{counted(results['n_iter'], 'iteration')}, {results['status']}."),
        ("Sums", f"{results['plan']['method']}: {results['plan']['reason']}"),
        ("Command", record["command"]),
        ("Versions", f"{versions}."),
    ]
