"""`typicality score`: judge new rows by a model that was kept, block by block."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from typicality.cli.errors import UnusableError, WrongUseError, note_written
from typicality.cli.options import (
    Options,
    command,
    file_argument,
    format_options,
    machine_options,
    print_options,
    safe_csv_option,
)

if TYPE_CHECKING:
    from typicality.geometry.typical_rows import TypicalRows
    from typicality.tables import Block

_FAR = 1e100  # spreads from the centre: beyond, squared distances may overflow


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
@safe_csv_option
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
    typicality (or typicality, score, p_value, outlier and why). FILE may be of any size: it is
    read in blocks. A - as FILE is standard input.
    """
    from typicality._threads import stream_in_threads
    from typicality._words import counted
    from typicality.cli.console import Terminal
    from typicality.cli.folder import load_run
    from typicality.cli.rows import assumptions, open_file, require_file, within

    output = str(options.output)
    if options.as_json and output == "-":
        raise WrongUseError("--json and the rows cannot both go to standard output; give --output.")
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    require_file(options)
    tally = {"n_rows": 0, "n_unassigned": 0, "n_left_out": 0}
    with within(options):
        with terminal.doing(f"Loading {model}"):
            pipeline, record, _ = load_run(model)
        missing = options.missing or (record["data"]["missing"] if record else "error")
        scaler, fitted = pipeline["columns"], pipeline["model"]
        from typicality.preprocessing.table_rows import column_names

        names = column_names(scaler)
        scaler.set_params(missing="median" if missing == "median" else "error")
        knows = getattr(fitted, "_knows_its_rows", False)
        data = record["data"] if record else {}
        options = _as_in_the_run(options, data)
        judge = partial(
            _judge,
            scaler=scaler,
            model=fitted,
            typical=fitted._typical_rows() if knows else None,
            names=names,
            missing=missing,
            signs=data.get("signs", {}),
            as_parquet=_is_parquet(output),
            safe=options.safe_csv,
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
    if output != "-":
        note_written(output)
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
    typical: "TypicalRows | None",
    names: list[str],
    missing: str,
    signs: Mapping[str, str],
    as_parquet: bool,
    safe: bool,
) -> tuple[Any, dict[str, int]]:
    """What is written of a block of a file, csv or parquet, and how many rows it has of which kind.

    `names` are the columns of the model, `missing` says what to do with missing values, `signs` are
    those of the columns of the run, and rows that a detector flags are compared with `typical` ones
    to say why.
    """
    import numpy as np

    from typicality.cli.description import RowReasons
    from typicality.fitted import view
    from typicality.preprocessing.table_rows import ModelRows
    from typicality.tables import arrow_rows, csv_text, masked_columns

    rows = ModelRows.of(block, scaler, names, signs)
    X = rows.X
    absent = rows.missing
    is_missing = np.asarray(absent.any(axis=1))
    if missing == "error" and is_missing.any():
        row, column = np.argwhere(absent)[0]
        raise UnusableError(
            f"{block.source}, {block.place(int(row))}, column {rows.every_name[column]!r}: the "
            "value is missing, and the run this model comes from had none; leave such rows "
            "unjudged with --missing drop, or fill in medians with --missing median."
        )
    kept = ~is_missing if missing == "drop" else np.full_like(is_missing, True)
    n_kept = int(np.count_nonzero(kept))
    # Without a row to judge there are columns all the same: those of any row.
    scaled = rows.scaled(scaler, kept) if n_kept else np.zeros((1, model.n_features_in_))
    try:
        judged = view(model, scaled)
    except ValueError as error:
        numbers = getattr(scaler, "scaler_", scaler)
        with np.errstate(over="ignore"):
            size = np.nan_to_num(np.abs((X - numbers.center_) / numbers.scale_))
        row, column = np.unravel_index(size.argmax(), size.shape)
        if size[row, column] < _FAR:
            raise
        raise block.too_large(int(row), rows.names[column]) from error
    columns = {name: values[:n_kept] for name, values in judged.columns.items()}
    if judged.kind == "detector":
        columns["why"] = np.full(n_kept, "", dtype=object)
        flagged = np.flatnonzero(judged.labels[:n_kept] < 0)
        if typical is not None and len(flagged):
            at, asking = np.flatnonzero(kept)[flagged], scaled[flagged]
            deviations = typical.deviations(asking)[:, : X.shape[1]]
            shares = None if rows.layout is None else rows.layout.shares(typical.rows, asking)
            numbers, texts = rows.shown(at)
            deviations = np.where(np.isnan(X[at]), 0.0, deviations)
            columns["why"][flagged] = RowReasons.of(numbers, deviations, texts, shares).texts()
    extra = masked_columns(columns, kept)
    counts = {
        "n_rows": len(X),
        "n_unassigned": int(np.count_nonzero(judged.labels[:n_kept] < 0)),
        "n_left_out": len(X) - n_kept,
    }
    if as_parquet:
        plain = [
            name for name in rows.names if name not in signs and name not in rows.texts
        ]  # others stay the text they are
        return arrow_rows(block, extra, numeric=plain), counts
    return csv_text(block, extra, header=block.first_row == 0, safe=safe), counts


def _is_parquet(output: str) -> bool:
    from typicality.cli.console import shown
    from typicality.tables.opening import kind_of_suffix

    kind = kind_of_suffix(output)
    if kind not in (None, "csv", "parquet"):
        raise WrongUseError(
            f"--output {shown(output)}: rows are written as csv or parquet, not as {kind}; choose "
            "a name that ends in .csv or .parquet."
        )
    return kind == "parquet"


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
        from pyarrow import ArrowException, parquet

        writers: list[Any] = []

        def write(table: Any) -> None:
            try:
                if not writers:
                    writer = parquet.ParquetWriter(stream, table.schema)
                    writers.append(to_close.enter_context(writer))
                writers[0].write_table(table)
            except ArrowException as error:  # types and dates that parquet has not
                reason = str(error).splitlines()[0].rstrip(".")
                raise UnusableError(
                    f"The rows cannot be written as parquet ({reason}); write csv, with a name "
                    "that ends in .csv after --output."
                ) from error

        yield write


def _summary(n_rows: int, n_unassigned: int, n_left_out: int, *, finds_outliers: bool) -> str:
    from typicality._words import counted, share

    are = "are unassigned" if n_unassigned != 1 else "is unassigned"
    if finds_outliers:
        are = "are outliers" if n_unassigned != 1 else "is an outlier"
    words = f"{counted(n_rows, 'row')}; {n_unassigned:,} ({share(n_unassigned, n_rows)}) {are}."
    if n_left_out:
        words += f" {counted(n_left_out, 'row')} with missing values were not judged."
    return words
