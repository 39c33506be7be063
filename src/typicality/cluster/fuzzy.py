"""Clusters whose memberships sum to one: fuzzy c-means and its entropic form."""

import math
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from scipy.special import chdtri

from typicality._compat import Interval, StrOptions
from typicality._typing import Floats
from typicality.cluster._batches import BatchClusterer
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    entropic_collapse_advice,
    fuzzy_collapse_advice,
    largest_fuzzifier,
    tell,
    warn_about_convergence,
    warn_about_partition,
)
from typicality.cluster._estimator import POSITIVE
from typicality.cluster._prototypes import Clustering, Found
from typicality.cluster._starts import (
    SHAPE_CONSTRAINTS,
    START_CONSTRAINTS,
    Starts,
    best_run,
    fuzzy_run,
)
from typicality.kernels import Kernel
from typicality.membership.entropic import Entropic
from typicality.membership.fuzzy import Fuzzy, FuzzyWithNoise
from typicality.membership.hard import Hard
from typicality.membership.spread import smallest_spread
from typicality.rows.quantiles import weighted_quantile
from typicality.solve.picard import PicardResult
from typicality.solve.schedules import rising_path
from typicality.solve.starts import NAMED_STARTS
from typicality.solve.step import ClusterState
from typicality.spaces import Gram, Space

_FUZZIEST = 2.0  # the largest automatic m
_NOISE_SCALE, _INSIDE = 6.0, 0.99  # of the median squared distance; of the rows of a cluster
_TOO_MANY_NOWHERE = 1 / 3  # of the rows
_SMALLEST_WITHIN = 1e-6  # of the total variance: keeps the automatic lam finite


