"""Forty generated sets, and the labels that a sketch of a better mixture gave them.

The sketch imported the private mixture of the code before the redesign; the sets and their labels
stay, so that the estimator built on the sketch can be compared with it.
"""

from collections.abc import Iterator

import numpy as np


def generated_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, rows and true groups: overlapping pairs, skewed groups, nulls, lattices."""
    rng = np.random.default_rng(40)
    for n in (200, 1000):
        for d in (2, 5, 10):
            for gap in (3.0, 3.5, 5.0):
                y = rng.integers(0, 2, n)
                X = rng.normal(size=(n, d))
                X[:, 0] += gap * y
                yield f"pair-{n}-{d}-{gap:g}", X, y
    for d in (2, 4, 8):
        for k in (3, 5):
            y = rng.integers(0, k, 600)
            shapes = rng.normal(size=(k, d, d)) / np.sqrt(d)
            X = np.einsum("nd,nde->ne", rng.normal(size=(600, d)), shapes[y])
            yield f"correlated-{d}-{k}", X + rng.normal(scale=5.0, size=(k, d))[y], y
    for d in (2, 4, 8):
        yield f"normal-{d}", rng.normal(size=(500, d)), np.zeros(500, int)
        yield f"tails-{d}", rng.standard_t(3, (500, d)), np.zeros(500, int)
        yield f"skewed-{d}", np.exp(rng.normal(size=(500, d))), np.zeros(500, int)
        yield f"likert-{d}", rng.integers(1, 6, (400, d)).astype(float), np.zeros(400, int)
    for d in (3, 6):
        y = rng.integers(0, 3, 500)
        X = rng.normal(size=(500, d)) + 4.0 * rng.normal(size=(3, d))[y]
        yield f"rounded-{d}", X.round(), y
        yield f"skewed-groups-{d}", np.exp(X / 4), y
