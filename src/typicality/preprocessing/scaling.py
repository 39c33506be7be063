"""Columns of numbers on a common scale, and missing values filled in."""

from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from typicality._checks import check_blocks, check_rows, differ, rounding_of
from typicality._compat import StrOptions, fit_context
from typicality._typing import Doubles, Floats
from typicality.exceptions import ColumnError
from typicality.rows import (
    ArrayRows,
    Block,
    Rows,
    as_rows,
    is_blockwise,
    quantiles,
    robust_spreads,
    row_blocks,
)

_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # less is rounded to zero
_SKEWED, _LESS_SKEWED = 0.5, 0.2
_QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_TAIL, _FEW_IN_TAIL = 0.05, 2  # the quantile that skewness follows from; at least so many rows
_SMALLEST_UNIT = 1e-300  # numbers over it do not overflow but for the largest of all


TOO_LARGE = "is too large: squared distances overflow. Correct it, or remove the row."


class ColumnScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale each column by its median and quartiles, and fill missing values.

    A value x becomes z = (x - center) / scale. With ``scale="robust"``, the center is the median,
    and the scale is IQR / 1.349, where IQR is the distance between the quartiles. For normal data,
    this scale is the standard deviation. If 40 % or more of the values equal the median, the scale
    is at least D sqrt(p). Here p is the fraction of the other values, at least .01, and D is the
    median of their distances to the median. Then a typical other value has z = 1 / sqrt(p), which
    is at most 10. The scale of a constant column is 1.

    The default is robust because a few far outliers can change the mean and the standard deviation
    arbitrarily. Then all other rows are close together in this column, and the outliers are hidden.
    The median and the quartiles tolerate up to a quarter of outliers.

    Parameters
    ----------
    scale : {"robust", "standard", "none"}, default="robust"
        "robust" uses the median and IQR / 1.349, "standard" the mean and the standard deviation.
        "none" does not scale the columns.
    missing : {"error", "median"}, default="error"
        What to do with NaN: raise an error, or replace it by the median of the column in `fit`.
    log : {"none", "auto", "all"}, default="none"
        Which columns are replaced by sign(x) log(1 + abs(x) / u) before they are scaled, so that
        ratios are compared instead of differences. "auto" takes the columns that are skewed, if the
        logarithm reduces their skewness by at least .2. The unit u is the 5 % quantile of abs(x)
        without zeros. The skewness is (q + p - 2 m) / (q - p), where m is the median, p the 5 % and
        q the 95 % quantile; of fewer than 40 rows n, the 2 / n and the 1 - 2 / n quantile, so that
        one outlier makes no column skewed. A column is skewed if its absolute skewness is above .5.

    Attributes
    ----------
    log_unit_ : array of shape (n_features_in_,)
        The unit u of each column; 0 if the column is not replaced by its logarithm.
    center_ : array of shape (n_features_in_,)
        The value that is subtracted, after the logarithm.
    scale_ : array of shape (n_features_in_,)
        The divisor; never zero.
    fill_ : array of shape (n_features_in_,)
        The medians that replace missing values with ``missing="median"``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if X has names.

    Notes
    -----
    float32 stays float32, but differences are computed in double precision. Quantiles are
    interpolated linearly, as in NumPy. Values that differ only by rounding (at most ten units in
    the last place) are treated as equal.

    Examples
    --------
    >>> from typicality.preprocessing import ColumnScaler
    >>> ColumnScaler().fit_transform([[1.0], [2.0], [3.0], [4.0], [100.0]]).round(2).ravel()
    array([-1.35, -0.67,  0.  ,  0.67, 65.43])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scale": [StrOptions({"robust", "standard", "none"})],
        "missing": [StrOptions({"error", "median"})],
        "log": [StrOptions({"none", "auto", "all"})],
    }

    log_unit_: Annotated[Doubles, "d"]
    center_: Annotated[Doubles, "d"]
    scale_: Annotated[Doubles, "d"]
    fill_: Annotated[Doubles, "d"]
    n_features_in_: Annotated[int, "d"]
    feature_names_in_: Annotated[NDArray[np.object_], "d"]

    def __init__(self, *, scale: str = "robust", missing: str = "error", log: str = "none") -> None:
        self.scale = scale
        self.missing = missing
        self.log = log

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "median"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find the centre and the scale of each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or opened rows
            The rows. Opened rows (:func:`typicality.open_rows`) and Dask collections are read a few
            times, block by block.
        y : ignored
            Present for consistency.

        Returns
        -------
        self
        """
        rows = self._rows(X, training=True)
        self.log_unit_, self.fill_, self.center_, self.scale_ = self._moments(rows, self.log)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Scale rows with the center and scale of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or opened rows
            The rows.

        Returns
        -------
        array of shape (n_samples, n_features)
            The values z. If X are opened rows, the result are opened rows that are scaled whenever
            they are read.
        """
        check_is_fitted(self)
        scaled: Any = self._rows(X, training=False).moved(self._scaled)
        return scaled if is_blockwise(X) else scaled.X

    def _rows(self, X: Any, *, training: bool) -> Rows:
        if is_blockwise(X):
            return check_blocks(self, as_rows(X), training=training, at_least=1)
        missing = self.missing == "median"
        return ArrayRows(check_rows(self, X, training=training, at_least=1, allow_missing=missing))

    def _scaled(self, rows: Floats) -> Floats:
        scaled = np.empty_like(rows)
        with np.errstate(over="ignore"):
            for block in row_blocks(len(rows)):
                some = rows[block].astype(np.float64)
                missing = np.isnan(some)
                if missing.any():
                    some = np.where(missing, self.fill_, some)
                if self.log_unit_.any():
                    some = _signed_log(some, self.log_unit_)
                scaled[block] = (some - self.center_) / self.scale_
        overflown = np.argwhere(np.isinf(scaled))
        if len(overflown):
            row, j = overflown[0]
            raise ColumnError(
                f"X has a value in row {row} (counted from 0) that is too large for "
                f"{scaled.dtype} after division by the scale of {self._label(j)}, "
                f"{self.scale_[j]:.1e}. Remove the row, or drop the column.",
                int(j),
                row=int(row),
                what=TOO_LARGE,
            )
        return scaled

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Convert scaled rows back to the original scale. Filled values stay filled.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that `transform` returned.

        Returns
        -------
        array of shape (n_samples, n_features)
            The values x.
        """
        check_is_fitted(self)
        rows = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if rows.shape[1] != len(self.center_):
            raise ValueError(
                f"X has {rows.shape[1]} columns, but the scaler was fitted on "
                f"{len(self.center_)}. Pass the same columns, in the same order."
            )
        back = rows * self.scale_ + self.center_
        logs = self.log_unit_ > 0
        back[:, logs] = np.sign(back[:, logs]) * np.expm1(np.abs(back[:, logs]))
        back[:, logs] *= self.log_unit_[logs]
        return np.asarray(back, dtype=rows.dtype)

    def _moments(self, rows: Rows, log: str) -> Doubles:
        """The unit of the logarithm, the median, the centre and the scale of each column."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = quantiles(rows, _values, _QUARTILES)
            for j in np.flatnonzero(np.isnan(found[0])):
                raise ColumnError(
                    f"{self._label(int(j))} of X has only missing values, so it has no median to "
                    "fill in. Drop the column.",
                    int(j),
                )
            fill, unit = found[2], _log_units(rows, log)
            if unit.any():
                rows = rows.moved(partial(_signed_log, unit=unit))
                found = quantiles(rows, _values, _QUARTILES)
            low, high = found[0], found[-1]
            is_varied = differ(low, high, rows.dtype)
            center, scale = _signed_log(fill, unit), np.ones(rows.n_features)
            if self.scale == "none":
                center = np.zeros(rows.n_features)
            else:
                spread = np.zeros(rows.n_features)
                if self.scale == "robust":
                    spread = robust_spreads(rows, found[1:-1], rounding_of(rows.dtype))
                if not spread.all():
                    mean, deviation = _means_and_deviations(rows, low, high)
                    spread = np.where(spread > 0, spread, np.maximum(deviation, _SMALLEST))
                    center = np.where(is_varied & (self.scale == "standard"), mean, center)
                scale = np.where(is_varied, spread, 1.0)
        for j in np.flatnonzero(~np.isfinite(scale)):
            raise ColumnError(
                f"{self._label(int(j))} of X has too large a range for float64: from "
                f"{low[j]:.1e} to {high[j]:.1e}. Divide the column by a large number.",
                int(j),
            )
        return np.stack([unit, fill, center, scale])

    def _label(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"Column {j}" if names is None else f"Column {str(names[j])!r}"


def _signed_log(values: Any, unit: Doubles) -> Doubles:
    """sign(x) log(1 + abs(x) / unit) in the columns where the unit is above zero, else x."""
    replaced = unit > 0
    out = np.array(values, np.float64)
    some, unit = out[..., replaced], unit[replaced]
    with np.errstate(over="ignore"):
        logs = np.log1p(np.abs(some) / unit)
    if (far := np.isinf(logs)).any():  # the ratio overflows, but not its logarithm
        logs[far] = np.log(np.abs(some[far])) - np.log(np.broadcast_to(unit, some.shape)[far])
    out[..., replaced] = np.sign(some) * logs
    return out


def skewed_columns(X: Floats) -> NDArray[np.bool_]:
    """Which columns ``log="auto"`` replaces by logarithms; missing values are left out."""
    found: NDArray[np.bool_] = _log_units(ArrayRows(X), "auto") > 0
    return found


def _log_units(rows: Rows, log: str) -> Doubles:
    """The unit in which the logarithm of each column is taken; 0 for none."""
    if log == "none":
        return np.zeros(rows.n_features)
    sizes = quantiles(rows, _sizes, [0.05])[0]  # NaN without any
    unit = np.where(np.isnan(sizes), 0.0, np.maximum(sizes, _SMALLEST_UNIT))
    if log == "all":
        return unit
    tail = min(max(_TAIL, _FEW_IN_TAIL / rows.n_rows), 0.25)
    tails = quantiles(rows, _values, [tail, 0.5, 1.0 - tail])
    before, after = np.abs(_skewness(tails)), np.abs(_skewness(_signed_log(tails, unit)))
    return np.where((before > _SKEWED) & (after < before - _LESS_SKEWED), unit, 0.0)


def _skewness(tails: Doubles) -> Doubles:
    low, median, high = tails
    width = np.where(high > low, high - low, 1.0)
    return np.where(high > low, (high + low - 2.0 * median) / width, 0.0)


def _means_and_deviations(rows: Rows, low: Doubles, high: Doubles) -> tuple[Doubles, Doubles]:
    """In units of the largest value, so that squares neither overflow nor vanish.

    These are sums over blocks: the last digits may differ from those of an array.
    """
    unit = np.maximum(np.abs(low), np.abs(high))
    unit = np.where(unit > 0, unit, 1.0)

    def count(block: Block) -> Doubles:
        return np.stack([np.sum(~np.isnan(block.X), axis=0), np.nansum(block.X / unit, axis=0)])

    counts, sums = rows.fold(count)
    mean = sums / counts
    squares = rows.fold(lambda block: np.nansum((block.X / unit - mean) ** 2, axis=0))
    return mean * unit, np.sqrt(squares / counts) * unit


def _values(block: Block) -> Floats:
    return block.X


def _sizes(block: Block) -> Floats:
    return np.where(block.X == 0, np.nan, np.abs(block.X))
