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
    r"""Adaptive possibilistic c-means (APCM), which removes superfluous clusters.

    This is possibilistic c-means with spreads that adapt to the clusters. Each iteration computes

    .. math:: u_{hk} = e^{-\lVert x_h - v_k \rVert^2 / \eta_k}, \qquad
        v_k = \frac{\sum_h \omega_h u_{hk} x_h}{\sum_h \omega_h u_{hk}}, \qquad
        \eta_k = \frac{1}{n_k} \sum_{h \in C_k} \lVert x_h - \mu_k \rVert,

    where :math:`x_h` are the rows with their sample weights :math:`\omega_h`, :math:`v_k` are the
    prototypes, and :math:`\eta_k` are the spreads. :math:`C_k` are the :math:`n_k` rows whose
    largest typicality is in cluster k, and :math:`\mu_k` is their mean. If :math:`C_k` is empty,
    cluster k is dropped. So the number of clusters shrinks from `n_clusters` to the number that the
    data support.

    Implements :cite:`xenaki2014`, section 2, without the sparsity term (APCM). Differs from the
    paper: the default initial prototypes do not depend on the order of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of initial prototypes. Choose more than the number of clusters that you expect.
        At most the number of distinct rows is used.
    beta : float, default=0.1
        Sets the initial spreads: `beta` is the typicality at half of the squared distance to the
        nearest other prototype. Larger values give wider initial clusters. The paper uses 0.1 to
        0.5.
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
        For each row, the cluster with its largest typicality: 0, 1, 2, ...
    memberships_ : array of shape (n_samples, n_prototypes)
        The typicalities, one column per prototype.
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
    SparseAdaptivePCM : Typicalities of rows far from a cluster are exactly zero.
    SequentialPCM : Finds clusters one by one, without `n_clusters`.

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
        max_samples: int | str | None = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
        store_memberships: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta = beta
        self.kernel = kernel
        self.sigma = sigma
        self.box = box
        self.init = init
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        return self._fit_from_many(
            rows, weight, callbacks, lambda eta, unit: Possibilistic1996(eta)
        )

    def _vanished_remedy(self) -> str:
        return "Check the parameters."
