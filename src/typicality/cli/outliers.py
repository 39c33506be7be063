"""`typicality outliers`: the rows of a file that are not like the others."""

from typing import Any

import click

from typicality.cli.options import Options, command, fit_options, table_options
from typicality.cli.parameters import configure


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
@fit_options
def outliers(
    options: Options,
    rate: float,
    report: bool,
    param: tuple[str, ...],
    **parameters: Any,
) -> None:
    """Find the rows least like the others, and why.

    Writes a folder with outliers.csv (all columns of FILE, with typicality, score and outlier),
    report.html, model/ and run.json. How many rows are flagged is your choice, --rate: the data do
    not tell how many outliers there are.
    """
    from typicality import OneClusterPCM
    from typicality.cli.run import run_to_folder

    parameters["contamination"] = rate
    estimator = configure(OneClusterPCM(), parameters, param, seed=options.seed)
    run_to_folder(options, estimator, method="outliers", report=report)
