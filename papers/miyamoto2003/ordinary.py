"""What c-means without a kernel does with both data sets."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import Delaunay
from sklearn.cluster import KMeans

from miyamoto2003.examples import (
    BALL,
    CRESCENTS,
    DRAW,
    Doubles,
    Labels,
    best,
    entropy,
    n_wrong,
    standard,
    trials,
)
from regenerating import Claim, Page, Setting, Verdict, markdown_table

__all__ = ["report"]

KMEANS, FUZZY, ENTROPY = "k-means", "fuzzy c-means, m = 2", "entropy form, λ = 15"
_SIMILAR = 0.1

_TEXT = """## Without a kernel

Rows on the wrong side over {n_draws} draws, ten starts each: mean, and least."""

_PROOF = """
Two cells of Voronoi are half-planes, and no half-plane holds the ball without some of the ring
where the ball lies within the convex hull of the ring: it does in {inside} of {n_draws} draws."""


class Plainly(NamedTuple):
    """Rows on the wrong side by each method, and whether half-planes could do any better."""

    n_wrong: dict[str, int]
    inside_hull: bool


def report(page: Page, setting: Setting) -> None:
    """Count rows on the wrong side, and judge what the paper says of ordinary c-means."""
    n_draws = setting.pick(50, 2)
    ball = setting.each(_of_ball, range(n_draws))
    crescents = setting.each(_of_crescents, range(n_draws))
    page.say(_TEXT.format(n_draws=n_draws))
    rows = [_row(data, found, name) for data, found in ((BALL, ball), (CRESCENTS, crescents))
            for name in (KMEANS, FUZZY, ENTROPY)]  # fmt: skip
    page.say(markdown_table(("data", "method", "mean", "least", "rows"), rows))
    inside = sum(found.inside_hull for found in ball)
    page.say(_PROOF.format(inside=inside, n_draws=n_draws))
    page.judge(_impossible(ball, inside))
    page.judge(_similar(crescents))


def _of_ball(seed: int) -> Plainly:
    X, truth = DRAW[BALL](random_state=seed)
    inside = bool(np.all(Delaunay(X[truth == 1]).find_simplex(X[truth == 0]) >= 0))
    return Plainly(_counts(X, truth), inside)


def _of_crescents(seed: int) -> Plainly:
    return Plainly(_counts(*DRAW[CRESCENTS](random_state=seed)), False)


def _counts(X: Doubles, truth: Labels) -> dict[str, int]:
    found = {
        KMEANS: KMeans(2, n_init=10, random_state=0).fit(X),
        FUZZY: best(trials(standard(2.0, None), X)),
        ENTROPY: best(trials(entropy(15.0, None), X)),
    }
    return {name: n_wrong(model.labels_, truth) for name, model in found.items()}


def _row(data: str, found: list[Plainly], name: str) -> tuple[object, ...]:
    wrong = [each.n_wrong[name] for each in found]
    n_rows = len(DRAW[data](random_state=0)[0])
    return data, name, f"{np.mean(wrong):.1f}", min(wrong), n_rows


def _impossible(ball: list[Plainly], inside: int) -> Claim:
    fewest = min(min(found.n_wrong.values()) for found in ball)
    holds = inside == len(ball) and fewest > 0
    evidence = (
        f"the ball lies in the convex hull of the ring in {inside} of {len(ball)} draws; k-means, "
        f"fuzzy c-means and the entropy form put at least {fewest} rows into the wrong cluster"
    )
    words = (
        "ordinary c-means cannot find one cluster inside another (its clusters are Voronoi cells)"
    )
    return Claim(
        "section 4, ordinary c-means", words, Verdict.HOLDS if holds else Verdict.FAILS, evidence
    )


def _similar(crescents: list[Plainly]) -> Claim:
    fuzzy, entropic = (
        np.array([found.n_wrong[name] for found in crescents]) for name in (FUZZY, ENTROPY)
    )
    holds = entropic.min() > 0 and abs(entropic.mean() / fuzzy.mean() - 1) < _SIMILAR
    evidence = (
        f"of 200 rows, the entropy form misclassifies {entropic.mean():.1f} on average and fuzzy "
        f"c-means {fuzzy.mean():.1f}; within a draw the two differ by at most "
        f"{np.max(np.abs(fuzzy - entropic))} rows"
    )
    words = (
        "on the crescents without a kernel, the entropy form errs about as often as fuzzy c-means"
    )
    return Claim(
        "section 4, no kernel", words, Verdict.HOLDS if holds else Verdict.IN_PART, evidence
    )
