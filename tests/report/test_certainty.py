"""How sure an answer is: one sentence, with what the fit knows."""

import numpy as np
import pytest

from report.conftest import fitted, three_groups
from typicality import (
    AlphaCutClustering,
    AutoClustering,
    FuzzyCMeans,
    OneClusterPCM,
    SequentialPCM,
)
from typicality.fitted import view
from typicality.report.features import FeatureTable
from typicality.report.payload import build_payload, explain


@pytest.fixture(scope="module")
def rows():
    return three_groups(np.random.default_rng(5))


def sentence(model, rows):
    return build_payload(fitted(model, rows), rows)["certainty"]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AlphaCutClustering(), "more than one cluster"),
        (AlphaCutClustering(alpha=0.3), "level was chosen"),
        (AutoClustering(random_state=0), "The methods agree"),
        (FuzzyCMeans(3, random_state=0), "number of clusters was given"),
        (SequentialPCM(), "two closest clusters"),
        (OneClusterPCM(), "of 1,000 ordinary rows are flagged too"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_method_says_how_sure_it_is(rows, model, words):
    assert words in sentence(model, rows)


def test_one_cluster_is_told_from_several():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    assert sentence(AlphaCutClustering(), rows).startswith("One cluster, because")
    assert "is weak" in sentence(AlphaCutClustering(at_least=2), rows)
    assert "No group" in sentence(AlphaCutClustering(alpha=0.999), rows)


def test_false_alarms_are_those_of_the_fit(rows):
    model = OneClusterPCM(contamination=0.1).fit(rows)
    low, high = (round(1000 * rate) for rate in model.false_alarm_interval_)
    assert f"Between {low} and {high} of" in build_payload(model, rows)["certainty"]


def test_false_discoveries_are_told_as_they_were_asked_for(rows):
    model = OneClusterPCM(novelty=True).fit(rows)
    new = np.vstack([rows[:30] + 0.01, [[60.0, 60.0]]])
    features = FeatureTable(["x", "y"], new, new)
    explained = explain(model, new, features, new=True, fdr=0.2)
    assert view(model, new, fdr=0.2).fdr == 0.2
    assert (
        "At most 20 % of the flagged rows"
        in build_payload(model, explanation=explained)["certainty"]
    )
