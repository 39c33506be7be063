"""`typicality report`: the page of a run, drawn anew."""

from pathlib import Path
from typing import Any

import click

from typicality.cli.errors import UnusableError
from typicality.cli.options import Options, command


@command
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("file", metavar="[FILE]", default="")
@click.option(
    "--output",
    "-o",
    type=click.Path(),
    metavar="OUT.html",
    help="The file to write. [default: report.html in the folder of the run]",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def report(options: Options, model: str) -> None:
    """Draw the report of a run anew.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    The rows are read from the file the run was made from, or from FILE where that has moved.
    """
    from typicality._words import counted
    from typicality.cli.console import Terminal
    from typicality.cli.folder import REPORT, load_run, require_free
    from typicality.cli.page import write_page
    from typicality.cli.rows import RowTexts, open_file, read_file
    from typicality.report.features import FeatureTable
    from typicality.report.payload import explain

    terminal = Terminal(quiet=options.quiet)
    with terminal.doing(f"Loading {model}"):
        pipeline, record, folder = load_run(model)
    if record is None:
        raise UnusableError(
            f"{model} has no run.json, which says what was run on what; give the folder that "
            "`typicality cluster` or `typicality outliers` has written."
        )
    path = Path(options.output or folder.parent / REPORT)
    require_free(path, force=options.force)
    reading = _reading(record, options.file)
    with open_file(reading) as table:
        with terminal.doing(f"Reading {table.name}"):
            rows = read_file(table, reading)
            same = rows.numeric.fingerprint == record["data"]["fingerprint"]
            if not same and not options.file:
                raise UnusableError(
                    f"{table.name} has changed since the run; run `{record['command']}` again, or "
                    "name a file with the rows of the run: typicality report MODEL FILE."
                )
            left_out = [column["name"] for column in record["data"]["columns_left_out"]]
            texts = RowTexts(rows, [name for name in left_out if name in table.names])
            for block in table.blocks():
                texts.take(block)
        drawn = f"Drawn for the {counted(len(rows.X), 'row')} of {table.name}, not for those of"
        scaler, fitted = pipeline["columns"], pipeline["model"]
        del scaler.feature_names_in_  # rows are arrays, their columns taken by name
        with terminal.doing("Drawing the report"):
            try:
                scaled = scaler.transform(rows.X)
                features = FeatureTable(list(rows.numeric.names), rows.X, scaled)
                explanation = explain(fitted, scaled, features)
            except ValueError as error:
                raise UnusableError(f"{table.name} cannot be drawn: {error}") from error
            write_page(
                path,
                record,
                model=fitted,
                explanation=explanation,
                texts=texts,
                remarks=[] if same else [("Rows", f"{drawn} the fit.")],
                overwrite=options.force,
            )
    terminal.say_path("Open the report: ", path)


def _reading(record: dict[str, Any], file: str) -> Options:
    """How to read the columns of a run, whatever else the file holds by now."""
    data = record["data"]
    path = data["path"]
    if not file and path is None:
        raise UnusableError(
            "The rows of this run came from standard input; give a file with the same rows: "
            "typicality report MODEL FILE."
        )
    if not file and not Path(path).exists():
        raise UnusableError(
            f"{path}, the file of this run, is gone; say where it is now: typicality report MODEL "
            "FILE."
        )
    return Options(
        file=file or path,
        format=None if file else data["format"],
        delimiter=data["delimiter"],
        header=data["header"],
        columns=tuple(data["columns"]),
        scale=record["preparation"]["parameters"]["scale"],
        missing=data["missing"],
    )
