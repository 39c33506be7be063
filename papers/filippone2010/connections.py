"""1-PCM beside the one-class SVM and KDE: weights, limits, other kernels, the cost of testing."""

import warnings
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.neighbors import KernelDensity

from filippone2010.detectors import TOL, svm, svm_gamma
from filippone2010.figure_2 import SEED
from filippone2010.objectives import one_cluster_objective, svdd_objective, svm_weights
from regenerating import Setting
from regenerating.one_cluster import PaperOneCluster
from typicality import AlphaCutClustering, OneClusterPCM
from typicality.datasets import make_gaussian_and_outliers
from typicality.exceptions import ClusteringWarning

SIGMAS = (0.5, 1.0, 5.0)
NU = 0.1
LARGE_GAMMAS = (1.0, 10.0, 100.0, 1000.0)
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0)  # where iterations are counted

Doubles = NDArray[np.float64]


class AtWidth(NamedTuple):
    """1-PCM, SVM and KDE on the synthetic set with one width of the kernel."""

    weight_of_outliers: tuple[float, float]  # 1-SVM, 1-PCM; of 1 in all
    rank_of_weights: tuple[float, float]  # Spearman's correlation with the density: 1-SVM, 1-PCM
    rank_with_kde: float  # Spearman's correlation of the typicality with KDE
    kde_error: float  # of the logarithm of weights="uniform", against scikit-learn
    first_order_error: float  # of eq. (34), relative, at its worst
    eta: float
    squared_radius: float  # of the one-class SVM's sphere
    support_vectors: int
    below_valley: tuple[int, int]  # rows below the valley of the histogram; outliers among them
    iterations: dict[float, int]  # by gamma


class Testing(NamedTuple):
    """What a prediction costs."""

    n_training: int
    n_support: int
    speedups: tuple[float, float]  # seconds of the SVM over those of 1-PCM, whole and compressed


class Connections(NamedTuple):
    """All of it."""

    at: dict[float, AtWidth]
    svdd: tuple[float, float]  # how far the SVM is from SVDD: Gaussian kernel, polynomial one
    sign_error: float  # of 1-PCM's objective as minus that of SVDD less eta times the entropy
    svdd_objectives: tuple[float, float, float]  # with the weights of 1-SVM, equal ones, 1-PCM's
    share_of_outliers: float
    limit: dict[float, float]  # the largest |n w - 1|, by gamma, at sigma 1
    constraint_error: float  # of u / sum u, as weights of the constrained problem
    gaussian_error: float  # of a Gaussian in the data space, as typicality of the linear kernel
    dissimilarity_error: float  # of typicalities from distances in feature space
    testing: Testing


def measure(setting: Setting) -> Connections:
    """Compare on the synthetic set."""
    X, y = make_gaussian_and_outliers(random_state=SEED)
    outlier = y < 0
    whole = OneClusterPCM(sigma=1.0, tol=1e-14).fit(X)
    limit = {g: OneClusterPCM(sigma=1.0, eta_scale=g).fit(X).weights_ for g in LARGE_GAMMAS}
    return Connections(
        {sigma: _at_width(X, outlier, sigma) for sigma in SIGMAS},
        (_distance_from_svdd(rbf_kernel(X)), _distance_from_svdd(polynomial_kernel(X, degree=2))),
        _sign_error(X, whole),
        _svdd_objectives(X, whole),
        float(outlier.mean()),
        {g: float(abs(len(X) * weights - 1.0).max()) for g, weights in limit.items()},
        float(abs(whole.weights_ - whole.typicality_ / whole.typicality_.sum()).max()),
        _gaussian_error(X),
        _dissimilarity_error(X),
        _testing(*setting.pick((4650, 46_500), (2790, 2790))),
    )


def _at_width(X: Doubles, outlier: NDArray[np.bool_], sigma: float) -> AtWidth:
    K = rbf_kernel(X, gamma=svm_gamma(sigma))
    ours = OneClusterPCM(sigma=sigma).fit(X)
    plain = OneClusterPCM(sigma=sigma, weights="uniform").fit(X)
    alphas = svm_weights(K, NU)
    log_density = KernelDensity(bandwidth=sigma).fit(X).score_samples(X)
    below = _below_valley(X, sigma)
    exponent = 2.0 * (K @ ours.weights_) / ours.eta_
    return AtWidth(
        (float(alphas[outlier].sum()), float(ours.weights_[outlier].sum())),
        (_spearman(alphas, log_density), _spearman(ours.weights_, log_density)),
        _spearman(ours.typicality_, log_density),
        kde_error=_constant_apart(plain, log_density, sigma),
        first_order_error=float(1.0 - (exponent / np.expm1(exponent)).min()),
        eta=ours.eta_,
        squared_radius=_squared_radius(K, alphas),
        support_vectors=int(np.count_nonzero(alphas)),
        below_valley=(int(below.sum()), int((below & outlier).sum())),
        iterations={
            g: PaperOneCluster(sigma=sigma, eta_scale=g, tol=TOL).fit(X).n_iter_ for g in GAMMAS
        },
    )


