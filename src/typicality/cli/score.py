"""`typicality score`: judge new rows by a model that was kept, block by block."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from typicality.cli.errors import WrongUseError, note_written
from typicality.cli.options import (
    FORMAT,
    Options,
    command,
    file_argument,
    format_options,
    jobs_option,
    option,
    print_options,
    safe_csv_option,
)


@command
@click.argument("model", metavar="MODEL", type=click.Path())
@file_argument
@option(
    "--output -o OUT.csv", "The file to write, .csv or .parquet; - is standard output.", default="-"
)
@option("--force", "Replace a file that exists already.", is_flag=True)
@safe_csv_option
@format_options
@option(
    "--missing",
    "What to do with missing values: stop and report them (error), leave such rows out (drop), or "
    "fill in the median of the training rows (median). [default: as in the run]",
    type=click.Choice(["error", "drop", "median"]),
)
@jobs_option
@print_options
def score(options: Options, model: str) -> None:
    """Apply the model of an earlier run to new rows.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    Writes csv, or parquet if --output ends in .parquet. The output has all columns of FILE, and the
    columns that the run has added. FILE is read in blocks, so it may have any size; - is standard
    input.
    """
    from typicality._threads import stream_in_threads
    from typicality._words import counted
    from typicality.cli.columns import assumptions
    from typicality.cli.console import Terminal
    from typicality.cli.folder import load_run
    from typicality.cli.machine import within
    from typicality.cli.rows import open_file, require_file

    output = str(options.output)
    if options.as_json and output == "-":
        raise WrongUseError(
            "--json and the rows cannot both go to standard output; write the rows to a "
            "file with --output."
        )
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    require_file(options)
    tally = {"n_rows": 0, "n_unassigned": 0, "n_left_out": 0}
    with within(options):
        with terminal.doing(f"Loading {model}"):
            pipeline, record, _ = load_run(model)
        missing = options.missing or (record["data"]["missing"] if record else "error")
        data = record["data"] if record else {}
        options = _as_in_the_run(options, data)
        from typicality.cli.judging import Judge, is_parquet, writer
        from typicality.preprocessing.table_rows import column_names

        as_parquet, fitted = is_parquet(output), pipeline["model"]
        judge = Judge(
            pipeline["columns"],
            fitted,
            names=column_names(pipeline["columns"]),
            missing=missing,
            signs=data.get("signs", {}),
            as_parquet=as_parquet,
            safe=options.safe_csv,
        )
        with (
            writer(output, force=options.force, as_parquet=as_parquet) as write,
            open_file(options) as table,
            terminal.doing(f"Scoring {table.name}") as tell,
        ):
            for judged in stream_in_threads(judge, table.blocks()):
                write(judged.written)
                tally = {name: tally[name] + judged.counts[name] for name in tally}
                n_rows = counted(tally["n_rows"], "row")
                tell(f"Scored {n_rows} of {table.name}, {100 * table.fraction_read:.0f} %")
    if output != "-":
        note_written(output)
    if options.as_json:
        terminal.json({"output": output, **tally})
    if output != "-":
        summary = _summary(**tally, rate=getattr(fitted, "contamination", None))
        terminal.say(" ".join([summary, *assumptions(table)]))
        terminal.say_path("Written: ", output)


def _as_in_the_run(options: Options, data: Mapping[str, Any]) -> Options:
    """How FILE is read where the options leave that open, by what the run did (run.json).

    The file of the run is read in the same way. Others may be written in another way, but where
    the run read decimal commas, 1.234 must not become a fraction without a word.
    """
    said: dict[str, Any] = {"decimal": ","} if data.get("decimal") == "," else {}
    if data.get("path") == str(Path(options.file).resolve()):
        said = {name: data.get(name) for name in FORMAT}
    return replace(
        options, **{name: value for name, value in said.items() if getattr(options, name) is None}
    )


def _summary(n_rows: int, n_unassigned: int, n_left_out: int, *, rate: float | str | None) -> str:
    from typicality._words import counted, share

    are = "are unassigned" if n_unassigned != 1 else "is unassigned"
    if rate is not None:
        are = "are outliers" if n_unassigned != 1 else "is an outlier"
        are += " at the nominal rate" + (f" of {rate:g}" if isinstance(rate, float) else "")
    words = f"{counted(n_rows, 'row')}; {n_unassigned:,} ({share(n_unassigned, n_rows)}) {are}."
    if n_left_out:
        words += f" Skipped: {counted(n_left_out, 'row')} with missing values."
    return words
