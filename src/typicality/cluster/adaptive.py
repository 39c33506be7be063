"""Adaptive possibilistic c-means: too many clusters in, the right number out."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

from typicality._compat import Interval
from typicality._typing import Floats
from typicality.cluster._adaptive import AdaptiveClusterer
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._prototypes import Found
from typicality.kernels import Kernel
from typicality.membership.possibilistic import Possibilistic1996


class AdaptivePCM(AdaptiveClusterer):
    r"""Adaptive possibilistic c-means (APCM): too many clusters in, the right number out.

    Possibilistic c-means whose spreads follow the clusters. Each iteration is

    .. math:: u_{hk} = e^{-\lVert x_h - v_k \rVert^2 / \eta_k}, \qquad
        v_k = \frac{\sum_h \omega_h u_{hk} x_h}{\sum_h \omega_h u_{hk}}, \qquad
        \eta_k = \frac{1}{n_k} \sum_{h \in C_k} \lVert x_h - \mu_k \rVert,

    where :math:`C_k` are the :math:`n_k` rows that are most typical of cluster k and
    :math:`\mu_k` is their mean. A cluster that no row prefers is dropped, so the number of clusters
    shrinks from `n_clusters` to what the data support.

    Implements :cite:`xenaki2014`, section 2, without the sparsity term (APCM). Differs from the
    paper: the default start does not depend on the order of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of prototypes at the start, more than there are clusters; at the most the number
        of distinct rows.
    beta : float, default=0.1
        Sets the first spreads: the typicality at half of the squared distance to the nearest other
        prototype. The larger, the wider clusters begin. The paper uses 0.1 to 0.5.
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
        The cluster a row is most typical of; contiguous from 0.
    memberships_ : array or sparse array of shape (n_samples, n_prototypes)
        The typicalities, a column for each prototype.
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
    SparseAdaptivePCM : Rows far from a cluster do not belong to it at all.
    SequentialPCM : No number of clusters to begin with.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality import AdaptivePCM
    >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> AdaptivePCM(n_clusters=10).fit(X).n_clusters_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AdaptiveClusterer._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        beta: float = 0.1,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        sigma: float | str = "auto",
        box: float | None = 10.0,
        init: Any = "max-min",
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
        store_memberships: bool | str = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta = beta
        self.kernel = kernel
        self.sigma = sigma
        self.box = box
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        return self._fit_from_many(
            rows, weight, callbacks, lambda eta, unit: Possibilistic1996(eta)
        )

    def _vanished_remedy(self) -> str:
        return "Check the parameters."
