"""`typicality validate`: whether the rows flagged as outliers depend on which rows were seen."""

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
    table_words,
)


@command
@table_options
@click.option(
    "--sigma",
    multiple=True,
    metavar="A,B",
    default=("auto",),
    callback=comma_separated,
    help="Widths of the kernel to compare, in units of scaled columns: numbers, names of rules, or "
    "auto for seven around the rules. The one that `outliers` takes by itself is always added.",
)
@click.option(
    "--rates",
    multiple=True,
    metavar="A,B",
    default=("0.01", "0.05", "0.1"),
    callback=comma_separated,
    help="Shares of rows to flag.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=2),
    default=20,
    metavar="N",
    help="How often the rows are split in two halves.",
)
@click.option(
    "--transfer",
    type=click.Choice(["threshold", "rank"]),
    default="threshold",
    help="How one half flags rows of the other: those below its own threshold, or as many as the "
    "other half itself.",
)
@click.option(
    "--compare", is_flag=True, help="Set a one-class SVM with the same kernels beside it."
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=20),
    default=2_000,
    metavar="N",
    help="Of more rows a random sample of this size is split.",
)
@run_options_without_folder
def validate(table: TableChoice, run: RunChoice, **options: Any) -> None:
    """Find out how far to trust `outliers` on the rows of FILE.

    Splits the rows in two halves, many times, and looks whether both flag the same rows: for
    several widths of the kernel and several rates. Says which to take, and what the next command
    is. It writes nothing unless --output names a folder.
    """
    from typicality.cli.validating import (
        ValidateChoice,
        parse_rates,
        parse_sigmas,
        run_validation,
    )

    options["sigma"] = parse_sigmas(options["sigma"])
    options["rates"] = parse_rates(options["rates"])
    run_validation(
        table, ValidateChoice(**options), run, command=command_line(), table_words=table_words()
    )
