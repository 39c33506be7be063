"""How sure an answer is, in one sentence for the reader of a page."""

from typing import Any

import numpy as np

from typicality._estimators import ESTIMATORS
from typicality._words import rows_for_alarms, share
from typicality.fitted import FittedView, chosen_method
from typicality.report.clusters import ClusterTable

_CLEARLY = 0.8  # of its membership is in one cluster
_CLOSELY, _PARTLY = 0.8, 0.5  # adjusted Rand index


def how_sure(model: Any, found: FittedView, clusters: ClusterTable) -> str:
    """What the fit knows about its own answer.

    A detector knows how many ordinary rows it flags; a joined mixture how far its runs agree, and
    the automatic method how far fits to two halves of the rows do; clusters of many scales how far
    gaps exceed chance; a level and prototypes how far apart the two closest clusters are.
    """
    if found.kind == "detector":
        return _of_detector(chosen_method(model), found)
    if not len(clusters.labels):
        return "No group of rows is dense enough to be called a cluster."
    method = chosen_method(model)
    agreement: Any = getattr(model, "agreement_", None)
    if getattr(method, "runs_", None):
        return f"Runs on parts of the rows {_agree_on_answer(agreement)}."
    halves = ""
    if model is not method and agreement is not None:
        halves = (
            f"{round(2 * agreement)} of 2 fits to halves of the rows also find one cluster"
            if model.n_clusters_ == 1
            else f"fits to two halves of the rows {_agree_on_answer(agreement)}"
        )
    if getattr(method, "evidence_", None) is not None:
        return _of_evidence(method, halves)
    if model is not method:
        no_gap = "A split was requested: no method sees a gap between groups"
        return "; ".join(filter(None, [no_gap, halves])) + "."
    return _of_distances(model, found, clusters)


def _of_detector(model: Any, found: FittedView) -> str:
    if found.fdr is not None and found.n_unassigned:
        return (
            f"At most {100 * found.fdr:.3g} % of the flagged rows are expected to be ordinary, "
            "provided that the reference rows are."
        )
    if found.fdr is not None:
        chance = "With this many rows, chance explains even the most unusual one."
        return model._few_reference_rows(found.p_values, found.fdr) or chance
    many = rows_for_alarms(model._rate)
    low, high = (max(1, round(many * rate)) for rate in model.false_alarm_interval_)
    return (
        f"Between {low:,} and {high:,} of {many:,} ordinary rows are flagged too (95 % "
        "confidence); the most certain outliers are those far below the threshold."
    )


def _of_evidence(model: Any, halves: str) -> str:
    evidence = model.evidence_
    chance = "the gaps that chance can make in a single cluster"
    if evidence >= 1:
        gap = f"the clearest gap is {_digits(evidence)} times as deep as {chance}"
    elif evidence > 0:
        gap = f"the clearest gap has {max(1, int(100 * evidence))} % of the depth of {chance}"
    else:
        gap = "the density has no gap between groups"
    views = halves
    if not halves and model.n_clusters_ > 1:
        views = f"coarse and fine views of the data {_agree_on_answer(model.agreement_)}"
    known = "; ".join(filter(None, [gap, views]))
    if model.n_clusters_ <= 1:
        return f"One cluster: {known}."
    if evidence < 1:
        return f"A split was requested, but the evidence for it is weak: {known}."
    return f"There is more than one cluster: {known}."


def _of_distances(model: Any, found: FittedView, clusters: ClusterTable) -> str:
    parts = []
    info = ESTIMATORS.get(type(model).__name__)
    if found.tree is not None and model.alpha != "auto":
        parts.append("the level was chosen, not found in the data")
    if info is not None and info.number == "given":
        parts.append("the number of clusters was given, not found in the data")
    if found.shares:
        clear = share(int(np.count_nonzero(found.strength >= _CLEARLY)), found.n_rows)
        parts.append(f"{clear} of the rows have a membership of {_CLEARLY:g} or more in a cluster")
    known = clusters.separation[np.isfinite(clusters.separation)]
    if len(known):
        least = f"the smallest separation of a cluster is {_digits(known.min())}"
        in_tree = found.tree is not None
        meaning = "near 1 there is hardly a gap" if in_tree else "below 2 clusters overlap"
        parts.append(f"{least} ({meaning})")
    if not parts:
        parts.append("there is one cluster, and no other result to compare it with")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _agree_on_answer(score: float) -> str:
    much = "closely" if score >= _CLOSELY else "partly" if score >= _PARTLY else "little"
    return f"agree {much} on this answer ({score:.2f}, where 1 is the same answer and 0 is chance)"


def _digits(number: float) -> str:
    return f"{number:,.2g}" if number < 100 else f"{number:,.0f}"
