"""`typicality score`: judge new rows by a model that was kept, block by block."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import (
    Options,
    command,
    file_argument,
    format_options,
    machine_options,
    print_options,
)

if TYPE_CHECKING:
    from typicality.tables import Block


@command
@click.argument("model", metavar="MODEL", type=click.Path())
@file_argument
@click.option(
    "--output",
    "-o",
    default="-",
    metavar="OUT.csv",
    help="The file to write, csv or .parquet; - is standard output.",
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
def score(options: Options, model: str) -> None:
    """Judge new rows by a model that was kept.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    Writes csv, or parquet where --output ends in .parquet: all columns of FILE, then label and
    typicality (or typicality, score and outlier). FILE may be of any size: it is read in blocks. A
    - as FILE is standard input.
    """
    from typicality._threads import stream_in_threads
    from typicality._words import counted
    from typicality.cli.console import Terminal
    from typicality.cli.folder import load_run
    from typicality.cli.rows import assumptions, open_file, within

    output = str(options.output)
    if options.as_json and output == "-":
        raise WrongUseError("--json and the rows cannot both go to standard output; give --output.")
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    tally = {"n_rows": 0, "n_nowhere": 0, "n_left_out": 0}
    with within(options):
        with terminal.doing(f"Loading {model}"):
            pipeline, record, _ = load_run(model)
        missing = options.missing or (record["data"]["missing"] if record else "error")
        scaler, fitted = pipeline["columns"], pipeline["model"]
        names = [str(name) for name in scaler.feature_names_in_]
        del scaler.feature_names_in_  # blocks are arrays, their columns taken by name
        scaler.set_params(missing="median" if missing == "median" else "error")
        data = record["data"] if record else {}
        options = _as_in_the_run(options, data)
        judge = partial(
            _judge,
            scaler=scaler,
            model=fitted,
            names=names,
            missing=missing,
            signs=data.get("signs", {}),
            as_parquet=_is_parquet(output),
        )
        with (
            _writer(output, force=options.force) as write,
            open_file(options) as table,
            terminal.doing(f"Scoring {table.name}") as tell,
        ):
            for rows, counts in stream_in_threads(judge, table.blocks()):
                write(rows)
                tally = {name: tally[name] + counts[name] for name in tally}
                n_rows = counted(tally["n_rows"], "row")
                tell(f"Scored {n_rows} of {table.name}, {100 * table.fraction_read:.0f} %")
    if options.as_json:
        terminal.json({"output": output, **tally})
    if output != "-":
        summary = _summary(**tally, finds_outliers=hasattr(fitted, "score_samples"))
        terminal.say(" ".join([summary, *assumptions(table)]))
        terminal.say_path("Written: ", output)


def _as_in_the_run(options: Options, data: Mapping[str, Any]) -> Options:
    """How FILE is read where the options leave that open, by what the run did (run.json).

    The file of the run is read in the same way. Others may be written in another way, but where
    the run read decimal commas, 1.234 must not become a fraction without a word.
    """
    said: dict[str, Any] = {"decimal": ","} if data.get("decimal") == "," else {}
    if data.get("path") == str(Path(options.file).resolve()):
        known = ("format", "delimiter", "header", "encoding", "decimal", "comment")
        said = {name: data.get(name) for name in known}
    return replace(
        options, **{name: value for name, value in said.items() if getattr(options, name) is None}
    )


def _judge(
    block: "Block",
    *,
    scaler: Any,
    model: Any,
    names: list[str],
    missing: str,
    signs: Mapping[str, str],
    as_parquet: bool,
) -> tuple[Any, dict[str, int]]:
    """What is written of a block of a file, csv or parquet, and how many rows it has of which kind.

    `names` are the columns of the model, `missing` says what to do with missing values, `signs` are
    those of the columns of the run.
    """
    import numpy as np

    from typicality.fitted import view
    from typicality.tables import arrow_rows, csv_text, masked_columns, rows_of

    X = rows_of(block, names, signs=signs)
    is_missing = np.asarray(np.isnan(X).any(axis=1))
    if missing == "error" and is_missing.any():
        row, column = np.argwhere(np.isnan(X))[0]
        raise UnusableError(
            f"{block.source}, {block.place(int(row))}, column {names[column]!r}: the "
            "value is missing, and the run this model comes from had none; leave such rows "
            "unjudged with --missing drop, or fill in medians with --missing median."
        )
    kept = ~is_missing if missing == "drop" else np.full_like(is_missing, True)
    n_kept = int(np.count_nonzero(kept))
    # Without a row to judge there are columns all the same: those of any row.
    judged = view(model, scaler.transform(X[kept] if n_kept else scaler.center_[None]))
    columns = {name: values[:n_kept] for name, values in judged.columns.items()}
    extra = masked_columns(columns, kept)
    counts = {
        "n_rows": len(X),
        "n_nowhere": int(np.count_nonzero(judged.labels[:n_kept] < 0)),
        "n_left_out": len(X) - n_kept,
    }
    if as_parquet:
        plain = [name for name in names if name not in signs]  # others stay the text they are
        return arrow_rows(block, extra, numeric=plain), counts
    return csv_text(block, extra, header=block.first_row == 0), counts


def _is_parquet(output: str) -> bool:
    return Path(output).suffix.lower() in (".parquet", ".pq")


@contextmanager
def _writer(output: str, *, force: bool) -> Iterator[Callable[[Any], Any]]:
    """A function that writes rows to a file that appears when complete, or to standard output."""
    from typicality._files import atomic_file
    from typicality.cli.folder import require_free

    if output == "-":
        try:
            yield sys.stdout.buffer.write
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted; the rows were written in part.") from None
        return
    require_free(Path(output), force=force)
    with atomic_file(output, overwrite=force, binary=True) as stream, ExitStack() as to_close:
        if not _is_parquet(output):
            yield stream.write
            return
        from pyarrow import parquet

        writers: list[Any] = []

        def write(table: Any) -> None:
            if not writers:
                writer = parquet.ParquetWriter(stream, table.schema)
                writers.append(to_close.enter_context(writer))
            writers[0].write_table(table)

        yield write


def _summary(n_rows: int, n_nowhere: int, n_left_out: int, *, finds_outliers: bool) -> str:
    from typicality._words import counted, share

    belong = "belong nowhere" if n_nowhere != 1 else "belongs nowhere"
    if finds_outliers:
        belong = "are outliers" if n_nowhere != 1 else "is an outlier"
    words = f"{counted(n_rows, 'row')}; {n_nowhere:,} ({share(n_nowhere, n_rows)}) {belong}."
    if n_left_out:
        words += f" {counted(n_left_out, 'row')} with missing values were not judged."
    return words
