"""Sequential sparse adaptive possibilistic c-means: no number of clusters at all."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from typicality._compat import Interval, StrOptions
from typicality._typing import Floats
from typicality.cluster._adaptive import (
    SPARSITY_CONSTRAINTS,
    AdaptiveClusterer,
    adaptive_run,
    smaller_lam,
)
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._prototypes import Found
from typicality.geometry import Geometry, InputSpace
from typicality.kernels import Kernel
from typicality.solve.indices import partition_index
from typicality.solve.picard import PicardResult
from typicality.solve.schedules import (
    LEAST_WIDTH,
    LambdaPath,
    Sequential,
    follow_path,
    lambda_grid,
    one_cluster,
)
from typicality.solve.starts import at_the_first_row, farthest_rows
from typicality.solve.step import ClusterState

_PATH_ROWS, _KERNEL_PATH_ROWS = 1500, 500  # of more, lambda is chosen on a sample
_USUAL_CLUSTERS, _USUAL_ITERATIONS = 5, 15  # iterations over all rows, not over the sample
_PATH_TOL, _PATH_ITER = 1e-3, 100  # along the path; at the value that is chosen, as asked for


class SequentialPCM(AdaptiveClusterer):
    r"""Sequential sparse adaptive possibilistic c-means (SeqSAPCM): no number of clusters at all.

    Starts with two rows that are far apart and iterates :class:`SparseAdaptivePCM`; then
    adds the row that is farthest from all prototypes as one more, and iterates again, until no new
    cluster is found. A new cluster begins with the spread

    .. math:: \eta = \max ( d_{\max}^2, d_{\mathrm{slope}}^2 ),

    where :math:`d_{\max}` is the largest distance of a row to its nearest row, and
    :math:`d_{\mathrm{slope}}` the distance after the largest jump among the distances from the new
    prototype to its ten nearest rows.

    With ``lam="auto"`` clusters are added along 50 rising values of lambda, from a single cluster
    until none is left. Each value goes on with the clusters of the one before. Where the
    farthest row brings no cluster, the densest of the rows in no cluster is tried. The clusters
    with the smallest Bayesian information criterion are kept, under a model of Gaussian clusters
    and uniform noise: rows in no cluster are the noise, and count
    (`typicality.solve.indices.NoiseBIC`). In the space of a kernel, which has no coordinates, it is
    the largest Calinski-Harabasz index. The same clusters must be there at the next smaller and the
    next larger value. The path is kept in `lambda_path_`. It uses at most 1,500 rows (500 in the
    space of a kernel), a tolerance of 1e-3 and 100 iterations a round; of more rows it takes a
    sample that does not depend on their order. All rows then start from the clusters it chose, with
    `tol` and `max_iter`. With a kernel and a given `lam`, all pairs of rows are looked at once,
    O(n^2 d), for the distances to the nearest.

    Implements :cite:`xenaki2014`, section 3. Differs from the paper: memberships are solved to
    rounding; copies of a row count as one in the search for neighbours; lambda can be chosen; and,
    unless ``init="paper"``, the start does not depend on the order of the rows, and isolated rows,
    more than three times as far from their nearest row as 95 of 100 rows are, start no cluster and
    do not count in :math:`d_{\max}`, because one outlier would end the search; and new clusters are
    at least four times as wide as lambda lets live, because gaps between many rows are small.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        The weight of sparsity, in the units of the box, or "auto" to choose it. The right values
        lie in a window: below it clusters merge, above it all vanish, with a warning.
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
    init : {"max-min", "paper"} or array-like of shape (n_starts, n_features), default="max-min"
        The start. "max-min" begins with the row farthest from the mean; each next point is the row
        farthest from those already chosen. It depends neither on the order of the rows nor on
        chance. With ``lam="auto"`` it is the mean of all rows. "paper" begins with the row farthest
        from the first row. Or points.
    max_clusters : int, default=100
        No cluster is added beyond this number.
    max_iter : int, default=1000
        The most iterations of each round. The iteration can end in a cycle, which this ends too.
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
    lam_ : float
        The weight of sparsity that was used. With "auto" the clusters of smaller values were the
        start, so ``SequentialPCM(lam=lam_)`` may find others; it finds these from
        ``init=cluster_centers_``.
    lambda_path_ : LambdaPath
        With ``lam="auto"``: the values tried, with the number of clusters, the share of rows in no
        cluster and the index at each.
    n_iter_ : int
        The number of iterations of all rounds; with ``lam="auto"``, of the last run, on
        all rows at the value chosen.
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
    SparseAdaptivePCM : From too many clusters downwards.
    AlphaCutClustering : Clusters of any shape, and their number, from the density.

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
        root: str = "exact",
        init: Any = "max-min",
        max_clusters: int = 100,
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
        store_memberships: bool | str = True,
    ) -> None:
        self.lam = lam
        self.p = p
        self.kernel = kernel
        self.sigma = sigma
        self.box = box
        self.assign = assign
        self.root = root
        self.init = init
        self.max_clusters = max_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        opened, given = self._open_in_box(rows, weight)
        space = opened.space
        self._begin(callbacks, opened, _USUAL_CLUSTERS, n_runs=None, n_iter=_USUAL_ITERATIONS)
        unit = self._unit_of_length(space)
        if isinstance(self.lam, str):
            path, result = self._along_path(space, given, unit, callbacks)
            attributes = {"lam_": float(path.lam[path.chosen]), "lambda_path_": path}
        else:
            result = self._rounds(space, given, unit, callbacks).fit(float(self.lam))
            attributes = {"lam_": float(self.lam)}
        return Found(opened, result, attributes)

    def _along_path(
        self, space: Geometry[Any], given: Any, unit: float, callbacks: FitCallbacks
    ) -> tuple[LambdaPath, PicardResult[State]]:
        """Choose lambda on a sample, and start all rows from the clusters found there."""
        at_most = _PATH_ROWS if isinstance(space, InputSpace) else _KERNEL_PATH_ROWS
        sample = space.subsample(at_most)
        few = space
        if sample is not None:
            few, given = sample.geometry, None if given is None else sample.to_sample(given)

        def settle(state: State) -> PicardResult[State]:
            prototypes = state.prototypes if sample is None else sample.to_full(state.prototypes)
            return adaptive_run(space, unit, callbacks)(ClusterState(prototypes, state.rule))

        rounds = self._rounds(few, given, unit, callbacks)
        limits = {"tol": max(self.tol, _PATH_TOL), "max_iter": min(self.max_iter, _PATH_ITER)}
        rounds = replace(rounds, run=partial(rounds.run, **limits))
        grid = lambda_grid(few, unit, float(self.p))
        if given is not None or self._by_the_paper:
            start = rounds.begin(grid[0])
        else:
            mean, rows = one_cluster(few)
            start = ClusterState(mean, rounds.rule(unit * rows.distance, grid[0]))
        return follow_path(rounds, grid, start, partition_index(few), settle)

    def _rounds(
        self, space: Geometry[Any], given: Any, unit: float, callbacks: FitCallbacks
    ) -> Sequential[Any]:
        """The rounds in a space, at any lambda, from given prototypes or two rows far apart."""
        gaps = space.gaps(all_rows=self._by_the_paper)
        if given is None:
            first = at_the_first_row(space) if self._by_the_paper else space.middle()
            given = farthest_rows(space, gaps, first, 2)
        return Sequential(
            space,
            gaps,
            run=adaptive_run(space, unit, callbacks),
            rule=lambda eta, lam: self._sparse_rule(eta, lam * unit**2),
            start=given,
            at_most=self.max_clusters,
            least_width=0.0 if self._by_the_paper else LEAST_WIDTH,
        )

    def _vanished_remedy(self) -> str:
        if not isinstance(self.lam, str):
            return smaller_lam(self.lam)
        return (
            "no lam that was tried leaves a cluster. Use a smaller box, or AdaptivePCM, "
            "which also keeps clusters of equal rows, which have no spread."
        )
