"""`typicality outliers`: the rows of a file that are not like the others."""

from typing import Any

import click

from typicality.cli.errors import WrongUseError
from typicality.cli.options import Options, command, fit_options, option, table_options
from typicality.cli.parameters import check_categories, configure

_DEFAULT_RATE, _DEFAULT_FDR = 0.05, 0.1
_MOST_FITTED = 20_000  # rows: time grows with their square, and more change little


@command
@table_options
@option(
    "--rate R",
    "The share of rows to flag, among these rows and among new ones from the same source. "
    "[default: 0.05 without --reference]",
    type=click.FloatRange(0, 0.5, min_open=True),
)
@option(
    "--reference CLEAN",
    "A file of clean rows with the same columns: the rows of FILE are compared with them, and "
    "each gets a p-value.",
    type=click.Path(),
)
@option(
    "--fdr Q",
    "With --reference: flag as many rows as possible while, on average, at most a share Q of them "
    "are false alarms. [default: 0.1]",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
)
@option(
    "--novelty",
    "The rows are known to be clean; use `score` to find outliers in new rows.",
    is_flag=True,
)
@option(
    "--max-rows N",
    "If there are more rows, fit a random sample of N rows; all rows are scored.",
    type=click.IntRange(min=10),
    default=_MOST_FITTED,
)
@fit_options
def outliers(
    options: Options,
    max_rows: int,
    rate: float | None,
    reference: str | None,
    fdr: float | None,
    report: bool,
    param: tuple[str, ...],
    **parameters: Any,
) -> None:
    """Find the rows least like the others, and why.

    Writes a folder with outliers.csv (all columns of FILE, with typicality, score, p_value and
    outlier), report.html, model/ and run.json. How many rows are flagged is your choice, --rate:
    the data do not tell how many outliers there are. With rows that are known to be clean,
    --reference, the share of false alarms among the flagged rows can be chosen instead, --fdr.
    """
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
    check_categories(options, parameters["kernel"], has_kernel=True)
    given = bool(param) or any(parameters.values())
    if reference is not None:
        parameters["novelty"] = True
        fdr = _DEFAULT_FDR if fdr is None and rate is None else fdr
    parameters["contamination"] = _DEFAULT_RATE if rate is None else rate

    def configured() -> Any:
        from typicality import OneClusterPCM

        return configure(OneClusterPCM(), parameters, param, seed=options.seed)

    from typicality.cli.run import Task, run_to_folder

    task = Task(
        options,
        configured,
        judge_first=given,
        method="outliers",
        report=report,
        max_rows=max_rows,
        reference=reference,
        fdr=fdr,
    )
    run_to_folder(task)
