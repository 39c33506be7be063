"""Validation by splitting the rows, written as the table of the paper stands."""

from itertools import permutations

import numpy as np

from reference.kernel_space import leave_one_out, one_cluster


def seeds_of(random_state, n_repeats):
    """The seed of each repetition."""
    return np.random.RandomState(random_state).randint(2**31 - 1, size=n_repeats)


def similarity(A, B, sigma):
    sqdist = ((A[:, None] - B) ** 2).sum(axis=2)
    return np.exp(-sqdist / (2 * sigma**2))


def one_cluster_scores(train, sigma):
    """1-PCM: scores of the training rows, each without itself, and a function that scores others.

    Those are not logarithms, and rank alike.
    """
    K = similarity(train, train, sigma)
    weights = one_cluster(K)[0]
    weights = weights / weights.sum()
    own = [leave_one_out(K, weights, h) for h in range(len(train))]
    return own, lambda rows: similarity(rows, train, sigma) @ weights


def lowest(scores, m):
    """The numbers of the m rows with the lowest scores, which are all different."""
    return {h for h in range(len(scores)) if sum(s < scores[h] for s in scores) < m}


def stability_of_a_split(scored, X, seed, rate, transfer):
    """filippone2010, table II, steps a to d, for one split of the rows.

    scored: gives the scores of the training rows, and a function that scores other rows.
    """
    order = np.random.RandomState(seed).permutation(len(X))
    X1, X2 = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    own_1, score_by_1 = scored(X1)
    own_2, _ = scored(X2)
    m1, m2 = (max(1, round(rate * len(half))) for half in (X1, X2))
    scores = score_by_1(X2)
    threshold = sorted(own_1)[m1 - 1]
    said = {
        "threshold": {h for h in range(len(X2)) if scores[h] <= threshold},
        "rank": lowest(scores, m2),
    }[transfer]
    found = lowest(own_2, m2)
    return len(found & said) / len(found | said)


def accuracy_of_a_draw(scored, X, is_outlier, seed, size, rate):
    """filippone2010, section V-B: trained on normal rows, all others judged, against the truth."""
    normal = np.flatnonzero(~is_outlier)
    training = np.random.RandomState(seed).permutation(normal)[:size]
    others = [h for h in range(len(X)) if h not in set(training)]
    own, score = scored(X[np.sort(training)])
    place = rate * (size - 1)
    low, high = sorted(own)[int(place)], sorted(own)[int(place) + 1]
    threshold = low + (place - int(place)) * (high - low)
    scores = score(X[others])
    said = {h for h, s in zip(others, scores, strict=True) if s <= threshold}
    true = set(np.flatnonzero(is_outlier))
    return len(said & true) / len(said | true)


def distance_by_permutations(first, second):
    """The share of rows that differ, under the best of all permutations of the clusters.

    Clusters that one side has too few of are empty; -1 is no cluster, and is not permuted.
    """
    n_clusters = max(len(set(labels) - {-1}) for labels in (first, second))
    first, second = numbered(first), numbered(second)
    return min(
        np.mean([a != [*order, -1][b] for a, b in zip(first, second, strict=True)])
        for order in permutations(range(n_clusters))
    )


def numbered(labels):
    """The same clusters with the numbers 0, 1, ...; -1 stays."""
    number = {name: k for k, name in enumerate(sorted(set(labels) - {-1}))} | {-1: -1}
    return [number[label] for label in labels]


def random_labelling(n_rows, n_clusters, share_nowhere, rng):
    """A label for each row, drawn for itself."""
    labels = rng.integers(n_clusters, size=n_rows)
    return np.where(rng.random(n_rows) < share_nowhere, -1, labels)


def instability_of_a_split(labelled, X, seed, n_clusters, n_random=300):
    """lange2004 for one split: distance of labellings over that of random ones.

    labelled: gives the labels of the training rows, and a function that labels other rows.
    """
    order = np.random.RandomState(seed).permutation(len(X))
    X1, X2 = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    _, label_by_1 = labelled(X1)
    own, _ = labelled(X2)
    rng = np.random.default_rng(1)
    by_chance = [
        distance_by_permutations(*(random_labelling(len(X2), n_clusters, 0.0, rng) for _ in "12"))
        for _ in range(n_random)
    ]
    return distance_by_permutations(label_by_1(X2), own) / np.mean(by_chance)
