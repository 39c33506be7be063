"""`typicality compare`: our methods next to others, on the rows of a file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from typicality.cli.console import Terminal, rich_table
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import (
    Options,
    command,
    list_option,
    option,
    run_options_without_folder,
    safe_csv_option,
    table_options,
)

if TYPE_CHECKING:
    from typicality.cli.rows import FileRows
    from typicality.stability import Comparison

_FILES = ("comparison.json", "comparison.csv", "labels.csv")
_ROWS_WORTH_PROCESSES = 2_000  # with fewer, to start processes takes longer than the fits


@command
@table_options
@list_option(
    "--methods A,B",
    "Compare only these methods: auto, alpha-cut, sequential, fcm, k-means, gaussian-mixture, "
    "hdbscan; one-cluster, one-class-svm, isolation-forest, local-outlier-factor. [default: all]",
)
@option(
    "--clusters -k N",
    "The number of clusters for the methods that need it. [default: chosen by the silhouette, or "
    "by the BIC for the mixture]",
    type=click.IntRange(min=1),
)
@option(
    "--rate R",
    "The fraction of rows that every outlier detector should flag.",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
)
@option(
    "--repeats N",
    "How often each method is fitted again, on a random 80 % of the rows.",
    type=click.IntRange(min=2),
    default=5,
)
@option(
    "--max-rows N",
    "If there are more rows, use a random sample of N rows.",
    type=click.IntRange(min=10),
    default=10_000,
)
@safe_csv_option
@run_options_without_folder
def compare(
    options: Options,
    methods: tuple[str, ...],
    clusters: int | None,
    rate: float,
    repeats: int,
    max_rows: int,
) -> None:
    """Compare methods of typicality and scikit-learn on a file.

    The methods of scikit-learn are k-means, Gaussian mixture and HDBSCAN for clusters, and
    one-class SVM, isolation forest and local outlier factor for outliers. Shows how much the
    methods agree, how reproducible each method is on random samples of the rows, and how long a fit
    takes. All methods have their default parameters.
    """
    from typicality.cli.columns import about_rows
    from typicality.cli.folder import new_folder, record_of_result
    from typicality.cli.machine import within
    from typicality.cli.parameters import refuse_categories
    from typicality.cli.rows import open_file, read_file

    refuse_categories(
        options, "compare", "write categories as columns of 0 and 1 to compare methods on them."
    )
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    if methods:
        from typicality.stability.methods import chosen_methods

        try:
            chosen_methods(methods)
        except ValueError as error:
            raise WrongUseError(str(error).replace("methods lists", "--methods lists")) from error
    with (
        new_folder(options.output, force=options.force, record=_FILES[0]) as folder,
        open_file(options) as table,
        within(options),
    ):
        with terminal.doing(f"Reading {table.name}"):
            rows = read_file(table, options)
            from typicality.stability import compare_methods

            Z = rows.scaler().fit_transform(rows.X)
        processes = -1 if min(len(Z), max_rows) >= _ROWS_WORTH_PROCESSES else 1
        try:
            found = compare_methods(
                Z,
                methods=methods or None,
                n_clusters="auto" if clusters is None else clusters,
                contamination=rate,
                n_repeats=repeats,
                random_state=options.seed,
                n_jobs=options.jobs or processes,
                max_rows=max_rows,
                progress=not options.quiet,
            )
        except ValueError as error:
            about_file = re.sub(r"\bX\b", lambda _: table.name, str(error))
            raise UnusableError(re.sub(r"\bn_clusters\b", "--clusters", about_file)) from error
        record = record_of_result(rows, found.to_dict())
        if folder is not None:
            _write(folder, found, rows, record)
    if options.as_json:
        terminal.json(record)
    terminal.say(about_rows(rows))
    _say(terminal, found)
    if options.output is not None:
        terminal.say_path(f"\nWritten: {', '.join(_FILES)} in ", f"{Path(options.output)}/")


# ---- what is printed -----------------------------------------------------------------------------


def _say(terminal: Terminal, found: "Comparison") -> None:
    from typicality.stability.wording import agreement_table, clusterer_table, detector_table

    def table(title: str, lines: Any, about: str = "") -> None:
        terminal.say_heading(title)
        terminal.say(rich_table(lines))
        if about:
            terminal.say(about)

    if found.clusterers:
        table("Clusters", clusterer_table(found.clusterers))
    if len(found.labels) > 1:
        table(
            "Agreement of clusters",
            agreement_table(found.label_agreement, found.placed_agreement),
            "Adjusted Rand index. Above the diagonal: of all rows. Below it: of the rows "
            "that both methods put in a cluster.",
        )
    if found.detectors:
        table("Outliers", detector_table(found.detectors))
    if len(found.flagged) > 1:
        table(
            "Agreement on outliers",
            agreement_table(found.rank_agreement, found.flag_agreement),
            "Above the diagonal: Spearman's correlation of scores. Below it: the Jaccard "
            "index of the flagged rows.",
        )
    for title, sentences in (("Findings", found.findings), ("How it was measured", found.notes)):
        terminal.say_heading(title)
        for sentence in sentences:
            terminal.say(f"- {sentence}")
    terminal.warn([f"{r.name}: {text}" for r in found.results for text in r.warnings])


# ---- what is written -----------------------------------------------------------------------------


def _write(folder: Path, found: "Comparison", rows: "FileRows", record: dict[str, Any]) -> None:
    import numpy as np

    from typicality.cli.folder import write_csv, write_record
    from typicality.tables import write_table

    write_csv(folder / _FILES[1], record["clusterers"] + record["detectors"])
    # Labels of the clusterers and 1 for outliers of the detectors; masked in rows not compared.
    values: dict[str, Any] = {f"label_{name}": labels for name, labels in found.labels.items()}
    values |= {f"outlier_{name}": flagged for name, flagged in found.flagged.items()}
    columns = {}
    for name, of_compared in values.items():
        column = np.ma.array(np.zeros(len(rows.kept), np.int64), mask=True)
        column[np.flatnonzero(rows.kept)[found.rows]] = of_compared
        columns[re.sub(r"\W+", "_", name)] = column
    with open(folder / _FILES[2], "xb") as stream:
        write_table(stream, rows.table, columns, safe=rows.options.safe_csv)
    write_record(folder / _FILES[0], record)
