"""`typicality cluster`: the groups in a file."""

from inspect import cleandoc
from typing import Any

import click

from typicality._estimators import CLUSTERING_METHODS
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
    "--method",
    "-m",
    type=click.Choice(list(CLUSTERING_METHODS)),
    default="auto",
    metavar="NAME",
    help="How clusters are found; see the list above.",
)
@click.option(
    "--clusters",
    "-k",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many clusters: needed by fcm, entropy and pcm; how many to start with for adaptive "
    "and sparse-adaptive.",
)
@click.option(
    "--at-least",
    type=click.IntRange(min=1),
    metavar="N",
    help="auto, alpha-cut: the least number of clusters; 2 gives the best split. [default: 1]",
)
@click.option(
    "--alpha",
    metavar="A",
    help="alpha-cut: the typicality above which rows belong to clusters, from 0 to 1; or valley, "
    "or auto. [default: auto]",
)
@click.option(
    "--min-cluster-size",
    type=click.IntRange(min=1),
    metavar="N",
    help="alpha-cut: clusters have at least so many rows. [default: 1]",
)
@click.option(
    "--assign",
    type=click.Choice(["core", "typical", "all"]),
    help="Which rows get a label: those above the level of a cluster (core), those that are dense "
    "enough (typical, alpha-cut only), or all. [default: typical for alpha-cut, else core]",
)
@model_options
@report_option
@run_options
def cluster(
    table: TableChoice,
    run: RunChoice,
    method: str,
    clusters: int | None,
    report: bool,
    **options: Any,
) -> None:
    """Find the groups in a file, and typical rows.

    Writes a folder with labels.csv (all columns of FILE, with label and typicality), report.html (a
    page to look at), model/ (for `typicality score`) and run.json (all it takes to repeat the run).
    Rows that belong nowhere have the label -1.
    """
    from typicality.cli.methods import build_estimator, parse_parameters, parse_value
    from typicality.cli.running import Request, run_to_folder

    parameters = parse_parameters(options.pop("param"))
    for name in ("alpha", "sigma"):
        options[name] = None if options[name] is None else parse_value(options[name])
    estimator = build_estimator(
        method, clusters=clusters, seed=run.seed, options=options, parameters=parameters
    )
    run_to_folder(
        Request(
            method=method,
            estimator=estimator,
            table=table,
            run=run,
            command=command_line(),
            results="labels.csv",
            folder="clusters",
            report=report,
            n_atypical=5,
        )
    )


def _listed(*numbers: str) -> str:
    return "\n".join(
        f"  {method:<15}  {info.meaning}"
        for method, info in CLUSTERING_METHODS.items()
        if info.number in numbers
    )


cluster.help = f"""{cleandoc(str(cluster.help))}

\b
Methods that find the number of clusters:
{_listed("found", "start")}
Methods that must be told it (--clusters):
{_listed("given")}
"""
