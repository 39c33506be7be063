"""`typicality score`: judge new rows by a model that was kept, block by block."""

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from typicality._words import counted, share
from typicality.cli.errors import WrongUseError, note_written
from typicality.cli.options import (
    Options,
    choice,
    command,
    file_argument,
    force,
    format_options,
    jobs,
    model_argument,
    option,
    print_options,
    safe_csv,
)

if TYPE_CHECKING:
    from typicality.cli.writing import Tally
    from typicality.run_folder import Judged, Run


@command
@model_argument
@file_argument
@option(
    "--output -o OUT.csv", "The file to write, .csv or .parquet; - is standard output.", default="-"
)
@force
@safe_csv
@format_options
@choice(
    "--missing",
    "What to do with missing values: fill in the median of the training rows (median), leave such "
    "rows out (drop), or stop (error). [default: as in the run]",
    *("median", "drop", "error"),
)
@jobs
@print_options
def score(options: Options, model: str) -> None:
    """Apply the model of an earlier run to new rows.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    Writes csv, or parquet if --output ends in .parquet. The output has all columns of FILE, and the
    columns that the run has added. FILE is read in blocks, so it may have any size; - is standard
    input. A run with --fdr controls the false discovery rate among the rows of FILE, too, and FILE
    is read twice.
    """
    from typicality.cli.console import Terminal
    from typicality.cli.folder import opened_run

    output = str(options.output)
    if options.as_json and output == "-":
        raise WrongUseError(
            "--json and the rows cannot both go to standard output; write the rows to a "
            "file with --output."
        )
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    with options.threads(), opened_run(model, options, terminal) as (run, table):
        from typicality.cli.writing import write_rows
        from typicality.tables.totals import find_total

        run = run.with_missing(options.missing)
        at_most = None
        if run.fdr is not None:  # which rows are outliers depends on all rows
            with (
                terminal.doing(f"Comparing {table.name} with the reference rows"),
                warnings.catch_warnings(record=True) as caught,
            ):
                warnings.simplefilter("always")
                at_most = run.largest_discovery(table.blocks())
            terminal.warn([str(each.message) for each in caught])
        with terminal.doing(f"Scoring {table.name}", 1.0) as tell:
            last: Any = None
            n_far: Any = 0

            def follow(judged: "Judged", n_rows: int) -> None:
                nonlocal last, n_far
                last, n_far = judged.rows.block, n_far + run.count_far(judged)
                tell(table.fraction_read, f"Scored {counted(n_rows, 'row')} of {table.name}")

            how = {"safe": options.safe_csv, "force": options.force}
            judge = partial(run.judge_block, at_most=at_most)
            tally = write_rows(table, judge, output, run.signs, follow, **how)
    total = find_total(last)
    terminal.warn([] if total is None else [" ".join(total.doubt)])
    far = zip(run.numeric_names, n_far, strict=True) if tally.n_rows else []
    terminal.warn([_unlike(name, n, tally.n_rows) for name, n in far if 2 * n > tally.n_rows])
    if output == "-":
        return
    note_written(output)
    if options.as_json:
        counts = {name: value for name, value in vars(tally).items() if name != "sizes"}
        terminal.json({"output": output, **counts})
    from typicality.cli.summary import WITH_POINTS, assumptions

    marks = [WITH_POINTS] if table.decimal == "," else []
    terminal.say(" ".join([_summary(tally, run), *assumptions(table.assumed), *marks]))
    terminal.say_path("Written: ", output)


def _unlike(name: str, n_far: int, n_rows: int) -> str:
    """A warning about a column with most values far from those of the fit."""
    return (
        f"{n_far:,} of {counted(n_rows, 'value')} of {name} are far from those that the model was "
        "fitted to, so the results of these rows mean little. Check the unit of the column."
    )


def _summary(tally: "Tally", run: "Run") -> str:
    n, rate = tally.n_unassigned, getattr(run.model, "contamination", None)
    are = "are unassigned" if n != 1 else "is unassigned"
    if rate is not None:
        are = "are outliers" if n != 1 else "is an outlier"
    if run.fdr is not None:
        are += f" at the false discovery rate of {run.fdr:g} of the run"
    elif rate is not None:
        are += " at the nominal rate" + (f" of {rate:g}" if isinstance(rate, float) else "")
    words = f"{counted(tally.n_rows, 'row')}; {n:,} ({share(n, tally.n_rows)}) {are}."
    if tally.n_left_out:
        values = "with missing values" if run.missing == "drop" else "without any value"
        words += f" Skipped: {counted(tally.n_left_out, 'row')} {values}."
    if tally.n_filled:
        words += (
            f" {tally.n_filled:,} {'row has' if tally.n_filled == 1 else 'rows have'} missing "
            "values; they became medians of the training rows."
        )
    return words
