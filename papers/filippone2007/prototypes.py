"""Several possibilistic prototypes: where they collapse, and which shapes they cannot model."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from filippone2007.figure_1 import SIGMA, TOL, Draw
from regenerating import Setting
from regenerating.one_cluster import PaperOneCluster
from typicality import AlphaCutClustering, PossibilisticCMeans
from typicality.datasets import make_ball_and_ring
from typicality.exceptions import ClusteringWarning

SIGMAS = (0.3, 0.5, 1.0, 2.0, 5.0)
GAMMAS = (0.1, 0.5, 1.0, 2.0)  # multipliers of the spread

_CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
_ROWS, _WIDTH = 60, 0.6  # of a blob
_N_NOISE, _NOISE_BOX = 90, (-3.0, 9.0)
_GLOBULAR_GAMMA = 0.3
_FUZZIFIER = 2.0  # of the preliminary partition
_MAX_ITER = 20_000  # prototypes that meet do so slowly

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class Prototypes(NamedTuple):
    """Numbers of distinct prototypes out of three, and how well shapes come out."""

    n_draws: int
    linear: list[int]  # in the input space, one number for each draw
    of_sigma: dict[float, list[int]]
    of_gamma: dict[float, list[int]]  # at sigma 0.5
    linear_difference: float  # input space and linear kernel, largest difference of memberships
    joint_difference: float  # three prototypes together and one by one, of their places
    ball_and_ring: list[tuple[float, float]]  # adjusted Rand index: best PCM, alpha-cut
    globular_auc: tuple[float, float]  # rows of blobs against noise: PCM, 1-PCM
    dense_auc: tuple[float, float]  # the same for the regions of Fig. 1


def measure(setting: Setting, draw: Draw) -> Prototypes:
    """Fit several prototypes on blobs, on a ball in a ring, and on the draw of Fig. 1."""
    n_draws = setting.pick(10, 2)
    with warnings.catch_warnings():  # of coincident prototypes, which is what is counted
        warnings.simplefilter("ignore", ClusteringWarning)
        return Prototypes(
            n_draws,
            linear=_counts(n_draws, kernel="linear"),
            of_sigma={s: _counts(n_draws, sigma=s) for s in setting.pick(SIGMAS, (0.5, 5.0))},
            of_gamma={g: _counts(n_draws, gamma=g) for g in setting.pick(GAMMAS, (0.1,))},
            linear_difference=_linear_difference(),
            joint_difference=_joint_difference(),
            ball_and_ring=[_shapes(seed) for seed in range(setting.pick(5, 1))],
            globular_auc=_globular_auc(),
            dense_auc=_aucs(draw.X, draw.y >= 0),
        )


def blobs(seed: int) -> tuple[Doubles, Labels]:
    """Three round clusters, ten widths apart."""
    labels = np.repeat(np.arange(len(_CENTRES)), _ROWS)
    noise = np.random.RandomState(seed).normal(scale=_WIDTH, size=(len(labels), 2))
    return _CENTRES[labels] + noise, labels


def _counts(
    n_draws: int, *, kernel: str = "gaussian", sigma: float = SIGMA, gamma: float = 1.0
) -> list[int]:
    """The number of distinct prototypes in each draw."""
    model = PossibilisticCMeans(
        3, kernel=kernel, sigma=sigma, eta_scale=gamma, m=_FUZZIFIER, max_iter=_MAX_ITER
    )
    return [
        model.set_params(random_state=seed).fit(blobs(seed)[0]).n_clusters_
        for seed in range(n_draws)
    ]


def _linear_difference() -> float:
    X, _ = blobs(0)
    first = PossibilisticCMeans(3, eta_scale=1.0, m=_FUZZIFIER, random_state=0).fit(X)
    start = {"init": first.memberships_, "eta": first.eta_}
    in_input_space = PossibilisticCMeans(3, **start).fit(X)
    by_kernel = PossibilisticCMeans(3, kernel="precomputed", **start).fit(X @ X.T)
    return float(abs(in_input_space.memberships_ - by_kernel.memberships_).max())


def _joint_difference() -> float:
    X, labels = blobs(0)
    start = X[np.searchsorted(labels, np.arange(3))]
    together = PossibilisticCMeans(3, eta=1.0, init=start, tol=1e-9).fit(X).cluster_centers_
    alone = [
        PossibilisticCMeans(1, eta=1.0, init=one[None], tol=1e-9).fit(X).cluster_centers_[0]
        for one in start
    ]
    return float(abs(np.sort(together, axis=0) - np.sort(alone, axis=0)).max())


def _shapes(seed: int) -> tuple[float, float]:
    X, y = make_ball_and_ring(random_state=seed)
    best = max(
        adjusted_rand_score(
            y,
            PossibilisticCMeans(2, eta_scale=gamma, m=_FUZZIFIER, random_state=start)
            .fit(X)
            .labels_,
        )
        for gamma in GAMMAS
        for start in range(3)
    )
    return float(best), float(adjusted_rand_score(y, AlphaCutClustering().fit(X).labels_))


def _globular_auc() -> tuple[float, float]:
    X, _ = blobs(1)
    noise = np.random.RandomState(1).uniform(*_NOISE_BOX, size=(_N_NOISE, 2))
    return _aucs(np.vstack([X, noise]), np.repeat([True, False], [len(X), _N_NOISE]))


def _aucs(X: Doubles, dense: NDArray[np.bool_]) -> tuple[float, float]:
    """How well the largest typicality of PCM, and that of 1-PCM, tell dense rows from noise."""
    several = PossibilisticCMeans(3, eta_scale=_GLOBULAR_GAMMA, m=_FUZZIFIER, random_state=0).fit(X)
    one = PaperOneCluster(sigma=SIGMA, tol=TOL).fit(X)
    return (
        float(roc_auc_score(dense, several.memberships_.max(axis=1))),
        float(roc_auc_score(dense, one.typicality_)),
    )