class FuzzyCMeans(BatchClusterer):
    r"""Fuzzy c-means: memberships in [0, 1] that sum to one over the clusters.

    .. math:: J(U, V) = \sum_h \omega_h \sum_k u_{hk}^m \lVert x_h - v_k \rVert^2, \qquad
        u_{hk} = \Big[ \sum_j \big( \tfrac{\lVert x_h - v_k \rVert^2}
        {\lVert x_h - v_j \rVert^2} \big)^{1/(m-1)} \Big]^{-1}, \qquad
        v_k = \frac{\sum_h \omega_h u_{hk}^m x_h}{\sum_h \omega_h u_{hk}^m}

    Here :math:`x_h` are the rows with their sample weights :math:`\omega_h`, :math:`v_k` are the
    prototypes, and :math:`u_{hk}` is the membership of row h in cluster k.

    With `noise_distance`, there is a noise cluster at the distance :math:`\delta` from every row.
    The memberships of a row then sum to less than one, and the rest is its membership in the noise
    cluster. Rows that are farther than :math:`\delta` from all prototypes have the label -1, and
    hardly move the prototypes:

    .. math:: J = \sum_h \omega_h \Big( \sum_k u_{hk}^m \lVert x_h - v_k \rVert^2 +
        \big( 1 - \sum_k u_{hk} \big)^m \delta^2 \Big)

    An iteration takes O(n c d) time for n rows, c clusters and d features, on all cores, without an
    (n, c) matrix. With a kernel, the rows are mapped into the space of the kernel, and an iteration
    is one product with the kernel matrix. This takes at most O(n^2 (d + c)) time, and O(n c) for a
    Gaussian kernel and up to three features.

    Implements :cite:`miyamoto2003`, eq. (1)-(3), with a kernel eq. (12)-(16); :cite:`bezdek1981`;
    :cite:`lecture20`, section 20.1, with its exponent corrected; with noise :cite:`dave1991`.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters. If there are fewer distinct rows, fewer clusters are found, with a
        warning.
    m : float or "auto", default="auto"
        The fuzzifier, above 1. Values near 1 give hard clusters, as in k-means. Data with many
        features need values well below 2; otherwise all prototypes collapse onto the mean of the
        data. "auto" is the rule of :cite:`schwaemmle2010`, limited to at most 2,

        .. math:: m = 1 + \Big( \frac{1418}{n} + 22.05 \Big) d^{-2} +
            \Big( \frac{12.33}{n} + 0.243 \Big) d^{-0.0406 \ln n - 0.1134},

        where n is the number of distinct rows of positive weight, and d the number of features that
        are not constant. This gives 2 for up to four features, and 1.33 for 1000 rows with ten
        features. With a kernel, d is the effective dimension of the mapped rows. There is a value
        of m above which all prototypes collapse; with a kernel, "auto" goes at most halfway from 1
        to this value. See docs/theory.
    noise_distance : float, "auto" or None, default=None
        The distance :math:`\delta` of the noise cluster, in the units of the data (not squared);
        with a kernel, in the space of the kernel. None is fuzzy c-means without noise. A number or
        "auto" first runs fuzzy c-means without noise, on rows that are not far from all others.
        "auto" is then :math:`\delta^2 = f w`, where w is the median squared distance of these rows
        to their nearest prototypes. The factor f is 6, or with one or two features (14.6, 6.6) the
        ratio of the 99 % quantile and the median of a chi-squared distribution. Differs from
        :cite:`dave1991`, where w is the mean over all pairs of a row and a prototype, and the user
        chooses f. That mean depends on the distances between clusters. See docs/theory.
    kernel : str, Kernel or callable, default="linear"
        The kernel. It defines the space in which the prototypes are means:

        - "linear": the input space;
        - "gaussian" (or "rbf"), "laplacian", "cauchy": kernels with the width `sigma`;
        - "local": a Gaussian whose width follows the density
          (:class:`typicality.kernels.LocalGaussian`, with a quarter of the rows as neighbours, at
          least 22);
        - "polynomial" (or "poly"), "cosine" and all other names of
          :func:`sklearn.metrics.pairwise.pairwise_kernels`;
        - an object of :mod:`typicality.kernels`, or a function that returns the kernel values of
          two arrays of rows;
        - "precomputed": X is a square matrix of kernel values;
        - "dissimilarities": X is a square matrix of distances;
        - "connectivity": two rows are close if a chain of short steps connects them.
    sigma : float or str, default="auto"
        The width of the kernel, or the name of a rule that computes it
        (:mod:`typicality.bandwidth`): "auto", "median", "knn", "scott", "silverman" or
        "loo-likelihood". Not used by kernels without a width.
    covariance_type : {"spherical", "full"}, default="spherical"
        "full" gives each cluster a covariance :math:`F_k`, the weighted covariance of the rows, and
        measures distances by it: clusters are ellipsoids of equal volume :cite:`gustafson1979`. The
        squared distance is then :math:`\det(F_k)^{1/d} (x_h - v_k)^\top F_k^{-1} (x_h - v_k)`. The
        fit starts from the spherical clusters. Only with the linear kernel. Scale the features, and
        use it if there are many more rows in each cluster than features. See docs/theory.
    shrinkage : float or "auto", default="auto"
        With "full" covariances, the share :math:`\gamma` of a round covariance, from 0 to 1
        :cite:`babuska2002`. "auto" is :math:`\gamma = (d + 1) / (d + 1 + n_k)`, where
        :math:`n_k` is the effective number of rows of the cluster. With 0, a cluster with few rows
        becomes a thin needle.
    missing : {"error", "partial"}, default="error"
        What to do with missing values, NaN in X. "partial" compares a row and a prototype by the
        values that the row has :cite:`hathaway2001`: the squared distance is the sum over these
        features, times the ratio of the number of all features to theirs. In the means, the weight
        of a row is the fraction of its values that are present. Scale the features. Every row needs
        at least one value. Only with the linear kernel, and with spherical clusters.
    init : str, array-like or callable, default="k-means++"
        The initial prototypes. The names "k-means++", "max-min" and "random" choose them from
        the rows, or from a sample of more than 131,072 distinct rows. An array of shape
        (n_clusters, n_features) gives prototypes; one of shape (n_samples, n_clusters) gives
        memberships. If an array fits both shapes, it is used as prototypes. A function
        `init(X, n_clusters, random_state)` returns prototypes.
    n_init : int, default=1
        The number of runs from different initial prototypes, with "k-means++", "random" or
        a function. The run with the lowest objective is kept.
    max_samples : int, "auto" or None, default="auto"
        With a kernel: the largest number of rows that the model is learned from. If there are more
        rows, it is learned from a sample of the distinct rows, chosen by a hash of their content,
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
    max_iter : int, default=1000
        The largest number of iterations of one run.
    tol : float, default=1e-5
        Stop when no prototype moves by more than `tol` times the root mean square distance of the
        rows to their mean (without rows far from all others). With 0, `max_iter` iterations are
        run.
    rtol : float, default=1e-6
        The largest error of sums of kernel values, relative to the variance in the space of the
        kernel. Values above `tol` / 10 are lowered to `tol` / 10. Sums over few rows (up to 2,048
        for a Gaussian kernel and up to three features, else up to 5,120) are exact. 0 makes all
        sums exact.
    random_state : int, RandomState or None, default=None
        The seed or generator that draws the initial prototypes. Pass an int for reproducible
        results.
    store_memberships : bool, default=True
        Whether to keep `memberships_`. False saves memory; `predict_memberships` still works.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        For each row, the cluster with its largest membership: 0, 1, 2, ...; -1 for noise.
    memberships_ : array of shape (n_samples, n_clusters)
        The memberships, one column per prototype.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The prototypes. Prototype k has the label k. Prototypes that share a label with another one,
        or that no row prefers, come last. Only in the input space, because prototypes in the space
        of a kernel have no coordinates.
    covariances_ : array of shape (n_clusters, n_features, n_features)
        With "full" covariances, the covariance of each cluster.
    prototype_labels_ : array of shape (n_clusters,), int32
        The label of each prototype: 0, 1, 2, ... unless prototypes coincide.
    n_clusters_ : int
        The number of different labels.
    m_ : float
        The fuzzifier that was used.
    noise_distance_ : float or None
        The distance of the noise cluster that was used; None without noise.
    n_iter_ : int
        The number of iterations.
    status_ : str
        Why the iterations ended: "converged", "max_iter", or "stopped" by a callback.
    objective_ : float
        The objective at the end.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration. It never rises, except with "full" covariances.
    kernel_ : Kernel or str
        The kernel that was used.
    sigma_ : float or None
        The width of the kernel; None if it has no width.
    sums_ : str
        How sums were computed, in a sentence.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    See Also
    --------
    EntropyCMeans : Memberships are a softmax instead of a power of distances.
    PossibilisticCMeans : Memberships need not sum to one, so outliers have memberships near zero.
    sklearn.cluster.KMeans : Hard clusters, the limit for m near 1.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import FuzzyCMeans
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [0.5, 0.5], [0.9, 1.0], [1.0, 1.0]])
    >>> model = FuzzyCMeans(n_clusters=2, random_state=0).fit(X)
    >>> bool(model.labels_[0] != model.labels_[4])
    True
    >>> model.memberships_[2].round(2)
    array([0.5, 0.5])
    >>> model.m_
    2.0
    >>> FuzzyCMeans(2, noise_distance=1.0, random_state=0).fit(X).predict([[9.0, 9.0]])
    array([-1], dtype=int32)
    """

    m_: float
    noise_distance_: float | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BatchClusterer._parameter_constraints,
        **START_CONSTRAINTS,
        **SHAPE_CONSTRAINTS,
        "m": [Interval(Real, 1, np.inf, closed="neither"), StrOptions({"auto"})],
        "noise_distance": [POSITIVE, StrOptions({"auto"}), None],
    }
    _rule_attribute = "m"
    _why_dense = None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float | str = "auto",
        noise_distance: float | str | None = None,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        sigma: float | str = "auto",
        covariance_type: str = "spherical",
        shrinkage: float | str = "auto",
        missing: str = "error",
        init: Any = "k-means++",
        n_init: int = 1,
        max_samples: int | str | None = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
        random_state: Any = None,
        store_memberships: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.noise_distance = noise_distance
        self.kernel = kernel
        self.sigma = sigma
        self.covariance_type = covariance_type
        self.shrinkage = shrinkage
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol
        self.random_state = random_state
        self.store_memberships = store_memberships

    @property
    def _sums_to_one(self) -> bool:
        return self.noise_distance is None

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        starts = Starts(self, rows, weight)
        opened = self._open(rows, weight)
        rule = Fuzzy(fuzzifier(self.m, opened.space))
        has_noise = self.noise_distance is not None
        space = starts.typical(opened.space) if has_noise else opened.space
        drawn = starts.draw(opened, rule, within=space)
        n_runs = len(drawn) + has_noise + (self.covariance_type == "full")
        self._begin(callbacks, opened, n_runs=n_runs)
        result = fuzzy_run(space, drawn, rule, callbacks)
        self.noise_distance_ = None
        if has_noise:
            result = self._with_noise(opened.space, space, result, callbacks)
        return opened, result

    def _with_noise(
        self,
        space: Space[Any],
        typical: Space[Any],
        result: PicardResult[State],
        callbacks: FitCallbacks,
    ) -> PicardResult[State]:
        """The run with a noise cluster, from the clusters that were found without one."""
        stage = "Fuzzy c-means without noise: "
        warn_about_convergence(result, tol=self.tol, max_iter=self.max_iter, stage=stage)
        prototypes, rule = result.state.prototypes, cast(Fuzzy, result.state.rule)
        distance = self.noise_distance
        if isinstance(distance, str):
            distance = math.sqrt(_noise_sqdist(typical, prototypes))
        self.noise_distance_ = float(cast(float, distance))
        with_noise = FuzzyWithNoise(rule.m, self.noise_distance_**2)
        return best_run(space, [prototypes], [with_noise], callbacks)

    def _warn(self, found: Clustering) -> None:
        if self.noise_distance_ is not None:
            nowhere = float(found.outcome.tally.rows[-1] / found.outcome.tally.rows.sum())
            if nowhere > _TOO_MANY_NOWHERE:
                remedy = f"Try noise_distance={2 * self.noise_distance_:.3g}."
                tell("rows nowhere", share=nowhere, remedy=remedy)
            rule = Fuzzy(self.m_)  # noise takes memberships from all clusters alike
            found = found._replace(state=ClusterState(found.state.prototypes, rule))
        advice = f"Try a smaller m (now {self.m_:.3g}), more runs (n_init), or fewer clusters."
        warn_about_partition(
            found,
            kernel=self.kernel,
            if_collapsed=partial(fuzzy_collapse_advice, self.m_),
            if_coincident=advice,
        )


