"""Possibilistic c-means whose spreads adapt and whose superfluous clusters vanish."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_array

from typicality._checks import check_varying_rows
from typicality._compat import Interval, StrOptions
from typicality._typing import Doubles, Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    tell,
    warn_about_convergence,
    warn_about_fragments,
    warn_about_kernel,
    warn_about_prototype_labels,
)
from typicality.cluster._inputs import SPECIAL_KERNELS, OpenSpace
from typicality.cluster._prototypes import Clustering, Found, PrototypeClusterer
from typicality.cluster._starts import check_distinct_points, fuzzy_run
from typicality.cluster.fuzzy import fuzzifier
from typicality.kernels import Kernel
from typicality.membership.fuzzy import Fuzzy
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.sparse import SparsePossibilistic
from typicality.membership.spread import AdaptedSpread, smallest_spread, spread_from_separation
from typicality.solve.indices import partition_index
from typicality.solve.picard import PicardResult
from typicality.solve.schedules import LambdaPath, Sequential, follow_path, lambda_grid, one_cluster
from typicality.solve.starts import farthest_rows, max_min, start_rows
from typicality.solve.step import Alternation, ClusterState
from typicality.spaces import Euclidean, Gaps, Space

Run = Callable[..., PicardResult[State]]

_SIDE = 20.0  # of a box for one feature; 10 for four of them
_SMALLEST_BOX, _LARGEST_BOX = 1e-6, 1e6
_PATH_ROWS, _KERNEL_PATH_ROWS = 1500, 500  # of more, lambda is chosen on a sample
_PATH_TOL, _PATH_ITER = 1e-3, 100  # along the path; at the value that is chosen, as asked for
_TOO_MANY_NOWHERE = 1 / 3  # of the rows

_NUMBER_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "beta": [Interval(Real, 0, 1, closed="neither")],
}
_SPARSITY_CONSTRAINTS: dict[str, list[Any]] = {
    "p": [Interval(Real, 0, 1, closed="neither")],
    "assign": [StrOptions({"core", "all"})],
}


class AdaptiveClusterer(PrototypeClusterer):
    """Base of the estimators whose spreads follow the clusters; not for direct use."""

    eta_: Annotated[Doubles, "c"]
    alpha: float | None = None  # a parameter of APCM only

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrototypeClusterer._parameter_constraints,
        "box": [Interval(Real, _SMALLEST_BOX, _LARGEST_BOX, closed="both"), None],
        "init": [StrOptions({"max-min"}), "array-like"],
    }
    _column_name = "typicality"
    _rule_attribute = "eta"
    _shares_labels = False
    _why_dense = "it scales every feature to one range, and then hardly any value is zero"
    _cap_advice = (
        "The iterations may repeat a cycle, which does not end: increase tol or max_iter, or use "
        "the result as it is."
    )

    # ---- the space and the start -----------------------------------------------------------------

    def _open_in_box(self, rows: Floats, weight: Floats | None) -> tuple[OpenSpace, Any]:
        """The space in the box, and the prototypes that `init` gives as points, or None.

        Raises
        ------
        ValueError
            All rows are the same, or `init` is an array that cannot be used.
        """
        check_varying_rows(rows, weight)
        given = None
        if not isinstance(self.init, str):
            given = self._checked_points(n_features=rows.shape[1])
        opened = self._open(rows, weight, box=self.box if self.alpha is None else None)
        if opened.space.total_variance <= 0:
            raise ValueError(
                "All rows of positive weight are one point in the space of the kernel: there "
                "are no clusters to find. Use another kernel."
            )
        if given is not None:
            given = opened.space.at(opened.reader.read(given.astype(rows.dtype)))
        return opened, given

    def _checked_points(self, *, n_features: int) -> Floats:
        if self.kernel in SPECIAL_KERNELS:
            raise ValueError(
                "init is an array, but with this kernel prototypes have no coordinates. Use "
                "init='max-min'."
            )
        points = np.asarray(
            check_array(self.init, dtype=[np.float64, np.float32], input_name="init")
        )
        expected = getattr(self, "n_clusters", len(points)), n_features
        if points.shape != expected:
            raise ValueError(
                f"init has shape {points.shape}; expected prototypes of shape (n_clusters, "
                f"n_features) = {expected}."
            )
        check_distinct_points(points, "init")
        return points

    def _unit_of_length(self, space: Space[Any]) -> float:
        """The unit of length: features are scaled to the box already, kernels cannot be."""
        if self.box is None or isinstance(space, Euclidean):
            return 1.0
        data = space.candidates(2)
        first, second = max_min(data, 2)
        diameter = float(np.sqrt(data.sqdist_to(first)[second]))
        return diameter / self.box or 1.0

    # ---- the iteration ---------------------------------------------------------------------------

    def _sparse_rule(self, eta: Doubles, lam: float) -> SparsePossibilistic:
        """The rule of the iterations with a sparsity term; a subclass can return another one."""
        return SparsePossibilistic(eta, lam, float(self.p))

    def _first_prototypes(self, space: Space[Any]) -> Any:
        """The first `n_clusters` prototypes by `init="max-min"`; a subclass can choose others."""
        return space.near_rows(start_rows("max-min", space, self.n_clusters), share=0.0)

    # ---- warnings --------------------------------------------------------------------------------

    def _warn(self, found: Clustering) -> None:
        space, state, labels, outcome = found
        if labels.n_clusters == 0:
            _tell_of_no_cluster(getattr(self, "lam", "auto"))
            return
        if warn_about_kernel(space, state.prototypes, self.kernel):
            return
        warn_about_prototype_labels(labels, about_empty="The iteration passes through such states.")
        narrower = "a box, or smaller units"
        if self.box is not None:  # distances grow like the root of the dimension
            narrower = f"box={min(self.box / 2, _SIDE / np.sqrt(space.dimension)):.2g}"
        tally = outcome.tally
        mean_weight = tally.weight.sum() / max(tally.counted.sum(), 1)
        warn_about_fragments(tally, min(1.0, mean_weight), remedy=f"Try {narrower}.")
        nowhere = float(tally.rows[-1] / tally.rows.sum())
        if nowhere > _TOO_MANY_NOWHERE:
            fixed = not isinstance(getattr(self, "lam", "auto"), str)
            remedy = f"Try {narrower}{', a smaller lam' if fixed else ''}"
            tell(
                "rows nowhere",
                share=nowhere,
                remedy=f"{remedy}, or assign='all', which leaves no row out.",
            )


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

    Implements :cite:`xenaki2014`, section 2, without the sparsity term (APCM), and with `alpha`
    :cite:`xenaki2016`. Differs from the papers: the default initial prototypes do not depend on the
    order of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of initial prototypes. Choose more than the number of clusters that you expect.
        At most the number of distinct rows is used.
    alpha : float or None, default=None
        With a number, the form of :cite:`xenaki2016`: a preliminary fuzzy c-means gives the initial
        prototypes, and mean distances :math:`r_k`, weighted by its memberships. The spread is then
        :math:`\eta_k \, \min_l r_l / \alpha` instead of :math:`\eta_k`, and at first, :math:`r_k`
        replaces the mean distance. `box` and `beta` are not used, and the result is the same in any
        unit of length. Larger values give narrower, and so more, clusters; try 1 and 2. Scale the
        features. None uses `box`. Neither is better in all respects, see docs/theory.
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
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
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
        **_NUMBER_CONSTRAINTS,
        "alpha": [Interval(Real, 0, np.inf, closed="neither"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float | None = None,
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
        self.alpha = alpha
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
        opened, start = self._open_in_box(rows, weight)
        space = opened.space
        if start is None:
            start = self._first_prototypes(space)
        self._begin(callbacks, opened, n_runs=1 + (self.alpha is not None))
        unit = self._unit_of_length(space)
        eta = np.array([space.total_variance])
        if self.alpha is not None:
            start, eta, unit = self._from_partition(space, start, self.alpha, callbacks)
        elif start.n_clusters > 1:
            eta = spread_from_separation(start.mutual_sqdist(), self.beta)
            eta = np.maximum(eta, smallest_spread(space.total_variance))
        state = ClusterState(start, self._first_rule(eta, unit))
        return opened, _adaptive_run(space, unit, callbacks)(state)

    def _from_partition(
        self, space: Space[Any], start: Any, alpha: float, callbacks: FitCallbacks
    ) -> tuple[Any, Doubles, float]:
        """The prototypes of fuzzy c-means, their spreads, and the unit of length."""
        rule = Fuzzy(fuzzifier("auto", space))
        result = fuzzy_run(space, [start], rule, callbacks)
        stage = "Preliminary fuzzy c-means: "
        warn_about_convergence(result, tol=self.tol, max_iter=self.max_iter, stage=stage)
        prototypes, sample = result.state.prototypes, space.sample()
        sqdist = space.sqdist_of(prototypes, sample)
        weights = rule.memberships(sqdist) * sample.weight[:, None]
        distance = np.sum(weights * np.sqrt(sqdist), axis=0) / weights.sum(axis=0)
        unit = float(distance.min()) / alpha
        return prototypes, unit * distance, unit

    def _first_rule(self, eta: Doubles, unit: float) -> Any:
        """The rule of the iterations, from the first spreads and the unit of length."""
        return Possibilistic1996(eta)


class SparseAdaptivePCM(AdaptivePCM):
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
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
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
        **_NUMBER_CONSTRAINTS,
        **_SPARSITY_CONSTRAINTS,
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

    def _first_rule(self, eta: Doubles, unit: float) -> Any:
        return self._sparse_rule(eta, float(self.lam) * unit**2)


class SequentialPCM(AdaptiveClusterer):
    r"""Sequential sparse adaptive possibilistic c-means (SeqSAPCM): finds the number of clusters.

    The algorithm starts with two rows that are far apart, and iterates as
    :class:`SparseAdaptivePCM` does. Then it adds a prototype at the row that is farthest from all
    prototypes, and iterates again. It stops when no new cluster is found. A new cluster has the
    initial spread

    .. math:: \eta = \max ( d_{\max}^2, d_{\mathrm{slope}}^2 ),

    where :math:`d_{\max}` is the largest distance of a row to its nearest other row. For
    :math:`d_{\mathrm{slope}}`, sort the distances from the new prototype to its ten nearest rows,
    and take the distance after the largest jump.

    With ``lam="auto"``, the clusters are computed for up to 50 increasing values of `lam`. They
    start with a single cluster, and each value continues with the clusters of the value before. If
    the farthest row gives no new cluster, the densest row that is in no cluster is tried. A row
    that gives none is left out at the next value. The clusters with the smallest Bayesian
    information criterion (BIC) are chosen. The BIC is that of a model with Gaussian clusters, and
    uniform noise for the rows in no cluster. In the space of a kernel, the largest
    Calinski-Harabasz index is used instead. Only clusters that are also found at the next smaller
    and the next larger value can be chosen. `lambda_path_` has the values and results.

    This choice uses a sample of at most 1,500 rows (500 in the space of a kernel), with a tolerance
    of 1e-3 and 100 iterations per new cluster. All rows are then fitted from the chosen clusters,
    with `tol` and `max_iter`. With a kernel and a given `lam`, the distances of all pairs of rows
    are computed once, in O(n^2 d) time.

    Implements :cite:`xenaki2014`, section 3. Differs from the paper: typicalities are computed to
    rounding error, copies of a row are not neighbours of each other, and `lam` can be chosen
    automatically. The initial prototypes do not depend on the order of the rows. Isolated rows
    start no cluster and are not used for :math:`d_{\max}`, because one outlier would end the
    search. A row is isolated if the distance to its nearest row is more than three times the 95 %
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
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
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
        **_SPARSITY_CONSTRAINTS,
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
            self.lambda_path_, result = self._along_path(space, given, unit, callbacks)
            self.lam_ = float(self.lambda_path_.lam[self.lambda_path_.chosen])
        else:
            result = self._rounds(space, given, unit, callbacks).fit(float(self.lam))
            self.lam_ = float(self.lam)
        return opened, result

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
            return _adaptive_run(space, unit, callbacks)(ClusterState(prototypes, state.rule))

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
            run=_adaptive_run(space, unit, callbacks),
            rule=lambda eta, lam: self._sparse_rule(eta, lam * unit**2),
            start=given,
            at_most=self.max_clusters,
        )


def _adaptive_run(space: Space[Any], unit: float, callbacks: FitCallbacks) -> Run:
    """The loop in which spreads follow the clusters, from a state to its end."""
    update = AdaptedSpread(unit, smallest_spread(space.total_variance))
    return partial(callbacks.run, Alternation(space, update))


def _tell_of_no_cluster(lam: float | str) -> None:
    """Warn that all clusters have vanished."""
    reason, remedy = "clusters vanish at every lam that was tried", "Use a smaller box"
    if not isinstance(lam, str):
        reason = f"lam={lam:.3g} is too large for their spreads"
        remedy = (
            f"Try lam={lam / 4:.2g}, a smaller box if there are many features, or let "
            "SequentialPCM(lam='auto') choose lam"
        )
    kept = "Clusters of equal rows have no spread and vanish at every lam; AdaptivePCM keeps them."
    tell("no cluster", reason=reason, remedy=f"{remedy}. ({kept})", lam=lam)
