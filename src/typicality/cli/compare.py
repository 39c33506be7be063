"""`typicality compare`: our methods next to others, on the rows of a file."""

import warnings

import click

from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import (
    Options,
    command,
    list_option,
    option,
    table_options,
    work_options,
)


@command
@table_options
@list_option(
    "--methods A,B",
    "Compare only these methods: auto, alpha-cut, sequential, fcm, k-means, gaussian-mixture, "
    "hdbscan; one-cluster, one-class-svm, isolation-forest, local-outlier-factor. [default: all]",
)
@option(
    "--clusters -k N",
    "The number of clusters for fcm, k-means and gaussian-mixture. [default: the number that auto "
    "finds]",
    type=click.IntRange(min=1),
)
@option(
    "--rate R",
    "The fraction of rows that every outlier detector should flag.",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
)
@option(
    "--max-rows N",
    "If there are more rows, use a random sample of N rows.",
    type=click.IntRange(min=10),
    default=5_000,
)
@work_options
def compare(
    options: Options,
    methods: tuple[str, ...],
    clusters: int | None,
    rate: float,
) -> None:
    """Compare methods of typicality and scikit-learn on a file.

    The methods of scikit-learn are k-means, Gaussian mixture and HDBSCAN for clusters, and
    one-class SVM, isolation forest and local outlier factor for outliers. Each method is fitted
    once, with its default parameters. Shows the clusters of each method, and which methods agree.
    """
    from typicality.cli.folder import about_run, versions
    from typicality.cli.rows import open_file, read_file

    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    if methods:
        from typicality.compare import chosen_methods

        try:
            chosen_methods(methods)
        except ValueError as error:
            raise WrongUseError(f"--methods: {error}") from error
    with open_file(options) as table, options.threads():
        with terminal.doing(f"Reading {table.name}"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                rows = read_file(table, options, in_memory="all rows are compared")
            from typicality.stability import compare_methods

            Z = rows.scaler().fit_transform(rows.to_fit)
        try:
            with terminal.doing("Comparing"):
                found = compare_methods(
                    Z,
                    methods=methods or None,
                    n_clusters=clusters,
                    contamination=rate,
                    random_state=options.seed,
                    max_rows=options.max_rows or rows.n_used,
                )
        except ValueError as error:
            raise UnusableError(f"{table.name} as X: {error}") from error
    if options.as_json:
        about = {"data": rows.record(), "scale": options.scale, "seed": options.seed}
        terminal.json({**about_run(), "versions": versions(), **about, **found.to_dict()})
    from typicality.cli.summary import about_rows

    terminal.say(about_rows(rows))
    for heading, text in found.sections.items():
        terminal.say_heading(heading)
        terminal.say(text)
    terminal.warn([str(each.message) for each in caught])
    terminal.warn([f"{r.name}: {text}" for r in found.results for text in r.warnings])