def _noise_sqdist(space: Space[Any], prototypes: Any) -> float:
    """The automatic squared distance of the noise cluster."""
    sample = space.sample()
    nearest = space.sqdist_of(prototypes, sample).min(axis=1)
    within = float(weighted_quantile(nearest, 0.5, sample.weight))
    inside, half = chdtri(max(space.dimension, 1.0), [1 - _INSIDE, 0.5])
    scale = max(_NOISE_SCALE, float(inside / half))
    return max(scale * within, smallest_spread(space.total_variance))


def fuzzifier(m: float | str, space: Space[Any]) -> float:
    """The fuzzifier that `m` of an estimator means: "auto" depends on the rows and their space.

    Implements :cite:`schwaemmle2010`, the equation for m. Differs from the paper: it is at most 2,
    n counts distinct rows, so that a row of weight k is k rows, and there is a rule for kernels.
    """
    if not isinstance(m, str):
        return float(m)
    n, d = space.rows.sample().n_distinct, space.dimension
    power = -0.0406 * math.log(n) - 0.1134
    automatic: float = 1 + (1418 / n + 22.05) * d**-2 + (12.33 / n + 0.243) * d**power
    if isinstance(space, Gram):
        largest = largest_fuzzifier(space)
        if largest > 1:  # it is 1 where all rows are one point
            automatic = min(automatic, 1 + (largest - 1) / 2)
    return min(automatic, _FUZZIEST)


