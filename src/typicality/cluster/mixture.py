"""Groups of Gaussians: mixtures whose parts are joined where no valley separates them."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import logsumexp
from sklearn.base import ClusterMixin

from typicality._compat import Interval, fit_context
from typicality._progress import counter
from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality._words import counted
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._diagnostics import tell
from typicality.cluster._estimator import Estimator, by_blocks, like_rows
from typicality.cluster._gaussians import Fit, GaussianParts, fit_mixtures
from typicality.levelsets.choice import adjusted_rand_matrix
from typicality.rows import Rows
from typicality.rows.distinct import lexicographic_order
from typicality.solve.picard import Status

_FEWEST_ROWS = 20  # with fewer the answer is one group
_MOST_ROWS = 2000  # on which mixtures are compared
_ROWS_OF_A_RUN, _SHARE_OF_A_RUN = 1000, 0.875
_FEWEST_RUNS, _MOST_RUNS = 2, 8
_COLUMNS_OF_RUNS = 240  # of all runs together: wide tables get fewer runs
_ROWS_OF_A_START = 300
MOST_COLUMNS, _MOST_COLUMNS_OF_FULL = 500, 100  # with more, AutoClustering asks no mixture
_MOST_DIRECTIONS = 3
_STEPS = 20
_ROWS_OF_A_PART = 5
_ROWS_OF_A_COLUMN = 3  # and part, that covariance matrices with correlations need
_VOTERS = 8  # of a run
MANY_COLUMNS = 4  # from here on, AutoClustering asks the mixture first
_SURE, _SURE_OF_FEW = 4.1, 2.0  # standard errors of a valley, in many columns and in few
_SHALLOW = 0.2  # valleys of the log density that separate nothing
_SMALLEST_SHARE = 0.05  # of the rows, for a group
_GRID = 256
_LEAST_SUM = 1e-9
_NUMBERS_OF_PARTS = range(1, 7), range(7, 13)  # the second where BIC wants many of the first
_FIRST_RUNS, _AGREED = 4, 0.95
_GOLDEN = 0.618  # of the rows from one run to the next: each is left out about equally often


class JoinedMixture(ClusterMixin, Estimator):
    r"""Gaussian mixtures by EM, whose parts are joined where no valley separates them.

    A mixture has the density :math:`\sum_k \pi_k N(x; \mu_k, \Sigma_k)`, and its memberships are

    .. math:: u_{hk} = \frac{\pi_k N(x_h; \mu_k, \Sigma_k)}{\sum_j \pi_j N(x_h; \mu_j, \Sigma_j)}.

    With `n_clusters`, each cluster is one Gaussian. Else the number of clusters is found. Mixtures
    of up to 12 parts are fitted in two to eight runs, each to some of the rows. Two parts belong to
    one cluster if the density has no valley between them, so clusters of other shapes are found,
    too. The partition that agrees best with those of all runs is the answer. It has no cluster with
    less than 5 % of the rows.

    Columns are standardised, so their units do not matter. The values of a column are spread over
    the distance between neighbouring values, because a part on a single value would have an
    infinite density. There is no `sample_weight`. There is no seed, and results do not depend on
    the order of the rows. Costs a tenth to a third of a second for 1,000 rows of five columns.

    Implements :cite:`lecture20`, section 20.2, with `n_clusters`. Joining and the vote are original
    to typicality, see docs/theory.

    Parameters
    ----------
    n_clusters : int or None, default=None
        The number of clusters, if it is known. Then each cluster is one Gaussian. The smallest BIC
        chooses among full, tied and diagonal covariance matrices, and two starts.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The group of largest membership, contiguous from 0 by falling size.
    memberships_ : array of shape (n_samples, n_clusters)
        The posterior probability of each group, the sum over its parts.
    n_clusters_ : int
        The number of groups.
    agreement_ : float or None
        The mean adjusted Rand index of the answer to the answers of the runs; None with
        `n_clusters`.
    runs_ : list of int
        The number of groups that each run finds; empty where no runs were compared.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The mean of each group.
    prototype_labels_ : array of shape (n_clusters,), int32
        0, 1, 2, ...: the label of each mean.
    n_iter_ : int
        The number of iterations of EM.
    status_ : str
        "converged".
    sums_ : str
        How the mixture was computed, in a sentence.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    See Also
    --------
    AutoClustering : Chooses between this method and density.
    sklearn.mixture.GaussianMixture : Densities, samples, and other covariance matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import JoinedMixture
    >>> rng = np.random.default_rng(0)
    >>> long = rng.normal(size=(200, 2)) * [4, 0.5]
    >>> X = np.vstack([long[:100] + [0, 2], long[100:] - [0, 2]])
    >>> JoinedMixture().fit(X).n_clusters_
    2
    >>> JoinedMixture(n_clusters=2).fit(X).cluster_centers_.round()[:, 1]
    array([ 2., -2.])
    """

    _parts: "GaussianParts"
    _center: Annotated[Doubles, "d"]
    _scale: Annotated[Doubles, "d"]
    prototype_labels_: Annotated[Labels, "c", Index("c", lowest=-1)]
    cluster_centers_: Annotated[Floats, "c d"]
    labels_: Annotated[Labels, "N"]
    memberships_: Annotated[Floats, "N c"]
    agreement_: float | None
    runs_: list[int]
    n_clusters_: Annotated[int, "c"]
    n_iter_: int
    status_: Status
    sums_: str
    _overlap: bool  # whether ICL prefers one Gaussian

    _fewest_rows = 2
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_clusters: int | None = None) -> None:
        self.n_clusters = n_clusters

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Fit mixtures, join their parts, and let the partitions vote.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to cluster.
        y : ignored
            Present for consistency.

        Returns
        -------
        self
        """
        return self._fit(X)

    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        if isinstance(rows, Rows):
            raise ValueError(
                "JoinedMixture fits mixtures to parts of all rows, which must be in memory. Use "
                "AlphaCutClustering or EntropyCMeans, or a sample of the rows."
            )
        least = _ROWS_OF_A_PART * (self.n_clusters or 0)
        if len(rows) < least:
            raise ValueError(
                f"n_clusters={self.n_clusters} needs {least} rows or more, five for each cluster; "
                f"X has n_samples={len(rows)}. Choose a smaller n_clusters, or pass more data."
            )
        ordered = rows[lexicographic_order(rows)]
        self._center, self._scale = _center_and_scale(ordered)
        standard = (ordered - self._center) / self._scale
        mixed = np.random.RandomState(0).permutation(len(rows))
        some = standard[mixed[: max(_MOST_ROWS, least)]]
        if self.n_clusters is None:
            election = _choose(some)
        else:
            election = _of_given_number(some, self.n_clusters)
        chosen, self.agreement_, self.runs_, self._overlap = election
        self._parts = chosen.numbered(standard)
        self.labels_, self.memberships_ = self._judged(rows)
        self.n_clusters_ = self.memberships_.shape[1]
        if self.n_clusters_ < (self.n_clusters or 0):
            tell(
                "fewer clusters than asked for",
                found=self.n_clusters_,
                parameter="n_clusters",
                asked=self.n_clusters,
            )
        self.prototype_labels_ = np.arange(self.n_clusters_, dtype=np.int32)
        centers = self._parts.group_means() * self._scale + self._center
        self.cluster_centers_ = centers.astype(rows.dtype)
        self.n_iter_, self.status_ = chosen.n_iter, Status.CONVERGED
        self.sums_ = (
            f"a Gaussian mixture was fitted to {counted(len(some), 'row')} from several starts."
            if self.n_clusters is not None
            else f"one Gaussian: under {_FEWEST_ROWS} rows, or over {MOST_COLUMNS} columns."
            if not self.runs_
            else f"Gaussian mixtures of up to {_NUMBERS_OF_PARTS[-1][-1]} components were fitted "
            f"in {counted(len(self.runs_), 'run')}, each on a part of {counted(len(some), 'row')} "
            "and from other starts; the result is the one that agrees best with all runs."
        )

    @property
    def _sums_to_one(self) -> bool:
        return True

    @property
    def _is_plain(self) -> bool:
        """Whether each group is a single Gaussian."""
        return len(self._parts.weights) == self.n_clusters_

    @like_rows
    @by_blocks
    def predict(self, X: ArrayLike) -> Labels:
        """The group of largest membership.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows; `fit(X).predict(X)` equals `fit_predict(X)`.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        return self._labels_and_memberships(X)[0]

    @like_rows
    @by_blocks
    def predict_memberships(self, X: ArrayLike) -> Floats:
        """The posterior probability of each group, the sum over its parts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            They sum to one.
        """
        return self._labels_and_memberships(X)[1]

    def _labels_and_memberships(self, X: ArrayLike) -> tuple[Labels, Floats]:
        return self._judged(self._read(X))

    def _judged(self, rows: Floats) -> tuple[Labels, Floats]:
        memberships = self._parts.memberships((rows - self._center) / self._scale)
        memberships = memberships.astype(rows.dtype, copy=False)
        return memberships.argmax(axis=1).astype(np.int32), memberships

    def _group_log_densities(self, X: ArrayLike) -> Doubles:
        """The weighted log density of each group, the sum over its parts, at each row."""
        log = self._parts.log_densities((self._read(X) - self._center) / self._scale)
        groups = self._parts.groups
        each = [logsumexp(log[:, groups == k], axis=1) for k in range(self.n_clusters_)]
        return np.column_stack(each)

    def _soft_features(self, X: ArrayLike) -> Floats:
        return self.predict_memberships(X)

    def _soft_names(self) -> list[str]:
        return [f"membership_{k}" for k in range(self.n_clusters_)]


def _center_and_scale(rows: Floats) -> tuple[Doubles, Doubles]:
    """The means and standard deviations of the columns; one for a column that is constant."""
    largest = np.abs(rows).max(axis=0).astype(np.float64)
    unit = np.where(largest > 0, largest, 1.0)  # squares of large numbers would overflow
    center = (rows / unit).mean(axis=0, dtype=np.float64)
    spread = (rows / unit).std(axis=0, dtype=np.float64)
    return center * unit, np.where(spread > 1e-12, spread, 1.0) * unit


def steps_of(rows: Floats) -> Doubles:
    """The median distance of neighbouring values of each column; 1 for a constant one."""
    values = [np.unique(column) for column in rows.T]
    return np.array([np.median(np.diff(each)) if len(each) > 1 else 1.0 for each in values])


def has_steps(rows: Floats) -> bool:
    """Whether a column has no more than half as many values as there are rows."""
    return any(2 * len(np.unique(column)) <= len(rows) for column in rows.T)


def spread_over_steps(rows: Floats, steps: Doubles) -> Doubles:
    """Rows moved by up to half a step of each column, the same for every fit."""
    noise = np.random.RandomState(0).uniform(-0.5, 0.5, rows.shape)
    return np.asarray(rows + steps * noise, np.float64)


# ---- candidates ----------------------------------------------------------------------------------


def _better_than_one(fits: list[Fit]) -> list[tuple[Fit, bool]]:
    """Mixtures with a better BIC than one Gaussian, best by ICL, and whether ICL prefers them too.

    Mixtures with correlations are compared with one Gaussian that has them.
    """
    single = {fit.kind: fit.bic for fit in fits if len(fit.parts.weights) == 1}
    least = min(single.values(), default=np.inf)
    correlated = min(single.get(kind, np.inf) for kind in ("full", "tied"))
    bar = {"full": correlated, "tied": correlated, "diag": least}
    better = [fit for fit in fits if len(fit.parts.weights) > 1 and fit.bic < bar[fit.kind]]
    better.sort(key=lambda fit: fit.icl)
    return [(fit, fit.icl < least) for fit in better[:_VOTERS]]


def _candidates(
    rows: Doubles,
    steps: Doubles,
    pursued: Doubles,
    stages: Sequence[range] = _NUMBERS_OF_PARTS,
) -> list[Fit]:
    """The better one of two starts, for each kind of mixture and each number of parts.

    The starts are clusters of Ward's method for the first rows, and the same in the directions of
    least kurtosis. Larger numbers of parts are tried if BIC prefers more than half of the smaller.
    """
    n_some = min(max(_ROWS_OF_A_START, _ROWS_OF_A_PART * stages[-1].stop), len(rows))
    places = [rows] + [pursued[:, :q] for q in range(1, pursued.shape[1] + 1)]
    trees = [linkage(each[:n_some], "ward") for each in places]
    best: dict[tuple[str, int], Fit] = {}
    for stage in stages:
        numbers = [k for k in stage if k <= n_some]
        pairs = [(k, 0) for k in numbers] + [(k, k - 1) for k in numbers if 1 < k <= len(places)]
        starts = [_start(places[which], trees[which], k) for k, which in pairs]
        for kind in ("full", "tied", "diag"):
            fitting = [start for start in starts if _fits(kind, rows, start)]
            for fit in fit_mixtures(rows, steps, kind, fitting):
                key = kind, len(fit.parts.weights)
                best[key] = min(fit, best.get(key, fit), key=lambda each: each.bic)
        n_best = len(min(best.values(), key=lambda fit: fit.bic).parts.weights)
        if n_best < stage[len(stage) // 2]:
            break
    return list(best.values())


def _start(rows: Doubles, tree: Doubles, number: int) -> Places:
    """The cluster of each row, by the nearest mean of the clusters of the first rows in a tree."""
    labels = fcluster(tree, number, "maxclust") - 1
    counts = np.bincount(labels)
    means = np.eye(len(counts))[labels].T @ rows[: len(labels)] / counts[:, None]
    distance = (means**2).sum(axis=1) - 2 * rows @ means.T
    return np.unique(distance.argmin(axis=1), return_inverse=True)[1]


def _fits(kind: str, rows: Doubles, start: Places) -> bool:
    """Whether there are enough rows for mixtures of this kind."""
    (n_rows, n_columns), n_parts = rows.shape, int(start.max()) + 1
    columns = {"full": n_columns * n_parts, "tied": n_columns, "diag": 0}[kind]
    enough = n_rows >= max(_ROWS_OF_A_PART * n_parts, _ROWS_OF_A_COLUMN * columns)
    return enough and (kind != "full" or n_columns <= _MOST_COLUMNS_OF_FULL)


def _least_kurtosis(rows: Doubles) -> Doubles:
    """The rows in directions of least kurtosis, in which two groups lie apart.

    Whitened rows z are searched by the fixed point w <- (m4 + 3) w - mean(z (w'z)^3) with m4 =
    mean((w'z)^4), from several starts; then in what is orthogonal to the directions found.
    """
    n_rows, random = len(rows), np.random.RandomState(0)
    left, lengths, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    kept = (lengths > 1e-3 * lengths[0]) & (np.arange(len(lengths)) < max(1, n_rows // 5))
    white = left[:, kept] * np.sqrt(n_rows)
    found = np.empty((n_rows, 0))
    for _ in range(min(_MOST_DIRECTIONS, white.shape[1])):
        q = white.shape[1]
        w = np.hstack([np.eye(q)[:, :8], random.normal(size=(q, 8))])
        for _ in range(_STEPS):
            w /= np.linalg.norm(w, axis=0)
            z = white @ w
            cubes = z * z * z
            fourth = np.einsum("ij,ij->j", cubes, z) / n_rows
            best = w[:, [fourth.argmin()]]
            w = w * (fourth + 3.0) - white.T @ cubes / n_rows
        found = np.hstack([found, white @ best])
        white = white @ np.linalg.qr(np.hstack([best, np.eye(q)]))[0][:, 1:q]
    return found


def _of_given_number(rows: Doubles, number: int) -> "_Election":
    """The mixture with this number of Gaussians and the least BIC; each Gaussian is a group."""
    steps = steps_of(rows)
    pursued = _least_kurtosis(spread_over_steps(rows, steps))
    fits = _candidates(rows, steps, pursued, [range(number, number + 1)])
    return _Election(min(fits, key=lambda fit: fit.bic).parts, None, [])


# ---- the vote ------------------------------------------------------------------------------------


class _Election(NamedTuple):
    """The mixture that was elected, its agreement with the runs, and their numbers of groups.

    Groups overlap if ICL prefers one Gaussian.
    """

    chosen: GaussianParts
    agreement: float | None
    numbers: list[int]
    overlap: bool = False


def _choose(rows: Doubles) -> _Election:
    """The joined mixture that agrees best with those of all runs.

    There are more than a few runs only if these do not agree.
    """
    n_rows, d = rows.shape
    one = GaussianParts(np.ones(1), np.zeros((1, d)), np.eye(d)[None], np.zeros(1, np.intp), 1)
    if n_rows < _FEWEST_ROWS or d > MOST_COLUMNS:
        return _Election(one, 1.0, [])
    steps = steps_of(rows)
    pursued = _least_kurtosis(spread_over_steps(rows, steps))
    n_runs = min(max(_COLUMNS_OF_RUNS // d, _FEWEST_RUNS), _MOST_RUNS)
    n_some = min(_ROWS_OF_A_RUN, int(np.ceil(_SHARE_OF_A_RUN * n_rows)))
    count, runs = counter(n_runs), []
    for turn in range(n_runs):
        some = np.roll(np.arange(n_rows), -int(n_rows * (_GOLDEN * turn % 1)))[:n_some]
        better = _better_than_one(_candidates(rows[some], steps, pursued[some]))
        runs.append([(_joined(fit.parts, rows[some], steps), clear) for fit, clear in better])
        count()
        if turn + 1 in (_FIRST_RUNS, n_runs):
            election = _elected(runs, one, rows, steps)
            if (election.agreement or 0.0) >= _AGREED:
                break
    return election


def _elected(
    runs: list[list[tuple[GaussianParts, bool]]],
    one: GaussianParts,
    rows: Doubles,
    steps: Doubles,
) -> _Election:
    """Candidates that ICL prefers vote; if they find one group, all, and valleys must be clear."""
    by_icl = _elect([[parts for parts, clear in run if clear] or [one] for run in runs], rows)
    if by_icl.chosen.n_groups > 1:
        return by_icl
    by_bic = _elect([[parts for parts, _ in run] or [one] for run in runs], rows)
    if by_bic.chosen.n_groups > 1 and _is_sure(by_bic.chosen, rows, steps):
        return by_bic._replace(overlap=True)
    return by_icl


def _elect(runs: list[list[GaussianParts]], rows: Doubles) -> _Election:
    """The mixture with the largest mean adjusted Rand index to those of all runs.

    Each run has the same weight. The answer of a run is the mixture that agrees best with its own.
    """
    voters = [parts for run in runs for parts in run]
    run_of = np.repeat(np.arange(len(runs)), list(map(len, runs)))
    agreement = adjusted_rand_matrix([each.memberships(rows).argmax(axis=1) for each in voters])
    best = int((agreement @ (1.0 / np.bincount(run_of)[run_of])).argmax())
    own = [np.flatnonzero(run_of == number) for number in range(len(runs))]
    answers = [each[agreement[np.ix_(each, each)].sum(axis=1).argmax()] for each in own]
    numbers = [voters[answer].n_groups for answer in answers]
    return _Election(voters[best], float(agreement[best, answers].mean()), numbers)


# ---- joining -------------------------------------------------------------------------------------


def _joined(parts: GaussianParts, rows: Doubles, steps: Doubles) -> GaussianParts:
    """The same mixture, its parts in groups with valleys between them."""
    owned = _Owned.of(parts, rows, steps)
    sizes = np.bincount(owned.owner, minlength=len(parts.weights))
    groups = np.eye(len(sizes), dtype=bool)
    depth = np.full(groups.shape, np.inf)
    first, second = np.triu_indices(len(groups), 1)
    depth[first, second] = _valleys(parts, groups[first], groups[second], owned)[0]
    depth = np.minimum(depth, depth.T)
    while len(groups) > 1:
        i, j = np.unravel_index(depth.argmin(), depth.shape)
        if depth[i, j] >= _SHALLOW:
            i = (groups @ sizes).argmin()
            if groups[i] @ sizes >= _SMALLEST_SHARE * len(rows):
                break
            j = depth[i].argmin()
        both = groups[i] | groups[j]
        groups, depth = np.delete(groups, [i, j], 0), np.delete(depth, [i, j], 0)
        new = _valleys(parts, np.tile(both, (len(groups), 1)), groups, owned)[0]
        depth = np.pad(np.delete(depth, [i, j], 1), (0, 1), constant_values=np.inf)
        depth[-1, :-1] = depth[:-1, -1] = new
        groups = np.vstack([groups, both])
    shared = _shared(parts, groups, owned)
    return replace(parts, groups=groups.argmax(axis=0)).take(~shared)


def _shared(parts: GaussianParts, groups: NDArray[np.bool_], owned: "_Owned") -> NDArray[np.bool_]:
    """Parts that no valley separates from another group, unless all of a group are such parts.

    Such a part is a halo around several groups.
    """
    several = groups[groups.sum(axis=1) > 1].any(axis=0)
    other, part = np.nonzero(~groups & several)
    single = np.eye(len(several), dtype=bool)
    depth, _ = _valleys(parts, single[part], groups[other], owned)
    shared = single[part[depth < _SHALLOW]].any(axis=0)
    lost = groups[~(groups & ~shared).any(axis=1)].any(axis=0)
    return np.asarray(shared & ~lost)


def _is_sure(parts: GaussianParts, rows: Doubles, steps: Doubles) -> bool:
    """Whether all valleys are deeper than chance makes them."""
    groups = np.arange(parts.n_groups)[:, None] == parts.groups
    first, second = np.triu_indices(len(groups), 1)
    owned = _Owned.of(parts, rows, steps)
    depth, n_rows = _valleys(parts, groups[first], groups[second], owned)
    sure = _SURE if rows.shape[1] >= MANY_COLUMNS else _SURE_OF_FEW
    return bool((depth >= sure * np.sqrt(0.707 / np.maximum(n_rows, 1e-9))).all())


class _Owned(NamedTuple):
    """Rows, the part of each, and the steps of their columns."""

    rows: Doubles
    owner: Places
    steps: Doubles

    @classmethod
    def of(cls, parts: GaussianParts, rows: Doubles, steps: Doubles) -> Self:
        return cls(rows, parts.log_densities(rows).argmax(axis=1), steps)


def _valleys(
    parts: GaussianParts, first: NDArray[np.bool_], second: NDArray[np.bool_], owned: _Owned
) -> tuple[Doubles, Doubles]:
    """The valleys between pairs of groups of parts, on their linear discriminants.

    Parameters
    ----------
    first, second : arrays of shape (p, k)
        The parts of both groups of each pair.

    Returns
    -------
    depths : array of shape (p,)
        The smaller one of the depth in the mixture and in a kernel density estimate of the rows.
    n_rows : array of shape (p,)
        The number of rows at the bottom of the valley, under the kernel.
    """
    both = first | second
    weights = both * parts.weights / (both @ parts.weights)[:, None]
    one, other = (g * weights / (g * weights).sum(axis=1)[:, None] for g in (first, second))
    pooled = np.tensordot(weights, parts.covariances, axes=1)
    lines = np.linalg.solve(pooled, ((one - other) @ parts.means)[:, :, None])[:, :, 0]
    middle = lines @ parts.means.T
    width = np.einsum("kpi,pi->pk", lines @ parts.covariances, lines)
    width = np.sqrt(np.maximum(width, _LEAST_SUM**2))  # all are zero where the means coincide
    low = np.where(both, middle - width, np.inf).min(axis=1)[:, None]
    step = (np.where(both, middle + width, -np.inf).max(axis=1)[:, None] - low) / (_GRID - 1)
    apart = (low + step * np.arange(_GRID))[:, None] - middle[:, :, None]
    density = np.exp(-0.5 * (apart / width[:, :, None]) ** 2) * (weights / width)[:, :, None]
    in_mixture, _ = _depths(*(np.einsum("pk,pkg->pg", 1.0 * g, density) for g in (first, second)))
    places, noise = (lines @ owned.rows.T - low) / step, lines * owned.steps / step
    own = first[:, owned.owner], second[:, owned.owner]
    in_rows, n_rows = _depths_of_rows(places, noise, *own)
    return np.minimum(in_mixture, in_rows), n_rows


def _depths_of_rows(
    places: Doubles, noise: Doubles, first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> tuple[Doubles, Doubles]:
    """The same for kernel density estimates of rows of two groups, at places in units of the grid.

    The bandwidth is Silverman's for the smaller and the narrower of both groups. The rows are
    spread evenly over the steps of the columns, which are the `noise` on each line: so the estimate
    is the exact mean over all draws of such noise.
    """
    sizes = [np.maximum(own.sum(axis=1), 1) for own in (first, second)]
    means = [(own * places).sum(axis=1) / n for own, n in zip((first, second), sizes, strict=True)]
    apart = places - np.where(first, means[0][:, None], means[1][:, None])
    squares = [
        (own * apart**2).sum(axis=1) / n for own, n in zip((first, second), sizes, strict=True)
    ]
    squares = [square + (noise**2).sum(axis=1) / 12 for square in squares]
    kernel = 1.06 * np.sqrt(np.maximum(np.minimum(*squares), 1e-6)) * np.minimum(*sizes) ** -0.2
    inside = (places > -0.5) & (places < _GRID - 0.5)
    cells = np.rint(np.where(inside, places, 0)).astype(np.intp)
    cells += _GRID * np.arange(len(cells))[:, None]
    frequency = np.fft.rfftfreq(2 * _GRID)
    damping = np.exp(-0.5 * (2 * np.pi * kernel[:, None] * frequency) ** 2)
    for width in noise[:, (np.abs(noise) > 1.0).any(axis=0)].T:  # the grid hides finer ones
        damping *= np.sinc(width[:, None] * frequency)
    sums = []
    for own in (first, second):
        counts = np.bincount(cells[own & inside], minlength=_GRID * len(cells))
        waves = np.fft.rfft(counts.reshape(len(cells), _GRID), 2 * _GRID)
        sums.append(np.fft.irfft(waves * damping)[:, :_GRID])
    depth, bottom = _depths(*sums)
    n_rows = np.take_along_axis(sums[0] + sums[1], bottom[:, None], 1)[:, 0]
    empty = ~(first.any(axis=1) & second.any(axis=1))
    return np.where(empty, np.inf, depth), np.where(
        empty, 0.0, n_rows * kernel * np.sqrt(2 * np.pi)
    )


def _depths(first: Doubles, second: Doubles) -> tuple[Doubles, Places]:
    """How much the logarithm falls from the lower peak of sums of two densities, and where to."""
    log = np.log(np.maximum(first + second, _LEAST_SUM))
    left, right = np.sort([first.argmax(axis=1), second.argmax(axis=1)], axis=0)[:, :, None]
    at = np.arange(log.shape[1])
    bottom = np.where((at >= left) & (at <= right), log, np.inf).argmin(axis=1)
    peaks = [
        np.where(side, log, -np.inf).max(axis=1)
        for side in (at <= bottom[:, None], at >= bottom[:, None])
    ]
    return np.minimum(*peaks) - np.take_along_axis(log, bottom[:, None], 1)[:, 0], bottom
