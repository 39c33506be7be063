"""The folder of a run of the command line: a model, the columns of a table it takes, the record."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from typicality._cached import cached_property
from typicality._checks import as_frame
from typicality._record import RECORD, read_record
from typicality._tensors import tensor_of
from typicality._threads import stream_in_threads
from typicality._typing import Doubles, Places
from typicality.cluster._estimator import OF_ROWS
from typicality.exceptions import ModelFileError, TableError
from typicality.explain import (
    RowReasons,
    TypicalRows,
    are_typical,
)
from typicality.fitted import FittedView, view
from typicality.preprocessing.scaling import TOO_LARGE
from typicality.preprocessing.table_rows import ModelRows, column_names
from typicality.rows import is_blockwise
from typicality.tables import Block, open_table

__all__ = ["Run"]

_MOST_PERMUTED = 2**22  # rows: a sample of more is drawn without a number for each
_MOSTLY = 0.5  # of the values of a row are filled in: it is no example of anything
_UNLIKE = 4.0  # robust standard deviations from the median of the rows of the fit
_FAR = 1e100  # spreads from the centre: beyond, squared distances may overflow
ALL = slice(None)  # rows: all of them are those of the fit


class Judged(NamedTuple):
    """What a run says of rows.

    Parameters
    ----------
    rows : ModelRows
        The rows, those that take part.
    scaled : array of shape (n, d)
        The rows as the model takes them.
    view : FittedView
        What the model says of them.
    columns : dict of str to array
        The columns that the run adds to a file: labels, typicalities, why rows are flagged.
    """

    rows: ModelRows
    scaled: Doubles
    view: FittedView
    columns: dict[str, NDArray[Any]]

    @property
    def labels(self) -> NDArray[Any]:
        """The cluster of each row that takes part; -1 for those without one, and for outliers."""
        columns = self.columns
        return columns["label"] if "label" in columns else -columns["outlier"]

    def within(self, block: Block) -> "Judged":
        """The rows of a block of the file; `view` stays that of the whole file."""
        before = block.first_row + block.n_rows
        kept = self.rows.kept[block.first_row : before]
        end = int(np.count_nonzero(self.rows.kept[:before]))
        some = slice(end - int(np.count_nonzero(kept)), end)
        columns = {name: values[some] for name, values in self.columns.items()}
        rows = replace(self.rows.take(some), kept=kept, block=block)
        return Judged(rows, self.scaled[some], self.view, columns)


class Run:
    """A model of the command line, and the columns of a table that it takes.

    `typicality cluster` and `typicality outliers` write it as a folder, and
    :func:`typicality.load` reads it. The methods take the original table, or new rows with the same
    columns, as a dataframe of pandas, polars or any other library that supports Arrow. Columns are
    found by their names; additional columns are ignored. Text, categories and missing values are
    treated as the command did. An array must have the columns of the model, in the same order. A
    model with categories accepts only dataframes.

    Missing values are replaced by the medians of the training rows. Rows without any value get no
    result, and if the command was run with ``--missing drop``, no row with missing values:
    `predict` returns -1 for clusterings and 0 for outlier detectors, and the other methods return
    NaN.

    Parameters
    ----------
    pipeline : Pipeline
        The steps "columns" and "model".
    record : dict
        How the model was made, the content of run.json.
    missing : {"error", "drop", "median"}, optional
        What to do with missing values; by default, what the command did.

    Attributes
    ----------
    columns : list of str
        The names of the columns that the model uses.
    model : estimator
        The fitted estimator. It takes scaled rows.
    """

    def __init__(
        self, pipeline: Any, record: Mapping[str, Any], missing: str | None = None
    ) -> None:
        self.pipeline, self.record = pipeline, record
        self.missing = missing or record["data"]["missing"]
        self.signs: dict[str, str] = record["data"].get("signs") or {}
        self.model, self._scaler = pipeline["model"], copy(pipeline["columns"])
        self._scaler.set_params(missing="median" if self.missing == "median" else "error")
        self.columns = column_names(self._scaler)

    @classmethod
    def fit(
        cls,
        columns: Any,
        model: Any,
        rows: Any,
        record: Mapping[str, Any],
        *,
        sample: Places | None = None,
        device: str | None = None,
    ) -> Self:
        """Fit the step of columns to all rows, and the model to these or to a sample of them.

        Parameters
        ----------
        columns : ColumnScaler or MixedColumns
            The step that makes rows for the model, not fitted.
        model : estimator
            The estimator, not fitted.
        rows : array, arrow table or Rows
            The rows that take part; those of a file are read block by block.
        record : dict
            How the run is made, as in run.json; its `data` names the columns.
        sample : array of int, optional
            The places of the rows for the model.
        device : str, optional
            A device of torch on which the model is fitted. It has arrays of NumPy afterwards.
        """
        columns.fit(rows)
        if not hasattr(columns, "kinds_"):
            vars(columns).pop("feature_names_in_", None)  # rows are arrays here
        some = rows
        if sample is not None:
            some = rows[sample] if isinstance(rows, np.ndarray) else rows.take(sample)
        X = columns.transform(some)
        model = model.fit(X) if device is None else model.fit(tensor_of(X, device))._host()
        if is_blockwise(X):
            model = model._without(*OF_ROWS)  # the file of the results has them
        if hasattr(model, "_reference"):
            model._reference()  # kept in the model, so that `score` need not find it
        data = record["data"]
        names = [*data["columns"], *data["categories"]]  # for data frames and `score`
        columns.feature_names_in_ = np.asarray(names, dtype=object)
        return cls(Pipeline([("columns", columns), ("model", model)]), record)

    @property
    def fdr(self) -> float | None:
        """The false discovery rate of the command, if it was run with ``--fdr``."""
        rate = self.record["results"].get("fdr")
        return None if rate is None else float(rate)

    def __repr__(self) -> str:
        return f"Run({self.model!r}, columns={self.columns}, missing={self.missing!r})"

    def with_missing(self, missing: str | None) -> "Run":
        """The same run with another choice about missing values, if one was made."""
        return self if missing is None else Run(self.pipeline, self.record, missing)

    @property
    def numeric_names(self) -> list[str]:
        """The columns of numbers and ranks."""
        kinds = getattr(self._scaler, "kinds_", ["number"] * len(self.columns))
        pairs = zip(self.columns, kinds, strict=True)
        return [name for name, kind in pairs if kind in ("number", "rank")]

    # ---- rows of tables --------------------------------------------------------------------------

    def read(self, block: Block) -> ModelRows:
        """The rows of a block that take part."""
        return self._taking_part(ModelRows.of(block, self._scaler, self.columns, self.signs))

    def _taking_part(self, rows: ModelRows) -> ModelRows:
        missing, block = rows.missing, rows.block
        if self.missing == "error" and missing.any():
            row, column = np.argwhere(missing)[0]
            name = [*rows.names, *rows.categories][column]
            where = f"X, row {row} counted from 0"
            if block is not None:
                where = f"{block.source}, {block.place(int(row))}"
            raise TableError(
                f"{where}, column {name!r}: the value is missing, and this run was made with "
                "--missing error. Skip such rows with --missing drop, or fill in medians with "
                "--missing median.",
                column=name,
            )
        return rows.taking_part(self.missing)

    def judge_block(self, block: Block, *, at_most: float | None = None) -> Judged:
        """What the model says of new rows in a block; `at_most` as in :meth:`judge`."""
        return self.judge(self.read(block), at_most=at_most)

    def largest_discovery(self, blocks: Iterable[Block]) -> float:
        """The largest p-value of an outlier among all rows, at the rate `fdr`; -1 without one."""

        def p_values_of(block: Block) -> Doubles:
            judged = self.judge_block(block)
            return np.asarray(judged.view.p_values)[: len(judged.rows.X)]

        p_values = np.concatenate(list(stream_in_threads(p_values_of, blocks)))
        if not len(p_values):
            return -1.0
        found = self.model._discoveries(p_values, self.fdr, "bh")
        return float(p_values[found].max(initial=-1.0))

    def judge(
        self,
        rows: ModelRows,
        *,
        fitted: Places | slice | None = None,
        fdr: float | None = None,
        at_most: float | None = None,
    ) -> Judged:
        """What the model says of rows; rows that a detector flags are explained.

        Parameters
        ----------
        rows : ModelRows
            The rows of a block, or of a whole file.
        fitted : array of int or slice, optional
            Which of these rows the model was fitted on, see :meth:`places_of_fit`.
        fdr : float, optional
            The false discovery rate at which a detector flags rows of a whole file.
        at_most : float, optional
            The largest p-value of the rows that a detector flags, for the blocks of a file; see
            :meth:`largest_discovery`.
        """
        # Without a row to judge there are columns all the same: those of any row.
        nothing = np.zeros((1, self.model.n_features_in_))
        try:
            scaled = rows.scaled(self._scaler) if len(rows.X) else nothing
            found = view(
                self.model,
                scaled,
                training=isinstance(fitted, slice),
                fdr=fdr,
                sample=None if isinstance(fitted, slice) else fitted,
            )
        except ValueError as error:
            self._refuse(rows, error)
            raise
        if at_most is not None:
            assert found.p_values is not None
            flags = np.where(found.p_values <= at_most, np.int32(-1), np.int32(0))
            found = replace(found, labels=flags, fdr=self.fdr)
        hollow = rows.missing.mean(axis=1) > _MOSTLY
        if hollow.any():
            found = replace(found, hollow=hollow)
        columns = {name: values[: len(rows.X)] for name, values in found.columns.items()}
        if found.kind == "detector":
            columns["why"] = self._reasons(rows, scaled, found, holds_fit=fitted is not None)
        return Judged(rows, scaled, found, columns)

    def count_far(self, judged: Judged) -> Places:
        """How many numbers of each column are far from the median of the rows of the fit.

        Far is more than four of its robust standard deviations; with other scales nothing is far.
        """
        numbers = getattr(self._scaler, "scaler_", self._scaler)
        n_rows, n_columns = judged.rows.X.shape
        robust = getattr(numbers, "scale", None) == "robust"  # None where all are categories
        if not robust or hasattr(self._scaler, "axes_"):
            return np.zeros(n_columns, np.intp)
        return np.count_nonzero(np.abs(judged.scaled[:n_rows, :n_columns]) > _UNLIKE, axis=0)

    def places_of_fit(self, n_rows: int, fingerprint: str | None) -> Places | slice | None:
        """Which rows of a file the model was fitted on: all, a sample, or none of them.

        `n_rows` is the number of its rows that take part, `fingerprint` that of the file.
        """
        if self.record.get("reference") or fingerprint != self.record["data"]["fingerprint"]:
            return None
        sample = self.record["results"].get("sample")
        places = draw_sample(n_rows, sample and sample["n_rows"], seed=self.record["seed"])
        return ALL if places is None else places

    @property
    def layout(self) -> Any:
        """Where the model has its columns of categories; None without categories and ranks."""
        return getattr(self._scaler, "_layout", None)

    def unscaled(self, scaled: Doubles, near: Doubles) -> Any:
        """Scaled numbers in the units of the file; places have the height of scaled rows `near`."""
        if hasattr(self._scaler, "axes_"):
            scaled = np.column_stack([scaled, near[:, -1]])
        return getattr(self._scaler, "scaler_", self._scaler).inverse_transform(scaled)

    def in_words(self, name: str, value: float) -> float | str:
        """The category that a rank stands for; other numbers, and missing ones, as they are."""
        order = self.record["data"].get("ordered", {}).get(name)
        return value if order is None or np.isnan(value) else str(order[round(value)])

    @cached_property
    def _typical(self) -> TypicalRows | None:
        """The typical rows of the fit, if the model knows its rows."""
        knows = getattr(self.model, "_knows_its_rows", False)
        return self.model._typical_rows() if knows else None

    def _reasons(
        self, rows: ModelRows, scaled: Doubles, found: FittedView, *, holds_fit: bool
    ) -> NDArray[np.object_]:
        """Why rows are flagged; empty for others."""
        why = np.full(len(rows.X), "", dtype=object)
        flagged = np.flatnonzero(found.labels[: len(rows.X)] < 0)
        typical = self._typical
        if typical is None and holds_fit:
            typical = TypicalRows.of(scaled, are_typical(found.strength))
        if typical is None or not len(flagged):
            return why
        deviations = typical.deviations(scaled[flagged])[:, : rows.X.shape[1]]
        deviations = np.where(np.isnan(rows.X[flagged]), 0.0, deviations)
        layout = self.layout
        shares = None if layout is None else layout.shares(typical.rows, scaled[flagged])
        why[flagged] = RowReasons.of(*rows.shown(flagged), deviations, shares).texts()
        return why

    def _refuse(self, rows: ModelRows, error: ValueError) -> None:
        """An error that names the value of the table that is to blame, if there is one.

        One is if it is so far from the others that distances overflow.
        """
        row, column, what = (getattr(error, key, None) for key in ("row", "column", "what"))
        if column is None:
            numbers, d = getattr(self._scaler, "scaler_", self._scaler), rows.X.shape[1]
            with np.errstate(over="ignore"):  # places have their height as one more column
                size = np.abs((rows.X - numbers.center_[:d]) / numbers.scale_[:d])
            row, column = np.unravel_index(np.nan_to_num(size).argmax(), size.shape)
            what = TOO_LARGE if size[row, column] >= _FAR else ""
        if row is None or not what:
            return
        row, name = int(np.flatnonzero(rows.kept)[row]), rows.names[int(column)]
        if rows.block is not None:
            raise rows.block.bad_cell(row, name, what) from error
        where = f"Row {row} counted from 0, column {name!r}: the value"
        raise TableError(f"{where} {what}", row=row, column=name) from error

    # ---- frames and arrays -----------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """The cluster of each row, or -1; for outlier detectors, -1 for outliers and 1 otherwise.

        If the command was run with ``--fdr``, outliers are selected as in `outliers_at`, at the
        rate of the command. Then the result for a row depends on the other rows of X. Without
        ``--fdr``, they are the rows with scores below a threshold.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The original table, or new rows.

        Returns
        -------
        labels : array of shape (n_samples,), int
        """
        left_out = 0 if hasattr(self.model, "decision_function") else -1

        def predict(rows: Doubles) -> Any:
            if self.fdr is None:
                return self.model.predict(rows)
            return np.where(self.model.outliers_at(rows, fdr=self.fdr), -1, 1)

        return self._apply(X, predict, left_out)

    def predict_typicality(self, X: Any) -> Any:
        """The typicality of each row, if the model has typicalities; X as in `predict`."""
        return self._apply(X, self.model.predict_typicality, np.nan)

    def predict_memberships(self, X: Any) -> Any:
        """The membership of each row in each cluster, for clusterings; X as in `predict`."""
        return self._apply(X, self.model.predict_memberships, np.nan)

    def score_samples(self, X: Any) -> Any:
        """The score of each row, for outlier detectors; X as in `predict`."""
        return self._apply(X, self.model.score_samples, np.nan)

    def p_values(self, X: Any) -> Any:
        """The p-value of each row as a new row, for outlier detectors; X as in `predict`."""
        return self._apply(X, self.model.p_values, np.nan)

    def outliers_at(self, X: Any, *, fdr: float = 0.1, method: str = "bh") -> Any:
        """The outliers at a false discovery rate, for outlier detectors fitted on clean rows.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            New rows, as in `predict`. Rows without a result are not outliers.
        fdr, method
            As in :meth:`typicality.OneClusterPCM.outliers_at`.

        Returns
        -------
        outliers : array of shape (n_samples,), bool
        """
        find = partial(self.model.outliers_at, fdr=fdr, method=method)
        return self._apply(X, find, left_out=False)

    def _apply(self, X: Any, method: Callable[[Any], Any], left_out: float) -> Any:
        """What a method of the model returns for rows that take part; a value for the others."""
        if hasattr(as_frame(X), "schema"):
            with open_table(X) as table:
                parts = [self.read(block) for block in table.blocks()]
        else:
            array = self._array(X)
            every = np.ones(len(array), dtype=bool)
            parts = [self._taking_part(ModelRows(self.columns, array, {}, every))]
        some = [part.scaled(self._scaler) for part in parts if len(part.X)]
        kept = np.concatenate([part.kept for part in parts])
        # Without a row to judge there are columns all the same: those of any row.
        rows = np.concatenate(some or [np.zeros((1, self.model.n_features_in_))])
        found = np.asarray(method(rows))
        result = np.full((len(kept), *found.shape[1:]), left_out, dtype=found.dtype)
        result[kept] = found[: int(kept.sum())]
        return result

    def _array(self, X: Any) -> Doubles:
        """An array that has the columns of the model, which are numbers."""
        names = ", ".join(self.columns)
        if hasattr(self._scaler, "kinds_"):
            raise ValueError(
                "X is not a data frame, but the model uses categories. Pass a frame with the "
                f"columns {names}."
            )
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise ValueError(
                f"X has shape {rows.shape}, but the model needs {len(self.columns)} columns, "
                f"{names}. Pass a frame with these columns, or an array with these columns in "
                "this order."
            )
        return rows


def run_of(pipeline: Any, folder: Path) -> Run:
    """The run in a folder, whose model was read.

    Raises
    ------
    ModelFileError
        The folder has no record of a run, or the model was not made from a file.
    """
    steps = getattr(pipeline, "named_steps", {})
    if list(steps) != ["columns", "model"] or not hasattr(steps["columns"], "feature_names_in_"):
        raise ModelFileError("the model was not made from a file, so it has no names of columns")
    return Run(pipeline, read_record(folder / RECORD))


def draw_sample(n_rows: int, max_rows: int | None, *, seed: int) -> Places | None:
    """The places of rows drawn at random, in order; None if there are not more than that."""
    if max_rows is None or n_rows <= max_rows:
        return None
    if n_rows > _MOST_PERMUTED:
        drawn = np.random.default_rng(seed).choice(n_rows, max_rows, replace=False, shuffle=False)
    else:
        drawn = np.random.RandomState(seed).permutation(n_rows)[:max_rows]
    return np.asarray(np.sort(drawn), dtype=np.intp)
