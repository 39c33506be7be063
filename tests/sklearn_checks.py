"""The checks of estimators that scikit-learn has and does not run by itself."""

import pytest
import sklearn
from sklearn.utils import estimator_checks
from sklearn.utils.fixes import parse_version


def skip_random_checks(check):
    """Skip a check that compares fits with different random numbers, before scikit-learn 1.9."""
    is_old = parse_version(sklearn.__version__) < parse_version("1.9")
    if is_old and check.func.__name__ == "check_array_api_input":
        pytest.skip(f"scikit-learn {sklearn.__version__} sets no seed in this check; 1.9 does")


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
