"""Sparse adaptive possibilistic c-means: rows far from a cluster do not belong to it at all."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from typicality._compat import Interval
from typicality._typing import Doubles, Floats
from typicality.cluster._adaptive import SPARSITY_CONSTRAINTS, AdaptiveClusterer, smaller_lam
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._prototypes import Found
from typicality.kernels import Kernel


class SparseAdaptivePCM(AdaptiveClusterer):
    r"""Sparse adaptive possibilistic c-means (SAPCM): far rows do not belong to a cluster at all.

    As :class:`AdaptivePCM`, with a term that makes memberships sparse: each iteration minimises

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk} \lVert x_h - v_k \rVert^2 +
        \eta_k (u_{hk} \ln u_{hk} - u_{hk}) + \lambda u_{hk}^p \Big).

    The membership of a row is zero beyond a radius that is the shorter the larger
    :math:`\lambda`: rows between clusters pull at none of them, and clusters that lie close
    together are told apart. Rows outside of all radii belong nowhere.

    Implements :cite:`xenaki2014`, section 2 (SAPCM). Differs from the paper: memberships are
    solved to rounding, not by bisection, and the default start does not depend on the order of the
    rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of prototypes at the start, more than there are clusters; at the most the number
        of distinct rows.
    lam : float, default=0.1
        The weight of sparsity, in the units of the box. At :math:`\lambda > \eta_k / (e p (1-p))`
        a cluster vanishes; the right values lie in a window below that, see
        :class:`SequentialPCM`, which can choose it.
    beta : float, default=0.1
        Sets the first spreads: the typicality at half of the squared distance to the nearest other
        prototype. The larger, the wider clusters begin. The paper uses 0.1 to 0.5.
    p : float, default=0.5
        The exponent of the sparsity term, between 0 and 1.
    kernel : str, Kernel or callable, default="linear"
        The space of the prototypes, as in :class:`PossibilisticCMeans`. "linear" is the input
        space. Other kernels help where they bring the rows of a cluster together ("connectivity",
        a Gaussian on blobs); a Gaussian kernel cuts rings and crescents into arcs.
    sigma : float or str, default="auto"
        The width of the kernel, or a rule for it (:mod:`typicality.bandwidth`).
    box : float or None, default=10.0
        In the input space the range of each feature is scaled to [0, box]; a constant feature
        becomes zero. Extreme values, farther beyond a quartile than five times the distance between
        the quartiles, do not count in the range (they do with ``init="paper"``), and no value lies
        farther outside the box than it is wide. In the space of a kernel, which cannot be scaled
        feature by feature, all distances are scaled so that the row farthest from the mean and the
        row farthest from that are `box` apart. The scale matters, because spreads are distances and
        are compared with squared distances: the larger the box, the narrower the clusters. With
        many features d try 20 / sqrt(d). None leaves the data as they are.
    assign : {"core", "all"}, default="core"
        "core" gives label -1 to rows that belong to no cluster: all their typicalities are zero.
        "all" drops the sparsity once the clusters are found, as the paper does to evaluate them:
        typicalities are exp(-d / eta), and every row gets the label of its largest.
    root : {"exact", "bisection"}, default="exact"
        How memberships are found: to rounding, or by the paper's bisection, to four digits and
        much more slowly, for the comparison.
    init : {"max-min", "paper"} or array-like of shape (n_clusters, n_features), default="max-min"
        The start. "max-min" begins with the row farthest from the mean; each next point is the row
        farthest from those already chosen. It depends neither on the order of the rows nor on
        chance. "paper" begins with the row farthest from the first row. Or points.
    max_iter : int, default=1000
        The most iterations. The iteration can end in a cycle, which this ends too.
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
    store_memberships : bool or "sparse", default=True
        False leaves `memberships_` out, to save memory; `predict_memberships` still works. "sparse"
        keeps it as a :class:`scipy.sparse.csr_array`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The cluster a row is most typical of; contiguous from 0. -1 for rows that belong nowhere.
    memberships_ : array or sparse array of shape (n_samples, n_prototypes)
        The typicalities, a column for each prototype; zero where a row does not belong to it.
    cluster_centers_ : array of shape (n_prototypes, n_features)
        The prototypes, in the units of the data, one for each label. (An iteration that ends in a
        cycle can leave some that no row prefers; they come last, with a warning.) Only in the input
        space.
    prototype_labels_ : array of shape (n_prototypes,), int32
        The label of each prototype: its number.
    n_clusters_ : int
        The number of labels in use; 0 when all clusters have vanished.
    eta_ : array of shape (n_prototypes,)
        The spread of each cluster, in the unit of squared distances in the box; with a kernel, in
        that of squared distances in its space, which are not scaled.
    n_iter_ : int
        The number of iterations.
    status_ : str
        "converged", "max_iter", or "stopped" by a callback.
    objective_ : float
        The objective at the result.
    objective_path_ : array of shape (n_iter_,)
        The objective before each iteration; it may rise, because the spreads change.
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
    AdaptivePCM : The same without sparsity.
    SequentialPCM : No number of clusters to begin with.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality import SparseAdaptivePCM
    >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> model = SparseAdaptivePCM(n_clusters=10).fit(X)
    >>> model.n_clusters_
    3
    >>> model.predict([[3.0, 3.0], [20.0, 20.0]])  # between the clusters, and far from all
    array([-1, -1], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AdaptiveClusterer._parameter_constraints,
        **SPARSITY_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="neither")],
        "lam": [Interval(Real, 0, np.inf, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.1,
        beta: float = 0.1,
        p: float = 0.5,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        sigma: float | str = "auto",
        box: float | None = 10.0,
        assign: str = "core",
        root: str = "exact",
        init: Any = "max-min",
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
        store_memberships: bool | str = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.beta = beta
        self.p = p
        self.kernel = kernel
        self.sigma = sigma
        self.box = box
        self.assign = assign
        self.root = root
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        def rule(eta: Doubles, unit: float) -> Any:
            return self._sparse_rule(eta, float(self.lam) * unit**2)

        return self._fit_from_many(rows, weight, callbacks, rule)

    def _vanished_remedy(self) -> str:
        return smaller_lam(self.lam) + " Or start with fewer clusters."
