"""Clusters as connected regions of the alpha-cut."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from typicality._checks import check_kernel_of_distance, check_one_cut
from typicality._compat import Interval, StrOptions, fit_context
from typicality._quantiles import unit_of_weight, weighted_quantile
from typicality.cluster._core import core_attributes, solve_one_cluster, warn_about_core
from typicality.cluster._cut_warnings import warn_about_cut
from typicality.cluster._progress import FitProgress, State
from typicality.cluster._shell import SpaceEstimator, TrainingRows, feature_labels
from typicality.cluster._spaces import OpenSpace, open_space
from typicality.cluster.diagnostics import warn_about_features, warn_about_lonely_row
from typicality.geometry.distinct import DistinctRows
from typicality.geometry.nearest import NearestRows, RememberedNearest
from typicality.kernels import Kernel
from typicality.levelsets.landscape import Landscape
from typicality.levelsets.regions import Regions
from typicality.levelsets.selection import select_clusters
from typicality.levelsets.tree import AlphaTree, Cut
from typicality.solve.picard import PicardResult

__all__ = ["AlphaCutClustering"]

Floats = NDArray[np.floating]
Labels = NDArray[np.int32]


class AlphaCutClustering(ClusterMixin, SpaceEstimator):
    r"""Clusters as connected regions of the alpha-cut of one-cluster PCM.

    One possibilistic cluster in the space of a kernel models the density of all rows; back in the
    input space its typicality u is a landscape. The alpha-cut keeps what is above a level,

    .. math:: A_\alpha = \{ x : u(x) > \alpha \},

    and two rows have the same label when a path of segments inside it joins them. Clusters may have
    any shape, their number comes out, and rows below the cut belong nowhere (label -1).

    All levels are computed at once: `tree_` holds the clusters for every alpha, and `labels_at`
    gives them without a new fit. ``alpha="auto"`` needs no level: it takes the peaks of the tree
    that chance does not explain, each down to the level where it meets another.

    Costs O(n) sums of kernel values, each over the rows within a few bandwidths of a point, with
    memory O(n), when the bandwidth is small (as it is by default, in few dimensions). With a wide
    Gaussian and up to three features Fourier series take their place; else sums are over all rows.

    Implements :cite:`filippone2007`, eq. (17) and section 4; :cite:`filippone2010`, section IV-D.
    Differs from the papers: edges of a graph of neighbours instead of all pairs, looked at in steps
    of half a bandwidth (``labelling="complete"`` is the papers' rule); the whole tree instead of
    one cut; ``alpha="auto"`` is original to typicality, see docs/theory.

    Parameters
    ----------
    kernel : {"gaussian", "rbf", "laplacian", "cauchy"} or Stationary, default="gaussian"
        A kernel of a distance, by name or as an object of :mod:`typicality.kernels`: only with
        these is the typicality an increasing function of the density.
    sigma : float or str, default="auto"
        The width of the kernel, the resolution at which density is seen; or a rule for it
        (:mod:`typicality.bandwidth`). "auto" is 0.7 times the median distance to the tenth
        neighbour.
    gamma : float, default=1.0
        The multiplier of the spread eta. Below 0.5 outliers lose their pull; large values give the
        kernel density estimate.
    weights : {"typicality", "uniform"}, default="typicality"
        "uniform" gives all rows the same pull, in one iteration: clusters of the kernel density
        estimate. Then `gamma` says no more than which typicality a density has.
    alpha : float in [0, 1), "valley" or "auto", default="auto"
        The level of the cut, a typicality; that of empty space is not zero, so small levels cut
        nothing. "valley" takes the most persistent valley of the density of typicalities, which
        separates dense regions from noise around them. "auto" selects clusters from the whole tree,
        each with a level of its own.
    rejection_rate : float in [0, 1), optional
        Cut so that this share of the training rows is below. Instead of `alpha`.
    labelling : {"neighbours", "complete"}, default="neighbours"
        Which pairs of rows are tried: neighbours, in steps of half a bandwidth; or all pairs, at 20
        points, as in the papers. The latter costs O(n^2) segments: seconds for 1000 rows, minutes
        for 3000.
    n_neighbors : int, default=30
        The number of neighbours; 15 are too few for clusters of 30 rows.
    min_cluster_size : int, default=1
        Components of fewer rows get the label -1. ``alpha="auto"`` takes no branch of fewer than
        five rows in any case.
    assign : {"core", "all"}, default="core"
        "core" leaves rows below the cut at -1; "all" gives them to the cluster of the nearest row
        that is above.
    criterion : {"weights", "memberships"}, default="weights"
        What `tol` is compared with: the sum of the changes of the weights, or, as in the papers,
        of the typicalities (with ``tol=0.01``).
    max_iter : int, default=1000
        The most iterations.
    tol : float, default=1e-5
        Stop when the criterion falls below. 0 runs to `max_iter`.
    algorithm : {"auto", "dense", "blocked", "truncated", "nufft", "nystroem"}, default="auto"
        How sums of kernel values are computed; `plan_` says which way "auto" took, and why. All
        keep `rtol`; with "dense" the iterations are exact.
        :func:`typicality.operators.plan` tells beforehand.
    rtol : float, default=1e-6
        How far those sums may be off, relative to the height of a row that stands alone (at least
        1e-12 of the total weight); a tenth of `tol` at the most. 0 for exact sums.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The cluster of each row, contiguous from 0 by falling size; -1 for rows that belong nowhere.
    n_clusters_ : int
        The number of clusters.
    alpha_ : float or array of shape (n_clusters,)
        The level of the cut; with ``alpha="auto"`` one for each cluster. (Rows so sparse that the
        kernel of one does not reach the next are held together by neighbours, not by a level.)
    tree_ : AlphaTree
        The clusters at every alpha.
    typicality_ : array of shape (n_samples,)
        The typicality of the training rows, in [0, 1].
    weights_ : array of shape (n_samples,)
        The weights of the training rows in the mean; they sum to one.
    eta_ : float
        The spread, a squared distance in the space of the kernel.
    n_iter_ : int
        The number of iterations.
    status_ : str
        "converged", "max_iter", or "stopped" by a callback.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration.
    kernel_ : Kernel
        The kernel that was used.
    sigma_ : float
        Its width.
    plan_ : Plan
        How the iterations were computed.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        Their names, where X had some.

    See Also
    --------
    OneClusterPCM : The same model of the density, as a detector with a calibrated threshold.
    sklearn.neighbors.KernelDensity : The density of ``weights="uniform"``, normalised.
    sklearn.cluster.HDBSCAN : The tree of a density by nearest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import AlphaCutClustering
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (100, 2)), rng.normal(8, 1, (50, 2)), [[4, 20]]])
    >>> model = AlphaCutClustering().fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[0, 0], [8, 8], [4, 20], [-20, 0]])
    array([ 0,  1, -1, -1], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SpaceEstimator._parameter_constraints,
        "gamma": [Interval(Real, 0, np.inf, closed="neither")],
        "weights": [StrOptions({"typicality", "uniform"})],
        "alpha": [StrOptions({"auto", "valley"}), Interval(Real, 0, 1, closed="left")],
        "rejection_rate": [None, Interval(Real, 0, 1, closed="left")],
        "labelling": [StrOptions({"neighbours", "complete"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "assign": [StrOptions({"core", "all"})],
        "criterion": [StrOptions({"weights", "memberships"})],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "gaussian",
        sigma: float | str = "auto",
        gamma: float = 1.0,
        weights: str = "typicality",
        alpha: float | str = "auto",
        rejection_rate: float | None = None,
        labelling: str = "neighbours",
        n_neighbors: int = 30,
        min_cluster_size: int = 1,
        assign: str = "core",
        criterion: str = "weights",
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.gamma = gamma
        self.weights = weights
        self.alpha = alpha
        self.rejection_rate = rejection_rate
        self.labelling = labelling
        self.n_neighbors = n_neighbors
        self.min_cluster_size = min_cluster_size
        self.assign = assign
        self.criterion = criterion
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Model the density of the rows, and find its clusters at every level.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to cluster.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row; 0 leaves a row out of everything but its label.
            Weights below one on average count in units of their mean.

        Returns
        -------
        self
        """
        check_kernel_of_distance(self.kernel)
        check_one_cut(self.alpha, self.rejection_rate)
        training = self._training_rows(X, sample_weight, at_least=1)
        rows, copies = training.rows, training.sample_weight
        if copies is not None:
            copies = copies.astype(np.float64) / unit_of_weight(copies)
        # Equal rows are one node: then weights and copies are the same thing, to the last bit.
        nodes = DistinctRows.of(rows, copies, at_most=len(rows))
        opened = self._open(nodes)
        space: Any = opened.space
        if space.total_variance > 0:
            warn_about_features(opened.features, feature_labels(training.schema), opened.kernel)
        progress = FitProgress(
            self,
            training.schema,
            n_runs=1,
            data=training.for_callbacks,
            attributes=lambda state: self._prediction_attributes(opened, nodes, rows, state),
        )
        result = solve_one_cluster(
            space, progress, gamma=self.gamma, weights=self.weights, criterion=self.criterion
        )
        # All is computed before anything is published: a fit that fails leaves the model as it was.
        model = self._prediction_attributes(opened, nodes, rows, result.state)
        regions: Regions = model["_regions"]
        model |= core_attributes(opened, result) | {
            "eta_": regions.landscape.eta,
            "weights_": regions.weights_of_rows(copies),
            "typicality_": regions.typicality.astype(rows.dtype),
            "labels_": regions.training_labels(model["_cut"], assign=self.assign),
        }
        self._take_schema(training.schema)
        for name, value in model.items():
            setattr(self, name, value)
        self._warn(space, result, training)
        progress.finish()
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """The cluster each row would join; -1 for rows below the cut.

        A row joins the training row, of its nearest ones, with the highest way to it, and has its
        label where the way stays above the level of its cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones: `fit(X).predict(X)` is `fit_predict(X)`.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        rows = self._known_rows(X, None)
        labels: Labels = self._regions.labels_of(rows, self._cut, assign=self._assign)
        return labels

    def predict_typicality(self, X: ArrayLike) -> Floats:
        """The typicality of each row, by the formula of the paper.

        Implements :cite:`filippone2010`, eq. (28). A training row takes part in its own typicality.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.

        Returns
        -------
        typicality : array of shape (n_samples,)
            In [0, 1].
        """
        rows = self._known_rows(X, None)
        typicality: Floats = self._regions.typicality_of(rows).astype(rows.dtype)
        return typicality

    def labels_at(self, alpha: float) -> Labels:
        """The cluster of each training row when the typicality is cut at alpha; no new fit.

        Small components and rows below the cut are treated as `min_cluster_size` and `assign` say.
        Costs O(n log n).

        Parameters
        ----------
        alpha : float in [0, 1]
            The level.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        check_is_fitted(self)
        cut = self.tree_.cut_at(alpha, min_cluster_size=self._min_cluster_size)
        labels: Labels = self._regions.training_labels(cut, assign=self._assign)
        return labels

    # ---- steps of a fit --------------------------------------------------------------------------

    def _open(self, nodes: DistinctRows) -> OpenSpace:
        named = isinstance(self.kernel, str)
        return open_space(
            self.kernel,
            "alpha-cut" if named and self.sigma == "auto" else self.sigma,
            nodes.rows,
            nodes.weight,
            explicit=False,
            sums=self._sums_wanted._replace(of_a_row=True),
        )

    def _prediction_attributes(
        self, opened: OpenSpace, nodes: DistinctRows, rows: Floats, state: State
    ) -> dict[str, Any]:
        """All that prediction needs."""
        space: Any = opened.space
        prototypes: Any = state.prototypes
        rule: Any = state.rule
        landscape = Landscape.of(prototypes, space.tolerance, eta=float(rule.eta[0]))
        search = RememberedNearest(landscape.rows, landscape.nearest.norm)
        ways: dict[str, Any] = {"labelling": self.labelling, "n_neighbors": self.n_neighbors}
        regions = Regions.of(landscape, nodes, rows, **ways, search=search)
        cut = self._choose_cut(landscape, regions.tree, search)
        return {
            "_reader": opened.reader,
            "_regions": regions,
            "_cut": cut,
            "_assign": self.assign,
            "_min_cluster_size": self.min_cluster_size,
            "tree_": regions.tree,
            "alpha_": cut.alpha,
            "n_clusters_": cut.n_clusters,
        }

    def _choose_cut(self, landscape: Landscape, tree: AlphaTree, search: NearestRows) -> Cut:
        if self.rejection_rate is not None:
            quantile = weighted_quantile(tree.node_alpha, self.rejection_rate, tree.weight)
            alpha = max(0.0, np.nextafter(quantile, -np.inf))  # rows that tie with it stay
        elif self.alpha == "auto":
            size = self.min_cluster_size
            return select_clusters(landscape, tree, min_cluster_size=size, search=search)
        else:
            alpha = tree.valley.place if self.alpha == "valley" else float(self.alpha)
        return tree.cut_at(alpha, min_cluster_size=self.min_cluster_size)

    def _warn(self, space: Any, result: PicardResult[State], training: TrainingRows) -> None:
        warn_about_core(self, space, result, instead="")
        nodes = self._regions.landscape.weights
        warn_about_lonely_row(nodes, space.mean.weights[:, 0], self.tree_.row_of)
        warn_about_cut(self, training.sample_weight)
