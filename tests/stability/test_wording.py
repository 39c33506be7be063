"""Sentences claim what was measured."""

import numpy as np

from typicality.stability.agreement import (
    Repeats,
    agreement_matrix,
    placed_rows_agreement,
    rank_agreement,
)
from typicality.stability.methods import ClustererResult, DetectorResult
from typicality.stability.wording import findings_on_clusters, findings_on_outliers

HALVES = np.repeat([0, 1], 20)
THIRDS = np.repeat([0, 1, 2, 0], 10)
ONE = np.zeros(40, dtype=int)
STRIPES = np.arange(40) % 2


def clusterer(name, labels, *, number_from="found", reproducibility=1.0, failure=None):
    return ClustererResult(
        name=name,
        estimator=name,
        labels=labels,
        number_from=number_from,
        seconds=0.1,
        seconds_choosing=0.0,
        reproducibility=Repeats((reproducibility,)),
        refit_n_clusters=(),
        warnings=(),
        failure=failure,
    )


def detector(name, scores, flagged, *, held_out=0.05, reproducibility=1.0, rate=0.05):
    return DetectorResult(
        name=name,
        estimator=name,
        scores=scores,
        flagged=flagged,
        rate=rate,
        n_fitted=len(scores),
        held_out=Repeats((held_out,)),
        seconds=0.1,
        reproducibility=Repeats((reproducibility,)),
        warnings=(),
        failure=None,
    )


def on_clusters(*results):
    labels = {r.name: r.labels for r in results if r.labels is not None}
    placed = agreement_matrix(labels, agree=placed_rows_agreement, measure="")
    return findings_on_clusters(results, placed)


def on_outliers(*results):
    scores = {r.name: r.scores for r in results}
    return findings_on_outliers(results, agreement_matrix(scores, agree=rank_agreement, measure=""))


def test_findings_name_the_clusterers_when_most_agree():
    found = on_clusters(clusterer("a", HALVES), clusterer("b", 1 - HALVES), clusterer("c", STRIPES))
    assert found == (
        "Numbers of clusters: 2 (a, b, c).",
        "Two of three clusterers agree on 2 clusters (a and b): the adjusted Rand index of any "
        "two is above 0.9, on the rows that both put in a cluster.",
    )


def test_findings_claim_no_agreement_when_half_agree():
    found = on_clusters(
        clusterer("a", HALVES),
        clusterer("b", HALVES),
        clusterer("c", STRIPES),
        clusterer("d", THIRDS),
    )
    assert found[1].startswith("The clusterers disagree: the median adjusted Rand index")


def test_findings_tell_agreement_in_part():
    moved = HALVES.copy()
    moved[:3] = 1
    found = on_clusters(clusterer("a", HALVES), clusterer("b", moved))
    assert found[1] == (
        "The clusterers partly agree: the median adjusted Rand index of two of them is 0.72."
    )


def test_clusterer_that_leaves_most_rows_out_has_no_vote():
    few = np.where(np.arange(40) % 5 == 0, HALVES, -1)
    found = on_clusters(clusterer("a", HALVES), clusterer("b", few))
    assert not any("agree on" in sentence for sentence in found)
    assert found[1].endswith("B left out over half of the rows.")


def test_findings_count_no_agreement_on_a_single_cluster():
    found = on_clusters(
        clusterer("a", ONE),
        clusterer("b", ONE, number_from="BIC"),
        clusterer("c", HALVES, number_from="silhouette"),
    )
    assert found == (
        "Numbers of clusters: 1 (a, b); 2 (c).",
        "Two of three clusterers find a single cluster (a and b): they see no separate clusters.",
        "Among the two methods that may find one cluster or none, two do (a and b).",
        "Only c divided the rows into clusters, which it always does.",
    )


def test_findings_claim_nothing_when_no_clusterer_places_a_row():
    nowhere = np.full(40, -1)
    found = on_clusters(clusterer("a", nowhere), clusterer("b", nowhere))
    assert found[1] == (
        "No row was put in a cluster by two clusterers: there is nothing to compare. A and b "
        "left out over half of the rows."
    )


def test_findings_begin_with_failures_and_end_with_unstable_methods():
    found = on_clusters(
        clusterer("a", HALVES, reproducibility=0.4), clusterer("b", None, failure="too few rows")
    )
    assert found == (
        "B failed: too few rows",
        "Numbers of clusters: 2 (a).",
        "These clusters depend on the subsample (reproducibility): a (0.40).",
    )


def test_findings_tell_where_detectors_agree():
    scores = np.arange(40.0)
    found = on_outliers(
        detector("a", scores, scores < 2, held_out=0.051),
        detector("b", -scores, scores < 1, held_out=0.2, reproducibility=0.3),
    )
    assert found == (
        "The detectors were set to flag 5 % of the rows. Of rows they had not seen, they flagged: "
        "a 5.1 %, b 20.0 %.",
        "2 rows are flagged by at least one of two detectors, 1 by all.",
        "Rank correlations of the detectors' scores: -1.00 (Spearman).",
        "These flags depend on the subsample (reproducibility): b (0.30).",
    )


def test_findings_judge_no_rate_that_was_not_given():
    scores = np.arange(40.0)
    assert on_outliers(detector("a", scores, scores < 2, rate=None)) == ()
