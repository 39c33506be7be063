"""The checks of estimators that scikit-learn has and does not run by itself."""

import polars
import pytest
import sklearn
from sklearn.utils import estimator_checks
from sklearn.utils.fixes import parse_version

try:
    from sklearn import callback
except ImportError:
    callback = None

# Checks with a defect in older versions of scikit-learn: the first sound version.
_SOUND_SINCE = {
    "check_array_api_input": "1.9",  # compared fits with different seeds
    "check_positive_only_tag_during_fit": "1.7",  # subtracted a mean from integers
}


# Tests that need a newer scikit-learn than the oldest that pyproject.toml allows.
VERSION = parse_version(sklearn.__version__)
needs_callbacks = pytest.mark.skipif(
    callback is None, reason=f"scikit-learn {sklearn.__version__} has no callbacks; 1.9 has"
)

# Through the interchange protocol, which polars 2 has no more, scikit-learn before 1.9 reads names.
needs_names_of_polars = pytest.mark.skipif(
    parse_version("1.9") > VERSION and not hasattr(polars.DataFrame, "__dataframe__"),
    reason=f"scikit-learn {sklearn.__version__} sees no names in polars {polars.__version__}",
)


def parametrize_with_checks(estimators, **options):
    """All checks of scikit-learn; as a list, because pytest takes no generator of theirs."""
    mark = estimator_checks.parametrize_with_checks(estimators, **options).mark
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


def skip_unsound(check):
    """Skip a check that has a defect in this version of scikit-learn."""
    name = check.func.__name__
    since = _SOUND_SINCE.get(name, "0")
    if parse_version(since) > VERSION:
        pytest.skip(f"{name} of scikit-learn {sklearn.__version__} has a defect; {since} has not")


FOR_ALL = [
    estimator_checks.check_dataframe_column_names_consistency,
    estimator_checks.check_inplace_ensure_writeable,
    estimator_checks.check_param_validation,
]
FOR_TRANSFORMERS = [
    estimator_checks.check_get_feature_names_out_error,
    estimator_checks.check_global_output_transform_pandas,
    estimator_checks.check_global_set_output_transform_polars,
    estimator_checks.check_set_output_transform,
    estimator_checks.check_set_output_transform_pandas,
    estimator_checks.check_set_output_transform_polars,
    estimator_checks.check_transformer_get_feature_names_out,
    estimator_checks.check_transformer_get_feature_names_out_pandas,
]
