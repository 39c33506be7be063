"""The programs that are compared in this process: typicality, scikit-fuzzy, scikit-learn."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import skfuzzy
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from _problem import N_CLUSTERS, N_FEATURES, WITHIN, Problem
from _timing import Contestant, timed
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality.geometry import Centroids, InputSpace
from typicality.membership import Entropic, Fuzzy, Possibilistic1996
from typicality.membership.base import MembershipRule

__all__ = ["LLOYD", "OURS", "PEER", "SKFUZZY", "SWEEP", "Variant", "build", "centre_error", "names"]

_FAST = (5, 65)  # iterations of the short and the long run
_SLOW = (2, 8)
_LAM = N_FEATURES / (2 * WITHIN)


@dataclass(frozen=True)
class Variant:
    """One of our algorithms: the estimator, the rule of its bare sweep, the type of the data."""

    label: str
    estimator: Callable[..., Any]
    rule: MembershipRule
    dtype: type = np.float64

    @property
    def fit(self) -> str:
        """The name of the whole estimator in the tables."""
        return f"typicality {self.label}: fit"

    @property
    def sweep(self) -> str:
        """The name of the bare sweep in the tables."""
        return f"typicality {self.label}: sweep"


VARIANTS = [
    Variant("FCM m=2", partial(FuzzyCMeans, m=2.0), Fuzzy(2.0)),
    Variant("FCM m=1.5", partial(FuzzyCMeans, m=1.5), Fuzzy(1.5)),
    Variant("FCM m=2 float32", partial(FuzzyCMeans, m=2.0), Fuzzy(2.0), np.float32),
    Variant("entropy", partial(EntropyCMeans, lam=_LAM), Entropic(_LAM)),
    Variant(
        "PCM 1996",
        partial(PossibilisticCMeans, eta=WITHIN),
        Possibilistic1996(np.full(N_CLUSTERS, WITHIN)),
    ),
]
OURS = VARIANTS[0].fit
SWEEP = VARIANTS[0].sweep
SKFUZZY = "scikit-fuzzy cmeans"
PEER = "fuzzy-c-means FCM"
LLOYD = "scikit-learn KMeans (Lloyd)"

Build = Callable[[Problem], Contestant]


def names() -> list[str]:
    """All contestants of this process, in the order of the table."""
    return list(_builders())


def build(name: str, problem: Problem) -> Contestant:
    """Set a contestant up on a problem."""
    return _builders()[name](problem)


def _builders() -> dict[str, Build]:
    fits = {variant.fit: partial(_fit, variant) for variant in VARIANTS}
    sweeps = {variant.sweep: partial(_sweep, variant) for variant in VARIANTS}
    return {**fits, **sweeps, SKFUZZY: _skfuzzy, LLOYD: _lloyd}


def _require(done: int, asked: int, name: str) -> None:
    if done != asked:
        raise RuntimeError(f"{name} stopped after {done} iterations instead of {asked}.")


def _fit(variant: Variant, problem: Problem) -> Contestant:
    X = problem.X.astype(variant.dtype, copy=False)

    def run(n_iter: int) -> None:
        model = variant.estimator(
            N_CLUSTERS, init=problem.start, max_iter=n_iter, tol=0, store_memberships=False
        )
        _require(model.fit(X).n_iter_, n_iter, variant.fit)

    return Contestant(variant.fit, timed(run), *_FAST)


def _sweep(variant: Variant, problem: Problem) -> Contestant:
    space = InputSpace(problem.X.astype(variant.dtype, copy=False))
    start = space.at(problem.start)
    return Contestant(variant.sweep, timed(partial(_iterate, space, variant.rule, start)), *_FAST)


def _iterate(space: InputSpace, rule: MembershipRule, start: Centroids, n_iter: int) -> Centroids:
    prototypes: Any = start
    for _ in range(n_iter):
        prototypes = space.sweep(rule, prototypes).prototypes
    return prototypes


def _skfuzzy(problem: Problem) -> Contestant:
    # Both layouts are the ones it is fastest with.
    init = np.ascontiguousarray(_start_memberships(problem).T)

    def run(n_iter: int) -> None:
        _require(_skfuzzy_run(problem, init, n_iter)[5], n_iter, SKFUZZY)

    return Contestant(SKFUZZY, timed(run), *_SLOW)


def _skfuzzy_run(problem: Problem, init: NDArray[np.float64], n_iter: int) -> tuple[Any, ...]:
    return skfuzzy.cmeans(problem.X.T, N_CLUSTERS, 2.0, error=0.0, maxiter=n_iter, init=init)


def _start_memberships(problem: Problem) -> NDArray[np.float64]:
    pull = 1.0 / cdist(problem.X, problem.start, "sqeuclidean")
    return pull / pull.sum(axis=1, keepdims=True)


def _lloyd(problem: Problem) -> Contestant:
    def run(n_iter: int) -> None:
        model = KMeans(
            N_CLUSTERS, init=problem.start, n_init=1, max_iter=n_iter, tol=0, algorithm="lloyd"
        )
        _require(model.fit(problem.X).n_iter_, n_iter, LLOYD)

    return Contestant(LLOYD, timed(run), *_FAST)


def centre_error(problem: Problem, n_iter: int, dtype: type) -> float:
    """The largest difference of a centre to scikit-fuzzy's, in units of the spread of the data."""
    space = InputSpace(problem.X.astype(dtype, copy=False))
    ours = _iterate(space, Fuzzy(2.0), space.at(problem.start), n_iter).centers
    theirs = _skfuzzy_run(problem, _start_memberships(problem).T, n_iter)[0]
    return float(np.abs(ours - theirs).max() / problem.scale)
