"""The lists that contract tests run over: a new rule or estimator enters by being added here."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    JoinedMixture,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
)
from typicality.kernels import (
    DISTANCE_KERNELS,
    Cosine,
    Function,
    Gaussian,
    Linear,
    LocalGaussian,
    Mixed,
    Polynomial,
    named_kernel,
)
from typicality.membership import (
    Entropic,
    Fuzzy,
    FuzzyWithNoise,
    Hard,
    Possibilistic1993,
    Possibilistic1996,
    PossibilisticFuzzy,
    SparsePossibilistic,
)
from typicality.spaces import Euclidean


def rules(n_clusters):
    """One instance or more of every membership rule, for a number of clusters."""
    eta = np.linspace(0.5, 2.0, n_clusters)
    return [
        Hard(),
        Fuzzy(2.0),
        Fuzzy(1.01),
        Fuzzy(1.3),
        Fuzzy(1.5),
        Fuzzy(3.5),
        FuzzyWithNoise(2.0, 3.0),
        FuzzyWithNoise(1.5, 0.5),
        FuzzyWithNoise(3.1, 7.0),
        Entropic(0.7),
        Entropic(25.0),
        Possibilistic1993(eta),
        Possibilistic1993(eta, 1.02),
        Possibilistic1993(eta, 1.4),
        Possibilistic1993(eta, 3.1),
        Possibilistic1996(eta),
        PossibilisticFuzzy(eta),
        PossibilisticFuzzy(eta, 3.1, 1.3, 0.5),
        SparsePossibilistic(eta, 0.1),
        SparsePossibilistic(eta, 0.02, 0.8),
    ]


def describe(rule):
    """A name for a test."""
    return type(rule).__name__ + "".join(f"-{v:g}" for v in vars(rule).values() if np.ndim(v) == 0)


RULE_NAMES = [describe(rule) for rule in rules(2)]
_KINDS = [type(rule) for rule in rules(2)]
ONE_OF_EACH_RULE = {  # for tests of spaces, which need not vary parameters of rules
    RULE_NAMES[index]: index for index in sorted(map(_KINDS.index, set(_KINDS)))
}

ESTIMATORS = [
    FuzzyCMeans(n_clusters=3),
    FuzzyCMeans(n_clusters=3, m=1.2, init="max-min"),
    FuzzyCMeans(n_clusters=3, m=1.5, init="random", n_init=2),
    EntropyCMeans(n_clusters=3),
    EntropyCMeans(n_clusters=2, lam=3.0),
    PossibilisticCMeans(n_clusters=3),
    PossibilisticCMeans(n_clusters=2, objective="1993", store_memberships=False),
    PossibilisticCMeans(n_clusters=2, eta=1.0, eta_scale=0.5),
    PossibilisticCMeans(n_clusters=3, eta="variance"),
    PossibilisticCMeans(n_clusters=3, objective="2005", eta_scale=1, fuzzy_weight=0.5),
]

WITH_NOISE = [
    FuzzyCMeans(n_clusters=3, noise_distance="auto"),
    FuzzyCMeans(n_clusters=3, m=1.5, noise_distance=1.5, store_memberships=False),
    FuzzyCMeans(n_clusters=3, noise_distance="auto", kernel="gaussian"),
]

ELLIPSOIDS = [
    FuzzyCMeans(n_clusters=3, covariance_type="full"),
    FuzzyCMeans(n_clusters=3, m=1.5, covariance_type="full", shrinkage=0.1, noise_distance="auto"),
    PossibilisticCMeans(n_clusters=3, covariance_type="full", eta_scale=1.0),
]

PARTIAL = [
    FuzzyCMeans(n_clusters=3, missing="partial"),
    FuzzyCMeans(n_clusters=3, m=1.5, missing="partial", noise_distance="auto"),
    EntropyCMeans(n_clusters=3, missing="partial"),
    PossibilisticCMeans(n_clusters=3, missing="partial"),
]

DISTANCE_KINDS = [type(named_kernel(name)) for name in DISTANCE_KERNELS]
KERNELS = [
    Linear(),
    *(kind(0.9) for kind in DISTANCE_KINDS),
    Polynomial(),
    Polynomial(2, gamma=0.5, coef0=0.0),
    Cosine(),
    Mixed(1, sigma=0.9),
    Function(rbf_kernel),
    named_kernel("sigmoid"),
]

REFERENCE = np.random.default_rng(5).normal(size=(40, 3)) ** 3  # of very different densities
KERNELS_OF_THREE_FEATURES = [
    LocalGaussian(REFERENCE, 10),
    LocalGaussian(REFERENCE, 50, dimension=4.5),
    LocalGaussian(REFERENCE, 10, dimension=1.5),
]

KERNEL_ESTIMATORS = [
    FuzzyCMeans(n_clusters=3, m=1.5, kernel="gaussian"),
    FuzzyCMeans(n_clusters=3, kernel="connectivity"),
    FuzzyCMeans(n_clusters=2, m=1.3, kernel="cauchy", sigma="knn", init="max-min"),
    EntropyCMeans(n_clusters=3, kernel="laplacian"),
    EntropyCMeans(n_clusters=2, kernel="gaussian", init="annealing"),
    PossibilisticCMeans(n_clusters=2, kernel="polynomial"),
    PossibilisticCMeans(n_clusters=3, kernel=Gaussian(2.0), objective="1993", m=1.5),
    PossibilisticCMeans(n_clusters=3, kernel="local"),
]

DETECTORS = [
    OneClusterPCM(),
    OneClusterPCM(kernel="linear", contamination=0.1),
    OneClusterPCM(kernel="cauchy", sigma="scott", eta_scale=0.3, novelty=True),
    OneClusterPCM(kernel="connectivity"),
    OneClusterPCM(kernel="local", eta_scale=0.5),
    OneClusterPCM(kernel=Mixed(2)),
    OneClusterPCM(weights="uniform", kernel="laplacian", sigma="knn"),
    OneClusterPCM(trim=0.2),
]

CUTTERS = [
    AlphaCutClustering(),
    AlphaCutClustering(assign="core", at_least=2),
    AlphaCutClustering(n_clusters=3),
    AlphaCutClustering(kernel="local", alpha=0.36),
    AlphaCutClustering(kernel="gaussian"),
    AlphaCutClustering(kernel=Mixed(2)),
    AlphaCutClustering(alpha=0.34, min_cluster_size=2),
    AlphaCutClustering(alpha="valley", kernel="laplacian"),
    AlphaCutClustering(alpha=0.37, weights="uniform", kernel="cauchy", sigma="scott", assign="all"),
    AlphaCutClustering(labelling="complete", kernel=Gaussian(0.3), eta_scale=0.5, n_neighbors=3),
]

AUTOMATIC = [AutoClustering(), AutoClustering(at_least=2)]
MIXTURES = [JoinedMixture(), JoinedMixture(3)]

ADAPTIVE = [
    AdaptivePCM(),
    AdaptivePCM(n_clusters=4, beta=0.3, store_memberships=False),
    AdaptivePCM(alpha=1.0),
    AdaptivePCM(kernel="connectivity", box=3.0),
    SparseAdaptivePCM(lam=0.05),
    SparseAdaptivePCM(n_clusters=5, lam=0.02, p=0.3, assign="all", box=None),
    SparseAdaptivePCM(n_clusters=4, lam=0.02, kernel="gaussian"),
    SequentialPCM(),
    SequentialPCM(lam=0.05, assign="all"),
    SequentialPCM(kernel="gaussian", lam=0.05),
]

PROTOTYPES = [*ESTIMATORS, *KERNEL_ESTIMATORS, *ADAPTIVE, *WITH_NOISE, *ELLIPSOIDS, *PARTIAL]
EVERY = [*PROTOTYPES, *DETECTORS, *CUTTERS, *AUTOMATIC, *MIXTURES]

# For the checks of scikit-learn: each class as it comes.
TRANSFORMERS = [
    FuzzyCMeans(),
    FuzzyCMeans(n_clusters=3, missing="partial"),
    EntropyCMeans(),
    PossibilisticCMeans(),
    AdaptivePCM(),
    SparseAdaptivePCM(),
    SequentialPCM(),
    OneClusterPCM(),
    AlphaCutClustering(),
]
OTHERS = [AutoClustering(), JoinedMixture()]


def sums_of(rule, prototypes, X, weight=None):
    """The sums of a sweep of the input space over some rows, about the origin of the prototypes."""
    space = Euclidean(X, weight)
    space.origin = prototypes.origin
    return space.fold(rule, prototypes)
