"""Shapes that no centres in the plane can separate, and who separates them.

A failure is held against the right solution: what the same estimator reaches from the true labels.
Where that has the lower objective, more starts could find it. Where the wrong solution has the
lower one, they cannot. And where the iteration leaves the true labels, they are no solution.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import skfuzzy
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from _processes import Peer
from typicality import EntropyCMeans, FuzzyCMeans
from typicality.datasets import make_ball_and_ring, make_crescents
from typicality.exceptions import CoincidentClustersWarning, CollapsedMembershipsWarning
from typicality.kernels import Gaussian

__all__ = ["PEER", "SHAPES", "SKFUZZY", "Outcome", "Shape", "fit", "peer_labels", "skfuzzy_labels"]

SKFUZZY = "scikit-fuzzy cmeans"
PEER = "fuzzy-c-means FCM"

_DEGENERATE = (CollapsedMembershipsWarning, CoincidentClustersWarning)
_MAX_ITER = 1000  # what our estimators have by default

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class Outcome(NamedTuple):
    """The adjusted Rand index of one fit, and what was the matter with it.

    Parameters
    ----------
    ari : float
        1.0 where the partition is the true one.
    warned : bool
        Whether the estimator warned that prototypes collapsed or coincide.
    objective : {"lower", "higher", ""}
        Of a failure: its objective beside that of the right solution; empty where there is none.
    """

    ari: float
    warned: bool = False
    objective: str = ""


@dataclass(frozen=True)
class Shape:
    """A source of data, and our estimators to try on it by name."""

    name: str
    draw: Callable[[int], tuple[Doubles, Labels]]
    n_draws: int
    ours: dict[str, Any]


def _circles(seed: int) -> tuple[Doubles, Labels]:
    X, y = make_circles(400, factor=0.3, noise=0.04, random_state=seed)
    return X, y


def _entropic(lam: float, kernel: Gaussian) -> dict[str, Any]:
    build = partial(EntropyCMeans, 2, lam=lam, kernel=kernel)
    return {
        f"entropy lam={lam:g}, 1 start": build(),
        f"entropy lam={lam:g}, 10 starts": build(n_init=10),
        f"entropy lam={lam:g}, annealing": build(init="annealing"),
    }


_WIDE, _NARROW = Gaussian.from_gamma(10.0), Gaussian.from_gamma(50.0)  # c of miyamoto2003

SHAPES = [
    Shape(
        "Concentric circles",
        _circles,
        10,
        {
            "fuzzy, gaussian, defaults": FuzzyCMeans(2, kernel="gaussian"),
            "fuzzy m=2, gaussian": FuzzyCMeans(2, m=2.0, kernel="gaussian"),
            "fuzzy m=1.5, gaussian": FuzzyCMeans(2, m=1.5, kernel="gaussian"),
            "fuzzy, connectivity": FuzzyCMeans(2, m=2.0, kernel="connectivity"),
            "entropy, gaussian, annealing": EntropyCMeans(2, kernel="gaussian", init="annealing"),
            "fuzzy m=2, linear": FuzzyCMeans(2, m=2.0),
        },
    ),
    Shape(
        "Ball and ring, c = 10",
        lambda seed: make_ball_and_ring(random_state=seed),
        40,
        {
            "fuzzy m=2": FuzzyCMeans(2, m=2.0, kernel=_WIDE),
            **_entropic(10.0, _WIDE),
            "fuzzy m=2, linear": FuzzyCMeans(2, m=2.0),
        },
    ),
    Shape(
        "Crescents, c = 50",
        lambda seed: make_crescents(random_state=seed),
        40,
        {
            "fuzzy m=2": FuzzyCMeans(2, m=2.0, kernel=_NARROW),
            "fuzzy m=1.15": FuzzyCMeans(2, m=1.15, kernel=_NARROW),
            **_entropic(15.0, _NARROW),
            "fuzzy m=2, linear": FuzzyCMeans(2, m=2.0),
        },
    ),
]


def fit(estimator: Any, X: Doubles, y: Labels, seed: int) -> Outcome:
    """Fit a copy of an estimator of ours."""
    model = clone(estimator).set_params(random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    warned = any(issubclass(warning.category, _DEGENERATE) for warning in caught)
    ari = float(adjusted_rand_score(y, model.labels_))
    return Outcome(ari, warned, _beside_truth(model, X, y) if ari < 1 else "")


def _beside_truth(model: Any, X: Doubles, y: Labels) -> str:
    right = clone(model).set_params(init=np.eye(2)[y])
    if hasattr(model, "lam_"):
        right.set_params(lam=model.lam_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right.fit(X)
    if adjusted_rand_score(y, right.labels_) < 1:
        return ""
    return "lower" if model.objective_ < right.objective_ else "higher"


def skfuzzy_labels(X: Doubles, seed: int) -> Labels:
    """The partition of scikit-fuzzy."""
    memberships = skfuzzy.cmeans(X.T, 2, 2.0, error=1e-5, maxiter=_MAX_ITER, seed=seed)[1]
    labels: Labels = memberships.argmax(axis=0)
    return labels


def peer_labels(python: str, folder: Path, X: Doubles) -> Labels:
    """The partition of fuzzy-c-means, from its own environment."""
    np.save(folder / "X.npy", X)
    with Peer(python, folder, 2) as peer:
        return np.array(peer.ask("labels", _MAX_ITER))
