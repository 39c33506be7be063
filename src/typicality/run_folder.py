"""The model of a run of the command line, which takes a table as it is."""

import json
from collections.abc import Callable
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import narwhals
import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles
from typicality.exceptions import ModelFileError
from typicality.preprocessing.table_rows import ModelRows, column_names
from typicality.tables import open_table

RECORD = "run.json"
_LARGEST_RECORD = 2**26  # bytes
_MISSING = ("error", "drop", "median")


class LoadedRun:
    """A model of the command line, loaded from the folder of `typicality cluster` or `outliers`.

    The methods take the original table, or new rows with the same columns, as a dataframe of
    pandas, polars or any other library that supports Arrow. Columns are found by their names;
    additional columns are ignored. Text, categories and missing values are treated as the command
    did. An array must have the columns of the model, in the same order. A model with categories
    accepts only dataframes.

    If the command was run with ``--missing drop``, rows with missing values get no result:
    `predict` returns -1 for clusterings and 0 for outlier detectors, and the other methods return
    NaN.

    Parameters
    ----------
    pipeline : Pipeline
        The steps "columns" and "model".
    missing : {"error", "drop", "median"}
        How the command treated missing values.
    signs : dict of str to str
        The columns with numbers like $7,440, with their signs.

    Attributes
    ----------
    columns : list of str
        The names of the columns that the model uses.
    model : estimator
        The fitted estimator. It takes scaled rows.
    """

    def __init__(self, pipeline: Any, missing: str, signs: dict[str, str]) -> None:
        self.pipeline, self.missing, self.signs = pipeline, missing, signs
        self.model, self._scaler = pipeline["model"], copy(pipeline["columns"])
        self.columns = column_names(self._scaler)

    def __repr__(self) -> str:
        return f"LoadedRun({self.model!r}, columns={self.columns}, missing={self.missing!r})"

    def predict(self, X: Any) -> Any:
        """The cluster of each row, or -1; for outlier detectors, -1 for outliers and 1 otherwise.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The original table, or new rows.

        Returns
        -------
        labels : array of shape (n_samples,), int
        """
        left_out = 0 if hasattr(self.model, "decision_function") else -1
        return self._judge(X, self.model.predict, left_out)

    def predict_typicality(self, X: Any) -> Any:
        """The typicality of each row, if the model has typicalities; X as in `predict`."""
        return self._judge(X, self.model.predict_typicality, np.nan)

    def predict_memberships(self, X: Any) -> Any:
        """The membership of each row in each cluster, for clusterings; X as in `predict`."""
        return self._judge(X, self.model.predict_memberships, np.nan)

    def score_samples(self, X: Any) -> Any:
        """The score of each row, for outlier detectors; X as in `predict`."""
        return self._judge(X, self.model.score_samples, np.nan)

    def p_values(self, X: Any) -> Any:
        """The p-value of each row as a new row, for outlier detectors; X as in `predict`."""
        return self._judge(X, self.model.p_values, np.nan)

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
        return self._judge(X, find, left_out=False)

    def _judge(self, X: Any, method: Callable[[Any], Any], left_out: float) -> Any:
        """What a method of the model says of the rows that take part; a value for the others."""
        rows, kept = self._rows(X)
        # Without a row to judge there are columns all the same: those of any row.
        some = rows if len(rows) else np.zeros((1, self.model.n_features_in_))
        found = np.asarray(method(some))[: len(rows)]
        if kept.all():
            return found
        result = np.full((len(kept), *found.shape[1:]), left_out, dtype=found.dtype)
        result[kept] = found
        return result

    def _rows(self, X: Any) -> tuple[Doubles, NDArray[np.bool_]]:
        """The rows that take part, as the model takes them; and which rows of X these are."""
        if hasattr(narwhals.from_native(X, pass_through=True), "schema"):
            with open_table(X) as table:
                blocks = [
                    self._take(
                        ModelRows.of(block, self._scaler, self.columns, self.signs), block.first_row
                    )
                    for block in table.blocks()
                ]
        else:
            blocks = [self._take(ModelRows(self.columns, self._array(X), {}), 0)]
        rows, kept = zip(*blocks, strict=True)
        return np.concatenate(rows), np.concatenate(kept)

    def _take(self, rows: ModelRows, first: int) -> tuple[Doubles, NDArray[np.bool_]]:
        """The rows of a block that take part, and which these are, as the run treated gaps."""
        missing = rows.missing
        if self.missing == "error" and missing.any():
            row, column = np.argwhere(missing)[0]
            raise ValueError(
                f"Column {rows.every_name[column]!r} of X has a missing value in row {first + row} "
                "(counted from 0), and the command that made the model allowed none. Remove or "
                "fill such rows, or run the command again with --missing drop or --missing median."
            )
        kept = np.asarray(~missing.any(axis=1) | (self.missing != "drop"))
        if not kept.any():
            return np.empty((0, self.model.n_features_in_)), kept
        return rows.scaled(self._scaler, kept), kept

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


def run_of(pipeline: Any, folder: Path) -> LoadedRun:
    """The run in a folder, whose model was read."""
    steps = getattr(pipeline, "named_steps", {})
    if list(steps) != ["columns", "model"] or not hasattr(steps["columns"], "feature_names_in_"):
        raise ModelFileError("the model was not made from a file, so it has no names of columns")
    path = folder / RECORD
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_RECORD:
            raise ModelFileError(
                f"{RECORD} is not a plain file, or too large for the record of a run"
            )
        record = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        data = record["data"]
        missing, signs = data["missing"], data.get("signs") or {}
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(f"{RECORD} is not the record of a run") from error
    texts = isinstance(signs, dict) and all(isinstance(sign, str) for sign in signs.values())
    if missing not in _MISSING or not texts:
        raise ModelFileError(f"{RECORD} is not the record of a run")
    return LoadedRun(pipeline, missing, signs)
