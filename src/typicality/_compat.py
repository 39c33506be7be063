"""What is private to scikit-learn, and what its versions differ in, in one place."""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._array_api import _convert_to_numpy as convert_to_numpy
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils._param_validation import StrOptions as _UnorderedOptions
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _get_feature_names as feature_names
from sklearn.utils.validation import _num_samples as n_rows_of

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn 1.6 to 1.8: estimators without callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""


class StrOptions(_UnorderedOptions):  # type: ignore[misc]
    """A string among some; error messages name them in alphabetical order, in every run."""

    def __init__(self, options: set[str]) -> None:
        super().__init__(options)
        self.options = sorted(options)


__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_feature_names_in",
    "convert_to_numpy",
    "effective_n_threads",
    "feature_names",
    "fit_context",
    "n_rows_of",
    "safe_split",
]
