"""Tables from anybody: success or a refusal in words."""

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from fuzz.contract import outcome_of
from fuzz.tables import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_target_succeeds_or_refuses_in_words(name, tmp_path):
    target, outcomes = TARGETS[name], set()

    @settings(
        max_examples=120,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(target.inputs)
    def use(value):
        outcomes.add(outcome_of(target, value, tmp_path))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        use()
    assert len(outcomes) > 1
