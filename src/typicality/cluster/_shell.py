"""What all estimators share: a kernel, a space, rows old and new."""

from abc import ABCMeta
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from typicality._compat import Interval, StrOptions
from typicality.bandwidth import BANDWIDTH_RULES
from typicality.cluster._readers import Reader
from typicality.cluster._spaces import ALL_KERNELS, SumsWanted, is_pairwise
from typicality.geometry.checks import check_rows, check_sample_weight
from typicality.operators import ALGORITHMS

if TYPE_CHECKING:
    from typicality.report import Report

Floats = NDArray[np.floating]
Model = TypeVar("Model")


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What a fit begins with: rows and weights that were judged, and the schema of X.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows.
    sample_weight : array of shape (n,), optional
        The weights; None where all are one.
    schema : estimator
        A copy of the estimator that knows the features of X: the estimator itself learns of them
        only once the fit is done.
    for_callbacks : dict
        X and the weights as they were given.
    """

    rows: Floats
    sample_weight: Floats | None
    schema: Any
    for_callbacks: dict[str, Any]


class Reportable(BaseEstimator):
    """An estimator of rows with a page about its fit; not for direct use."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def report(
        self,
        X: ArrayLike,
        *,
        title: str | None = None,
        display: Any = None,
        cells: Mapping[str, Sequence[Any]] | None = None,
        row_numbers: tuple[str, ArrayLike] | None = None,
        notes: Sequence[tuple[str, str]] = (),
        warnings: Sequence[str] = (),
        max_rows: int = 100_000,
        random_state: Any = 0,
    ) -> "Report":
        """One self-contained page about the fitted model and its rows; a notebook shows it.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows the model was fitted on (but for AlphaCutClustering, any rows will do).
        title : str, optional
            The title of the page.
        display : array-like or dataframe of shape (n_samples, n_columns), optional
            The same features in the units the page should show, where X was scaled.
        cells : mapping of str to sequence, optional
            Further columns, of text, that are shown with a row.
        row_numbers : (str, array-like of int of shape (n_samples,)), optional
            What a row is called, e.g. ``("line", lines)``; "row" and 0, 1, ... when left out.
        notes : sequence of (str, str), default=()
            What was run on what, as pairs of a heading and a sentence; by default what the model
            tells of itself.
        warnings : sequence of str, default=()
            Sentences that the reader should see first.
        max_rows : int, default=100_000
            The most rows the page shows; of more, a sample that keeps those that belong nowhere.
        random_state : int, RandomState instance or None, default=0
            The seed of that sample.

        Returns
        -------
        report : Report
            With `html`, the page, and `save(path)`. :class:`typicality.report.Report` has more.
        """
        from typicality.report import Report  # not all who fit want a page

        return Report.from_estimator(
            self,
            X,
            title=title,
            display=display,
            cells=cells,
            row_numbers=row_numbers,
            notes=notes,
            warnings=warnings,
            max_rows=max_rows,
            random_state=random_state,
        )

    def _take_schema(self, schema: Self) -> None:
        self.n_features_in_ = schema.n_features_in_
        if hasattr(schema, "feature_names_in_"):
            self.feature_names_in_ = schema.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


class SpaceEstimator(CallbackSupportMixin, Reportable, metaclass=ABCMeta):
    """Base of the estimators that work in a space a kernel induces; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(ALL_KERNELS)), callable],
        "sigma": [StrOptions(set(BANDWIDTH_RULES)), Interval(Real, 0, np.inf, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "rtol": [Interval(Real, 0, 1, closed="left")],
    }

    kernel: Any
    algorithm: str
    rtol: float
    tol: float
    _reader: Reader

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_pairwise(self.kernel)
        return tags

    def _training_rows(self, X: ArrayLike, sample_weight: Any, *, at_least: int) -> TrainingRows:
        schema = copy(self)
        rows = check_rows(schema, X, training=True, at_least=at_least)
        weight = check_sample_weight(sample_weight, rows)
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        return TrainingRows(rows, weight, schema, {"X": X, "metadata": metadata})

    @property
    def _sums_wanted(self) -> SumsWanted:
        # Sums must be known better than what the iteration waits for.
        rtol = min(self.rtol, 0.1 * self.tol) if self.tol > 0 else self.rtol
        return SumsWanted(self.algorithm, rtol, n_columns=getattr(self, "n_clusters", 1))

    def _known_rows(self, X: ArrayLike, diag: ArrayLike | None) -> Floats:
        check_is_fitted(self)
        return self._reader.read(check_rows(self, X, training=False), diag)


def feature_labels(schema: Any) -> list[str]:
    """What to call the features in a message."""
    names = getattr(schema, "feature_names_in_", None)
    if names is None:
        return [f"feature {j}" for j in range(schema.n_features_in_)]
    return [f"feature {str(name)!r}" for name in names]


def small_copy(model: Model, *, without: tuple[str, ...], **instead: Any) -> Model:
    """A fitted model without some of its attributes, and with other ones."""
    small = copy(model)
    for name in without:
        if hasattr(small, name):
            delattr(small, name)
    for name, value in instead.items():
        setattr(small, name, value)
    return small
