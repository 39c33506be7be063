"""Sequential sparse adaptive possibilistic c-means: no number of clusters at all."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from typicality._compat import Interval, StrOptions
from typicality._typing import Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._prototypes import Found
from typicality.cluster.adaptive import (
    SPARSITY_CONSTRAINTS,
    AdaptiveClusterer,
    adaptive_run,
    smaller_lam,
)
from typicality.kernels import Kernel
from typicality.solve.indices import partition_index
from typicality.solve.picard import PicardResult
from typicality.solve.schedules import (
    LambdaPath,
    Sequential,
    follow_path,
    lambda_grid,
    one_cluster,
)
from typicality.solve.starts import farthest_rows
from typicality.solve.step import ClusterState
from typicality.spaces import Euclidean, Gaps, Space

_PATH_ROWS, _KERNEL_PATH_ROWS = 1500, 500  # of more, lambda is chosen on a sample
_PATH_TOL, _PATH_ITER = 1e-3, 100  # along the path; at the value that is chosen, as asked for


class SequentialPCM(AdaptiveClusterer):
    r"""Sequential sparse adaptive possibilistic c-means (SeqSAPCM): finds the number of clusters.

    The algorithm starts with two rows that are far apart, and iterates as
    :class:`SparseAdaptivePCM` does. Then it adds a prototype at the row that is farthest from all
    prototypes, and iterates again. It stops when no new cluster is found. A new cluster has the
    initial spread

    .. math:: \eta = \max ( d_{\max}^2, d_{\mathrm{slope}}^2 ),

    where :math:`d_{\max}` is the largest distance of a row to its nearest other row. For
    :math:`d_{\mathrm{slope}}`, the distances from the new prototype to its ten nearest rows are
    sorted; it is the distance after the largest jump.

    With ``lam="auto"``, the clusters are computed for up to 50 increasing values of `lam`. They
    start with a single cluster, and each value continues with the clusters of the value before. If
    the farthest row gives no new cluster, the densest row that is in no cluster is tried. The
    clusters with the smallest Bayesian information criterion (BIC) are chosen. The BIC is that of a
    model with Gaussian clusters, and uniform noise for the rows in no cluster. In the space of a
    kernel, the largest Calinski-Harabasz index is used instead. Only clusters that are also found
    at the next smaller and the next larger value can be chosen. `lambda_path_` has the values and
    results.

    This choice uses a sample of at most 1,500 rows (500 in the space of a kernel), with a tolerance
    of 1e-3 and 100 iterations per new cluster. All rows are then fitted from the chosen clusters,
    with `tol` and `max_iter`. With a kernel and a given `lam`, the distances of all pairs of rows
    are computed once, in O(n^2 d) time.

    Implements :cite:`xenaki2014`, section 3. Differs from the paper: typicalities are computed to
    rounding error, copies of a row are not neighbours of each other, and `lam` can be chosen
    automatically. The initial prototypes do not depend on the order of the rows. Isolated rows
    start no cluster and are not used for :math:`d_{\max}`, because one outlier would end the
    search; a row is isolated if the distance to its nearest row is more than three times the 95 %
    quantile of these distances. The initial spread of a new cluster is at least four times the
    smallest spread at which a cluster does not vanish.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        The weight of the sparsity term, in the units of the scaled data (see `box`), or "auto" to
        choose it. If `lam` is too small, clusters merge. If it is too large, all clusters vanish,
        with a warning.
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
    init : "max-min" or array-like of shape (n_starts, n_features), default="max-min"
        The initial prototypes, or an array of points. "max-min" first takes the row farthest from
        the mean; each next prototype is the row farthest from those already chosen. This does not
        depend on the order of the rows or on chance. With ``lam="auto"``, it takes the mean of
        all rows instead.
    max_clusters : int, default=100
        The largest number of clusters.
    max_samples : int, "auto" or None, default="auto"
        With a kernel: the largest number of rows that the model is learned from. If there are more
        rows, it is learned from a sample of the distinct rows, chosen by a hash of their content,
        and all rows are judged. "auto" is 10,000; a Gaussian kernel of up to three features takes
        all rows of an array, or 131,072 rows if they do not fit into memory. None is all rows.
    max_iter : int, default=1000
        The largest number of iterations after each new cluster. The iterations need not converge:
        they can repeat a cycle, and then stop here.
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
    lam_ : float
        The weight of the sparsity term that was used. After ``lam="auto"``,
        ``SequentialPCM(lam=lam_)`` can find other clusters, because it does not start from the
        clusters of smaller values. With ``init=cluster_centers_`` it finds the same clusters.
    lambda_path_ : LambdaPath
        The values that ``lam="auto"`` tried. For each value: the number of clusters, the fraction
        of rows in no cluster, and the criterion of the choice.
    n_iter_ : int
        The number of iterations, summed over all new clusters. With ``lam="auto"``, only those of
        the final fit of all rows.
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
    SparseAdaptivePCM : Starts with many clusters and removes superfluous ones.
    AlphaCutClustering : Clusters of any shape, from the density of the rows.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality import SequentialPCM
    >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> SequentialPCM().fit(X).n_clusters_
    3
    """

    lam_: float
    lambda_path_: LambdaPath

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AdaptiveClusterer._parameter_constraints,
        **SPARSITY_CONSTRAINTS,
        "lam": [StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither")],
        "max_clusters": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        *,
        lam: float | str = "auto",
        p: float = 0.5,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        sigma: float | str = "auto",
        box: float | None = 10.0,
        assign: str = "core",
        init: Any = "max-min",
        max_clusters: int = 100,
        max_samples: int | str | None = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
        store_memberships: bool = True,
    ) -> None:
        self.lam = lam
        self.p = p
        self.kernel = kernel
        self.sigma = sigma
        self.box = box
        self.assign = assign
        self.init = init
        self.max_clusters = max_clusters
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        opened, given = self._open_in_box(rows, weight)
        space = opened.space
        self._begin(callbacks, opened, n_runs=None)
        unit = self._unit_of_length(space)
        if isinstance(self.lam, str):
            path, result = self._along_path(space, given, unit, callbacks)
            attributes = {"lam_": float(path.lam[path.chosen]), "lambda_path_": path}
        else:
            result = self._rounds(space, given, unit, callbacks).fit(float(self.lam))
            attributes = {"lam_": float(self.lam)}
        return Found(opened, result, attributes)

    def _along_path(
        self, space: Space[Any], given: Any, unit: float, callbacks: FitCallbacks
    ) -> tuple[LambdaPath, PicardResult[State]]:
        """Choose lambda on a sample, and start all rows from the clusters found there."""
        at_most = _PATH_ROWS if isinstance(space, Euclidean) else _KERNEL_PATH_ROWS
        sample = space.subsample(at_most)
        few = space
        if sample is not None:
            few, given = sample.space, None if given is None else sample.to_sample(given)

        def settle(state: State) -> PicardResult[State]:
            prototypes = state.prototypes if sample is None else sample.to_full(state.prototypes)
            return adaptive_run(space, unit, callbacks)(ClusterState(prototypes, state.rule))

        rounds = self._rounds(few, given, unit, callbacks)
        limits = {"tol": max(self.tol, _PATH_TOL), "max_iter": min(self.max_iter, _PATH_ITER)}
        rounds = replace(rounds, run=partial(rounds.run, **limits))
        grid = lambda_grid(few, unit, float(self.p))
        if given is not None:
            start = rounds.begin(grid[0])
        else:
            mean, rows = one_cluster(few)
            start = ClusterState(mean, rounds.rule(unit * rows.distance, grid[0]))
        return follow_path(rounds, grid, start, partition_index(few), settle)

    def _rounds(
        self, space: Space[Any], given: Any, unit: float, callbacks: FitCallbacks
    ) -> Sequential[Any]:
        """The rounds in a space, at any lambda, from given prototypes or two rows far apart."""
        gaps: Gaps[Any] = Gaps(space, space.sample())
        if given is None:
            given = farthest_rows(space, gaps, space.mean, 2)
        return Sequential(
            space,
            gaps,
            run=adaptive_run(space, unit, callbacks),
            rule=lambda eta, lam: self._sparse_rule(eta, lam * unit**2),
            start=given,
            at_most=self.max_clusters,
        )

    def _vanished_remedy(self) -> str:
        if not isinstance(self.lam, str):
            return smaller_lam(self.lam)
        return (
            "clusters vanish at every lam that was tried. Use a smaller box, or AdaptivePCM. "
            "(Clusters of equal rows have no spread and vanish at every lam; AdaptivePCM keeps "
            "them.)"
        )