class EntropyCMeans(BatchClusterer):
    r"""Entropy-regularised fuzzy c-means: memberships by a softmax of squared distances.

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk} \lVert x_h - v_k \rVert^2 +
        \lambda^{-1} u_{hk} \log u_{hk} \Big), \qquad
        u_{hk} = \frac{e^{-\lambda \lVert x_h - v_k \rVert^2}}
        {\sum_j e^{-\lambda \lVert x_h - v_j \rVert^2}}, \qquad
        v_k = \frac{\sum_h \omega_h u_{hk} x_h}{\sum_h \omega_h u_{hk}}

    Here :math:`x_h` are the rows with their sample weights :math:`\omega_h`, :math:`v_k` are the
    prototypes, and :math:`u_{hk}` is the membership of row h in cluster k. This is the EM algorithm
    for a mixture of spherical Gaussians with equal weights and the fixed variance :math:`1 / (2
    \lambda)`.

    An iteration takes O(n c d) time for n rows, c clusters and d features. With a kernel, the rows
    are mapped into the space of the kernel, and an iteration is one product with the kernel matrix.
    This takes at most O(n^2 (d + c)) time, and O(n c) for a Gaussian kernel and up to three
    features.

    Implements :cite:`miyamoto2003`, eq. (4)-(5), with a kernel eq. (6)-(11).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters. If there are fewer distinct rows, fewer clusters are found, with a
        warning.
    lam : float or "auto", default="auto"
        The factor :math:`\lambda` of the squared distance, positive. Large values give hard
        clusters. Below :math:`1 / (2 \mu)`, where :math:`\mu` is the largest eigenvalue of the
        covariance of the data, all prototypes collapse onto the mean. "auto" is :math:`d / (2 w)`,
        where d is the number of features. To find w, hard c-means is run once; w is the mean
        squared distance of the rows to their nearest prototype. So the Gaussians have the variance
        of the hard clusters. With a kernel, d is the effective dimension of the mapped rows.
        Original to typicality, see docs/theory.
    kernel : str, Kernel or callable, default="linear"
        The kernel. It defines the space in which the prototypes are means:

        - "linear": the input space;
        - "gaussian" (or "rbf"), "laplacian", "cauchy": kernels with the width `sigma`;
        - "local": a Gaussian whose width follows the density
          (:class:`typicality.kernels.LocalGaussian`, with a quarter of the rows as neighbours, at
          least 22);
        - "polynomial" (or "poly"), "cosine" and all other names of
          :func:`sklearn.metrics.pairwise.pairwise_kernels`;
        - an object of :mod:`typicality.kernels`, or a function that returns the kernel values of
          two arrays of rows;
        - "precomputed": X is a square matrix of kernel values;
        - "dissimilarities": X is a square matrix of distances;
        - "connectivity": two rows are close if a chain of short steps connects them.
    sigma : float or str, default="auto"
        The width of the kernel, or the name of a rule that computes it
        (:mod:`typicality.bandwidth`): "auto", "median", "knn", "scott", "silverman" or
        "loo-likelihood". Not used by kernels without a width.
    missing : {"error", "partial"}, default="error"
        What to do with missing values, NaN in X. "partial" compares a row and a prototype by the
        values that the row has :cite:`hathaway2001`: the squared distance is the sum over these
        features, times the ratio of the number of all features to theirs. In the means, the weight
        of a row is the fraction of its values that are present. Scale the features. Every row needs
        at least one value. Only with the linear kernel, and with spherical clusters.
    init : str, array-like or callable, default="k-means++"
        The initial prototypes. The names "k-means++", "max-min", "random" and "annealing"
        choose them from the rows, or from a sample of more than 131,072 distinct rows. An array of
        shape (n_clusters, n_features) gives prototypes; one of shape (n_samples, n_clusters) gives
        memberships. If an array fits both shapes, it is used as prototypes. A function
        `init(X, n_clusters, random_state)` returns prototypes. "annealing" starts as "k-means++"
        does, with a small `lam` at which the prototypes just separate, and then raises `lam` to its
        value by factors of 1.5.
        One such run often finds clusters that many other runs miss, especially with kernels.
    n_init : int, default=1
        The number of runs from different initial prototypes, with "k-means++", "random",
        "annealing" or a function. The run with the lowest objective is kept.
    max_samples : int, "auto" or None, default="auto"
        With a kernel: the largest number of rows that the model is learned from. If there are more
        rows, it is learned from a sample of the distinct rows, chosen by a hash of their content,
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
    max_iter : int, default=1000
        The largest number of iterations of one run.
    tol : float, default=1e-5
        Stop when no prototype moves by more than `tol` times the root mean square distance of the
        rows to their mean (without rows far from all others). With 0, `max_iter` iterations are
        run.
    rtol : float, default=1e-6
        The largest error of sums of kernel values, relative to the variance in the space of the
        kernel. Values above `tol` / 10 are lowered to `tol` / 10. Sums over few rows (up to 2,048
        for a Gaussian kernel and up to three features, else up to 5,120) are exact. 0 makes all
        sums exact.
    random_state : int, RandomState or None, default=None
        The seed or generator that draws the initial prototypes. Pass an int for reproducible
        results.
    store_memberships : bool, default=True
        Whether to keep `memberships_`. False saves memory; `predict_memberships` still works.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        For each row, the cluster with its largest membership: 0, 1, 2, ...
    memberships_ : array of shape (n_samples, n_clusters)
        The memberships, one column per prototype.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The prototypes. Prototype k has the label k. Prototypes that share a label with another one,
        or that no row prefers, come last. Only in the input space, because prototypes in the space
        of a kernel have no coordinates.
    prototype_labels_ : array of shape (n_clusters,), int32
        The label of each prototype: 0, 1, 2, ... unless prototypes coincide.
    n_clusters_ : int
        The number of different labels.
    lam_ : float
        The value of lam that was used.
    n_iter_ : int
        The number of iterations. With "annealing", those at the final `lam`.
    status_ : str
        Why the iterations ended: "converged", "max_iter", or "stopped" by a callback.
    objective_ : float
        The objective at the end.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration. It never rises.
    kernel_ : Kernel or str
        The kernel that was used.
    sigma_ : float or None
        The width of the kernel; None if it has no width.
    sums_ : str
        How sums were computed, in a sentence.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    See Also
    --------
    FuzzyCMeans : Memberships are a power of distances instead of a softmax.
    sklearn.mixture.GaussianMixture : Fits the variances and the sizes as well.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import EntropyCMeans
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [0.5, 0.5], [0.9, 1.0], [1.0, 1.0]])
    >>> model = EntropyCMeans(n_clusters=2, lam=4.0, random_state=0).fit(X)
    >>> bool(model.labels_[0] != model.labels_[4])
    True
    """

    lam_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BatchClusterer._parameter_constraints,
        **START_CONSTRAINTS,
        "init": [StrOptions({*NAMED_STARTS, "annealing"}), callable, "array-like"],
        "lam": [POSITIVE, StrOptions({"auto"})],
    }
    _rule_attribute = "lam"
    _why_dense = None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | str = "auto",
        kernel: str | Kernel | Callable[..., Any] = "linear",
        sigma: float | str = "auto",
        missing: str = "error",
        init: Any = "k-means++",
        n_init: int = 1,
        max_samples: int | str | None = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
        random_state: Any = None,
        store_memberships: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.kernel = kernel
        self.sigma = sigma
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol
        self.random_state = random_state
        self.store_memberships = store_memberships

    @property
    def _sums_to_one(self) -> bool:
        return True

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        starts = Starts(self, rows, weight)
        opened = self._open(rows, weight)
        space = opened.space
        drawn = starts.draw(opened, Entropic(1.0))  # weights are memberships, whatever lam
        anneals = not starts.is_array and self.init == "annealing"
        n_runs = None if anneals else len(drawn) + (self.lam == "auto")
        self._begin(callbacks, opened, n_runs=n_runs)
        lam = self._automatic_lam(space, drawn, callbacks) if self.lam == "auto" else self.lam
        path = [float(lam)]
        moment = space.largest_moment(normalised=False) if anneals else 0.0
        if moment > 0:  # from where the prototypes just come apart
            path = rising_path(float(lam), 1 / (2 * moment))
        return opened, best_run(space, drawn, [Entropic(value) for value in path], callbacks)

    def _automatic_lam(
        self, space: Space[Any], starts: list[Any], callbacks: FitCallbacks
    ) -> float:
        """The variance within hard clusters of the typical rows, one number for all of them."""
        space = space.typical  # a far row would make it that of two clusters in one
        hard = best_run(space, starts[:1], [Hard()], callbacks)
        warn_about_convergence(
            hard, tol=self.tol, max_iter=self.max_iter, stage="Hard c-means for lam='auto': "
        )
        smallest = _SMALLEST_WITHIN * space.total_variance
        within = max(hard.objectives[-1] / space.rows.total_weight, smallest)
        return space.dimension / (2 * within) if within > 0 else 1.0

    def _warn(self, found: Clustering) -> None:
        advice = f"Try a larger lam (now {self.lam_:.3g}), more runs (n_init), or fewer clusters."
        warn_about_partition(
            found,
            kernel=self.kernel,
            if_collapsed=partial(entropic_collapse_advice, self.lam_),
            if_coincident=advice,
        )
