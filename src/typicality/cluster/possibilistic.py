"""Possibilistic c-means."""

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np

from typicality._compat import Interval, StrOptions
from typicality._typing import Doubles, Floats
from typicality.cluster._batches import BatchClusterer
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    fuzzy_collapse_advice,
    tell,
    warn_about_collapse,
    warn_about_convergence,
    warn_about_far_clusters,
    warn_about_kernel,
    warn_about_prototype_labels,
)
from typicality.cluster._estimator import POSITIVE
from typicality.cluster._prototypes import Clustering, Found
from typicality.cluster._starts import SHAPE_CONSTRAINTS, START_CONSTRAINTS, Starts, fuzzy_run
from typicality.cluster.fuzzy import fuzzifier
from typicality.kernels import Kernel
from typicality.membership.fuzzy import Fuzzy
from typicality.membership.possibilistic import (
    Possibilistic1993,
    Possibilistic1996,
    PossibilisticFuzzy,
)
from typicality.membership.spread import spread_from_partition
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import Alternation, ClusterState
from typicality.spaces import Ellipsoidal, Space
from typicality.spaces.base import is_reached

_SCALES: list[float] = [
    0.5**k for k in range(13)
]  # of the spread within clusters, the widest first


_UNSUPERVISED = 2.0  # the automatic m of eta="variance"


