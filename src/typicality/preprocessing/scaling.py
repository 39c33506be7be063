"""Columns of numbers on a common scale, and missing values filled in."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from typicality._compat import StrOptions, fit_context
from typicality._quantiles import robust_spread
from typicality._typing import Doubles, Floats
from typicality.geometry.checks import check_blocks, check_rows, differ, rounding_of
from typicality.preprocessing._folds import (
    extent,
    mean_and_deviation,
    medians,
    robust_spreads,
    sizes,
    tails,
)
from typicality.rows import Rows, as_rows, is_blockwise, row_blocks

_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # less is rounded to zero
_SKEWED, _LESS_SKEWED = 0.5, 0.2
_SMALLEST_UNIT = 1e-300  # numbers over it do not overflow but for the largest of all


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
        q the 95 % quantile. A column is skewed if its absolute skewness is above .5.

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
        if is_blockwise(X):
            return self._fit_by_folds(check_blocks(self, as_rows(X), training=True, at_least=1))
        rows = check_rows(
            self, X, training=True, at_least=1, allow_missing=self.missing == "median"
        )
        moments = [self._moments(column, j) for j, column in enumerate(rows.T)]
        found = np.array(moments, dtype=np.float64).T.copy()
        self.log_unit_, self.fill_, self.center_, self.scale_ = found
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
        if is_blockwise(X):
            return check_blocks(self, as_rows(X), training=False).moved(self._scaled)
        rows = check_rows(
            self, X, training=False, at_least=1, allow_missing=self.missing == "median"
        )
        return self._scaled(rows)

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
            raise ValueError(
                f"X has a value in row {row} (counted from 0) that is too large for "
                f"{scaled.dtype} after division by the scale of {self._label(j)}, "
                f"{self.scale_[j]:.1e}. Remove the row, or drop the column."
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
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but the scaler was fitted on "
                f"{self.n_features_in_}. Pass the same columns, in the same order."
            )
        back = rows * self.scale_ + self.center_
        logs = self.log_unit_ > 0
        back[:, logs] = np.sign(back[:, logs]) * np.expm1(np.abs(back[:, logs]))
        back[:, logs] *= self.log_unit_[logs]
        return np.asarray(back, dtype=rows.dtype)

    def _fit_by_folds(self, rows: Rows) -> Self:
        """The same for rows that are not in memory."""
        found = extent(rows)
        for j in np.flatnonzero(found.counts == 0):
            raise self._all_missing(int(j))
        with np.errstate(over="ignore", invalid="ignore"):
            fill, unit = medians(rows), np.zeros(rows.n_features)
            if self.log != "none":
                unit = np.maximum(np.nan_to_num(sizes(rows, 0.05)), _SMALLEST_UNIT)
                unit = np.where((found.low == 0) & (found.high == 0), 0.0, unit)
            if self.log == "auto":
                seen = tails(rows)
                logs = replace(
                    seen, low=_signed_log(seen.low, unit), high=_signed_log(seen.high, unit)
                )
                before, after = (np.abs(_skewnesses(*each.values)) for each in (seen, logs))
                unit = np.where((before > _SKEWED) & (after < before - _LESS_SKEWED), unit, 0.0)
            if unit.any():
                rows = rows.moved(partial(_signed_log, unit=unit))
                found = extent(rows)
            center, scale = _signed_log(fill, unit), np.ones(rows.n_features)
            if self.scale == "none":
                center = np.zeros(rows.n_features)
            else:
                spread = robust_spreads(rows, rounding_of(rows.dtype)) * (self.scale == "robust")
                mean, deviation = center, scale
                if not spread.all():
                    mean, deviation = mean_and_deviation(rows, found)
                is_varied = differ(found.low, found.high, rows.dtype)
                wanted = np.where(spread > 0, spread, np.maximum(deviation, _SMALLEST))
                scale = np.where(is_varied, wanted, 1.0)
                center = np.where(is_varied & (self.scale == "standard"), mean, center)
        for j in np.flatnonzero(~np.isfinite(scale)):
            raise self._too_far_apart(int(j), found.low[j], found.high[j])
        self.log_unit_, self.fill_, self.center_, self.scale_ = unit, fill, center, scale
        return self

    def _moments(self, column: Floats, j: int) -> tuple[float, float, float, float]:
        """The unit of the logarithm, the median, the centre and the scale of a column."""
        present = column[~np.isnan(column)]
        if not len(present):
            raise self._all_missing(j)
        values = present.astype(np.float64)
        with np.errstate(over="ignore"):
            median = float(np.median(values))
            unit = _log_unit(values, self.log)
            values = _signed_log(values, np.float64(unit))
            center = float(_signed_log(np.float64(median), np.float64(unit)))
            if self.scale == "none":
                return unit, median, 0.0, 1.0
            if not differ(values.min(), values.max(), column.dtype):
                return unit, median, center, 1.0
            mean, deviation = _mean_and_deviation(values)
            scale = deviation
            if self.scale == "robust":
                scale = robust_spread(values, rounding_of(column.dtype)) or deviation
        if not np.isfinite(scale):
            raise self._too_far_apart(j, values.min(), values.max())
        return unit, median, mean if self.scale == "standard" else center, scale

    def _all_missing(self, j: int) -> ValueError:
        return ValueError(
            f"{self._label(j)} of X has only missing values, so it has no median to fill "
            "in. Drop the column."
        )

    def _too_far_apart(self, j: int, low: float, high: float) -> ValueError:
        return ValueError(
            f"{self._label(j)} of X has too large a range for float64: from {low:.1e} to "
            f"{high:.1e}. Divide the column by a large number."
        )

    def _label(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"Column {j}" if names is None else f"Column {str(names[j])!r}"


def _signed_log(values: Any, unit: Any) -> Doubles:
    """sign(x) log(1 + abs(x) / unit) where the unit is above zero, else x."""
    ratios = np.abs(values) / np.where(unit > 0, unit, 1.0)
    return np.asarray(np.where(unit > 0, np.sign(values) * np.log1p(ratios), values))


def _log_unit(values: Doubles, log: str) -> float:
    """The unit in which the logarithm of a column is taken; 0 for none."""
    sizes = np.abs(values[values != 0])
    if log == "none" or not len(sizes):
        return 0.0
    unit = max(float(np.quantile(sizes, 0.05)), _SMALLEST_UNIT)
    if log == "auto":
        before = abs(_skewness(values))
        after = abs(_skewness(_signed_log(values, np.float64(unit))))
        return unit if before > _SKEWED and after < before - _LESS_SKEWED else 0.0
    return unit


def skewed_columns(X: Floats) -> NDArray[np.bool_]:
    """Which columns ``log="auto"`` replaces by logarithms; missing values are left out."""
    present = (column[~np.isnan(column)].astype(np.float64) for column in X.T)
    return np.array([len(values) > 0 and _log_unit(values, "auto") > 0 for values in present])


def _skewness(values: Doubles) -> float:
    return float(_skewnesses(*np.quantile(values, [0.05, 0.5, 0.95])))


def _skewnesses(low: Any, median: Any, high: Any) -> Any:
    width = np.where(high > low, high - low, 1.0)
    return np.where(high > low, (high + low - 2.0 * median) / width, 0.0)


def _mean_and_deviation(values: Doubles) -> tuple[float, float]:
    """In units of the largest value, so that squares neither overflow nor vanish."""
    unit = float(np.abs(values).max())
    mean = float(np.mean(values / unit))
    far = values / unit - mean
    widest = float(np.abs(far).max())
    deviation = widest * float(np.sqrt(np.mean((far / widest) ** 2))) * unit
    return mean * unit, max(deviation, _SMALLEST)
