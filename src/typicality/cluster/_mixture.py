"""Groups of Gaussians: mixtures whose parts are joined where no valley separates them."""

from dataclasses import replace
from numbers import Integral
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.ndimage import gaussian_filter1d
from scipy.special import logsumexp
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from typicality._compat import Interval, fit_context
from typicality._progress import counter
from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality._words import counted
from typicality.cluster._callbacks import FitCallbacks
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
_ROWS_OF_A_START = 500
_MOST_COLUMNS, _MOST_COLUMNS_OF_FULL = 500, 100
_MOST_PARTS = 12
_MOST_DIRECTIONS = 4
_STEPS = 20
_ROWS_OF_A_PART = 5
_ROWS_OF_A_COLUMN = 3  # and part, that covariance matrices with correlations need
_VOTERS = 8  # of a run
_SHALLOW = 0.2  # valleys of the log density that separate nothing
_SURE = 4.1  # standard errors of a valley
_SMALLEST_SHARE = 0.05  # of the rows, for a group
_GRID = 512
_LEAST_SUM = 1e-12


class JoinedMixture(ClusterMixin, Estimator):
    r"""Gaussian mixtures by EM, whose parts are joined where no valley separates them.

    A mixture has the density :math:`\sum_k \pi_k N(x; \mu_k, \Sigma_k)`, and its memberships are

    .. math:: u_{hk} = \frac{\pi_k N(x_h; \mu_k, \Sigma_k)}{\sum_j \pi_j N(x_h; \mu_j, \Sigma_j)}.

    With `n_clusters`, each cluster is one Gaussian. Else the number of clusters is found: mixtures
    of 1 to 12 parts are fitted in eight runs, each to a part of the rows, and two parts belong to
    one cluster if the density has no valley between them. So a cluster need not be Gaussian. The
    partition that agrees best with those of all runs is the answer. It has no cluster with less
    than 5 % of the rows.

    Columns are standardised, so their units do not matter. A column with few values is blurred by
    the distance between neighbouring values, because a part on a single value would have an
    infinite density. There is no `sample_weight`. Results do not depend on the order of the rows.
    Costs half a second for 1,000 rows of five columns.

    Implements :cite:`lecture20`, section 20.2, with `n_clusters`. Joining and the vote are original
    to typicality, see docs/theory.

    Parameters
    ----------
    n_clusters : int or None, default=None
        The number of clusters, if it is known. Then each cluster is one Gaussian. Of full, tied and
        diagonal covariance matrices, and of two starts, those with the least BIC are chosen.
    random_state : int, RandomState or None, default=None
        The source of randomness of the samples, the starts and the blur.

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
    >>> JoinedMixture(random_state=0).fit(X).n_clusters_
    2
    >>> JoinedMixture(n_clusters=2, random_state=0).fit(X).cluster_centers_.round()[:, 1]
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

    _fewest_rows = 2
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(self, n_clusters: int | None = None, *, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

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
        random = check_random_state(self.random_state)
        ordered = rows[lexicographic_order(rows)]
        self._center, self._scale = _center_and_scale(ordered)
        standard = (ordered - self._center) / self._scale
        some = standard[random.permutation(len(rows))[:_MOST_ROWS]]
        if self.n_clusters is None:
            chosen, self.agreement_, self.runs_ = _choose(some, random)
        else:
            chosen, self.agreement_, self.runs_ = _of_given_number(some, self.n_clusters, random)
        self._parts = chosen.numbered(standard)
        self.labels_, self.memberships_ = self._judged(rows)
        self.n_clusters_ = self.memberships_.shape[1]
        self.prototype_labels_ = np.arange(self.n_clusters_, dtype=np.int32)
        centers = self._parts.group_means() * self._scale + self._center
        self.cluster_centers_ = centers.astype(rows.dtype)
        self.n_iter_, self.status_ = chosen.n_iter, Status.CONVERGED
        self.sums_ = (
            f"a Gaussian mixture was fitted to {counted(len(some), 'row')} from several starts."
            if self.n_clusters is not None
            else f"Gaussian mixtures of up to {_MOST_PARTS} components were fitted in "
            f"{counted(len(self.runs_), 'run')}, each on a part of {counted(len(some), 'row')} and "
            "from other starts; the result is the one that agrees best with all runs."
        )

    @property
    def _sums_to_one(self) -> bool:
        return True

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


def spread_over_steps(rows: Floats, steps: Doubles, random: np.random.RandomState) -> Doubles:
    """Rows moved at random by up to half a step of each column."""
    return np.asarray(rows + steps * random.uniform(-0.5, 0.5, rows.shape), np.float64)


# ---- candidates ----------------------------------------------------------------------------------


def _better_than_one(fits: list[Fit]) -> tuple[list[Fit], list[Fit]]:
    """The best mixtures by ICL of those better than one Gaussian by ICL, and of those by BIC."""
    single = {fit.kind: fit.bic for fit in fits if len(fit.parts.weights) == 1}
    least = min(single.values(), default=np.inf)
    correlated = min(single.get(kind, np.inf) for kind in ("full", "tied"))
    bar = {"full": correlated, "tied": correlated, "diag": least}
    several = sorted((fit for fit in fits if len(fit.parts.weights) > 1), key=lambda fit: fit.icl)
    by_icl = [fit for fit in several if fit.icl < least][:_VOTERS]
    return by_icl, [fit for fit in several if fit.bic < bar[fit.kind]][:_VOTERS]


def _candidates(
    rows: Doubles,
    pursued: Doubles,
    random: np.random.RandomState,
    numbers: range = range(1, _MOST_PARTS + 1),
) -> list[Fit]:
    """The better one of two starts, for each kind of mixture and each number of parts."""
    starts = _starts(rows, rows, numbers, random)
    for number in filter(numbers.__contains__, range(2, pursued.shape[1] + 2)):
        starts += _starts(rows, pursued[:, : number - 1], range(number, number + 1), random)
    best: dict[tuple[str, int], Fit] = {}
    for kind in ("full", "tied", "diag"):
        allowed = [start for start in starts if _has_enough_rows(rows, kind, start.max() + 1)]
        for fit in fit_mixtures(rows, kind, allowed) if allowed else []:
            key = kind, len(fit.parts.weights)
            if key not in best or fit.bic < best[key].bic:
                best[key] = fit
    return list(best.values())


def _starts(
    rows: Doubles, places: Doubles, numbers: range, random: np.random.RandomState
) -> list[Places]:
    """Rows by the nearest mean of the clusters of Ward's method, in places of some of the rows."""
    some = places[random.permutation(len(rows))[:_ROWS_OF_A_START]]
    tree = linkage(some, "ward")
    starts = []
    for number in numbers:
        if number > len(some):
            break
        labels = fcluster(tree, number, "maxclust") - 1
        counts = np.bincount(labels)
        means = np.eye(len(counts))[labels].T @ some / counts[:, None]
        distance = (means**2).sum(axis=1) - 2 * places @ means.T
        starts.append(np.unique(distance.argmin(axis=1), return_inverse=True)[1])
    return starts


