"""The page of a run; `typicality report` writes it again."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from typicality._words import counted
from typicality.cli.errors import UnusableError, note_written
from typicality.cli.options import Options, command, force, model_argument, option, quiet
from typicality.exceptions import ClusteringWarning

if TYPE_CHECKING:
    from typicality.cli.result import Result

_SCALES = {
    "robust": "Each column was centred at its median and divided by IQR / 1.349, a spread that a "
    "few far rows do not change.",
    "standard": "Each column was centred at its mean and divided by its standard deviation.",
    "none": "Columns were compared as they are, without scaling.",
}
_LOGS = {
    "none": "",
    "auto": " Before that, skewed columns were replaced by their logarithms.",
    "all": " Before that, columns were replaced by their logarithms.",
}


@command
@model_argument
@click.argument("file", metavar="[FILE]", default="")
@option(
    "--output -o OUT.html",
    "The file to write. [default: report.html in the folder of the run]",
    type=click.Path(),
)
@force
@quiet
def report(options: Options, model: str) -> None:
    """Rebuild the HTML report of an earlier run.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    The rows are read from the file of the run, or from FILE if that file has moved.
    """
    from typicality.cli.console import Terminal
    from typicality.cli.folder import REPORT, opened_run, require_free

    terminal = Terminal(quiet=options.quiet)
    path = Path(options.output or Path(model) / REPORT)
    require_free(path, force=options.force)
    with opened_run(model, options, terminal) as (run, table):
        from typicality.cli.result import Result

        record = run.record
        if table.fingerprint != record["data"]["fingerprint"]:
            raise UnusableError(
                f"{table.name} does not hold the rows of the run, or has changed since; make the "
                "run again, or name a file with its rows: typicality report MODEL FILE."
            )
        with terminal.doing(f"Reading {table.name}"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusteringWarning)  # the record has those of the run
            result = Result.of_file(run, table, name=record["results"]["named_by"])
    with terminal.doing("Drawing the report"):
        write_page(path, record, result.on_page(), overwrite=options.force)
        note_written(path)
    terminal.say_path("Open the report: ", path)


# ---- the page ------------------------------------------------------------------------------------


def write_page(
    path: Path, record: Mapping[str, Any], result: "Result", *, overwrite: bool = False
) -> None:
    """Draw the report of a run and write it.

    Parameters
    ----------
    path : Path
        The file.
    record : mapping
        What run.json says.
    result : Result
        The rows that are shown, and what the model says of them.
    overwrite : bool, default=False
        Whether a file that is there is replaced.
    """
    from typicality.report import Report
    from typicality.report.payload import build_payload

    name = record["results"].get("named_by")  # comes first: pages show the first columns
    payload = build_payload(
        result.run.model,
        result.explanation,
        dict(sorted(result.shown.cells.items(), key=lambda item: item[0] != name)),
        title=record["data"]["file"],
        row_numbers=result.shown.numbers,
        notes=notes_of(record),
        warnings=[warning["seen"] for warning in record["warnings"]],
        random_state=record["seed"],
    )
    note = _about_part(record, payload["n_rows"])
    payload["sample_note"] = " ".join(filter(None, [note, payload["sample_note"]])) or None
    if note:  # a rate, and a gap of scores, are of all rows
        payload["headline"] = None
    Report.of(payload).save(path, overwrite=overwrite)


def _about_part(record: Mapping[str, Any], n_shown: int) -> str:
    """A sentence about which rows a page shows, where these are not all; else nothing."""
    from typicality.cli.folder import results_name

    data, sample = record["data"], record["results"]["sample"]
    n_rows = data["n_rows"] - data["n_rows_left_out"]
    if n_shown == n_rows:
        return ""
    which = "a random sample, and the least typical rows of all"
    if sample is not None and n_shown == sample["n_rows"]:
        which = "the random sample on which the model was fitted"
    return (
        f"This page shows {n_shown:,} of the {n_rows:,} rows: {which}. Its counts refer to these "
        f"rows; {results_name(record)} has all rows."
    )


def notes_of(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was run on what, as headings and sentences."""
    from typicality.cli.parameters import notice_text

    data, results, estimator = record["data"], record["results"], record["estimator"]
    scaler = record["preparation"]["parameters"]
    parameters = ", ".join(f"{name} = {value}" for name, value in estimator["parameters"].items())
    chosen = results.get("explanation")
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    return [
        ("Rows and columns", " ".join(record.get("about", []))),
        *(
            ("Ordered", f"{name}: {', '.join(order)}; it is used by rank.")
            for name, order in data["ordered"].items()
        ),
        ("Scale", _SCALES[scaler["scale"]] + _LOGS[scaler["log"]]),
        ("Method", f"{estimator['class']}, {parameters}."),
        *([] if chosen is None else [("Choice", chosen)]),
        ("Iterations", f"{counted(results['n_iter'], 'iteration')}, {results['status']}."),
        ("Computation", f"{results['sums'][:1].upper()}{results['sums'][1:]}"),
        ("Command", record["command"]),
        *(("Warning of the run", notice_text(warning)) for warning in record["warnings"]),
        ("File", data["fingerprint"]),
        ("Versions", f"{versions}."),
    ]
