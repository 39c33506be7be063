"""How sure an answer is, in one sentence for the reader of a page."""

from typing import Any

import numpy as np

from typicality._estimators import ESTIMATORS
from typicality._words import share
from typicality.fitted import FittedView, chosen_method
from typicality.report.clusters import ClusterTable

_CLEARLY = 0.8  # of its membership is in one cluster
_CLOSELY, _PARTLY = 0.8, 0.5  # adjusted Rand index


def how_sure(model: Any, found: FittedView, clusters: ClusterTable) -> str:
    """What the fit knows about its own answer.

    A detector knows how many ordinary rows it flags; an automatic choice how far other methods
    agree; clusters of many scales how far gaps exceed chance; a level and prototypes how far apart
    the two closest clusters are.
    """
    if found.kind == "detector":
        return _of_detector(chosen_method(model), found)
    if not len(clusters.labels):
        return "No group of rows is dense enough to be called a cluster."
    if model is not chosen_method(model):
        return (
            f"The methods agree {_agree(model.agreement_)} on this answer "
            f"({model.agreement_:.2f}, where 1 is the same answer and 0 is chance)."
        )
    if getattr(model, "evidence_", None) is not None:
        return _of_evidence(model)
    return _of_distances(model, found, clusters)


def _of_detector(model: Any, found: FittedView) -> str:
    if found.fdr is not None and found.n_unassigned:
        return (
            f"At most {100 * found.fdr:.3g} % of the flagged rows are expected to be ordinary, "
            "provided that the reference rows are."
        )
    if found.fdr is not None:
        return "With this many rows, chance explains even the most unusual one."
    low, high = (max(1, round(1000 * rate)) for rate in model.false_alarm_interval_)
    return (
        f"Between {low} and {high} of 1,000 ordinary rows are flagged too (95 % "
        "confidence); the most certain outliers are those far below the threshold."
    )


def _of_evidence(model: Any) -> str:
    evidence, several = model.evidence_, model.n_clusters_ > 1
    gap = (
        f"the clearest gap is {_digits(evidence)} times as deep as the gaps that chance can make "
        "in a single cluster"
    )
    if not several:
        return (
            f"One cluster, because {gap}, and a second cluster needs a gap at least as deep as "
            "these."
        )
    scales = (
        f"coarse and fine views of the data agree {_agree(model.agreement_)} on the clusters "
        f"({model.agreement_:.2f} of 1)"
    )
    if evidence < 1:
        return (
            f"A split was requested, but the evidence for it is weak: {gap}, and a second cluster "
            f"needs a gap at least as deep as these; {scales}."
        )
    return f"There is more than one cluster: {gap}; {scales}."


def _of_distances(model: Any, found: FittedView, clusters: ClusterTable) -> str:
    parts = []
    if found.tree is not None and model.alpha != "auto":
        parts.append("the level was chosen, not found in the data")
    info = ESTIMATORS.get(type(model).__name__)
    if info is not None and info.number == "given":
        parts.append("the number of clusters was given, not found in the data")
    if found.shares:
        clear = int(np.count_nonzero(found.strength >= _CLEARLY))
        parts.append(
            f"{share(clear, found.n_rows)} of the rows belong clearly to one cluster (membership "
            f"of {_CLEARLY:g} or more)"
        )
    known = clusters.separation[np.isfinite(clusters.separation)]
    if len(known) and found.tree is not None:
        parts.append(
            f"the least separated cluster is {_digits(known.min())} times as dense at its "
            "densest place as on the path to the next cluster (near 1 there is hardly a "
            "gap)"
        )
    elif len(known):
        parts.append(
            f"the distance of the two closest clusters is {_digits(known.min())} times the "
            "usual distance of a row from the middle of its cluster (below 2 they overlap)"
        )
    if not found.shares and found.n_unassigned and found.tree is None:
        parts.append(f"{share(found.n_unassigned, found.n_rows)} of the rows fit no cluster")
    if not parts:
        parts.append("there is one cluster, and no other result to compare it with")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _agree(score: float) -> str:
    return "closely" if score >= _CLOSELY else "partly" if score >= _PARTLY else "little"


def _digits(number: float) -> str:
    return f"{number:,.2g}" if number < 100 else f"{number:,.0f}"
