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
    r"""Sparse adaptive possibilistic c-means (SAPCM): typicalities of far rows are exactly zero.

    This is :class:`AdaptivePCM` with an additional term that makes typicalities sparse. Each
    iteration minimises

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk} \lVert x_h - v_k \rVert^2 +
        \eta_k (u_{hk} \ln u_{hk} - u_{hk}) + \lambda u_{hk}^p \Big).

    Here :math:`x_h` are the rows with their sample weights :math:`\omega_h`, :math:`v_k` are the
    prototypes, and :math:`\eta_k` are the spreads. Each cluster has a radius, beyond which all
    typicalities are zero. The radius is smaller if :math:`\lambda` is larger. So rows between
    clusters do not move the prototypes, and clusters that are close together can be separated. Rows
    outside of all radii belong to no cluster.

    Implements :cite:`xenaki2014`, section 2 (SAPCM). Differs from the paper: typicalities are
    computed to rounding error, not by bisection, and the default initial prototypes do not depend
    on the order of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of initial prototypes. Choose more than the number of clusters that you expect.
        At most the number of distinct rows is used.
    lam : float, default=0.1
        The weight :math:`\lambda` of the sparsity term, in the units of the scaled data (see
        `box`). A cluster vanishes if :math:`\lambda > \eta_k / (e p (1-p))`. Good values lie in a
        range below this limit; :class:`SequentialPCM` can choose one.
    beta : float, default=0.1
        Sets the initial spreads: `beta` is the typicality at half of the squared distance to the
        nearest other prototype. Larger values give wider initial clusters. The paper uses 0.1 to
        0.5.
    p : float, default=0.5
        The exponent of the sparsity term, between 0 and 1.
    kernel : str, Kernel or callable, default="linear"
        The kernel, which defines the space of the prototypes, as in :class:`PossibilisticCMeans`.
        "linear" is the input space. Use another kernel only if it brings the rows of each cluster
        together, such as "connectivity", or a Gaussian kernel for compact clusters. A Gaussian
        kernel splits rings and crescents into arcs.
    sigma : float or str, default="auto"
        The width of the kernel, or the name of a rule that computes it
        (:mod:`typicality.bandwidth`). Not used by kernels without a width.
    box : float or None, default=10.0
        The range to which each feature is scaled: [0, box]. Spreads are distances that are compared
        with squared distances, so the scale matters: the larger the box, the narrower the clusters.
        With many features d, try 20 / sqrt(d). None does not scale the data.

        Extreme values are not used to find the range. A value is extreme if its distance to the
        nearer quartile exceeds five times the distance between the quartiles. Values outside the
        box are limited to a distance of `box` from it. A constant feature becomes zero. In the
        space of a kernel, all distances are scaled by one factor instead: let a be the row farthest
        from the mean, and b the row farthest from a; the distance from a to b becomes `box`.
    assign : {"core", "all"}, default="core"
        Which rows get a label. With "core", rows that belong to no cluster have the label -1. "all"
        computes all typicalities as exp(-sqdist / eta) after the clusters are found, without the
        sparsity term. Then every row has the label of its largest typicality. The paper uses "all"
        to compare labels with known classes.
    init : "max-min" or array-like of shape (n_clusters, n_features), default="max-min"
        The initial prototypes, or an array of points. "max-min" first takes the row farthest from
        the mean; each next prototype is the row farthest from those already chosen. This does not
        depend on the order of the rows or on chance.
    max_samples : int, "auto" or None, default="auto"
        With a kernel: the largest number of rows that the model is learned from. If there are more
        rows, it is learned from a sample of the distinct rows, chosen by a hash of their content,
        and all rows are judged. "auto" is 10,000; a Gaussian kernel of up to three features takes
        all rows of an array, or 131,072 rows if they do not fit into memory. None is all rows.
    max_iter : int, default=1000
        The largest number of iterations. The iterations need not converge: they can repeat a cycle,
        and then stop here.
    tol : float, default=1e-5
        Stop when no prototype moves by more than `tol` times the root mean square distance of the
        rows to their mean (without rows far from all others). With 0, `max_iter` iterations are
        run.
    rtol : float, default=1e-6
        The largest error of sums of kernel values, relative to the variance in the space of the
        kernel. Values above `tol` / 10 are lowered to `tol` / 10. Sums over few rows (up to 2,048
        for a Gaussian kernel and up to three features, else up to 5,120) are exact. 0 makes all
        sums exact.
    store_memberships : bool, default=True
        Whether to keep `memberships_`. False saves memory; `predict_memberships` still works.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        For each row, the cluster with its largest typicality: 0, 1, 2, ...; -1 if all its
        typicalities are zero.
    memberships_ : array of shape (n_samples, n_prototypes)
        The typicalities, one column per prototype. They are zero for rows that do not belong to the
        cluster.
    cluster_centers_ : array of shape (n_prototypes, n_features)
        The prototypes, in the units of the data, one per label. If the iterations ended in a cycle,
        there can be prototypes that no row prefers; they come last, with a warning. Only in the
        input space, because prototypes in the space of a kernel have no coordinates.
    prototype_labels_ : array of shape (n_prototypes,), int32
        The label of each prototype.
    n_clusters_ : int
        The number of different labels. It is 0 if all clusters have vanished.
    eta_ : array of shape (n_prototypes,)
        The spread of each cluster, as a squared distance in the scaled data (see `box`). With a
        kernel, it is a squared distance in the space of the kernel, without scaling.
    n_iter_ : int
        The number of iterations.
    status_ : str
        Why the iterations ended: "converged", "max_iter", or "stopped" by a callback.
    objective_ : float
        The objective at the end.
    objective_path_ : array of shape (n_iter_,)
        The objective before each iteration. It can rise, because the spreads change.
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
    AdaptivePCM : The same method without the sparsity term.
    SequentialPCM : Finds clusters one by one, without `n_clusters`.

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
        init: Any = "max-min",
        max_samples: int | str | None = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
        store_memberships: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.beta = beta
        self.p = p
        self.kernel = kernel
        self.sigma = sigma
        self.box = box
        self.assign = assign
        self.init = init
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        def rule(eta: Doubles, unit: float) -> Any:
            return self._sparse_rule(eta, float(self.lam) * unit**2)

        return self._fit_from_many(rows, weight, callbacks, rule)

    def _vanished_remedy(self) -> str:
        return smaller_lam(self.lam) + " Or start with fewer clusters."
