"""`typicality score`: new rows judged by a model that was kept."""

from typing import Any

import click

from typicality.cli.options import (
    command,
    file_argument,
    format_options,
    machine_options,
    print_options,
)


@command
@click.argument("model", metavar="MODEL", type=click.Path())
@file_argument
@click.option(
    "--output",
    "-o",
    default="-",
    metavar="OUT.csv",
    help="The file to write; - is standard output.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@format_options
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "median"]),
    help="Missing values: stop and say where, leave such rows unjudged, or fill in the median of "
    "the rows the model was fitted on. [default: as in the run]",
)
@machine_options
@print_options
def score(**options: Any) -> None:
    """Judge new rows by a model that was kept.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    Writes csv: all columns of FILE, then label and typicality (or typicality, score and outlier).
    FILE may be of any size: it is read in blocks. A - as FILE is standard input.
    """
    from typicality.cli.scoring import ScoreChoice, score_file

    score_file(ScoreChoice(**options))
