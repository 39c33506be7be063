"""`typicality outliers`: the rows of a file that are not like the others."""

from dataclasses import replace
from functools import cache
from typing import Any

import click

from typicality.cli.errors import WrongUseError
from typicality.cli.options import (
    Options,
    category_options,
    command,
    fit_options,
    option,
    table_options,
)
from typicality.cli.parameters import configure

_DEFAULT_RATE, _DEFAULT_FDR = 0.05, 0.1
_DEFAULT_TRIM = 0.2  # of rows of numbers; among categories, it hides wrong ones


@command
@table_options
@category_options
@option(
    "--rate R",
    "The fraction of rows to flag, of FILE and of new rows from the same source. [default: 0.05 "
    "without --reference]",
    type=click.FloatRange(0, 0.5, min_open=True),
)
@option(
    "--reference CLEAN",
    "A file of clean rows with the same columns. The rows of FILE are compared with the clean "
    "rows, and get p-values.",
    type=click.Path(),
)
@option(
    "--fdr Q",
    "With --reference: the false discovery rate. On average, at most a fraction Q of the flagged "
    "rows are false alarms. [default: 0.1]",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
)
@option(
    "--max-rows N",
    "If there are more rows, fit the model to a random sample of N rows; all rows are scored. "
    "[default: 10,000; with at most three columns, all rows that fit in memory]",
    type=click.IntRange(min=10),
)
@fit_options
def outliers(options: Options, rate: float | None, **parameters: Any) -> None:
    """Find outliers in a file, with reasons.

    Writes a folder with outliers.csv (all columns of FILE, with typicality, score, p_value, outlier
    and why), report.html, model/ and run.json. You choose the fraction of rows to flag with --rate;
    it is not estimated from the data. With a second file of clean rows (--reference), you can
    choose the false discovery rate instead (--fdr).
    """
    reference, fdr = options.reference, options.fdr
    if fdr is not None and reference is None:
        raise WrongUseError(
            "--fdr needs --reference, a file of clean rows. Without clean rows, p-values "
            "are only the ranks of the rows of FILE among themselves, and carry no "
            "information about false alarms. If you have no such file, choose the share of "
            "rows to flag with --rate."
        )
    if reference == "-" and options.file == "-":
        raise WrongUseError("FILE and --reference cannot both be standard input.")
    if fdr is not None and rate is not None:
        raise WrongUseError(
            "--fdr and --rate both set which rows are flagged; give only one of them."
        )
    given = bool(options.param) or any(parameters.values())
    if reference is not None:
        parameters["novelty"] = True
        fdr = _DEFAULT_FDR if fdr is None and rate is None else fdr
    parameters["contamination"] = _DEFAULT_RATE if rate is None else rate

    max_rows = "auto" if options.max_rows is None else options.max_rows  # the model draws them

    @cache
    def configured() -> Any:
        from typicality import OneClusterPCM

        plain = not (reference or options.categorical or options.ordered)
        trim = _DEFAULT_TRIM if plain else 0.0
        return configure(OneClusterPCM(max_samples=max_rows, trim=trim), parameters, options)

    from typicality.cli.run import run_to_folder

    if given:
        configured()  # a wrong parameter is told before the file is read
    options = replace(options, transform=options.transform or "auto", fdr=fdr, max_rows=None)
    run_to_folder(options, "outliers", configured)
