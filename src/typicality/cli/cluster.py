"""`typicality cluster`: the groups in a file."""

from functools import cache, partial
from inspect import signature
from typing import Any

import click

from typicality._estimators import CLUSTERING_METHODS
from typicality.cli.errors import WrongUseError
from typicality.cli.options import (
    Options,
    category_options,
    command,
    fit_options,
    option,
    table_options,
)
from typicality.cli.parameters import OPTIONS, configure


class _WithMethods(click.Command):
    """A command whose help lists the methods."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, numbers in (
            ("Methods that find the number of clusters", ("found", "either", "start")),
            ("Methods that need the number of clusters (--clusters)", ("given",)),
        ):
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (method, info.meaning)
                        for method, info in CLUSTERING_METHODS.items()
                        if info.number in numbers
                    ]
                )
        super().format_options(ctx, formatter)


@partial(command, kind=_WithMethods)
@table_options
@category_options
@option(
    "--method -m NAME",
    "How clusters are found; see the list above.",
    type=click.Choice(list(CLUSTERING_METHODS)),
    default="auto",
)
@option(
    "--clusters -k N",
    "The number of clusters, for fcm, entropy, pcm and, if it is known, alpha-cut and mixture; the "
    "number to start with, for adaptive and sparse-adaptive.",
    type=click.IntRange(min=1),
)
@option(
    "--at-least N",
    "auto, alpha-cut: the smallest number of clusters; 2 forces a split. [default: 1]",
    type=click.IntRange(min=1),
)
@option(
    "--max-rows N",
    "If there are more rows, fit the model to a random sample of N rows; all rows get a label. "
    "[default: no limit]",
    type=click.IntRange(min=10),
)
@fit_options
def cluster(options: Options, method: str, clusters: int | None, **parameters: Any) -> None:
    """Find clusters in a file.

    Writes a folder with labels.csv (all columns of FILE, with label and typicality), clusters.csv
    (size and medians of each cluster), report.html (to open in a browser), model/ (for `typicality
    score`) and run.json (what is needed to repeat the run). Unassigned rows have the label -1.
    """
    number = CLUSTERING_METHODS[method].number
    if number == "given" and clusters is None:
        raise WrongUseError(
            f"--method {method} needs the number of clusters, e.g. --clusters 3; auto, "
            "alpha-cut and sequential find the number themselves."
        )
    if number == "found" and clusters is not None:
        raise WrongUseError(
            f"--method {method} finds the number of clusters itself and takes no "
            "--clusters; leave it out, or use --method alpha-cut, mixture, fcm, "
            "entropy or pcm for a given number."
        )
    given = {name: value for name, value in parameters.items() if value is not None}
    if options.categorical and "at_least" in given:
        raise WrongUseError(
            "--at-least works only with columns of numbers; with --categorical give the "
            "number of clusters: --method fcm --clusters N."
        )

    @cache
    def configured() -> Any:
        import typicality

        kinds = {name: getattr(typicality, info.name) for name, info in CLUSTERING_METHODS.items()}
        for name in given:
            owners = [other for other, kind in kinds.items() if name in signature(kind).parameters]
            if method not in owners:
                raise WrongUseError(
                    f"{OPTIONS[name]} has no effect with --method {method}; it belongs to "
                    f"{', '.join(owners)}."
                )
        known = {**given, "n_clusters": clusters}
        estimator = kinds[method]()
        if options.max_rows is not None and hasattr(estimator, "max_samples"):
            estimator.set_params(max_samples=options.max_rows)
        return configure(estimator, known, options)

    from typicality.cli.run import run_to_folder

    if given or options.param:
        configured()  # a wrong parameter is told before the file is read
    run_to_folder(options, method, configured)
