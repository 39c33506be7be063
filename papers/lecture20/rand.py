"""Section 20.3: the Rand index, the adjusted one, and precision and recall of pairs."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regenerating import Claim, Page, Setting, Verdict, markdown_table
from typicality.metrics import (
    adjusted_rand_score,
    pair_confusion,
    rand_score,
)

__all__ = ["CLUSTERS", "GROUPS", "Lowest", "lowest_adjusted_rand", "pairs_by_hand", "report"]

GROUPS = tuple("AAAABBBCCC")
CLUSTERS = (1, 1, 1, 2, 2, 2, 2, 2, 3, 3)

_TEXT = """## The Rand index (section 20.3)

Ten rows, in three groups and three clusters:"""

_COUNTED = """All 45 pairs, counted by hand:

- **together in both** (true positives, 7): 1-2, 1-3, 2-3 of group A; 5-6, 5-7, 6-7 of B; 9-10 of C;
- **together in the clustering only** (false positives, 7): in cluster 2, row 4 of A with 5, 6, 7
  of B and with 8 of C, and row 8 with 5, 6, 7;
- **together in the groups only** (false negatives, 5): 1-4, 2-4, 3-4 of A; 8-9, 8-10 of C;
- **apart in both** (true negatives): the other 45 - 7 - 7 - 5 = 26.

So Rand = (7 + 26) / 45, precision = 7 / 14, recall = 7 / 12, F1 = 2 · 7 / (2 · 7 + 7 + 5) = 14/26.
Were the clustering drawn at random with the same sizes, 12 · 14 / 45 = 3.73 pairs would be together
in both; the adjusted index is (7 - 3.73) / ((12 + 14) / 2 - 3.73)."""

_RANGE = """The notes say that the adjusted index varies from -1 to 1. All pairs of partitions of n
rows, and the smallest value:"""

_WORST = """
The least is -1/2. Three rows reach it, {1, 2}, {3} against {1, 3}, {2}, and so do four, {1, 2},
{3, 4} against {1, 3}, {2, 4}: no pair is together in both, where 2 · 2 / 6 = 2/3 would be by
chance, and (0 - 2/3) / (2 - 2/3) = -1/2. A value of -1 would need half of all pairs together in
each of two partitions, and none in both."""

_BY_HAND = {"true positives": 7, "false positives": 7, "false negatives": 5, "true negatives": 26}
_MEASURES = {
    "Rand": (rand_score, 33 / 45),
    "adjusted Rand": (adjusted_rand_score, (7 - 12 * 14 / 45) / (13 - 12 * 14 / 45)),
    "precision": (lambda *labels: pair_confusion(*labels).precision, 7 / 14),
    "recall": (lambda *labels: pair_confusion(*labels).recall, 7 / 12),
    "F1": (lambda *labels: pair_confusion(*labels).f1, 14 / 26),
}


def pairs_by_hand(groups: tuple[object, ...], clusters: tuple[object, ...]) -> tuple[int, ...]:
    """Count pairs one after the other: both, clustering only, groups only, neither."""
    counts = [0, 0, 0, 0]
    for i, j in combinations(range(len(groups)), 2):
        together = groups[i] == groups[j], clusters[i] == clusters[j]
        counts[[(True, True), (False, True), (True, False), (False, False)].index(together)] += 1
    return tuple(counts)


def report(page: Page, setting: Setting) -> None:
    """The worked example, the range of the adjusted index, and the claims."""
    page.say(_TEXT)
    numbers = range(1, len(GROUPS) + 1)
    page.say(markdown_table(("row", *numbers), [("group", *GROUPS), ("cluster", *CLUSTERS)]))
    page.say(_COUNTED)
    found = {name: score(GROUPS, CLUSTERS) for name, (score, _) in _MEASURES.items()}
    lines = [(name, f"{value:.4f}", f"{found[name]:.4f}") for name, (_, value) in _MEASURES.items()]
    page.say(markdown_table(("measure", "by hand", "`typicality.metrics`"), lines))
    lowest = [lowest_adjusted_rand(n) for n in range(3, setting.pick(9, 7))]
    page.say(_RANGE)
    page.say(markdown_table(("n", "pairs of partitions", "least"), [_row(each) for each in lowest]))
    page.say(_WORST)
    page.judge(_agreement(found))
    page.judge(_chance(setting.pick(2000, 200)))
    page.judge(_range(lowest))


def _row(lowest: "Lowest") -> tuple[object, ...]:
    return lowest.n_rows, f"{lowest.n_pairs:,}", f"{lowest.value:.4f}"


# ---- the range of the adjusted index ------------------------------------------------------------


class Lowest(NamedTuple):
    """The pair of partitions of n rows with the smallest adjusted Rand index."""

    n_rows: int
    n_pairs: int
    value: float
    groups: tuple[int, ...]
    clusters: tuple[int, ...]


def lowest_adjusted_rand(n_rows: int) -> Lowest:
    """Search all pairs of partitions."""
    partitions = _partitions(n_rows)
    together = np.array([_together(labels) for labels in partitions], dtype=float)
    least = np.inf, 0, 0
    for i, groups in enumerate(together):
        index = _adjusted_rand(groups, together)
        least = min(least, (float(index.min()), i, int(index.argmin())))
    value, i, j = least
    return Lowest(n_rows, len(partitions) ** 2, value, partitions[i], partitions[j])


def _adjusted_rand(groups: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The index of one partition with many, each given by which pairs are together."""
    n_groups, n_others = groups.sum(), others.sum(axis=1)
    expected = n_groups * n_others / len(groups)
    most = (n_groups + n_others) / 2 - expected
    excess = others @ groups - expected
    # Where nothing can vary, both are the same trivial partition, and the index is one.
    index: NDArray[np.float64] = np.divide(excess, most, out=np.ones_like(most), where=most > 0)
    return index


