"""The checks of estimators that scikit-learn has and does not run by itself."""

from sklearn.utils import estimator_checks

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
