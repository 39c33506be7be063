"""Which prototype stands for which label: coincident prototypes share one."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Places
from typicality.membership.base import MembershipRule
from typicality.solve.step import ClusterState
from typicality.spaces import Prototypes, Space
from typicality.spaces.base import Outcome, Tally


@dataclass(frozen=True, eq=False)
class PrototypeLabels:
    """Which prototype stands for which label.

    Parameters
    ----------
    order : array of shape (c,)
        An order of the prototypes: first one for each label that rows carry, then the rest.
    prototype_labels : array of shape (c,)
        The label of each prototype in that order; coincident prototypes share theirs.
    n_clusters : int
        The number of labels that rows carry, rows of weight zero not counted.
    n_coincident : int
        The number of prototypes that share the label of an earlier one.
    """

    order: Places
    prototype_labels: NDArray[np.int32]
    n_clusters: int
    n_coincident: int


class Clustering(NamedTuple):
    """The result of a fit, as warnings look at it.

    Parameters
    ----------
    space : Space
        The space of the rows.
    state : ClusterState
        Prototypes and rule, in the order of the labels.
    labels : PrototypeLabels
        The label of each prototype.
    outcome : Outcome
        What prototypes and rule make of the rows.
    """

    space: Space[Any]
    state: ClusterState[Any]
    labels: PrototypeLabels
    outcome: Outcome


def label_prototypes(groups: Places, tally: Tally) -> PrototypeLabels:
    """Contiguous labels: groups of coincident prototypes that some row prefers come first.

    Parameters
    ----------
    groups : array of shape (c,)
        For each prototype the first one it coincides with: itself, mostly.
    tally : Tally
        How many rows prefer each prototype. Groups that only rows of weight zero prefer come after
        all others.
    """
    n_clusters = len(groups)
    populated = np.unique(groups[np.flatnonzero(tally.counted[:-1])])
    aside = np.setdiff1d(groups[np.flatnonzero(tally.rows[:-1])], populated)
    representatives = np.unique(groups)
    empty = np.setdiff1d(representatives, [*populated, *aside])
    copies = np.setdiff1d(np.arange(n_clusters), representatives)
    order = np.concatenate([populated, aside, empty, copies]).astype(np.intp)
    label_of = np.empty(n_clusters, np.int32)
    label_of[order[: len(representatives)]] = np.arange(len(representatives))
    return PrototypeLabels(order, label_of[groups[order]], len(populated), len(copies))


def coincident_groups(
    prototypes: Prototypes, rule: MembershipRule, total_variance: float
) -> Places:
    """For each prototype the first one it coincides with, by the rule."""
    near = rule.coincide(prototypes.mutual_sqdist(), total_variance)
    near = near & near.T
    groups = np.arange(prototypes.n_clusters)
    for k in range(prototypes.n_clusters):
        groups[k] = groups[np.flatnonzero(near[k])[0]]
    return groups