def _partitions(n_rows: int) -> list[tuple[int, ...]]:
    """Each partition once: a row joins an earlier cluster, or opens the next one."""
    found: list[tuple[int, ...]] = [(0,)]
    for _ in range(n_rows - 1):
        found = [(*labels, k) for labels in found for k in range(max(labels) + 2)]
    return found


def _together(labels: tuple[int, ...]) -> NDArray[np.bool_]:
    codes = np.array(labels)
    i, j = np.triu_indices(len(codes), k=1)
    same: NDArray[np.bool_] = codes[i] == codes[j]
    return same


# ---- claims -------------------------------------------------------------------------------------


def _agreement(found: dict[str, float]) -> Claim:
    counts = pair_confusion(GROUPS, CLUSTERS)
    right = (
        list(_BY_HAND.values())
        == list(pairs_by_hand(GROUPS, CLUSTERS))
        == [
            counts.true_positives,
            counts.false_positives,
            counts.false_negatives,
            counts.true_negatives,
        ]
    )
    off = max(abs(found[name] - value) for name, (_, value) in _MEASURES.items())
    holds = right and off < 1e-12
    evidence = "worked example: " + ", ".join(f"{name} {v:.3f}" for name, v in found.items())
    words = "Rand, precision, recall and F1 are computed from pairs: TP, TN, FP, FN"
    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Claim("section 20.3, pairs", words, verdict, evidence)


def _chance(n_draws: int) -> Claim:
    """The clusters of the example dealt out at random."""
    rng = np.random.RandomState(0)
    deals = [rng.permutation(CLUSTERS) for _ in range(n_draws)]
    plain = np.mean([rand_score(GROUPS, deal) for deal in deals])
    adjusted = np.mean([adjusted_rand_score(GROUPS, deal) for deal in deals])
    evidence = (
        f"over {n_draws:,} random permutations of the labels, Rand is {plain:.3f} on average and "
    )
    evidence += f"the adjusted index {adjusted:.3f}"
    words = "the adjusted index corrects for chance: it is 0 for unrelated partitions"
    holds = abs(adjusted) < 0.05 < plain
    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Claim("section 20.3, chance", words, verdict, evidence)


def _range(lowest: list[Lowest]) -> Claim:
    worst = min(lowest, key=lambda each: each.value)
    n_pairs = sum(each.n_pairs for each in lowest)
    evidence = (
        f"the lowest value in {n_pairs:,} pairs of partitions of up to {lowest[-1].n_rows} rows is "
        f"{worst.value:.2f}, which {worst.n_rows} rows reach"
    )
    words = "the adjusted Rand index varies from -1 to 1"
    verdict = Verdict.HOLDS if worst.value < -0.99 else Verdict.FAILS
    return Claim("section 20.3, range", words, verdict, evidence)
