"""`typicality compare`: our methods beside others, on the rows of a file."""

from typing import Any

import click

from typicality.cli.options import (
    RunChoice,
    TableChoice,
    comma_separated,
    command,
    command_line,
    run_options_without_folder,
    table_options,
)


@command
@table_options
@click.option(
    "--methods",
    multiple=True,
    metavar="A,B",
    callback=comma_separated,
    help="Compare these only: auto, alpha-cut, sequential, fcm, k-means, "
    "gaussian-mixture, hdbscan; one-cluster, one-class-svm, isolation-forest, "
    "local-outlier-factor. [default: all]",
)
@click.option(
    "--clusters",
    "-k",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of clusters for the methods that must be told. [default: by silhouette, or by "
    "BIC for the mixture]",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
    metavar="R",
    help="The share of rows that every detector is asked to flag.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=2),
    default=5,
    metavar="N",
    help="How often each method is fitted again, on 80 % of the rows.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=10),
    default=10_000,
    metavar="N",
    help="Of more rows a random sample of this size is compared.",
)
@run_options_without_folder
def compare(table: TableChoice, run: RunChoice, **options: Any) -> None:
    """Set our methods beside others on the rows of FILE.

    The others are k-means, a Gaussian mixture and HDBSCAN; one-class SVM, isolation forest and
    local outlier factor. Shows how much the methods agree, how stable each is when it sees other
    rows, and how long a fit takes. All run with their defaults.
    """
    from typicality.cli.comparing import CompareChoice, run_comparison

    run_comparison(table, CompareChoice(**options), run, command_line())
