"""scikit-learn's own checks of every estimator, and the eleven it does not run itself."""

import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from instances import OTHERS, TRANSFORMERS
from sklearn_checks import FOR_ALL, FOR_TRANSFORMERS, parametrize_with_checks, skip_unsound
from typicality import SequentialPCM

pytestmark = [
    # The checks feed noise, constants and collapsing data on purpose.
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore:X has feature names, but"),
    pytest.mark.filterwarnings("ignore:n_clusters=.* is more than"),
]

# The automatic lam takes most of the time of a fit. So all checks run with a fixed lam, and the
# automatic choice runs in those that could notice it: they vary rows, types, weights and order.
WITH_LAM = [
    e.set_params(lam=0.05) if isinstance(e, SequentialPCM) else e for e in map(clone, TRANSFORMERS)
]
EVERY_ESTIMATOR = [*WITH_LAM, *OTHERS]
FOR_AUTOMATIC_LAM = {
    "check_parameters_default_constructible",
    "check_dont_overwrite_parameters",
    "check_estimators_dtypes",
    "check_sample_weight_equivalence_on_dense_data",
    "check_clustering",
    "check_methods_sample_order_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_dict_unchanged",
    "check_fit_idempotent",
}


# With sparse rows, they ask estimators with `predict_proba` for tags of classifiers.
CHECKS_OF_CLASSIFIERS = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


def expected_failures(estimator):
    asked = hasattr(estimator, "predict_proba") and get_tags(estimator).input_tags.sparse
    return dict.fromkeys(CHECKS_OF_CLASSIFIERS if asked else (), "classifier_tags is None")


@parametrize_with_checks(EVERY_ESTIMATOR, expected_failed_checks=expected_failures)
def test_estimator_passes_the_check_of_scikit_learn(estimator, check):
    skip_unsound(check)
    check(estimator)


def test_automatic_lam_passes_the_checks_of_scikit_learn():
    left = set(FOR_AUTOMATIC_LAM)
    for estimator, check in estimator_checks_generator(SequentialPCM()):
        if check.func.__name__ in left:
            left.remove(check.func.__name__)
            check(estimator)
    assert left == set()


@pytest.mark.parametrize("check", FOR_ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", EVERY_ESTIMATOR, ids=str)
def test_estimator_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("check", FOR_TRANSFORMERS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", WITH_LAM, ids=str)
def test_transformer_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))