def _least_kurtosis(rows: Doubles, random: np.random.RandomState) -> Doubles:
    """The rows in directions of least kurtosis, in which two groups lie apart.

    Whitened rows z are searched by the fixed point w <- (m4 + 3) w - mean(z (w'z)^3) with m4 =
    mean((w'z)^4), from several starts; then in what is orthogonal to the directions found.
    """
    n_rows = len(rows)
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


def _has_enough_rows(rows: Doubles, kind: str, n_parts: int) -> bool:
    n_rows, n_columns = rows.shape
    if kind == "full" and n_columns > _MOST_COLUMNS_OF_FULL:
        return False
    columns = {"full": n_columns * n_parts, "tied": n_columns, "diag": 0}[kind]
    return bool(n_rows >= max(_ROWS_OF_A_PART * n_parts, _ROWS_OF_A_COLUMN * columns))


def _of_given_number(rows: Doubles, number: int, random: np.random.RandomState) -> "_Election":
    """The mixture of so many Gaussians with the least BIC, and each of them a group."""
    blurred = spread_over_steps(rows, steps_of(rows), random)
    pursued = _least_kurtosis(blurred, random)
    fits = _candidates(blurred, pursued, random, range(number, number + 1))
    return _Election(min(fits, key=lambda fit: fit.bic).parts, None, [])


