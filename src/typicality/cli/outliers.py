"""`typicality outliers`: the rows of a file that are not like the others."""

from typing import Any

import click

from typicality.cli.options import (
    RunChoice,
    TableChoice,
    command,
    command_line,
    model_options,
    report_option,
    run_options,
    table_options,
)


@command
@table_options
@click.option(
    "--rate",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
    metavar="R",
    help="The share of rows to flag: of these rows, and of new ones from the same source.",
)
@click.option(
    "--novelty",
    is_flag=True,
    help="The rows are known to be clean; outliers are looked for in new rows, with `score`.",
)
@model_options
@report_option
@run_options
def outliers(
    table: TableChoice,
    run: RunChoice,
    rate: float,
    novelty: bool,
    report: bool,
    **options: Any,
) -> None:
    """Find the rows least like the others, and why.

    Writes a folder with outliers.csv (all columns of FILE, with typicality, score and outlier),
    report.html, model/ and run.json. How many rows are flagged is your choice, --rate: the data do
    not tell how many outliers there are.
    """
    from typicality.cli.methods import build_detector, parse_parameters, parse_value
    from typicality.cli.running import Request, run_to_folder

    parameters = parse_parameters(options.pop("param"))
    options["sigma"] = None if options["sigma"] is None else parse_value(options["sigma"])
    options |= {"contamination": rate, "novelty": novelty}
    run_to_folder(
        Request(
            method="outliers",
            estimator=build_detector(options=options, parameters=parameters, seed=run.seed),
            table=table,
            run=run,
            command=command_line(),
            results="outliers.csv",
            folder="outliers",
            report=report,
            n_atypical=10,
        )
    )