class PossibilisticCMeans(BatchClusterer):
    r"""Possibilistic c-means: memberships need not sum to one, so outliers belong to no cluster.

    The 1996 form minimises

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk} \lVert x_h - v_k \rVert^2 +
        \eta_k (u_{hk} \ln u_{hk} - u_{hk}) \Big), \qquad
        u_{hk} = e^{-\lVert x_h - v_k \rVert^2 / \eta_k},

    and the 1993 form minimises

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk}^m \lVert x_h - v_k \rVert^2 +
        \eta_k (1 - u_{hk})^m \Big), \qquad
        u_{hk} = \big[ 1 + (\lVert x_h - v_k \rVert^2 / \eta_k)^{1/(m-1)} \big]^{-1}.

    The 2005 form, possibilistic-fuzzy c-means (PFCM), adds `fuzzy_weight` times the objective of
    :class:`FuzzyCMeans` to that of 1993. The fuzzy term keeps prototypes apart, and typicalities
    are those of 1993.

    Here :math:`x_h` are the rows with their sample weights :math:`\omega_h`, :math:`v_k` are the
    prototypes, and :math:`\eta_k` is the spread of cluster k, a squared distance. The memberships
    :math:`u_{hk}` are called typicalities. Each prototype moves to a dense region. Several
    prototypes can move to the same region; then a warning is given, and the region has one label.

    A preliminary fuzzy c-means, with `init` and `n_init`, gives the initial prototypes and, with
    ``eta="fcm"``, the spreads. It is not run if both `eta` and `init` are given as numbers. It does
    not use rows that are far from all others, because a single such row would get its own
    prototype. See "Far rows" in docs/theory.

    Implements :cite:`krishnapuram1993`; :cite:`krishnapuram1996`; :cite:`pal2005`;
    :cite:`filippone2010`, eq. (6)-(10), with a kernel eq. (11)-(17).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of prototypes. The result can have fewer clusters, because several prototypes can
        describe the same cluster; then a warning is given. With the default `eta_scale`, this
        happens rarely.
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
    eta : "fcm", "variance", float or array-like of shape (n_clusters,), default="fcm"
        The spread of the clusters, as a squared distance. A row at this squared distance has the
        typicality exp(-1) (1996 form) or 1/2 (1993 form). With "fcm", the spread is `eta_scale`
        times the mean squared distance within the clusters of the preliminary fuzzy partition. The
        mean is weighted by :math:`u_{hk}^m`, as in :cite:`krishnapuram1993`;
        :cite:`filippone2010`, eq. (10), prints :math:`u_{hk}`. With "variance", all spreads are
        :math:`s^2 / (m^2 \sqrt c)`, where :math:`s^2` is the mean squared distance of the rows to
        their mean, c the number of clusters, and m is 2 if "auto". With the 1996 form this is the
        unsupervised possibilistic clustering of :cite:`yang2006`; typicalities are its
        memberships to the power m.
    eta_scale : "auto" or float, default="auto"
        The factor of estimated spreads. With a number, each cluster has its own spread. With 1,
        most rows of a cluster have typicalities above .1, but prototypes of neighbouring clusters
        often merge, especially in many dimensions. With "auto", all clusters have the same spread,
        the mean over all clusters, and the factor is the largest of 1, 1/2, 1/4, ..., 1/4096 for
        which no two prototypes find the same cluster. In many dimensions or with clusters that
        overlap, it is small. Then typicalities are small, too. Their order within a cluster is
        meaningful, but their size is not. Original to typicality, see docs/theory.
    objective : {"1996", "1993", "2005"}, default="1996"
        Which of the objectives above is minimised.
    fuzzy_weight : float, default=1.0
        The weight of the fuzzy term in the 2005 form.
    m : float or "auto", default="auto"
        The fuzzifier of the preliminary fuzzy c-means and of the forms of 1993 and 2005. "auto"
        depends on the numbers of rows and features, as in :class:`FuzzyCMeans`.
    fcm_m : float, "auto" or None, default=None
        Another fuzzifier for the preliminary fuzzy c-means and the fuzzy term; None is `m`.
    covariance_type : {"spherical", "full"}, default="spherical"
        "full" gives each cluster a covariance :math:`F_k`, the weighted covariance of the rows, and
        measures distances by it: clusters are ellipsoids of equal volume :cite:`gustafson1979`. The
        squared distance is then :math:`\det(F_k)^{1/d} (x_h - v_k)^\top F_k^{-1} (x_h - v_k)`. The
        fit starts from the spherical clusters, and the possibilistic iterations keep the
        covariances of the preliminary fuzzy partition. Only with the linear kernel. Scale the
        features, and use it if there are many more rows in each cluster than features. See
        docs/theory.
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
        The number of runs of the preliminary fuzzy c-means, from different initial prototypes. The
        run with the lowest fuzzy objective is kept. (The possibilistic objective cannot be used for
        this choice, because it is lowest if all prototypes coincide.)
    max_samples : int, "auto" or None, default="auto"
        With a kernel: the largest number of rows that the model is learned from. If there are more
        rows, it is learned from a sample of the distinct rows, chosen by a hash of their content,
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
    max_iter : int, default=1000
        The largest number of iterations of one run, for the preliminary fuzzy c-means and for the
        possibilistic iterations.
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
        For each row, the cluster with its largest typicality: 0, 1, 2, ...
    memberships_ : array of shape (n_samples, n_clusters)
        The typicalities, one column per prototype.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The prototypes. Prototype k has the label k. Prototypes that share a label with another one,
        or that no row prefers, come last. Only in the input space, because prototypes in the space
        of a kernel have no coordinates.
    covariances_ : array of shape (n_clusters, n_features, n_features)
        With "full" covariances, the covariance of each cluster.
    prototype_labels_ : array of shape (n_clusters,), int32
        The label of each prototype. Prototypes that coincide share a label.
    n_clusters_ : int
        The number of different labels.
    eta_ : array of shape (n_clusters,)
        The spread of each prototype.
    eta_scale_ : float or None
        The factor of the spread that was used; None if `eta` was given.
    m_ : float
        The value of m that was used.
    n_iter_ : int
        The number of possibilistic iterations.
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
    FuzzyCMeans : Memberships that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import PossibilisticCMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [9.0]])
    >>> model = PossibilisticCMeans(n_clusters=2, eta=0.1, init=[[0.0], [1.0]]).fit(X)
    >>> model.memberships_[-1].round(3)  # the last row is in no cluster
    array([0., 0.])
    """

    eta_: Annotated[Doubles, "c"]
    eta_scale_: float | None
    m_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BatchClusterer._parameter_constraints,
        **START_CONSTRAINTS,
        **SHAPE_CONSTRAINTS,
        "eta": [StrOptions({"fcm", "variance"}), POSITIVE, "array-like"],
        "eta_scale": [StrOptions({"auto"}), POSITIVE],
        "objective": [StrOptions({"1993", "1996", "2005"})],
        "fuzzy_weight": [POSITIVE],
        "m": [Interval(Real, 1, np.inf, closed="neither"), StrOptions({"auto"})],
        "fcm_m": [Interval(Real, 1, np.inf, closed="neither"), StrOptions({"auto"}), None],
    }

    _column_name = "typicality"
    _rule_attribute = "eta"
    _why_dense = None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        sigma: float | str = "auto",
        eta: Any = "fcm",
        eta_scale: float | str = "auto",
        objective: str = "1996",
        fuzzy_weight: float = 1.0,
        m: float | str = "auto",
        fcm_m: float | str | None = None,
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
        self.kernel = kernel
        self.sigma = sigma
        self.eta = eta
        self.eta_scale = eta_scale
        self.objective = objective
        self.fuzzy_weight = fuzzy_weight
        self.m = m
        self.fcm_m = fcm_m
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

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        estimates_eta = isinstance(self.eta, str) and self.eta == "fcm"
        eta = None if isinstance(self.eta, str) else _given_spread(self.eta, self.n_clusters)
        starts = Starts(self, rows, weight)
        eta = None if eta is None else eta[: starts.n_clusters]
        opened = self._open(rows, weight)
        typical = starts.typical(opened.space)
        m = fuzzifier(self.m, typical)
        if eta is None and not estimates_eta:
            power = _UNSUPERVISED if isinstance(self.m, str) else m
            common = typical.total_variance / (power**2 * np.sqrt(starts.n_clusters))
            eta = np.full(starts.n_clusters, common or 1.0)
        fuzzy = Fuzzy(m if self.fcm_m is None else fuzzifier(self.fcm_m, typical))
        has_shapes = self.covariance_type == "full"
        needs_partition = estimates_eta or has_shapes or not starts.is_array
        start_rule = fuzzy if needs_partition else self._rule_with(eta, m, fuzzy.m)
        drawn = starts.draw(opened, start_rule, within=typical)
        tries_scales = estimates_eta and self.eta_scale == "auto"
        n_runs = len(drawn) + needs_partition + has_shapes
        self._begin(callbacks, opened, n_runs=None if tries_scales else n_runs)
        prototypes: Any = drawn[0]
        if needs_partition:
            prototypes = self._partition(typical, drawn, fuzzy, callbacks)
        trials: list[tuple[float | None, Any]] = [(None, eta)]
        if eta is None:
            trials = self._estimated_spreads(typical, fuzzy, prototypes)
        states = [
            (scale, ClusterState(prototypes, self._rule_with(eta, m, fuzzy.m)))
            for scale, eta in trials
        ]
        space = opened.space.rigid if isinstance(opened.space, Ellipsoidal) else opened.space
        self.eta_scale_, result = self._widest_apart(space, states, callbacks)
        self.m_ = m
        return opened, result

    def _estimated_spreads(
        self, space: Space[Any], fuzzy: Fuzzy, prototypes: Any
    ) -> list[tuple[float | None, Doubles]]:
        """The spreads to try, each with its factor of the spread within fuzzy clusters."""
        sweep = space.sweep(fuzzy, prototypes)
        within, scales = np.full_like(sweep.within_sqdist, sweep.pooled_within_sqdist), _SCALES
        if not isinstance(self.eta_scale, str):
            within, scales = sweep.within_sqdist, [self.eta_scale]
        estimate = partial(spread_from_partition, within, total_variance=space.total_variance)
        degenerate = estimate(eta_scale=1.0)[1]
        if len(degenerate):
            tell("degenerate spread", n_clusters=len(degenerate))
        return [(scale, estimate(eta_scale=scale)[0]) for scale in scales]

    def _widest_apart(
        self,
        space: Space[Any],
        states: list[tuple[float | None, ClusterState[Any]]],
        callbacks: FitCallbacks,
    ) -> tuple[float | None, PicardResult[State]]:
        """The first run in which no two prototypes find the same cluster, and its factor.

        If there is none, the first of those with the most clusters.
        """
        runs: list[tuple[int, float | None, PicardResult[State]]] = []
        for scale, state in states:
            result = callbacks.run(Alternation(space), state)
            if len(states) == 1 or result.status in (Status.NONFINITE, Status.STOPPED):
                return scale, result
            labels, _ = self._labelled(space, result.state, memberships=False)
            runs.append((labels.n_clusters, scale, result))
            if labels.n_clusters == len(labels.order):
                break
        return max(runs, key=lambda run: run[0])[1:]

    def _partition(
        self, space: Space[Any], starts: list[Any], fuzzy: Fuzzy, callbacks: FitCallbacks
    ) -> Any:
        """The prototypes of the preliminary fuzzy c-means."""
        stage = "Preliminary fuzzy c-means: "
        result = fuzzy_run(space, starts, fuzzy, callbacks)
        warn_about_convergence(result, tol=self.tol, max_iter=self.max_iter, stage=stage)
        advice = partial(fuzzy_collapse_advice, fuzzy.m)
        warn_about_collapse(space, result.state, advice, stage=stage)
        return result.state.prototypes

    def _rule_with(
        self, eta: Any, m: float, fuzzy_m: float
    ) -> Possibilistic1993 | Possibilistic1996:
        if self.objective == "2005":
            return PossibilisticFuzzy(eta, m, fuzzy_m, float(self.fuzzy_weight))
        return Possibilistic1993(eta, m) if self.objective == "1993" else Possibilistic1996(eta)

    def _warn(self, found: Clustering) -> None:
        if warn_about_kernel(found.space, found.state.prototypes, self.kernel):
            return
        unreached = np.flatnonzero(~is_reached(found.outcome.mass))
        if len(unreached):
            smallest = self.eta_[unreached].min()
            tell("unreached prototypes", n_clusters=len(unreached), smallest=smallest)
        warn_about_far_clusters(found)
        narrower = "try a smaller eta to separate more regions, "
        if isinstance(self.eta, str) and self.eta == "fcm":
            narrower = "try eta_scale='auto' to separate more regions, "
        if self.eta_scale_ is not None and self.eta_scale == "auto":
            narrower = "try "
        advice = (
            f"Each prototype moves to a dense region as wide as its spread: {narrower}more runs "
            "(n_init), or fewer clusters."
        )
        warn_about_prototype_labels(found.labels, advice=advice)


def _given_spread(eta: Any, n_clusters: int) -> Doubles:
    """`eta` given as a number or an array: one positive spread for each cluster."""
    try:
        spread = np.broadcast_to(np.asarray(eta, dtype=np.float64), (n_clusters,)).copy()
    except (TypeError, ValueError):
        spread = np.full(n_clusters, np.nan)
    if not (np.isfinite(spread) & (spread > 0)).all():
        raise ValueError(
            f"eta must be 'fcm', 'variance', a positive number, or an array of shape "
            f"({n_clusters},), one number for each cluster; got {eta!r}. It is a squared distance: "
            "the typicality of a row at squared distance eta is exp(-1) (1/2 in the 1993 form)."
        )
    return spread
