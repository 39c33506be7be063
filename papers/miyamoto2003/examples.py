"""The data and the methods of the paper's numerical examples, and how a fit is judged."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from typicality import EntropyCMeans, FuzzyCMeans
from typicality.datasets import make_ball_and_ring, make_crescents
from typicality.kernels import Gaussian

__all__ = [
    "BALL",
    "CRESCENTS",
    "DRAW",
    "N_STARTS",
    "Doubles",
    "Labels",
    "Standing",
    "annealed",
    "best",
    "entropy",
    "is_separated",
    "n_wrong",
    "standard",
    "standing",
    "trials",
]

BALL, CRESCENTS = "ball and ring", "crescents"
N_STARTS = 10

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]

DRAW: dict[str, Callable[..., tuple[Doubles, Labels]]] = {
    BALL: make_ball_and_ring,
    CRESCENTS: make_crescents,
}


def standard(m: float, c: float | None) -> FuzzyCMeans:
    """The standard form from a random start; without a kernel where c is None."""
    return FuzzyCMeans(2, m=m, kernel=_kernel(c), init="random")


def entropy(lam: float, c: float | None) -> EntropyCMeans:
    """The entropy form from a random start; without a kernel where c is None."""
    return EntropyCMeans(2, lam=lam, kernel=_kernel(c), init="random")


def _kernel(c: float | None) -> Any:
    return "linear" if c is None else Gaussian.from_gamma(c)


# ---- fits ---------------------------------------------------------------------------------------


def trials(model: Any, X: Doubles) -> list[Any]:
    """The paper's ten trials, one fit for each start."""
    return [clone(model).set_params(random_state=start).fit(X) for start in range(N_STARTS)]


def best(fits: list[Any]) -> Any:
    """The trial with the lowest objective."""
    return min(fits, key=lambda fit: fit.objective_)


def annealed(model: EntropyCMeans, X: Doubles) -> EntropyCMeans:
    """The entropy form from one start, lambda rising to its value."""
    return clone(model).set_params(init="annealing", random_state=0).fit(X)


# ---- judgement ----------------------------------------------------------------------------------


def n_wrong(labels: Labels, truth: Labels) -> int:
    """Rows on the wrong side, whichever cluster bears which number."""
    wrong = int(np.sum(labels != truth))
    return min(wrong, len(truth) - wrong)


def is_separated(fit: Any, truth: Labels) -> bool:
    """Whether every row is on the right side."""
    return n_wrong(fit.labels_, truth) == 0


class Standing(StrEnum):
    """How a wrong result stands beside the right one, reached from the true labels."""

    LOWER = "wrong has the lower objective"
    HIGHER = "right has the lower objective"
    UNSTABLE = "right is no solution"


def standing(wrong: Any, X: Doubles, truth: Labels) -> Standing:
    """Whether more starts could help: not where the wrong result is the lower one."""
    right = clone(wrong).set_params(init=np.eye(2)[truth]).fit(X)
    if adjusted_rand_score(truth, right.labels_) < 1:
        return Standing.UNSTABLE
    return Standing.LOWER if wrong.objective_ < right.objective_ else Standing.HIGHER
