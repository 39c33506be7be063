"""Entropy-regularised fuzzy c-means."""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from typicality._compat import Interval, StrOptions
from typicality._typing import Floats
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._labels import Clustering
from typicality.cluster._prototypes import Found, PrototypeClusterer
from typicality.cluster._starts import START_CONSTRAINTS, Starts, best_run
from typicality.cluster._warnings import (
    entropic_collapse_advice,
    warn_about_convergence,
    warn_about_partition,
)
from typicality.geometry import Geometry
from typicality.kernels import Kernel
from typicality.membership.entropic import Entropic
from typicality.membership.hard import Hard
from typicality.solve.schedules import rising_path
from typicality.solve.starts import NAMED_STARTS

_SMALLEST_WITHIN = 1e-6  # of the total variance: keeps the automatic lam finite


class EntropyCMeans(PrototypeClusterer):
    r"""Entropy-regularised fuzzy c-means: memberships by a softmax of squared distances.

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk} \lVert x_h - v_k \rVert^2 +
        \lambda^{-1} u_{hk} \log u_{hk} \Big), \qquad
        u_{hk} = \frac{e^{-\lambda \lVert x_h - v_k \rVert^2}}
        {\sum_j e^{-\lambda \lVert x_h - v_j \rVert^2}}, \qquad
        v_k = \frac{\sum_h \omega_h u_{hk} x_h}{\sum_h \omega_h u_{hk}}

    It is the EM algorithm of a mixture of equal spherical Gaussians of variance
    :math:`1 / (2 \lambda)` that is held fixed. An iteration is one sweep over the rows, O(n c d).
    With a kernel, mapped rows stand in place of rows, and an iteration is one product with the
    kernel matrix: O(n^2 (d + c)) at the worst, O(n c) for a Gaussian and up to three features.

    Implements :cite:`miyamoto2003`, eq. (4)-(5), with a kernel eq. (6)-(11).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters; fewer are found, with a warning, if there are fewer distinct rows.
    lam : float or "auto", default="auto"
        The multiplier of the squared distance, positive; one over a squared distance. Below
        :math:`1 / (2 \mu)`, with :math:`\mu` the largest eigenvalue of the covariance of the data,
        all prototypes collapse onto the mean. "auto" is :math:`d / (2 w)` with d the number of
        features and w the mean squared distance to the nearest prototype of a hard c-means run
        from the first start: the fixed variance is then that of the hard clusters. With a kernel, d
        is the effective dimension of the mapped rows. Original to typicality, see docs/theory.
    kernel : str, Kernel or callable, default="linear"
        The space of the prototypes. "linear" is the input space; "gaussian" (or "rbf"),
        "laplacian" and "cauchy" have a width `sigma`; "local" is a Gaussian whose width follows
        the density, :class:`typicality.kernels.LocalGaussian` with a quarter of the rows as
        neighbours (22 or more); "polynomial" (or "poly"), "cosine" and all other names of
        :func:`sklearn.metrics.pairwise.pairwise_kernels`; a kernel object of
        :mod:`typicality.kernels`; a function of two arrays of rows; "precomputed" and
        "dissimilarities", where X is a square matrix of kernel values or of distances;
        "connectivity", where two rows are close if a chain of short steps connects them.
    sigma : float or str, default="auto"
        The width of the kernel, or a rule for it (:mod:`typicality.bandwidth`): "auto", "median",
        "knn", "scott", "silverman", "loo-likelihood".
    init : str, array-like or callable, default="k-means++"
        The start: "k-means++", "k-means||", "max-min", "random" or "annealing"; prototypes of shape
        (n_clusters, n_features); memberships of shape (n_samples, n_clusters); or
        `init(X, n_clusters, random_state)`, which returns prototypes. An array that fits both
        shapes is taken for prototypes. "annealing" starts as "k-means++" and raises lam to its
        value by steps of a factor 1.5, from where the prototypes just come apart: one start then
        finds what many plain starts may miss, above all with kernels.
    n_init : int, default=1
        The number of starts with "k-means++", "k-means||", "random", "annealing" or a
        callable; the lowest objective is kept.
    max_iter : int, default=1000
        The most iterations from one start.
    tol : float, default=1e-5
        Stop when no prototype moves by more than this share of the root mean square distance of the
        rows to their mean, far rows left out. 0 runs to `max_iter`.
    algorithm : {"auto", "dense", "blocked", "truncated", "nufft", "nystroem"}, default="auto"
        How sums of kernel values are computed; `plan_` says which way "auto" took, and why. All
        keep `rtol`; "dense" is exact, and "blocked" but for single precision where `rtol` allows
        it. :func:`typicality.operators.plan` tells beforehand.
    rtol : float, default=1e-6
        How far those sums may be off, relative to the variance in the space of the kernel; a tenth
        of `tol` at the most. With ``algorithm="auto"`` those of few rows are exact; 0 for
        exact sums of any number of rows.
    random_state : int, RandomState or None, default=None
        The source of randomness of the start.
    store_memberships : bool, default=True
        False leaves `memberships_` out, to save memory; `predict_memberships` still works.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The cluster of largest membership; contiguous from 0.
    memberships_ : array of shape (n_samples, n_clusters)
        The memberships, one column for each prototype.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The prototypes: first the one of each label, then any that share a label or have no row.
        Only in the input space; elsewhere prototypes have no coordinates.
    prototype_labels_ : array of shape (n_clusters,), int32
        The label of each prototype; 0, 1, 2, ... unless prototypes coincide.
    n_clusters_ : int
        The number of labels in use.
    lam_ : float
        The value of lam that was used.
    n_iter_ : int
        The number of iterations; with "annealing", of the last stage.
    status_ : str
        "converged", "max_iter", or "stopped" by a callback.
    objective_ : float
        The objective at the result.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration; it never rises.
    kernel_ : Kernel or str
        The kernel that was used.
    sigma_ : float or None
        Its width, where it has one.
    plan_ : Plan
        How the iterations were computed.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        Their names, where X had some.

    See Also
    --------
    FuzzyCMeans : Memberships by a power instead of a softmax.
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
        **PrototypeClusterer._parameter_constraints,
        **START_CONSTRAINTS,
        "init": [StrOptions({*NAMED_STARTS, "annealing"}), callable, "array-like"],
        "lam": [Interval(Real, 0, np.inf, closed="neither"), StrOptions({"auto"})],
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
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
        random_state: Any = None,
        store_memberships: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.kernel = kernel
        self.sigma = sigma
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol
        self.random_state = random_state
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        starts = Starts(self, rows, weight)
        opened = self._open(rows, weight, starts.n_clusters)
        space = opened.space
        drawn = starts.draw(opened, Entropic(1.0))  # weights are memberships, whatever lam
        anneals = isinstance(self.init, str) and self.init == "annealing"
        n_runs = None if anneals else len(drawn) + (self.lam == "auto")
        self._begin(callbacks, opened, starts.n_clusters, n_runs=n_runs)
        lam = self._automatic_lam(space, drawn, callbacks) if self.lam == "auto" else self.lam
        path = [float(lam)]
        moment = space.largest_moment(normalised=False) if anneals else 0.0
        if moment > 0:  # from where the prototypes just come apart
            path = rising_path(float(lam), 1 / (2 * moment))
        result = best_run(space, drawn, [Entropic(value) for value in path], callbacks)
        return Found(opened, result, {})

    def _automatic_lam(
        self, space: Geometry[Any], starts: list[Any], callbacks: FitCallbacks
    ) -> float:
        """The variance within hard clusters of the typical rows, one number for all of them."""
        space = space.typical  # a far row would make it that of two clusters in one
        hard = best_run(space, starts[:1], [Hard()], callbacks)
        warn_about_convergence(
            hard, tol=self.tol, max_iter=self.max_iter, stage="Hard c-means for lam='auto': "
        )
        smallest = _SMALLEST_WITHIN * space.total_variance
        within = max(hard.objectives[-1] / space.total_weight, smallest)
        return space.dimension / (2 * within) if within > 0 else 1.0

    def _warn(self, found: Clustering) -> None:
        advice = f"Try a larger lam (now {self.lam_:.3g}), more starts (n_init), or fewer clusters."
        warn_about_partition(
            found,
            kernel=self.kernel,
            if_collapsed=lambda: entropic_collapse_advice(self.lam_, found.space),
            if_coincident=advice,
        )