def _distance_from_svdd(K: Doubles) -> float:
    """How far the SVM's weights are from those of SVDD, over the mean of the diagonal.

    They are the solution if and only if the gradient of its objective is at no weight that may
    shrink larger than at one that may grow.
    """
    weights = svm_weights(K, NU)
    gradient = 2.0 * K @ weights - np.diag(K)
    ceiling = 1.0 / (len(K) * NU)
    grows, shrinks = weights < ceiling * (1.0 - 1e-6), weights > ceiling * 1e-6
    violation = max(0.0, float(gradient[shrinks].max() - gradient[grows].min()))
    return violation / float(np.diag(K).mean())


def _sign_error(X: Doubles, model: OneClusterPCM) -> float:
    K, u = rbf_kernel(X, gamma=svm_gamma(model.sigma_)), model.weights_
    entropy = -float(u @ np.log(u))
    turned_round = -svdd_objective(u, K) - model.eta_ * entropy
    return abs(one_cluster_objective(u, K, model.eta_) - turned_round)


def _svdd_objectives(X: Doubles, model: OneClusterPCM) -> tuple[float, float, float]:
    K = rbf_kernel(X, gamma=svm_gamma(model.sigma_))
    equal = np.full(len(X), 1.0 / len(X))
    theirs, plain, ours = (
        svdd_objective(weights, K) for weights in (svm_weights(K, NU), equal, model.weights_)
    )
    return theirs, plain, ours


def _below_valley(X: Doubles, sigma: float) -> NDArray[np.bool_]:
    with warnings.catch_warnings():  # that there is no clear valley, which is an answer as well
        warnings.simplefilter("ignore", ClusteringWarning)
        model = AlphaCutClustering(sigma=sigma, alpha="valley").fit(X)
    below: NDArray[np.bool_] = model.typicality_ < model.alpha_
    return below


def _squared_radius(K: Doubles, alphas: Doubles) -> float:
    """That of the support vectors that are not at the bound, which lie on the sphere."""
    sqdist = 1.0 - 2.0 * K @ alphas + alphas @ K @ alphas
    on_the_sphere = (alphas > 0) & (alphas < 0.999 * alphas.max())
    return float(np.median(sqdist[on_the_sphere]))


def _constant_apart(plain: OneClusterPCM, log_density: Doubles, sigma: float) -> float:
    """How far 2 s / eta = log u + constant is from scikit-learn's density, in two dimensions."""
    s = np.log(plain.typicality_) * plain.eta_ / 2.0
    return float(np.ptp(s - np.exp(log_density) * 2.0 * np.pi * sigma**2))


def _spearman(one: Doubles, other: Doubles) -> float:
    return float(spearmanr(one, other).statistic)


def _gaussian_error(X: Doubles) -> float:
    model = OneClusterPCM(kernel="linear").fit(X)
    sqdist = ((X - model.weights_ @ X) ** 2).sum(axis=1)
    return float(abs(np.exp(-sqdist / model.eta_) - model.typicality_).max())


def _dissimilarity_error(X: Doubles) -> float:
    """Distances in feature space, and nothing else, give the typicalities of the kernel."""
    K = np.exp(-cdist(X, X, "sqeuclidean") / 2.0)
    from_distances = OneClusterPCM(kernel="dissimilarities").fit(np.sqrt(2.0 - 2.0 * K))
    return float(
        abs(from_distances.typicality_ - OneClusterPCM(sigma=1.0).fit(X).typicality_).max()
    )


def _testing(n_training: int, n_new: int) -> Testing:
    """Time the scores of new rows; training rows as in Fig. 2, but more of them."""
    X, _ = make_gaussian_and_outliers(n_training, random_state=SEED)
    new, _ = make_gaussian_and_outliers(n_new, random_state=SEED + 1)
    theirs, ours = svm(1.0, NU).fit(X), OneClusterPCM(sigma=1.0).fit(X)
    seconds = [_seconds(model, new) for model in (theirs, ours, ours.compress())]
    return Testing(len(X), len(theirs.support_), (seconds[0] / seconds[1], seconds[0] / seconds[2]))


def _seconds(model: Any, rows: Doubles) -> float:
    model.score_samples(rows[:100])  # compiles, and plans
    start = perf_counter()
    model.score_samples(rows)
    return perf_counter() - start
