"""Measures of agreement and validity, written as the formulas stand."""

import math
from itertools import combinations, permutations

import numpy as np


def pairs(n):
    return list(combinations(range(n), 2))


def shares(partition, normalize=True):
    """The shares of each row, the last one that of belonging nowhere."""
    return [row_shares(row, normalize) for row in memberships_of(partition)]


def memberships_of(partition):
    """Labels as rows of zeros and a one; -1 as a row of zeros."""
    partition = np.asarray(partition)
    if partition.ndim == 2:
        return partition.tolist()
    classes = [label for label in sorted(set(partition.tolist())) if label != -1]
    return [[float(label == known) for known in classes] for label in partition.tolist()]


def row_shares(row, normalize):
    total = sum(row)
    if normalize:
        return [u / total for u in row] + [0.0] if total > 0 else [0.0 for _ in row] + [1.0]
    return [u / max(total, 1.0) for u in row] + [max(1.0 - total, 0.0)]


def together(partition, normalize=True):
    """How far each two rows are together, for all pairs in order."""
    p = shares(partition, normalize)
    return [1 - math.dist(p[i], p[j]) / math.sqrt(2) for i, j in pairs(len(p))]


def generalized_rand(first, second, normalize=True):
    both = zip(together(first, normalize), together(second, normalize), strict=True)
    return float(np.mean([1 - abs(a - b) for a, b in both]))


def expected_over_pairs(first, second, normalize=True):
    a, b = together(first, normalize), together(second, normalize)
    return float(np.mean([[1 - abs(x - y) for x in a] for y in b]))


def adjusted(score, expected):
    return (score - expected) / (1 - expected)


def pair_counts(true, pred):
    """(together in both, in the prediction only, in the truth only, in neither)."""
    counts = [0, 0, 0, 0]
    for i, j in pairs(len(true)):
        apart_true, apart_pred = true[i] != true[j], pred[i] != pred[j]
        counts[2 * apart_pred + apart_true if apart_true == apart_pred else 1 + apart_pred] += 1
    return counts[0], counts[1], counts[2], counts[3]


def shared_rows(true, pred):
    """Rows that each class shares with each cluster; -1 is neither."""
    classes = sorted(set(true) - {-1})
    clusters = sorted(set(pred) - {-1})
    both = list(zip(true, pred, strict=True))
    return [[both.count((k, g)) for g in clusters] for k in classes]


def success_rate(true, pred):
    """Greedy: the largest cell, the first of equals, until no row is shared."""
    table = np.array(shared_rows(true, pred), dtype=int)
    matched = 0
    while table.size and table.max() > 0:
        row, column = np.unravel_index(table.argmax(), table.shape)
        matched += table[row, column]
        table[row, :] = 0
        table[:, column] = 0
    return matched / len(true)


def best_success_rate(true, pred):
    """The best of all ways to give each class a cluster of its own, or none."""
    table = shared_rows(true, pred)
    n_clusters = len(set(pred) - {-1})
    choices = list(range(n_clusters)) + [None] * len(table)
    ways = permutations(choices, len(table))
    hits = [
        sum(0 if g is None else row[g] for row, g in zip(table, way, strict=True)) for way in ways
    ]
    return max(hits, default=0) / len(true)


def jaccard(first, second):
    a = {i for i, flag in enumerate(first) if flag}
    b = {i for i, flag in enumerate(second) if flag}
    return len(a & b) / len(a | b) if a | b else 1.0


# ---- validity -----------------------------------------------------------------------------------


def weight(row):
    return min(1.0, sum(row))


def shares_of_row(row):
    return [u / sum(row) for u in row] if sum(row) > 0 else list(row)


def weighted_mean_of_rows(memberships, value):
    rows = np.asarray(memberships).tolist()
    total = sum(weight(row) for row in rows)
    summed = sum(weight(row) * value(h, shares_of_row(row)) for h, row in enumerate(rows))
    return summed / total


def partition_coefficient(memberships):
    return weighted_mean_of_rows(memberships, lambda h, p: sum(x**2 for x in p))


def partition_entropy(memberships):
    return weighted_mean_of_rows(
        memberships, lambda h, p: -sum(x * math.log(x) for x in p if x > 0)
    )


def xie_beni(X, centers, memberships, m):
    within = weighted_mean_of_rows(
        memberships,
        lambda h, p: sum(x**m * math.dist(X[h], v) ** 2 for x, v in zip(p, centers, strict=True)),
    )
    return within / min(math.dist(v, w) ** 2 for v, w in combinations(centers, 2))


def silhouettes(X, labels):
    return [silhouette(X, labels, h) for h in range(len(X))]


def silhouette(X, labels, h):
    def mean_distance(label):
        others = [i for i in range(len(X)) if labels[i] == label and i != h]
        return np.mean([math.dist(X[h], X[i]) for i in others])

    if list(labels).count(labels[h]) == 1:
        return 0.0
    own = mean_distance(labels[h])
    other = min(mean_distance(label) for label in set(labels) if label != labels[h])
    return (other - own) / max(own, other) if max(own, other) > 0 else 0.0


def fuzzy_silhouette(X, memberships, alpha):
    kept = [h for h, row in enumerate(memberships) if sum(row) > 0]
    rows = [list(memberships[h]) for h in kept]
    values = silhouettes([X[h] for h in kept], [row.index(max(row)) for row in rows])
    preference = []
    for row in rows:
        second, largest = sorted(shares_of_row(row))[-2:]
        preference.append(weight(row) * (largest - second) ** alpha)
    return float(np.dot(preference, values) / sum(preference))
