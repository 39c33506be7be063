"""Clusters as connected regions of the alpha-cut, at a level of the user or automatically."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from typicality._compat import Interval, StrOptions
from typicality._progress import part
from typicality._tensors import array_of, tensor_of
from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._diagnostics import (
    tell,
    warn_about_features,
    warn_about_fragments,
    warn_about_lonely_row,
    warn_about_unused_sigma,
)
from typicality.cluster._estimator import KERNEL_CONSTRAINTS, by_blocks, like_rows
from typicality.cluster._inputs import (
    ALL_KERNELS,
    Dissimilarities,
    check_dissimilarities,
    check_kernel,
    open_space,
)
from typicality.cluster.one_cluster import (
    LOOP_SHARE,
    DensityEstimator,
    solve_one_cluster,
    warn_about_density,
)
from typicality.kernels import BANDWIDTH_KERNELS, Kernel, LocalGaussian, Mixed, Stationary
from typicality.levelsets.choice import Choice, choose_clusters, choose_on_one_tree, cut_at_choice
from typicality.levelsets.growing import spanning_tree
from typicality.levelsets.heights import Landscape
from typicality.levelsets.regions import Regions
from typicality.levelsets.tree import AlphaTree, Cut
from typicality.rows import DistinctRows, Rows, content_hash
from typicality.rows.quantiles import unit_of_weight
from typicality.solve.picard import Status
from typicality.spaces.base import Tally
from typicality.spaces.nearest import GivenDistances, NearestRows

_MEDOID_ROWS = 2000  # of a cluster, whose distances are computed
_SHALLOW_VALLEY = 0.02  # of the highest density of typicalities
_SMALL_SHARE = 0.25  # of all rows
_NEARLY, _BARELY = 0.8, 1.1  # evidence near the bar
_TREES_SHARE = 0.8  # of the time of a fit; the rest is the labels of all rows


class AlphaCutClustering(ClusterMixin, DensityEstimator):
    r"""Clusters of any shape and number: connected regions of high typicality.

    The density of all rows is modelled by the typicality u of one possibilistic cluster in the
    space of a kernel, as in :class:`OneClusterPCM`. The alpha-cut is the region above a level,

    .. math:: A_\alpha = \{ x : u(x) > \alpha \},

    and two rows have the same label if a path inside this region connects them. `tree_` has the
    clusters for every alpha, and `labels_at` returns them without a new fit.

    By default, no parameter has to be chosen. The width of the kernel follows the density of the
    rows (:class:`typicality.kernels.LocalGaussian`). Trees for widths of 6 to 720 neighbours
    (*scales*) are computed, and the clusters on which they agree best are chosen. If no tree has a
    valley between groups that is deeper than chance produces, the result is one cluster, and
    `evidence_` is below 1. ``at_least=2`` returns the best split even then.

    The automatic choice takes O(n log n) time for the neighbours, and O(n k) for a scale of k
    neighbours. It uses at most 50,000 distinct rows (20,000 with more than three features), and n k
    is at most 900,000. If there are more rows, samples are used, and each other row gets the label
    of its nearest row in the sample.

    Implements :cite:`filippone2007`, eq. (17) and section 4; :cite:`filippone2010`, section IV-D.
    Differs from the papers: neighbours are connected instead of all pairs of rows
    (``labelling="complete"`` is the rule of the papers), and the whole tree is computed instead of
    one cut. The automatic choice is original to typicality, see docs/theory.

    Parameters
    ----------
    kernel : str or Stationary, default="auto"
        "local" has a width that follows the density. The other kernels have one width, `sigma`:
        "gaussian" (or "rbf"), "laplacian", "cauchy", an object of such a kernel, or
        :class:`typicality.kernels.Mixed` for numbers and categories. "auto" is "gaussian" if
        `sigma`, `alpha` or `labelling` is set or ``weights="typicality"``, else "local".
        "dissimilarities" is "local" for a matrix of distances instead of rows.
    sigma : float or str, default="auto"
        The width of a kernel of one width, or a rule that computes it
        (:mod:`typicality.bandwidth`). "auto" is 0.7 times the median distance to the tenth
        neighbour.
    eta_scale : float, default=1.0
        The factor of the spread eta, as in :class:`OneClusterPCM`.
    weights : {"auto", "typicality", "uniform"}, default="auto"
        The influence of the rows on the density. "uniform" is the same for all rows. "typicality"
        needs a kernel of one width. "auto" is "uniform" for the local kernel, else "typicality".
    alpha : float in [0, 1), "valley" or "auto", default="auto"
        The level of the cut, a typicality. The typicality of empty space is above zero, so very
        small levels remove nothing. "valley" chooses a level that separates dense regions from the
        noise around them: the most persistent valley in the density of the typicalities. "auto"
        selects clusters from the trees of all scales, or from the tree of one width, each with its
        own level.
    at_least : int, default=1
        The smallest number of clusters of the automatic choice. Use 2 to force a split.
    n_clusters : int or None, default=None
        The number of clusters, if it is known. Each scale then separates its tree at the
        `n_clusters` - 1 most prominent saddles, and the scales vote among these partitions.
    labelling : {"neighbours", "complete"}, default="neighbours"
        The pairs of rows between which the density is evaluated, with a kernel of one width.
        "neighbours": pairs of neighbours, in steps of half a bandwidth. "complete": all pairs, at
        20 points each, as in the papers; this takes O(n^2) pairs.
    n_neighbors : int, default=30
        The number of neighbours of each row for ``labelling="neighbours"``.
    min_cluster_size : int, default=1
        The smallest number of rows of a cluster; smaller ones are labelled -1. The automatic choice
        finds no cluster of fewer than five rows unless `at_least` requires it.
    assign : {"auto", "core", "typical", "all"}, default="auto"
        Which rows get a label. "core": rows above the level of their cluster. "all": every row.
        "typical": rows that are dense enough compared with their cluster (see docs/theory), so that
        background noise has the label -1. "auto" is "typical" for the automatic choice, and "core"
        for a given level.
    max_iter : int, default=1000
        The largest number of iterations, for ``weights="typicality"``.
    tol : float, default=1e-5
        Stop when the mean moves by less than `tol` times the root mean square distance of the rows
        to their mean, in the space of the kernel. With 0, `max_iter` iterations are run.
    rtol : float, default=1e-6
        The largest error of sums of kernel values with a kernel of one width, relative to the
        height of a row without neighbours, and at most `tol` / 10. 0 makes all sums exact.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The cluster of each row: 0, 1, 2, ..., from the largest to the smallest (before unassigned
        rows are removed); -1 for rows in no cluster.
    n_clusters_ : int
        The number of clusters.
    evidence_ : float or None
        The depth of the clearest valley between two groups, relative to the depth that chance
        produces in one cluster. From 1 on, there is more than one. None with a kernel of one width
        and a given level.
    agreement_ : float or None
        The mean adjusted Rand index of the chosen clusters with those of all scales, or of all
        levels of one tree. It is 1 if there is one cluster, and None where `evidence_` is None.
    memberships_ : array of shape (n_samples, n_clusters)
        The membership of each row in each cluster, see `predict_memberships`.
    medoid_indices_ : array of shape (n_clusters,)
        The row of each cluster with the smallest sum of distances to the other rows.
    medoids_ : array of shape (n_clusters, n_features)
        The rows at `medoid_indices_`.
    alpha_ : float or array of shape (n_clusters,)
        The level of the cut. With ``alpha="auto"``, one level per cluster.
    tree_ : AlphaTree
        The clusters at every alpha, at the chosen scale.
    typicality_ : array of shape (n_samples,)
        The typicality of the training rows, in [0, 1].
    weights_ : array of shape (n_samples,)
        The weights of the training rows in the density. They sum to one.
    eta_ : float
        The spread, as a squared distance in the space of the kernel.
    n_iter_ : int
        The number of iterations.
    status_ : str
        Why the iterations ended: "converged", "max_iter", or "stopped" by a callback.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration.
    kernel_ : Kernel
        The kernel that was used.
    sigma_ : float
        The width of the kernel; for a local kernel, its median width.
    sums_ : str
        How sums were computed, in a sentence.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    See Also
    --------
    AutoClustering : Chooses between this method and a mixture, for tables with many columns.
    OneClusterPCM : The same model of the density, for outlier detection.
    sklearn.cluster.HDBSCAN : A tree of clusters, with a density from nearest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import AlphaCutClustering
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (100, 2)), rng.normal(8, 1, (50, 2)), [[4, 20]]])
    >>> model = AlphaCutClustering().fit(X)
    >>> model.n_clusters_, bool(model.evidence_ > 1)
    (2, True)
    >>> model.predict([[0, 0], [8, 8], [4, 20], [-20, 0]])
    array([ 0,  1, -1, -1], dtype=int32)
    """

    _regions: Regions
    _cut: Cut
    _assign: Annotated[str, Literal["core", "typical", "all"]]
    _min_cluster_size: int
    tree_: AlphaTree
    labels_: Annotated[Labels, "_rows"]  # which are more than N if the tree is that of a sample
    typicality_: Annotated[Floats, "_rows"]
    memberships_: Annotated[Floats, "_rows _clusters"]
    medoids_: Annotated[Floats, "_clusters d"]
    medoid_indices_: Annotated[Places, "_clusters", Index()]
    evidence_: float | None
    agreement_: float | None
    weights_: Annotated[Floats, "_rows"]
    eta_: float
    n_clusters_: int
    alpha_: float | Annotated[Doubles, "_clusters"]

    _why_dense = "its tree of clusters needs the nearest rows of every row, feature by feature"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "kernel": [StrOptions({"auto", *ALL_KERNELS}), callable],
        "eta_scale": [Interval(Real, 0, np.inf, closed="neither")],
        "weights": [StrOptions({"auto", "typicality", "uniform"})],
        "alpha": [StrOptions({"auto", "valley"}), Interval(Real, 0, 1, closed="left")],
        "at_least": [Interval(Integral, 1, None, closed="left")],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "labelling": [StrOptions({"neighbours", "complete"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "assign": [StrOptions({"auto", "core", "typical", "all"})],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "auto",
        sigma: float | str = "auto",
        eta_scale: float = 1.0,
        weights: str = "auto",
        alpha: float | str = "auto",
        at_least: int = 1,
        n_clusters: int | None = None,
        labelling: str = "neighbours",
        n_neighbors: int = 30,
        min_cluster_size: int = 1,
        assign: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.eta_scale = eta_scale
        self.weights = weights
        self.alpha = alpha
        self.at_least = at_least
        self.n_clusters = n_clusters
        self.labelling = labelling
        self.n_neighbors = n_neighbors
        self.min_cluster_size = min_cluster_size
        self.assign = assign
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol

    @like_rows
    @by_blocks
    def predict(self, X: ArrayLike) -> Labels:
        """The cluster of each row; -1 for rows that are not dense enough for `assign`.

        A row gets the label of the nearest training row. With a kernel of one width, it gets the
        label of that nearby training row to which the density on the way is highest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows; `fit(X).predict(X)` equals `fit_predict(X)`.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        rows = self._read(X)
        return self._regions.labels_of(rows, self._cut, assign=self._assign)

    @like_rows
    @by_blocks
    def predict_memberships(self, X: ArrayLike) -> Floats:
        r"""The membership of each row in each cluster: how well they are connected, from 0 to 1.

        .. math:: u_{hk} = \frac{1}{s_{\max}} \max_{\text{paths from } x_h \text{ to } k}
            \; \min_{x \text{ on the path}} s(x)

        Here s is the density up to a factor, and a path ends at the peak of cluster k. A row
        between two clusters has equal memberships in both. The memberships of a row do not sum to
        one. Its label has the largest membership, but other clusters can have the same value.

        Original to typicality, see docs/theory. Costs O(n) per cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
        """
        rows = self._read(X)
        memberships: Floats = self._regions.memberships(self._cut, rows)
        return memberships.astype(self.medoids_.dtype, copy=False)

    @like_rows
    @by_blocks
    def predict_typicality(self, X: ArrayLike) -> Floats:
        """The typicality of each row, in [0, 1].

        Implements :cite:`filippone2010`, eq. (28). For a training row, it includes the row itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        typicality : array of shape (n_samples,)
            In [0, 1].
        """
        rows = self._read(X)
        typicality: Floats = self._regions.typicality_of(rows)
        return typicality.astype(self.medoids_.dtype, copy=False)

    def _soft_features(self, X: ArrayLike) -> Floats:
        return self.predict_memberships(X)

    def _soft_names(self) -> list[str]:
        return [f"membership_{k}" for k in range(self.n_clusters_)]

    def _labels_and_typicality(self, X: ArrayLike) -> tuple[Labels, Floats]:
        """`predict` and `predict_typicality` from one pass, the same to the last bit."""
        rows, cut, assign = self._read(X), self._cut, self._assign
        labels, typicality = self._regions.labels_and_typicality(rows, cut, assign=assign)
        return labels, typicality.astype(self.medoids_.dtype, copy=False)

    def labels_at(self, alpha: float) -> Labels:
        """The cluster of each training row at another level alpha, without a new fit.

        `min_cluster_size` and `assign` are applied as in `fit`. Costs O(n log n).

        Parameters
        ----------
        alpha : float in [0, 1]
            The level.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        check_is_fitted(self)
        if not hasattr(self, "weights_"):  # those of the rows of the tree
            raise ValueError(
                "labels_at cannot label rows that were read block by block: the model keeps "
                "only a sample of them. Fit with alpha at the level you want, or use predict."
            )
        cut = self.tree_.cut_at(alpha, min_cluster_size=self._min_cluster_size)
        labels: Labels = self._regions.training_labels(cut, assign=self._assign)
        home = self._home
        return labels if home is None else tensor_of(labels, home)

    # ---- steps of a fit --------------------------------------------------------------------------

    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        _check_parameters(self)
        given, few = rows, None
        if isinstance(rows, Rows):  # the tree is that of a sample, and every row is labelled
            few = self._sample(rows)
            rows, weight = few.rows, few.weight.astype(rows.dtype)
        rows = array_of(rows)  # trees are grown on the CPU
        copies = None if weight is None else weight.astype(np.float64) / unit_of_weight(weight)
        points = rows
        if self._takes_distances:
            check_dissimilarities(rows, square=True)
            points = rows**2
        # Equal rows are one node: then weights and copies are the same thing, to the last bit.
        nodes = DistinctRows.of(points, copies, at_most=len(points))
        fit = self._fit_local if self._is_local else self._fit_one_width
        fit(nodes, points, callbacks)
        regions, cut = self._regions, self._cut
        labels = regions.training_labels(cut, assign=self._assign)
        medoids = self._medoids(nodes, labels)
        self.eta_, self.medoids_ = regions.landscape.eta, rows[medoids]
        if few is None:
            self.labels_, self.medoid_indices_ = labels, medoids
            self.weights_ = regions.weights_of_rows(copies)
            self.typicality_ = regions.typicality.astype(rows.dtype)
            self.memberships_ = regions.memberships(cut).astype(rows.dtype)
        else:
            self.medoid_indices_ = few.index[medoids]
            self._judge(given, few)

    def _sample(self, rows: Rows) -> DistinctRows:
        """The distinct rows of the smallest hashes, with the weight of all copies of a row."""
        if self._takes_distances:
            raise ValueError(
                "kernel='dissimilarities' needs all distances in memory. Pass rows of features, or "
                "the distances among a sample of the rows."
            )
        return rows.sample()

    def _judge(self, rows: Any, few: DistinctRows) -> None:
        """Label all rows, block by block; where `few` are all of them, as in memory."""
        if len(few.rows) < few.n_distinct:
            self.sums_ = (
                f"the tree is that of a sample of {len(few.rows):,} distinct rows of "
                f"{rows.n_rows:,}, and every row is labelled; {self.sums_}"
            )
        self.labels_ = self.predict(rows)
        self.typicality_ = self.predict_typicality(rows)
        if rows.lazy:
            self.memberships_ = self.predict_memberships(rows)

    def _medoids(self, nodes: DistinctRows, labels: Labels) -> Places:
        """The row of each cluster with the least sum of distances to its rows, or to 2000."""
        label, order, medoids = labels[nodes.index], _arbitrary_order(nodes), []
        for number in range(self.n_clusters_):
            own = order[label[order] == number][:_MEDOID_ROWS]
            if self._takes_distances:
                distances = np.sqrt(nodes.rows[np.ix_(own, nodes.index[own])])
            else:
                distances = cdist(nodes.rows[own], nodes.rows[own])
            medoids.append(nodes.index[own[int((distances @ nodes.weight[own]).argmin())]])
        return np.array(medoids, dtype=np.intp)

    @property
    def _is_local(self) -> bool:
        """Whether the kernel is the local one: by name, or because everything is automatic."""
        automatic = self.kernel == self.sigma == self.alpha == "auto"
        automatic &= self.labelling == "neighbours" and self.weights != "typicality"
        return automatic or self.kernel == "local" or self._takes_distances

    @property
    def _takes_distances(self) -> bool:
        """Whether rows are distances to the training rows."""
        return bool(self.kernel == "dissimilarities")

    def _fit_local(self, nodes: DistinctRows, rows: Floats, callbacks: FitCallbacks) -> None:
        """Choose scale and clusters; the kernel is as wide as rows are sparse."""
        given = self._takes_distances
        reader: Any = Dissimilarities(nodes.rows.dtype)
        if not given:
            opened = open_space("linear", "auto", nodes.rows, nodes.weight)
            reader = opened.reader
            if len(nodes.rows) > 1:
                warn_about_features(opened, self)
        callbacks.begin(0, lambda state: {})

        def search_among(some: Places) -> Any:
            return GivenDistances(nodes.index[some]) if given else NearestRows(nodes.rows[some])

        with part(0.0, _TREES_SHARE):
            choice = choose_clusters(
                nodes.rows,
                search_among,
                nodes.weight,
                _arbitrary_order(nodes),
                at_least=self.at_least,
                n_clusters=self.n_clusters,
                min_cluster_size=self.min_cluster_size,
            )
        tree = choice.partition.tree
        some = tree.sample.rows
        sample = replace(
            nodes, rows=nodes.rows[some], weight=nodes.weight[some], index=nodes.index[some]
        )
        landscape = tree.landscape(search_among(some), eta_scale=self.eta_scale)
        edges = tree.pairs, np.exp(tree.saddles)
        with part(_TREES_SHARE, 1.0):
            regions = Regions.of(landscape, np.exp(tree.heights), edges, sample, rows)
        local = LocalGaussian(sample.rows, landscape.n_neighbors, tree.dimension)
        self.__dict__.update(
            **self._cut_attributes(reader, regions, choice),
            kernel_="local" if given else local,
            sigma_=float(np.sqrt(np.median(tree.squares))),
            n_iter_=1,
            status_=Status.CONVERGED,
            objective_path_=-landscape.eta * np.array([regions.tree.node_alpha @ sample.weight]),
            sums_=tree.how(len(nodes.rows)),
        )
        warn_about_unused_sigma(self.sigma, self.kernel)
        _warn_about_cut(self)

    def _fit_one_width(self, nodes: DistinctRows, rows: Floats, callbacks: FitCallbacks) -> None:
        """One-cluster PCM with a kernel of one width, and a cut of its tree."""
        has_rule = isinstance(self.kernel, str) or getattr(self.kernel, "sigma", 1) is None
        opened = open_space(
            "gaussian" if self.kernel == "auto" else self.kernel,
            "alpha-cut" if has_rule and self.sigma == "auto" else self.sigma,
            nodes.rows,
            nodes.weight,
            explicit=False,
            estimator=self,
            of_a_row=True,
        )
        space: Any = opened.space
        if space.total_variance > 0:
            warn_about_features(opened, self)
        inside = replace(nodes, rows=space.X)
        points = opened.reader.read(rows)
        between = {"labelling": self.labelling, "n_neighbors": self.n_neighbors}

        def attributes(state: Any) -> dict[str, Any]:
            eta = float(state.rule.eta[0])
            landscape = Landscape.of(state.prototypes, space.tolerance, eta=eta, **between)
            return self._for_prediction(opened.reader, landscape, inside, points)

        callbacks.begin(1, attributes, loop_share=LOOP_SHARE)
        weights = "typicality" if self.weights == "auto" else self.weights
        result = solve_one_cluster(self, space, callbacks, weights=weights)
        self.__dict__.update(attributes(result.state) | self._record(opened, result))
        warn_about_density(self, space, result, instead="")
        uniform = array_of(space.mean.weights[:, 0])
        warn_about_lonely_row(self._regions.landscape.weights, uniform, self.tree_.row_of)
        _warn_about_cut(self)

    def _for_prediction(
        self, reader: Any, landscape: Landscape, nodes: DistinctRows, rows: Floats
    ) -> dict[str, Any]:
        """All that prediction needs."""
        heights = landscape.heights(nodes.rows)
        edges = spanning_tree(landscape, heights)
        regions = Regions.of(landscape, heights, edges, nodes, rows)
        if self.alpha != "auto":
            return self._cut_attributes(reader, regions)
        choice = choose_on_one_tree(
            landscape,
            regions.tree,
            _arbitrary_order(nodes),
            at_least=self.at_least,
            n_clusters=self.n_clusters,
            min_cluster_size=self.min_cluster_size,
        )
        return self._cut_attributes(reader, regions, choice)

    def _cut_attributes(
        self, reader: Any, regions: Regions, choice: Choice | None = None
    ) -> dict[str, Any]:
        tree = regions.tree
        if choice is not None and self.alpha == "auto":
            cut = cut_at_choice(choice.partition, tree)
        else:  # one level for all clusters
            alpha = tree.valley.place if self.alpha == "valley" else float(self.alpha)
            cut = tree.cut_at(alpha, min_cluster_size=self.min_cluster_size)
        automatic = "core" if cut.filled is None else "typical"
        return {
            "_reader": reader,
            "_regions": regions,
            "_cut": cut,
            "_assign": automatic if self.assign == "auto" else self.assign,
            "_min_cluster_size": self.min_cluster_size,
            "tree_": tree,
            "alpha_": cut.alpha,
            "n_clusters_": cut.n_clusters,
            "evidence_": None if choice is None else choice.evidence,
            "agreement_": None if choice is None else choice.agreement,
        }


def _arbitrary_order(nodes: DistinctRows) -> Places:
    """The rows in an order that does not depend on how they are sorted."""
    return np.argsort(content_hash(nodes.rows), kind="stable")


def _check_parameters(model: AlphaCutClustering) -> None:
    """Parameters that must fit together."""
    asked = {"at_least": model.at_least, "n_clusters": model.n_clusters}
    asked = {name: value for name, value in asked.items() if value not in (1, None)}
    if len(asked) == 2:
        raise ValueError(
            f"at_least={model.at_least} has no effect with n_clusters={model.n_clusters}. Use one "
            "of them."
        )
    if asked and model.alpha != "auto":
        name, number = asked.popitem()
        raise ValueError(
            f"{name}={number} works only with the automatic choice of clusters, and "
            f"alpha={model.alpha!r} sets a level. Use alpha='auto'."
        )
    if model._is_local:
        for name, value in [("labelling", "complete"), ("weights", "typicality")]:
            if getattr(model, name) == value:
                raise ValueError(
                    f"{name}={value!r} needs a kernel of one width. Use kernel='gaussian'."
                )
        return
    kernel: Any = model.kernel
    check_kernel(kernel)
    if kernel in ("auto", *BANDWIDTH_KERNELS) or isinstance(kernel, Mixed):
        return
    if not isinstance(kernel, Stationary):
        raise ValueError(
            f"kernel={kernel!r} is not a function of a distance. Only with such a kernel is the "
            "typicality a density, whose level sets are clusters. Use 'local', 'gaussian', "
            "'laplacian' or 'cauchy', or OneClusterPCM, which takes all kernels."
        )
    if not (hasattr(kernel, "sigma") and kernel.metric in ("sqeuclidean", "cityblock")):
        raise ValueError(
            f"kernel={kernel!r} must have a width sigma, which sets the step size along segments, "
            "and must be a function of a Euclidean or city-block distance (metric 'sqeuclidean' "
            "or 'cityblock')."
        )


def _warn_about_cut(model: AlphaCutClustering) -> None:
    """Warn of clusters that deserve a second look, by the kind of cut."""
    tree, found = model.tree_, model.n_clusters_
    labels, weight = model._cut.node_labels, tree.weight
    if model.alpha == "auto":
        _warn_about_choice(model)
    elif found == 0:
        alpha, highest = model.alpha_, tree.node_alpha.max()
        reason = f"no component has min_cluster_size={model.min_cluster_size} rows"
        remedy = "Use a smaller one."
        if alpha >= highest:
            reason = f"no typicality is above alpha={alpha:.4g}, the highest is {highest:.4g}"
            remedy = "Use a smaller alpha, or alpha='auto'."
        tell("no cluster", reason=reason, remedy=remedy, alpha=alpha, highest=highest)
    elif model.alpha == "valley":
        inside, total = float(weight[labels >= 0].sum()), float(weight.sum())
        if tree.valley.depth < _SHALLOW_VALLEY:
            tell("no valley", depth=tree.valley.depth)
        elif inside < _SMALL_SHARE * total:
            tell("few rows above", inside=inside, total=total)
    else:
        lowest = float(model._regions.landscape.typicality(np.zeros(1))[0])
        if 0 < float(model.alpha) < lowest:
            tell("low level", alpha=float(model.alpha), lowest=lowest)
        remedy = (
            "Use a larger min_cluster_size to call them outliers, a larger sigma, or alpha='auto'."
        )
        warn_about_fragments(Tally.of(labels, weight, int(labels.max()) + 1), 1.0, remedy=remedy)


def _warn_about_choice(model: AlphaCutClustering) -> None:
    """Warn if the evidence is near the bar, or if fewer clusters were found than asked for."""
    found, evidence = model.n_clusters_, model.evidence_ or 0.0
    if model.tree_.n_nodes == 1:
        tell("constant rows")
    parameter = "at_least" if model.n_clusters is None else "n_clusters"
    asked = getattr(model, parameter)
    if found < asked:
        tell("fewer clusters than asked for", found=found, parameter=parameter, asked=asked)
    elif model.n_clusters is not None:
        return
    elif model.at_least == 1 and found == 1 and evidence >= _NEARLY:
        tell("nearly several clusters", evidence=evidence)
    elif model.at_least == 1 and found > 1 and evidence < _BARELY:
        tell("barely several clusters", found=found, evidence=evidence)
