"""scikit-learn's own checks of every estimator, and the eleven it does not run itself."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from instances import OTHERS, TRANSFORMERS
from sklearn_checks import FOR_ALL, FOR_TRANSFORMERS
from typicality import SequentialPCM

pytestmark = [
    # The checks feed noise, constants and collapsing data on purpose.
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore:X has feature names, but"),
    pytest.mark.filterwarnings("ignore:n_clusters=.* is more than"),
]

EVERY_ESTIMATOR = [*TRANSFORMERS, *OTHERS]
# What transform returns does not depend on lam, and finding it takes most of the time of a fit.
WITH_LAM = [
    e.set_params(lam=0.05) if isinstance(e, SequentialPCM) else e for e in map(clone, TRANSFORMERS)
]


@parametrize_with_checks(EVERY_ESTIMATOR)
def test_estimator_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", FOR_ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", EVERY_ESTIMATOR, ids=str)
def test_estimator_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("check", FOR_TRANSFORMERS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", WITH_LAM, ids=str)
def test_transformer_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))
