"""Possibilistic c-means."""

from collections.abc import Callable
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np

from typicality._compat import Interval, StrOptions
from typicality._typing import Doubles, Floats
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._labels import Clustering
from typicality.cluster._prototypes import Found, PrototypeClusterer
from typicality.cluster._starts import START_CONSTRAINTS, Starts, best_run
from typicality.cluster._warnings import (
    fuzzy_collapse_advice,
    memberships_collapsed,
    warn_about_collapse,
    warn_about_convergence,
    warn_about_degenerate_spread,
    warn_about_far_clusters,
    warn_about_kernel,
    warn_about_prototype_labels,
    warn_about_unreached,
    warn_about_vanished_spread,
)
from typicality.cluster.fuzzy import fuzzifier
from typicality.geometry import Geometry
from typicality.kernels import Kernel
from typicality.membership.fuzzy import Fuzzy
from typicality.membership.possibilistic import Possibilistic1993, Possibilistic1996
from typicality.membership.spread import smallest_spread, spread_from_partition, spread_update
from typicality.solve.step import Alternation, ClusterState

_USUAL_ITERATIONS = 100  # of a run: from ten to some hundred


class PossibilisticCMeans(PrototypeClusterer):
    r"""Possibilistic c-means: each cluster judges a row on its own, so outliers get no membership.

    The 1996 form minimises

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk} \lVert x_h - v_k \rVert^2 +
        \eta_k (u_{hk} \ln u_{hk} - u_{hk}) \Big), \qquad
        u_{hk} = e^{-\lVert x_h - v_k \rVert^2 / \eta_k},

    the 1993 form

    .. math:: J(U, V) = \sum_h \omega_h \sum_k \Big( u_{hk}^m \lVert x_h - v_k \rVert^2 +
        \eta_k (1 - u_{hk})^m \Big), \qquad
        u_{hk} = \big[ 1 + (\lVert x_h - v_k \rVert^2 / \eta_k)^{1/(m-1)} \big]^{-1}.

    Memberships are typicalities: they do not sum to one. Each prototype settles on a dense region;
    several may settle on the same one, which a warning reports and `labels_` shows as one cluster.

    A preliminary fuzzy c-means, started by `init` with `n_init` starts, gives the start and, with
    ``eta="fcm"``, the spreads. It is left out when both `eta` and `init` are given as numbers.
    Rows that are far from all others take no part in it: one of them would get a prototype of its
    own. See "Far rows" in docs/theory.

    Implements :cite:`krishnapuram1993`; :cite:`krishnapuram1996`;
    :cite:`filippone2010`, eq. (6)-(10), with a kernel eq. (11)-(17).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of prototypes; fewer clusters may come out.
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
    eta : "fcm", float or array-like of shape (n_clusters,), default="fcm"
        The spread of the clusters, a squared distance: there the typicality is exp(-1) (1996) or
        1/2 (1993). "fcm" takes `gamma` times the mean squared distance within each cluster of the
        preliminary fuzzy partition.
    gamma : float, default=0.1
        The multiplier of spreads that are estimated. With 1, the spread is the mean squared
        distance within a cluster: most rows of a cluster have typicalities above .1, but
        prototypes of neighbouring clusters meet, above all in many dimensions. With the default
        most of them stay apart, and a typicality above .1 marks the core of a cluster.
    objective : {"1996", "1993"}, default="1996"
        The form of the objective.
    m : float or "auto", default="auto"
        The fuzzifier of the preliminary partition, and of the 1993 form. "auto" depends on the
        number of rows and of features, as in :class:`FuzzyCMeans`.
    eta_update : {"never", "each_step"}, default="never"
        Whether spreads are estimated again in each iteration.

        .. warning:: With "each_step" spreads can shrink without end: a cluster that fills no more
            than 2 / gamma dimensions collapses onto a point. Use it with gamma=1 or more.
    init : str, array-like or callable, default="k-means++"
        The start: "k-means++", "k-means||", "max-min" or "random"; prototypes of shape (n_clusters,
        n_features); memberships of shape (n_samples, n_clusters); or `init(X, n_clusters,
        random_state)`, which returns prototypes. An array that fits both shapes is taken for
        prototypes. With more than 131,072 distinct rows, "k-means||" makes passes over all of them,
        and the others look at a sample.
    n_init : int, default=1
        The number of starts of the preliminary partition; its lowest objective is kept. (The
        possibilistic objective cannot choose: it is lowest when all prototypes coincide.)
    max_iter : int, default=1000
        The most iterations of each stage.
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
        The cluster a row is most typical of; contiguous from 0.
    memberships_ : array of shape (n_samples, n_clusters)
        The typicalities, one column for each prototype.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The prototypes: first the one of each label, then any that share a label or have no row.
        Only in the input space; elsewhere prototypes have no coordinates.
    prototype_labels_ : array of shape (n_clusters,), int32
        The label of each prototype; coincident ones share theirs.
    n_clusters_ : int
        The number of labels in use.
    eta_ : array of shape (n_clusters,)
        The spread of each prototype.
    m_ : float
        The value of m that was used.
    n_iter_ : int
        The number of possibilistic iterations.
    status_ : str
        "converged", "max_iter", or "stopped" by a callback.
    objective_ : float
        The objective at the result.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration; it never rises while the spreads are fixed.
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
    FuzzyCMeans : Memberships that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import PossibilisticCMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [9.0]])
    >>> model = PossibilisticCMeans(n_clusters=2, eta=0.1, init=[[0.0], [1.0]]).fit(X)
    >>> model.memberships_[-1].round(3)  # the last row belongs nowhere
    array([0., 0.])
    """

    eta_: Annotated[Doubles, "c"]
    m_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrototypeClusterer._parameter_constraints,
        **START_CONSTRAINTS,
        "eta": [StrOptions({"fcm"}), Interval(Real, 0, np.inf, closed="neither"), "array-like"],
        "gamma": [Interval(Real, 0, np.inf, closed="neither")],
        "objective": [StrOptions({"1993", "1996"})],
        "m": [Interval(Real, 1, np.inf, closed="neither"), StrOptions({"auto"})],
        "eta_update": [StrOptions({"never", "each_step"})],
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
        gamma: float = 0.1,
        objective: str = "1996",
        m: float | str = "auto",
        eta_update: str = "never",
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
        self.kernel = kernel
        self.sigma = sigma
        self.eta = eta
        self.gamma = gamma
        self.objective = objective
        self.m = m
        self.eta_update = eta_update
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol
        self.random_state = random_state
        self.store_memberships = store_memberships

    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        estimates_eta = isinstance(self.eta, str)
        eta = None if estimates_eta else _given_spread(self.eta, self.n_clusters)
        starts = Starts(self, rows, weight)
        eta = None if eta is None else eta[: starts.n_clusters]
        opened = self._open(rows, weight, starts.n_clusters)
        space = opened.space
        # One far row would get a prototype of its own in the preliminary partition.
        enough = space.typical.n_distinct_rows >= starts.n_clusters
        typical = space.typical if enough else space
        m = fuzzifier(self.m, typical)
        needs_partition = estimates_eta or not starts.is_array
        start_rule = Fuzzy(m) if needs_partition else self._rule_with(eta, m)
        drawn = starts.draw(opened, start_rule, within=typical)
        n_runs = len(drawn) + needs_partition
        self._begin(callbacks, opened, starts.n_clusters, n_runs=n_runs, n_iter=_USUAL_ITERATIONS)
        prototypes: Any = drawn[0]
        if needs_partition:
            prototypes = self._partition(typical, drawn, m, callbacks)
        if eta is None:
            spread = typical.sweep(Fuzzy(m), prototypes).within_sqdist
            eta, degenerate = spread_from_partition(
                spread, gamma=self.gamma, total_variance=typical.total_variance
            )
            warn_about_degenerate_spread(degenerate)
        update = spread_update(
            self.eta_update, gamma=self.gamma, total_variance=typical.total_variance
        )
        state = ClusterState(prototypes, self._rule_with(eta, m))
        result = callbacks.run(Alternation(space, update), state)
        return Found(opened, result, {"m_": m})

    def _partition(
        self, space: Geometry[Any], starts: list[Any], m: float, callbacks: FitCallbacks
    ) -> Any:
        """The prototypes of the preliminary fuzzy c-means."""
        stage = "Preliminary fuzzy c-means: "
        result = best_run(space, starts, [Fuzzy(m)], callbacks)
        warn_about_convergence(result, tol=self.tol, max_iter=self.max_iter, stage=stage)
        prototypes = result.state.prototypes
        if memberships_collapsed(space, result.state):
            advice = fuzzy_collapse_advice(m, space)
            warn_about_collapse(prototypes.n_clusters, advice=advice, stage=stage)
        return prototypes

    def _rule_with(self, eta: Any, m: float) -> Possibilistic1993 | Possibilistic1996:
        return Possibilistic1993(eta, m) if self.objective == "1993" else Possibilistic1996(eta)

    def _warn(self, found: Clustering) -> None:
        space = found.space
        if warn_about_kernel(space, found.state.prototypes, self.kernel):
            return
        if self.eta_update == "each_step":
            warn_about_vanished_spread(self.eta_, smallest_spread(space.typical.total_variance))
        warn_about_unreached(found.outcome.mass, self.eta_)
        warn_about_far_clusters(found)
        narrower = f"gamma={self.gamma / 4:g}" if isinstance(self.eta, str) else "a smaller eta"
        advice = (
            f"Each prototype settles on a dense region as wide as its spread: try {narrower} to "
            "tell more regions apart, more starts (n_init), or fewer clusters."
        )
        warn_about_prototype_labels(found.labels, advice=advice)


def _given_spread(eta: Any, n_clusters: int) -> Doubles:
    """`eta` given as a number or an array: one positive spread for each cluster."""
    try:
        spread = np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"eta must be 'fcm', a number, or one number for each cluster, got {eta!r}."
        ) from error
    if spread.ndim > 1 or (spread.ndim == 1 and len(spread) != n_clusters):
        raise ValueError(
            f"eta has shape {spread.shape}, expected a number or an array of shape "
            f"({n_clusters},): one spread for each cluster."
        )
    if not (np.isfinite(spread) & (spread > 0)).all():
        raise ValueError(
            f"eta must be positive and finite, got {eta!r}. It is a squared distance: the "
            "typicality of a row at squared distance eta is exp(-1) (1/2 in the 1993 form)."
        )
    return np.broadcast_to(spread, (n_clusters,)).copy()
