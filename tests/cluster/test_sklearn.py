"""scikit-learn's own checks of every estimator, and the eleven it does not run itself."""

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
)

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
TRANSFORMERS = [
    FuzzyCMeans(),
    FuzzyCMeans(n_clusters=3, m=1.5, kernel="gaussian"),
    EntropyCMeans(),
    PossibilisticCMeans(),
    PossibilisticCMeans(n_clusters=2, kernel="polynomial"),
    AdaptivePCM(),
    SparseAdaptivePCM(),
    SequentialPCM(),
]
OTHERS = [
    OneClusterPCM(),
    OneClusterPCM(kernel="local", gamma=0.5),
    AlphaCutClustering(),
    AutoClustering(),
]
EVERY_ESTIMATOR = [*TRANSFORMERS, *OTHERS]

FEW_ROWS = "the data have fewer distinct rows than the default n_clusters"
EXPECTED_FAILURES = {
    str(estimator): dict.fromkeys(
        ["check_sample_weights_shape", "check_sample_weights_not_overwritten"], FEW_ROWS
    )
    for estimator in (FuzzyCMeans(), EntropyCMeans(), PossibilisticCMeans())
}


@parametrize_with_checks(
    EVERY_ESTIMATOR, expected_failed_checks=lambda e: EXPECTED_FAILURES.get(str(e), {})
)
def test_estimator_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", FOR_ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", EVERY_ESTIMATOR, ids=str)
def test_estimator_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("check", FOR_TRANSFORMERS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=str)
def test_transformer_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))
