"""Numbers and categories as rows of numbers."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import narwhals
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from typicality._checks import as_frame, refuse_dates
from typicality._compat import Interval, StrOptions, check_feature_names_in, fit_context
from typicality._typing import Doubles, Places
from typicality._words import as_known
from typicality.exceptions import FeatureWarning, warn
from typicality.explain import CategoryColumns
from typicality.preprocessing.scaling import ColumnScaler

_MOST_CATEGORIES = 30
_MISMATCH = 0.5  # of columns that a dictionary does not name


class MixedColumns(TransformerMixin, BaseEstimator):
    r"""Turn a table of numbers and categories into rows of numbers.

    The columns of numbers come first, scaled by :class:`ColumnScaler`. Then each column of
    categories becomes one column per category. A row has the value h in the column of its category,
    and 0 in the others. So two rows of different categories have the squared distance :math:`2 h^2`
    in these columns. A category that was not in `fit` gets :math:`h (1 - \sqrt{1 + c}) / c` in each
    of the c columns; this point has the same distance to all categories. Ordered categories are
    treated as numbers, by their ranks 0, 1, ... They are the columns in `ordered`, ordered
    categoricals of pandas, and enums of polars.

    New rows can have the categories in another form: 1, 1.0, True and "TRUE" are one category, if
    `fit` has seen only one of them. A column without any known category gives a warning.

    `mismatch` sets h, and so how different two categories are. With a kernel, use
    :class:`typicality.kernels.Mixed`; then ``mismatch=0.5`` means that two rows are half as similar
    if they differ in a category. Without a kernel, in the input space, use ``mismatch="balanced"``.

    Original to typicality, see docs/theory; the kernel is that of :cite:`li2003`.

    Parameters
    ----------
    categorical : "auto" or list of str or int, default="auto"
        The columns of categories, by name or position. "auto" takes the columns with text, True and
        False, or a categorical type. All other columns must hold numbers.
    ordered : dict of str to list, optional
        The categories of ordered columns, from the lowest to the highest, by the name of the
        column. Other values in such a column raise an error.
    mismatch : float in (0, 1), dict or "balanced", default=0.5
        The factor :math:`\lambda` of the kernel for rows that differ in the column; :math:`h =
        \sqrt{-\ln \lambda}`. A dictionary gives the factor of each column by its name, and 0.5 is
        used for other columns. "balanced" sets :math:`h^2 = 1 / (1 - \sum_k p_k^2)`, where
        :math:`p_k` are the fractions of rows in the categories. Then each column of categories
        contributes as much to the mean squared distance of two rows as a column of numbers with
        standard deviation 1.
    max_categories : "auto" or int, default="auto"
        Columns with more categories are left out, with a warning. "auto" is a tenth of the number
        of rows, at least 2 and at most 30.
    scale : {"robust", "standard", "none"}, default="robust"
        How numbers are scaled, as in :class:`ColumnScaler`.
    missing : {"error", "median"}, default="error"
        What to do with missing values: raise an error, or fill them. With "median", a missing
        number is replaced by the median, and a missing category is a category of its own. Empty
        text is missing, too, and blanks around text do not count.
    log : {"none", "auto", "all"}, default="none"
        Which columns of numbers are replaced by logarithms, as in :class:`ColumnScaler`. Ranks are
        never replaced.

    Attributes
    ----------
    n_numeric_ : int
        The number of columns of numbers, which come first. Pass it to ``kernels.Mixed``.
    kinds_ : list of str
        The kind of each column: "number", "rank", "category" or "left out".
    categories_ : list of arrays of str
        The categories of each column as text, in order; empty for numbers.
    heights_ : array of shape (n_category_columns,)
        The value h of each column of categories.
    left_out_ : dict of str to str
        The columns that are left out, and why.
    scaler_ : ColumnScaler or None
        The scaler of the numbers.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if X has names.

    See Also
    --------
    typicality.kernels.Mixed : The kernel for such rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from typicality.preprocessing import MixedColumns
    >>> table = pd.DataFrame({"weight": [1.0, 2, 3, 4] * 5, "sex": ["f", "m", "m", "f"] * 5})
    >>> columns = MixedColumns().fit(table)
    >>> columns.get_feature_names_out()
    array(['weight', 'sex=f', 'sex=m'], dtype=object)
    >>> columns.transform(table.head(2)).round(2)
    array([[-1.35,  0.83,  0.  ],
           [-0.45,  0.  ,  0.83]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical": [StrOptions({"auto"}), "array-like"],
        "ordered": [dict, None],
        "mismatch": [StrOptions({"balanced"}), Interval(Real, 0, 1, closed="neither"), dict],
        "max_categories": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "scale": ColumnScaler._parameter_constraints["scale"],
        "missing": ColumnScaler._parameter_constraints["missing"],
        "log": ColumnScaler._parameter_constraints["log"],
    }

    n_features_in_: Annotated[int, "_columns"]
    feature_names_in_: Annotated[NDArray[np.object_], "_columns"]
    n_numeric_: int
    kinds_: list[str]
    categories_: list[Annotated[NDArray[np.object_], "*"]]
    heights_: Annotated[Doubles, "*"]
    left_out_: dict[str, str]
    scaler_: ColumnScaler | None

    def __init__(
        self,
        *,
        categorical: Any = "auto",
        ordered: Mapping[str, Sequence[Any]] | None = None,
        mismatch: float | str | dict[str, float] = 0.5,
        max_categories: int | str = "auto",
        scale: str = "robust",
        missing: str = "error",
        log: str = "none",
    ) -> None:
        self.categorical = categorical
        self.ordered = ordered
        self.mismatch = mismatch
        self.max_categories = max_categories
        self.scale = scale
        self.missing = missing
        self.log = log

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "median"
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find the categories of the columns, and the scale of the numbers.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_samples, n_features)
            The rows. An array of objects can have numbers and text.
        y : ignored
            Present for consistency.

        Returns
        -------
        self
        """
        table = self._with_orders(self._read(X, training=True))
        kinds, categories, heights, left_out = [], [], [], {}
        for column, kind in zip(table, self._kinds(table), strict=True):
            known = np.array(column.order if kind == "rank" else (), dtype=object)
            if kind == "category":
                known, counts = np.unique(self._texts(column), return_counts=True)
                reason = reason_to_leave_out(len(known), len(column.values), self.max_categories)
                if reason is None:
                    heights.append(self._height(column.name, counts))
                else:
                    kind, known, left_out[column.name] = "left out", known[:0], reason
            kinds.append(kind)
            categories.append(known)
        reasons = "; ".join(f"{name!r}, {reason}" for name, reason in left_out.items())
        if len(left_out) == len(table):
            raise ValueError(
                f"No column of X can be used: {reasons}. Set max_categories to allow more "
                "categories, or pass other columns."
            )
        if left_out:
            warn(
                f"Columns left out: {reasons}.",
                "Set max_categories to allow more categories, or drop the columns.",
                FeatureWarning,
                "columns left out",
                columns=left_out,
            )
        self.kinds_, self.categories_, self.left_out_ = kinds, categories, left_out
        self.heights_ = np.array(heights, dtype=np.float64)
        self.n_numeric_ = kinds.count("number") + kinds.count("rank")
        self.scaler_ = self._fit_scaler(self._numbers(table)) if self.n_numeric_ else None
        return self

    def transform(self, X: ArrayLike) -> Doubles:
        """Convert rows to numbers: the scaled numbers, then the columns of categories.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_columns)
            The columns in the order of `get_feature_names_out`.
        """
        check_is_fitted(self)
        table = self._read(X, training=False)
        columns = [
            (column, known.tolist())
            for column, kind, known in zip(table, self.kinds_, self.categories_, strict=True)
            if kind == "category"
        ]
        texts = [as_known(self._texts(column), known) for column, known in columns]
        strange = [
            column.name
            for (column, known), cells in zip(columns, texts, strict=True)
            if len(cells) > 1 and set(known).isdisjoint(cells)
        ]
        if strange:
            warn(
                f"No row of X has a known category in {', '.join(map(repr, strange))}. All rows "
                "differ from all rows of the fit there.",
                "Check how the categories are written.",
                FeatureWarning,
                "no known category",
                columns=strange,
            )
        return self._joined(self._numbers(table), texts)

    def _joined(self, numbers: Doubles, texts: Iterable[Iterable[str]]) -> Doubles:
        """Rows from the numbers, ranks included, and the texts of each column of categories."""
        blocks = [] if self.scaler_ is None else [self.scaler_.transform(numbers)]
        for cells, known, height in zip(texts, self._layout.values, self.heights_, strict=True):
            blocks.append(_one_hot(ranks_of(cells, known), len(known), height))
        return np.column_stack(blocks)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The names of the columns: those of numbers, then "column=category".

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the input columns, if `fit` had none.

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        columns = list(zip(names, self.kinds_, self.categories_, strict=True))
        made = [str(name) for name, kind, _ in columns if kind in ("number", "rank")]
        for name, kind, known in columns:
            made += [f"{name}={category}" for category in known if kind == "category"]
        return np.asarray(made, dtype=object)

    @property
    def _layout(self) -> CategoryColumns:
        """Where the columns of categories are in the rows."""
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        columns = zip(names, self.kinds_, self.categories_, strict=True)
        chosen = {str(name): tuple(known) for name, kind, known in columns if kind == "category"}
        return CategoryColumns(self.n_numeric_, tuple(chosen), tuple(chosen.values()))

    def _read(self, X: Any, *, training: bool) -> "list[_Column]":
        """The columns of X, checked as far as all columns are."""
        refuse_dates(X)
        table = as_frame(X, eager_only=True)
        if not hasattr(table, "schema"):
            X = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
            X = check_array(X, dtype=None, ensure_all_finite=False, input_name="X", estimator=self)
        validate_data(self, X, reset=training, skip_check_array=True)
        if hasattr(table, "schema"):
            columns = [
                _Column.of(str(n), table[n].to_numpy(), table.schema[n]) for n in table.columns
            ]
        else:
            columns = [_Column.of(f"x{j}", values) for j, values in enumerate(X.T)]
        if not columns or not len(columns[0].values):
            raise ValueError(f"X has shape {X.shape}. Pass at least one row (0 sample(s) found).")
        return columns

    def _with_orders(self, table: "list[_Column]") -> "list[_Column]":
        """The columns, those of `ordered` as ranks."""
        orders, names = self.ordered or {}, [column.name for column in table]
        for name, order in orders.items():
            if name not in names:
                raise _not_a_column("ordered", name, names)
            if isinstance(order, str) or len({*map(_as_text, order)}) != len(order) > 0:
                raise ValueError(
                    f"ordered[{name!r}] must list different categories, from the lowest to the "
                    f"highest, got {order!r}."
                )
        return [
            column._replace(kind="rank", order=tuple(map(_as_text, orders[column.name])))
            if column.name in orders
            else column
            for column in table
        ]

    def _fit_scaler(self, numbers: Doubles) -> ColumnScaler:
        """The scaler of the numbers; ranks are never replaced by logarithms."""
        settings: dict[str, Any] = {"scale": self.scale, "missing": self.missing}
        scaler: ColumnScaler = ColumnScaler(**settings, log=self.log).fit(numbers)
        ranks = [kind == "rank" for kind in self.kinds_ if kind in ("number", "rank")]
        if self.log != "none" and any(ranks):
            plain = ColumnScaler(**settings).fit(numbers)
            for name in ("log_unit_", "center_", "scale_"):
                setattr(scaler, name, np.where(ranks, getattr(plain, name), getattr(scaler, name)))
        return scaler

    def _kinds(self, table: "list[_Column]") -> list[str]:
        if isinstance(self.categorical, str):
            return [column.kind for column in table]
        names = [column.name for column in table]
        chosen = set()
        for which in self.categorical:
            if which not in names and which not in range(len(names)):
                raise _not_a_column("categorical", which, names)
            chosen.add(names.index(which) if which in names else int(which))
        for j, column in enumerate(table):
            if column.kind == "category" and j not in chosen:
                raise ValueError(
                    f"Column {column.name!r} of X holds more than numbers, for example "
                    f"{column.values[0]!r}. Name it in categorical, or drop it."
                )
        return ["category" if j in chosen else column.kind for j, column in enumerate(table)]

    def _height(self, name: str, counts: Places) -> float:
        if self.mismatch == "balanced":
            return float(1.0 / np.sqrt(1.0 - np.sum((counts / counts.sum()) ** 2)))
        worth: Any = self.mismatch
        if isinstance(worth, dict):
            worth = worth.get(name, _MISMATCH)
        if not (isinstance(worth, Real) and 0 < float(worth) < 1):
            raise ValueError(
                f"mismatch of column {name!r} must be between 0 and 1, got {worth!r}: it is the "
                "similarity of rows that differ in this column."
            )
        return float(np.sqrt(-np.log(float(worth))))

    def _texts(self, column: "_Column") -> NDArray[np.object_]:
        """The categories of the rows as text; empty where missing."""
        texts = column.texts()
        self._check_missing(texts == "", column.name)
        return texts

    def _numbers(self, table: "list[_Column]") -> Doubles:
        """The columns of numbers and ranks; NaN where missing."""
        numbers = [np.empty((len(table[0].values), 0))]
        for column, kind, known in zip(table, self.kinds_, self.categories_, strict=True):
            if kind in ("number", "rank"):
                values = column.numbers() if kind == "number" else column.ranks(known)
                self._check_missing(np.isnan(values), column.name)
                numbers.append(values)
        return np.column_stack(numbers)

    def _check_missing(self, missing: NDArray[np.bool_], name: str) -> None:
        if self.missing == "error" and missing.any():
            raise ValueError(
                f"Column {name!r} of X has {int(missing.sum()):,} missing value(s) (NaN), first in "
                f"row {int(missing.argmax())} (counted from 0). Remove such rows, or set "
                "missing='median'."
            )


def reason_to_leave_out(n_categories: int, n_rows: int, at_most: int | str) -> str | None:
    """Why a column of categories is not used, in words; None where it is.

    `at_most` is `max_categories` of :class:`MixedColumns`.
    """
    if n_categories == 1:
        return "all its values are equal"
    limit = at_most if not isinstance(at_most, str) else max(2, min(_MOST_CATEGORIES, n_rows // 10))
    if n_categories <= limit:
        return None
    return f"it has {n_categories:,} categories in {n_rows:,} rows, more than {limit}"


class _Column(NamedTuple):
    """A column of a table: its values, its kind, and the order of its categories, if any."""

    name: str
    kind: str
    values: NDArray[Any]
    order: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, values: NDArray[Any], dtype: Any = None) -> Self:
        if values.dtype.kind == "c":
            raise ValueError("Complex data not supported: X has complex values.")
        if isinstance(dtype, narwhals.Enum):
            return cls(name, "rank", values, tuple(dtype.categories))
        has_numbers = values.dtype.kind in "iuf" or all(map(_is_number, values))
        return cls(name, "number" if has_numbers else "category", values)

    def numbers(self) -> Doubles:
        """The values as numbers; NaN where missing."""
        try:
            return np.where(self.values == None, np.nan, self.values).astype(np.float64)  # noqa: E711
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Column {self.name!r} of X held numbers in fit, but now holds something else: "
                f"{error}."
            ) from error

    def texts(self) -> NDArray[np.object_]:
        """The values as text; empty where missing."""
        return np.array([_as_text(value) for value in self.values], dtype=object)

    def ranks(self, known: NDArray[np.object_]) -> Doubles:
        """The places of the values among the ordered categories; NaN where missing."""
        texts = np.array(as_known(self.texts(), known.tolist()), dtype=object)
        ranks = ranks_of(texts, known)
        for row in np.flatnonzero(np.isnan(ranks) & (texts != "")):
            raise ValueError(
                f"Column {self.name!r} of X has {texts[row]!r} in row {row} (counted from 0), "
                f"which is not one of its ordered categories {', '.join(known)}. Remove the row."
            )
        return ranks


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool | np.bool_))


def _as_text(value: Any) -> str:
    if value is None or value != value or type(value).__name__ == "NAType":
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)  # a column of whole numbers with gaps holds floats
    return str(value).strip()


def ranks_of(texts: Iterable[str], known: Iterable[str]) -> Doubles:
    """The place of each text among the known categories; NaN for others."""
    place = {category: float(rank) for rank, category in enumerate(known)}
    return np.array([place.get(text, np.nan) for text in texts])


def _one_hot(ranks: Doubles, n_known: int, height: float) -> Doubles:
    rows = height * np.eye(n_known + 1, n_known)
    rows[-1] = height * (1.0 - np.sqrt(1.0 + n_known)) / n_known  # equally far from all others
    return rows[np.where(np.isnan(ranks), n_known, ranks).astype(np.intp)]


def _not_a_column(parameter: str, name: Any, names: list[str]) -> ValueError:
    return ValueError(
        f"{parameter} names {name!r}, which is not a column of X. The columns are "
        f"{', '.join(names[:10])}{', ...' if len(names) > 10 else ''}."
    )
