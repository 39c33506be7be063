"""What is private to scikit-learn, and what its versions differ in, in one place."""

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._array_api import _convert_to_numpy as convert_to_numpy
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils._param_validation import StrOptions as _UnorderedOptions
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _get_feature_names as feature_names
from sklearn.utils.validation import _num_samples as n_rows_of


def begins_search_over(parameter: str) -> bool:
    """Whether a search of scikit-learn over a parameter scores its first candidate, first split."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "_fit_and_score":
        frame = frame.f_back
    local: Mapping[str, Any] = {} if frame is None else frame.f_locals
    places = [local.get(f"{what}_progress") or (1,) for what in ("candidate", "split")]
    searched = [name.rpartition("__")[2] for name in local.get("parameters") or ()]
    return parameter in searched and all(place[0] == 0 for place in places)


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
    "begins_search_over",
    "check_feature_names_in",
    "convert_to_numpy",
    "effective_n_threads",
    "feature_names",
    "fit_context",
    "n_rows_of",
    "safe_split",
]
