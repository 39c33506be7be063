"""The shell of every estimator: check the rows, learn on a copy, adopt what it learned at once."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from typicality._checks import check_blocks, check_rows, check_sample_weight, refuse_empty_rows
from typicality._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_feature_names_in,
    fit_context,
)
from typicality._tensors import (
    OnDevice,
    Place,
    array_of,
    device_of,
    is_followed,
    is_foreign,
    place_of,
    tensor_of,
)
from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats
from typicality.bandwidth import BANDWIDTH_RULES
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._inputs import ALL_KERNELS, OpenSpace, Reader, is_pairwise, takes_sparse
from typicality.kernels import Kernel
from typicality.rows import as_rows, is_blockwise
from typicality.solve.picard import PicardResult, Status
from typicality.spaces.euclidean import Centroids

if TYPE_CHECKING:
    from typicality.report import Report


POSITIVE = Interval(Real, 0, np.inf, closed="neither")
# The parameters of all estimators that work in the space of a kernel.
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(ALL_KERNELS)), callable],
    "sigma": [StrOptions(set(BANDWIDTH_RULES)), POSITIVE],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "rtol": [Interval(Real, 0, 1, closed="left")],
}
# Of those that learn from a sample if there are many rows.
SAMPLE_CONSTRAINTS: dict[str, list[Any]] = {
    "max_samples": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left"), None]
}
# Attributes that a fitted model may lack: some fits do not set them, and `compress` drops some.
# Those of an earlier fit must not stay.
OPTIONAL_ATTRIBUTES = (
    *("feature_names_in_", "memberships_", "cluster_centers_", "lambda_path_", "lam_"),
    *("labels_", "typicality_", "weights_", "covariances_"),
)
OF_ROWS = ("labels_", "memberships_", "typicality_", "weights_")  # one value for each training row
_ON_CPU = ("cpu", "mps")  # where NumPy and compiled code compute; "mps" has no float64

Method = TypeVar("Method", bound=Callable[..., Any])


def like_rows(method: Method) -> Method:
    """A method for an array of rows that also takes a tensor, and then returns tensors."""

    @wraps(method)
    def for_tensors(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        home = self._home
        if home is None and not is_followed(X):
            with np.errstate(under="ignore"):  # a membership may be nothing
                return method(self, X, *args, **options)
        check_is_fitted(self)
        given = device_of(X)
        if given != home:
            raise ValueError(
                f"{type(self).__name__}.{method.__name__}() must use the same namespace and device "
                f"as the fit: X is {_kind(given)}, and the model was fitted on {_kind(home)}. Pass "
                f"{_kind(home)}, or fit the model on {_kind(given)}."
            )
        host = self._host()
        options = {name: array_of(value) for name, value in options.items()}
        result = method(host, array_of(X), *map(array_of, args), **options)
        if vars(host).get("_calibration") is not vars(self).get("_calibration"):
            self._calibration = host._calibration  # made at the first use
        return result if home is None else tensor_of(result, home)

    return cast(Method, for_tensors)


def _kind(place: Place | None) -> str:
    if place is None:
        return "an array of NumPy"
    if isinstance(place, str):
        return f"a tensor on {place}"
    library = place.library.__name__.removeprefix("array_api_compat.")
    return f"an array of {library} on {place.device}"


def by_blocks(method: Method) -> Method:
    """A method for an array of rows that also takes opened rows and Dask collections.

    The method is then applied to each block, and the results are in the kind the rows came in.
    """

    @wraps(method)
    def for_any_rows(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_blockwise(X):
            return method(self, X, *args, **options)
        check_is_fitted(self)
        rows = check_blocks(self, as_rows(X), training=False)
        model = self._without(*OF_ROWS, "feature_names_in_")  # names are checked; blocks are arrays
        return rows.map(lambda block: method(model, block.X, *args, **options))

    return cast(Method, for_any_rows)


class Estimator(CallbackSupportMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta):
    """The shell of all estimators; not for direct use.

    A subclass says what it learns from checked rows, and what it returns for new rows.
    """

    _fewest_rows: ClassVar[int] = 1
    _why_dense: ClassVar[str | None] = "its method uses every feature of a row"

    n_features_in_: Annotated[int, "d"]
    feature_names_in_: Annotated[NDArray[np.object_], "d"]
    _reader: Annotated[Any, Reader]
    kernel_: Annotated[Any, str | Kernel]
    sigma_: float | None
    n_iter_: int
    status_: Status
    objective_path_: Annotated[Doubles, "_steps"]
    sums_: str

    # ---- what a subclass defines -----------------------------------------------------------------

    @abstractmethod
    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        """Set all fitted attributes, and warn of what is suspicious.

        Parameters
        ----------
        rows : array of shape (n, d) or Rows
            The checked rows; `Rows`, which know their weights, where they are not in memory.
        weight : array of shape (n,), optional
            The checked weights; None if all are one.
        callbacks : FitCallbacks
            Runs the iterations, for the callbacks of scikit-learn.
        """

    @abstractmethod
    def _soft_features(self, X: ArrayLike) -> Floats:
        """What `transform` returns."""

    @abstractmethod
    def _soft_names(self) -> list[str]:
        """The names of its columns."""

    # ---- the interface ---------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            The rows. float32 stays float32. Only `FuzzyCMeans`, `EntropyCMeans`,
            `PossibilisticCMeans` and `OneClusterPCM` accept sparse matrices. With
            ``kernel="precomputed"``, the square matrix of kernel values; with
            ``kernel="dissimilarities"``, the square matrix of
            distances.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k has the effect of k copies of the row. A row of weight 0 has no effect
            on the fit, but gets a label or a typicality. If the mean weight is below one,
            `AlphaCutClustering` divides all weights by it.

        Returns
        -------
        self
        """
        return self._fit(X, sample_weight)

    @like_rows
    def transform(self, X: ArrayLike) -> Floats:
        """The memberships of the rows, as features for the next step of a pipeline.

        `OneClusterPCM` returns one column, the typicalities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        memberships : array of shape (n_samples, n_columns)
        """
        return self._soft_features(X)

    @property
    def _sums_to_one(self) -> bool:
        """Whether the memberships of each row do."""
        return False

    @available_if(lambda self: self._sums_to_one)
    @like_rows
    def predict_proba(self, X: ArrayLike) -> Floats:
        """The memberships of the rows, which sum to one; else there is no such method.

        They are those of `transform`. Memberships of c-means are not calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
        """
        return self._soft_features(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: membership_0, ..., typicality_0, ..., or typicality.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the input features. Only their number is checked.

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        check_feature_names_in(self, input_features, generate_names=False)
        return np.asarray(self._soft_names(), dtype=object)

    @like_rows
    def report(self, X: ArrayLike, **options: Any) -> "Report":
        """An HTML report of the fitted model and its rows, in one file. Notebooks show it.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows that the model was fitted on. AlphaCutClustering needs these rows; the other
            estimators accept any rows.
        **options
            The other parameters of :meth:`typicality.report.Report.from_estimator`, such as `title`
            or `display`.

        Returns
        -------
        report : Report
            The report, with the attribute `html` and the method `save(path)`.
        """
        from typicality.report import Report  # not all who fit want a page

        return Report.from_estimator(self, X, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        kernel = getattr(self, "kernel", None)
        partial = self._takes_missing
        tags.input_tags.allow_nan = partial
        tags.input_tags.sparse = self._why_dense is None and takes_sparse(kernel) and not partial
        tags.input_tags.pairwise = is_pairwise(kernel)
        return tags

    # ---- a fit -----------------------------------------------------------------------------------

    def _fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Fit a copy and take over what it learned in one assignment.

        A fit that fails, is interrupted, or warns where warnings are errors leaves the model as it
        was.
        """
        parameters = {name: array_of(v) for name, v in self.get_params(deep=False).items()}
        model: Any = type(self)(**parameters)
        callbacks = FitCallbacks(self, model, X, sample_weight)
        home = device_of(X)
        if isinstance(home, str) and home.partition(":")[0] not in _ON_CPU:
            model._device, X = home, OnDevice(X)  # sums are computed there
        else:
            X = array_of(X)
        weight: Floats | None = None
        if is_blockwise(X):
            every_row = as_rows(X, array_of(sample_weight))
            rows: Any = check_blocks(model, every_row, training=True, at_least=self._fewest_rows)
        else:
            rows = model._in_memory(X, training=True)
            weight = check_sample_weight(array_of(sample_weight), rows)
        # Whatever the user has set: to vanish is no error, and threads of BLAS change no bits.
        with np.errstate(under="ignore"), one_blas_thread():
            model._learn(rows, weight, callbacks)
        learned = {k: v for k, v in vars(model).items() if k not in (*parameters, "_device")}
        if home is not None:  # arrays of the model live where X lives
            learned = {k: tensor_of(v, home) for k, v in learned.items()}
        before = self.__dict__
        self.__dict__ = {k: v for k, v in before.items() if k not in OPTIONAL_ATTRIBUTES} | learned
        try:
            callbacks.end()
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _record(self, opened: OpenSpace, result: PicardResult[Any]) -> dict[str, Any]:
        """The attributes that say how a fit went."""
        return {
            "kernel_": opened.kernel,
            "sigma_": opened.sigma,
            "n_iter_": result.n_iter,
            "status_": result.status,
            "objective_path_": np.array(result.objectives),
            "sums_": opened.space.how,
        }

    def _in_memory(self, X: Any, *, training: bool) -> Floats:
        """Checked rows; sparse ones are refused where they would have to be made dense."""
        if issparse(X) and self._why_dense is not None:
            raise TypeError(
                f"X is a sparse matrix, and {type(self).__name__} takes arrays only: "
                f"{self._why_dense}. Reduce the features first, e.g. with "
                "sklearn.decomposition.TruncatedSVD(50), or pass X.toarray() if that is small."
            )
        rows = check_rows(
            self,
            X,
            training=training,
            at_least=self._fewest_rows,
            allow_missing=self._takes_missing,
            sparse=issparse(X),
        )
        if self._takes_missing and not issparse(X):
            refuse_empty_rows(rows)
        return rows

    @property
    def _takes_missing(self) -> bool:
        """Whether NaN in X is a missing value."""
        return getattr(self, "missing", "error") == "partial"

    @property
    def _home(self) -> Place | None:
        """The device of the fitted arrays; None where they are arrays of NumPy."""
        fitted = (v for k, v in vars(self).items() if k.endswith("_") and is_foreign(v))
        return next(map(place_of, fitted), None)

    def _host(self) -> Self:
        """A copy of the model with arrays of NumPy in the place of tensors."""
        return self._without(**{k: array_of(v) for k, v in vars(self).items() if is_foreign(v)})

    def _read(self, X: ArrayLike) -> Floats:
        """Rows for prediction: checked, and in the form that the space of the model takes."""
        check_is_fitted(self)
        rows = self._in_memory(X, training=False)
        reader: Reader | None = getattr(self, "_reader", None)
        # Any input space takes sparse rows, and so do kernels that were fitted on them.
        in_input_space = isinstance(getattr(self, "_prototypes", None), Centroids)
        if issparse(X) and not (in_input_space or getattr(reader, "sparse", False)):
            raise TypeError(
                f"X is a sparse matrix, but {type(self).__name__} was fitted on an array, and "
                "its kernel compares new rows with the training rows. Pass X.toarray(), or fit "
                "the model on a sparse matrix."
            )
        return rows if reader is None else reader.read(rows)

    def _without(self, *names: str, **instead: Any) -> Self:
        """A copy of the model without some attributes, and with other ones."""
        small = type(self).__new__(type(self))
        small.__dict__ = {k: v for k, v in vars(self).items() if k not in names} | instead
        output = "_sklearn_output_config"  # which set_output changes in place
        if output in vars(small):
            small.__dict__[output] = dict(vars(small)[output])
        return small
