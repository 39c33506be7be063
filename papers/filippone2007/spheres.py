"""The cuts as spheres in feature space, beside those of the one-class SVM."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from filippone2007.figure_1 import LEAST, SIGMA, TOL, Draw, fit_draw, inner_levels
from regenerating import Setting
from regenerating.one_cluster import PaperAlphaCut
from typicality.datasets import SIDE

SVM_GAMMA = 1.0 / (2.0 * SIGMA**2)
NUS = tuple(np.round(np.r_[0.01, 0.02, np.arange(0.05, 1.0, 0.05)], 2).tolist())

_FAST_NUS = (0.05, 0.1, 0.6)
_PIXELS = 101
_TOUCHING = np.ones((3, 3))  # pixels hang together by sides and corners

Doubles = NDArray[np.float64]


class Sphere(NamedTuple):
    """The one-class SVM at one nu, beside the best sphere around the centre of 1-PCM."""

    nu: float
    svm_objective: float
    objective: float
    auc: float  # how well the SVM's score tells rows of dense regions from noise
    n_clusters: int  # parts of the inside of the SVM's sphere, in the plane


class Spheres(NamedTuple):
    """What was found on one draw."""

    sphere_error: float  # of the typicality as a function of the distance to one centre
    centre_norm: float  # of the mapped rows' weighted mean; that of each row is 1
    auc: float
    medians: tuple[float, float, float]  # typicalities of noise, ring and rectangles
    of_nu: list[Sphere]
    n_levels: int
    n_levels_equal: int  # at which labels_at gives the labels of a fit at that level


def measure(setting: Setting, draw: Draw) -> Spheres:
    """Spheres of 1-PCM and of the one-class SVM on one draw."""
    X, y, model = draw
    K = rbf_kernel(X, gamma=SVM_GAMMA)
    sqdist = _sqdist(K, model.weights_)
    levels = inner_levels(model, setting.pick(20, 4))
    at = [model.labels_at(level) for level in levels]
    again = [PaperAlphaCut(sigma=SIGMA, alpha=a, tol=TOL).fit_predict(X) for a in levels]
    median = [
        float(np.median(model.typicality_[part])) for part in (y < 0, y == 2, (y == 0) | (y == 1))
    ]
    return Spheres(
        sphere_error=float(abs(np.exp(-sqdist / model.eta_) - model.typicality_).max()),
        centre_norm=float(np.sqrt(model.weights_ @ K @ model.weights_)),
        auc=float(roc_auc_score(y >= 0, model.typicality_)),
        medians=(median[0], median[1], median[2]),
        of_nu=[_sphere(nu, draw, K, sqdist) for nu in setting.pick(NUS, _FAST_NUS)],
        n_levels=len(levels),
        n_levels_equal=sum(
            np.array_equal(one, other) for one, other in zip(at, again, strict=True)
        ),
    )


def _sqdist(K: Doubles, weights: Doubles) -> Doubles:
    """Squared distances in feature space to the weighted mean of the rows."""
    sqdist: Doubles = 1.0 - 2.0 * K @ weights + weights @ K @ weights
    return sqdist


def _sphere(nu: float, draw: Draw, K: Doubles, sqdist: Doubles) -> Sphere:
    svm = OneClassSVM(gamma=SVM_GAMMA, nu=nu).fit(draw.X)
    alphas = np.zeros(len(K))
    alphas[svm.support_] = svm.dual_coef_[0] / svm.dual_coef_.sum()
    return Sphere(
        nu,
        svm_objective=_least_objective(_sqdist(K, alphas), nu),
        objective=_least_objective(sqdist, nu),
        auc=float(roc_auc_score(draw.y >= 0, svm.score_samples(draw.X))),
        n_clusters=_parts(draw.X, svm),
    )


def _least_objective(sqdist: Doubles, nu: float) -> float:
    """The least R^2 + sum of what is beyond R^2, over nu n, of all spheres around one centre.

    As a function of R^2 it is convex and has its corners at the rows.
    """
    beyond = np.maximum(sqdist[None, :] - sqdist[:, None], 0.0).sum(axis=1)
    return float((sqdist + beyond / (nu * len(sqdist))).min())


def _parts(X: Doubles, svm: Any) -> int:
    """Connected parts of the inside of the sphere in the plane that hold 20 rows or more."""
    axis = np.linspace(0.0, SIDE, _PIXELS)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    inside = svm.decision_function(grid).reshape(_PIXELS, _PIXELS) > 0
    numbers, n_parts = ndimage.label(inside, _TOUCHING)
    pixel = np.rint(X / SIDE * (_PIXELS - 1)).astype(int)
    rows = np.bincount(numbers[pixel[:, 1], pixel[:, 0]], minlength=n_parts + 1)[1:]
    return int((rows >= LEAST).sum())


def first_draw() -> Draw:
    """A draw with three clusters."""
    return fit_draw(3)
