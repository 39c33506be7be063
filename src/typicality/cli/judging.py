"""Judge the rows of a file by a fitted model, block by block, and write what it says."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._files import atomic_file
from typicality._typing import Doubles
from typicality.cli.console import shown
from typicality.cli.description import RowReasons
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.folder import require_free
from typicality.fitted import FittedView, view
from typicality.preprocessing.table_rows import ModelRows
from typicality.tables import Block, arrow_rows, csv_text, masked_columns
from typicality.tables.opening import kind_of_suffix

_FAR = 1e100  # spreads from the centre: beyond, squared distances may overflow


class JudgedBlock(NamedTuple):
    """What a model says of a block.

    Parameters
    ----------
    block : Block
        The rows.
    X : array of shape (n, d)
        Their numbers.
    kept : array of shape (n,), bool
        Which of them were judged.
    view : FittedView
        What the model says of the judged rows. If no row was judged, of one row of zeros.
    written : bytes or Table
        What is written of the block, csv or parquet.
    """

    block: Block
    X: Doubles
    kept: NDArray[np.bool_]
    view: FittedView
    written: Any

    @property
    def n_kept(self) -> int:
        """How many rows were judged."""
        return int(np.count_nonzero(self.kept))

    @property
    def counts(self) -> dict[str, int]:
        """How many rows there are, without a cluster or outliers, and not judged."""
        return {
            "n_rows": len(self.X),
            "n_unassigned": int(np.count_nonzero(self.view.labels[: self.n_kept] < 0)),
            "n_left_out": len(self.X) - self.n_kept,
        }


class Judge:
    """A function of a block of a file, which threads may call.

    Rows that a detector flags are compared with its typical rows to say why.

    Parameters
    ----------
    scaler, model : estimators
        The steps of a run.
    names : list of str
        The columns of the model, whose scaler takes arrays.
    missing : {"error", "drop", "median"}
        What to do with missing values.
    signs : mapping of str to str
        The signs of columns whose numbers are written like $7,440.
    as_parquet, safe : bool
        Whether rows are written as parquet; whether csv is safe for spreadsheets.
    """

    def __init__(
        self,
        scaler: Any,
        model: Any,
        *,
        names: list[str],
        missing: str,
        signs: Mapping[str, str],
        as_parquet: bool,
        safe: bool,
    ) -> None:
        scaler.set_params(missing="median" if missing == "median" else "error")
        self.scaler, self.model = scaler, model
        self.typical = model._typical_rows() if getattr(model, "_knows_its_rows", False) else None
        self.names, self.missing, self.signs = names, missing, signs
        self.as_parquet, self.safe = as_parquet, safe

    def __call__(self, block: Block) -> JudgedBlock:
        rows = ModelRows.of(block, self.scaler, self.names, self.signs)
        absent = rows.missing
        is_missing = np.asarray(absent.any(axis=1))
        if self.missing == "error" and is_missing.any():
            row, column = np.argwhere(absent)[0]
            raise UnusableError(
                f"{block.source}, {block.place(int(row))}, column {rows.every_name[column]!r}: "
                "the value is missing, and the run that made this model had no missing values; "
                "skip such rows with --missing drop, or fill in medians with --missing median."
            )
        kept = ~is_missing if self.missing == "drop" else np.full_like(is_missing, True)
        n_kept = int(np.count_nonzero(kept))
        # Without a row to judge there are columns all the same: those of any row.
        nothing = np.zeros((1, self.model.n_features_in_))
        scaled = rows.scaled(self.scaler, kept) if n_kept else nothing
        try:
            judged = view(self.model, scaled)
        except ValueError as error:
            far = self._too_large(block, rows)
            if far is None:
                raise
            raise far from error
        columns = {name: values[:n_kept] for name, values in judged.columns.items()}
        if judged.kind == "detector":
            columns["why"] = self._reasons(rows, kept, scaled, judged)
        extra = masked_columns(columns, kept)
        if self.as_parquet:
            # Columns with signs, ranks and categories stay the text they are.
            plain = [n for n in rows.names if n not in self.signs and n not in rows.texts]
            written = arrow_rows(block, extra, numeric=plain)
        else:
            written = csv_text(block, extra, header=block.first_row == 0, safe=self.safe)
        return JudgedBlock(block, rows.X, kept, judged, written)

    def _too_large(self, block: Block, rows: ModelRows) -> Exception | None:
        """An error about the farthest value, where it is so far that distances overflow."""
        numbers = getattr(self.scaler, "scaler_", self.scaler)
        with np.errstate(over="ignore"):
            size = np.nan_to_num(np.abs((rows.X - numbers.center_) / numbers.scale_))
        row, column = np.unravel_index(size.argmax(), size.shape)
        if size[row, column] < _FAR:
            return None
        return block.too_large(int(row), rows.names[column])

    def _reasons(
        self, rows: ModelRows, kept: NDArray[np.bool_], scaled: Doubles, judged: FittedView
    ) -> NDArray[np.object_]:
        """Why rows are flagged; empty for others."""
        n_kept = int(np.count_nonzero(kept))
        why = np.full(n_kept, "", dtype=object)
        flagged = np.flatnonzero(judged.labels[:n_kept] < 0)
        if self.typical is None or not len(flagged):
            return why
        at, asking = np.flatnonzero(kept)[flagged], scaled[flagged]
        deviations = self.typical.deviations(asking)[:, : rows.X.shape[1]]
        shares = None if rows.layout is None else rows.layout.shares(self.typical.rows, asking)
        numbers, texts = rows.shown(at)
        deviations = np.where(np.isnan(rows.X[at]), 0.0, deviations)
        why[flagged] = RowReasons.of(numbers, deviations, texts, shares).texts()
        return why


def is_parquet(output: str) -> bool:
    """Whether a file gets parquet by its name; an error where it can be neither that nor csv."""
    kind = kind_of_suffix(output)
    if kind not in (None, "csv", "parquet"):
        raise WrongUseError(
            f"--output {shown(output)}: rows are written as csv or parquet, not as {kind}; choose "
            "a name that ends in .csv or .parquet."
        )
    return kind == "parquet"


@contextmanager
def writer(output: str, *, force: bool, as_parquet: bool) -> Iterator[Callable[[Any], Any]]:
    """A function that writes rows to a file that appears when complete, or to standard output."""
    if output == "-":
        try:
            yield sys.stdout.buffer.write
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted; only a part of the rows was written.") from None
        return
    require_free(Path(output), force=force)
    with atomic_file(output, overwrite=force, binary=True) as stream, ExitStack() as to_close:
        if not as_parquet:
            yield stream.write
            return
        from pyarrow import ArrowException, parquet

        writers: list[Any] = []

        def write(table: Any) -> None:
            try:
                if not writers:
                    made = parquet.ParquetWriter(stream, table.schema)
                    writers.append(to_close.enter_context(made))
                writers[0].write_table(table)
            except ArrowException as error:  # types and dates that parquet has not
                reason = str(error).splitlines()[0].rstrip(".")
                raise UnusableError(
                    f"The rows cannot be written as parquet ({reason}); write csv, with a name "
                    "that ends in .csv after --output."
                ) from error

        yield write