# ---- the vote ------------------------------------------------------------------------------------


class _Election(NamedTuple):
    """The mixture that was elected, its agreement with the runs, and their numbers of groups."""

    chosen: GaussianParts
    agreement: float | None
    numbers: list[int]


def _choose(rows: Doubles, random: np.random.RandomState) -> _Election:
    """The joined mixture that agrees best with those of all runs.

    If candidates by ICL find one group, candidates by BIC may find more, with clear valleys.
    """
    d = rows.shape[1]
    one = GaussianParts(np.ones(1), np.zeros((1, d)), np.eye(d)[None], np.zeros(1, np.intp), 1)
    if len(rows) < _FEWEST_ROWS or rows.shape[1] > _MOST_COLUMNS:
        return _Election(one, 1.0, [])
    steps = steps_of(rows)
    blurred = spread_over_steps(rows, steps, random)
    pursued = _least_kurtosis(blurred, random)
    n_runs = min(max(_COLUMNS_OF_RUNS // rows.shape[1], _FEWEST_RUNS), _MOST_RUNS)
    count, runs = counter(n_runs), []
    for turn in range(n_runs):  # each leaves out other rows, and all leave out equally many times
        some = np.roll(np.arange(len(rows)), -(turn * len(rows) // n_runs))
        some = some[: min(_ROWS_OF_A_RUN, int(np.ceil(_SHARE_OF_A_RUN * len(rows))))]
        spread = spread_over_steps(rows[some], steps, random)
        runs.append((spread, *_better_than_one(_candidates(spread, pursued[some], random))))
        count()
    by_icl = _elect([_groups(spread, fits) or [one] for spread, fits, _ in runs], rows)
    if by_icl.chosen.n_groups > 1:
        return by_icl
    by_bic = _elect([_groups(spread, fits) or [one] for spread, _, fits in runs], rows)
    return by_bic if by_bic.chosen.n_groups > 1 and _is_sure(by_bic.chosen, blurred) else by_icl


def _groups(rows: Doubles, fits: list[Fit]) -> list[GaussianParts]:
    """Mixtures with their parts in groups, without the parts that groups share."""
    found = []
    for fit in fits:
        owner = fit.parts.log_densities(rows).argmax(axis=1)
        found.append(_without_shared(_joined(fit.parts, rows, owner), rows, owner))
    return found


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


def _joined(parts: GaussianParts, rows: Doubles, owner: Places) -> GaussianParts:
    """The same mixture, its parts in groups with valleys between them.

    `owner` is the part of each row.
    """
    groups = np.arange(len(parts.weights))
    valleys: dict[tuple[int, int], float] = {}

    def valley(i: int, j: int) -> float:
        pair = (min(i, j), max(i, j))
        if pair not in valleys:
            first, second = (groups == group for group in pair)
            valleys[pair] = _valley(parts, first, second, rows, owner).depth
        return valleys[pair]

    def join(i: int, j: int) -> None:
        groups[groups == j] = i
        for pair in [pair for pair in valleys if i in pair or j in pair]:
            del valleys[pair]

    while len(left := np.unique(groups).tolist()) > 1:
        depth, i, j = min((valley(i, j), i, j) for i in left for j in left if i < j)
        if depth >= _SHALLOW:
            break
        join(i, j)
    while len(left := np.unique(groups).tolist()) > 1:
        sizes = np.bincount(groups[owner], minlength=len(groups))
        smallest = min(left, key=lambda i: sizes[i])
        if sizes[smallest] >= _SMALLEST_SHARE * len(rows):
            break
        others = [i for i in left if i != smallest]
        join(min(others, key=lambda i: valley(i, smallest)), smallest)
    return replace(parts, groups=np.unique(groups, return_inverse=True)[1])


def _without_shared(parts: GaussianParts, rows: Doubles, owner: Places) -> GaussianParts:
    """Leave out parts that no valley separates from another group, but one of each group.

    Such a part is a halo around several groups.
    """
    groups, numbers = parts.groups, np.arange(len(parts.weights))
    shared = np.zeros(len(numbers), bool)
    for k, group in enumerate(groups):
        if np.count_nonzero(groups == group) > 1:
            others = [groups == g for g in np.unique(groups) if g != group]
            valleys = [_valley(parts, numbers == k, other, rows, owner) for other in others]
            shared[k] = any(each.depth < _SHALLOW for each in valleys)
    for group in np.unique(groups):
        shared[groups == group] &= not shared[groups == group].all()
    return parts.take(~shared) if shared.any() else parts


def _is_sure(parts: GaussianParts, rows: Doubles) -> bool:
    """Whether all valleys are deeper than chance makes them."""
    owner = parts.log_densities(rows).argmax(axis=1)
    masks = [parts.groups == group for group in range(parts.n_groups)]
    valleys = [_valley(parts, a, b, rows, owner) for i, a in enumerate(masks) for b in masks[:i]]
    return all(each.depth >= _SURE * np.sqrt(0.707 / max(each.n_rows, 1e-9)) for each in valleys)


class _Valley(NamedTuple):
    """How deep a valley is, and how many rows are at its bottom, under the kernel."""

    depth: float
    n_rows: float


def _valley(
    parts: GaussianParts,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    rows: Doubles,
    owner: Places,
) -> _Valley:
    """The valley between two groups of parts, on their linear discriminant.

    `first` and `second` are masks of the parts, `owner` is the part of each row.
    """
    means = [parts.weights[g] @ parts.means[g] / parts.weights[g].sum() for g in (first, second)]
    both = first | second
    weights = parts.weights[both] / parts.weights[both].sum()
    covariances = parts.covariances[both]
    line = np.linalg.solve(np.tensordot(weights, covariances, axes=1), means[0] - means[1])
    middle = parts.means[both] @ line
    width = np.sqrt(np.einsum("i,kij,j->k", line, covariances, line))
    if not width.min() > 0:  # the means coincide
        return _Valley(0.0, 0.0)
    low, high = middle.min() - width.max(), middle.max() + width.max()
    grid = np.linspace(low, high, _GRID)
    density = weights / width * np.exp(-0.5 * ((grid[:, None] - middle) / width) ** 2)
    depth, _ = _depth(density[:, first[both]].sum(axis=1), density[:, second[both]].sum(axis=1))
    places = [rows[g[owner]] @ line for g in (first, second)]
    if not all(map(len, places)):
        return _Valley(depth, 0.0)
    # Silverman's rule for the smaller and the narrower of both.
    spread = max(min(place.std() for place in places), 1e-9 * width.max())
    bandwidth = 1.06 * spread * min(map(len, places)) ** -0.2
    step = grid[1] - grid[0]
    kernel, ends = bandwidth / step, (low - step / 2, high + step / 2)
    counts = [np.histogram(place, _GRID, ends)[0].astype(np.float64) for place in places]
    sums = [gaussian_filter1d(count, kernel, mode="constant") for count in counts]
    of_rows, bottom = _depth(*sums)
    n_rows = (sums[0] + sums[1])[bottom] * kernel * np.sqrt(2 * np.pi)
    return _Valley(min(depth, of_rows), float(n_rows))


def _depth(first: Doubles, second: Doubles) -> tuple[float, int]:
    """How much the logarithm falls from the lower peak of a sum of densities, and where to."""
    log = np.log(np.maximum(first + second, _LEAST_SUM))
    left, right = sorted((int(first.argmax()), int(second.argmax())))
    bottom = left + int(log[left : right + 1].argmin())
    return float(min(log[: bottom + 1].max(), log[bottom:].max()) - log[bottom]), bottom
