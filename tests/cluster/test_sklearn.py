"""scikit-learn's own checks, with no expected failure, and the eleven it does not run itself."""

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from instances import ADAPTIVE, AUTOMATIC, CUTTERS, DETECTORS, ESTIMATORS, KERNEL_ESTIMATORS

pytestmark = [
    # The checks feed noise, constants and collapsing data on purpose.
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore:X has feature names, but"),
]

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
TRANSFORMERS = [*ESTIMATORS, *KERNEL_ESTIMATORS, *ADAPTIVE]
EVERY_ESTIMATOR = [*TRANSFORMERS, *DETECTORS, *CUTTERS, *AUTOMATIC]


@parametrize_with_checks(EVERY_ESTIMATOR, expected_failed_checks=None)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", FOR_ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", EVERY_ESTIMATOR, ids=str)
def test_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("check", FOR_TRANSFORMERS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=str)
def test_check_outside_the_suite_for_transformers(estimator, check):
    check(type(estimator).__name__, clone(estimator))
