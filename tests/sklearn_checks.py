"""The checks of estimators that scikit-learn has and does not run by itself."""

import pytest
import sklearn
from sklearn.utils import estimator_checks
from sklearn.utils.fixes import parse_version

# Checks with a defect in older versions of scikit-learn: the first sound version.
_SOUND_SINCE = {
    "check_array_api_input": "1.9",  # compared fits with different seeds
    "check_positive_only_tag_during_fit": "1.7",  # subtracted a mean from integers
}


def skip_unsound(check):
    """Skip a check that has a defect in this version of scikit-learn."""
    name = check.func.__name__
    since = _SOUND_SINCE.get(name, "0")
    if parse_version(sklearn.__version__) < parse_version(since):
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
