"""Groups of Gaussians: mixtures whose parts are joined where no valley separates them."""

import warnings
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.special import entr, logsumexp, softmax
from sklearn import config_context
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from typicality._compat import fit_context
from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality._words import counted
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._estimator import Estimator
from typicality.solve.picard import Status

_FEWEST_ROWS = 20  # with fewer the answer is one group
_MOST_ROWS = 2000  # that mixtures are fitted on
_MOST_COLUMNS = 500
_MOST_PARTS = 12
_ROWS_OF_A_PART = 5
_ROWS_OF_A_COLUMN = 3  # and part, that covariance matrices with correlations need
_REGULARISATION = 1e-3  # of the variance of a column
_VOTERS = 8
_SHALLOW = 0.2  # valleys of the log density that separate nothing
_SMALLEST_SHARE = 0.05  # of the rows, for a group
_GRID = 129
_LEAST_SUM = 1e-12


class JoinedMixture(ClusterMixin, Estimator):
    """Gaussian mixtures whose parts are joined where no valley separates them.

    A group that is not Gaussian takes several parts, and the density has no valley between them.
    Two groups of parts are compared on the line that separates them best, their linear
    discriminant. The *valley* between them is the log density at the lower of the two peaks minus
    the least log density between the peaks, for the mixture or for a kernel density estimate of the
    rows, whichever valley is shallower. The pair with the shallowest valley is joined while that is
    below 0.2. A group with less than 5 % of the rows (outliers, tails) then joins the group to
    which its valley is the shallowest.

    Mixtures of 1 to 12 parts, with full, tied and diagonal covariance matrices, are fitted on at
    most 2,000 rows and ordered by ICL, which is BIC plus twice the entropy of the memberships. The
    best eight of those with a smaller ICL than one Gaussian vote: the answer is the partition with
    the largest mean adjusted Rand index to all of them.

    Columns are standardised, so their units do not matter. A column with few values is blurred by
    the distance between neighbouring values, because a part on a single value would have an
    infinite density. Costs 36 mixtures of at most 2,000 rows, about a second.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        The source of randomness of the starts, the sample and the blur.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The group of largest membership, contiguous from 0 by falling size.
    memberships_ : array of shape (n_samples, n_clusters)
        The posterior probability of each group, the sum over its parts.
    n_clusters_ : int
        The number of groups.
    agreement_ : float
        The mean adjusted Rand index of the answer to those of all mixtures that voted; 1 where none
        did.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The mean of each group.
    """

    _parts: "GaussianParts"
    _center: Annotated[Doubles, "d"]
    _scale: Annotated[Doubles, "d"]
    prototype_labels_: Annotated[Labels, "c", Index("c", lowest=-1)]
    cluster_centers_: Annotated[Floats, "c d"]
    labels_: Annotated[Labels, "N"]
    memberships_: Annotated[Floats, "N c"]
    agreement_: float | None
    n_clusters_: Annotated[int, "c"]
    n_iter_: int
    status_: Status
    sums_: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"random_state": ["random_state"]}

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Fit mixtures, join their parts, and let the partitions vote."""
        return self._fit(X)

    def _learn(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> None:
        random = check_random_state(self.random_state)
        self._center, self._scale = _center_and_scale(rows)
        standard = some = (rows - self._center) / self._scale
        if len(rows) > _MOST_ROWS:
            some = standard[np.sort(random.choice(len(rows), _MOST_ROWS, replace=False))]
        blurred = _blurred(some, random)
        voters = [_joined(parts, blurred) for parts in _voting_parts(blurred, random)]
        chosen, self.agreement_ = _elect(voters, some) if voters else (_one_gaussian(blurred), 1.0)
        self._parts = chosen.numbered(standard)
        self.memberships_ = self._parts.memberships(standard).astype(rows.dtype)
        self.labels_ = self.memberships_.argmax(axis=1).astype(np.int32)
        self.n_clusters_ = self.memberships_.shape[1]
        self.prototype_labels_ = np.arange(self.n_clusters_, dtype=np.int32)
        centers = self._parts.group_means() * self._scale + self._center
        self.cluster_centers_ = centers.astype(rows.dtype)
        self.n_iter_, self.status_ = chosen.n_iter, Status.CONVERGED
        self.sums_ = (
            f"Gaussian mixtures of up to {_MOST_PARTS} components were fitted on "
            f"{counted(len(some), 'row')}; the result was chosen by agreement among "
            f"{counted(len(voters), 'candidate')}."
        )

    def predict(self, X: ArrayLike) -> Labels:
        """The group of largest membership."""
        return self._labels_and_memberships(X)[0]

    def predict_memberships(self, X: ArrayLike) -> Floats:
        """The posterior probability of each group, the sum over its parts."""
        return self._labels_and_memberships(X)[1]

    def _labels_and_memberships(self, X: ArrayLike) -> tuple[Labels, Floats]:
        rows = self._read(X)
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


@dataclass(frozen=True, eq=False)
class GaussianParts:
    """A Gaussian mixture, and the group that each of its parts belongs to.

    Parameters
    ----------
    weights : array of shape (k,)
        The shares of the parts.
    means : array of shape (k, d)
        Their means.
    covariances : array of shape (k, d, d)
        Their covariance matrices.
    groups : array of shape (k,)
        Their groups, contiguous from 0.
    n_iter : int
        The iterations of the fit.
    """

    weights: Annotated[Doubles, "_parts"]
    means: Annotated[Doubles, "_parts d"]
    covariances: Annotated[Doubles, "_parts d d"]
    groups: Annotated[Places, "_parts", Index("_parts")]
    n_iter: int

    @one_blas_thread()
    def log_densities(self, rows: Doubles) -> Doubles:
        """The weighted log density of each part at each row."""
        log = np.empty((len(rows), len(self.weights)))
        for k, factor in enumerate(np.linalg.cholesky(self.covariances)):
            scaled = solve_triangular(factor, (rows - self.means[k]).T, lower=True)
            log[:, k] = (
                -0.5 * np.einsum("ij,ij->j", scaled, scaled) - np.log(factor.diagonal()).sum()
            )
        return log + np.log(self.weights)

    @one_blas_thread()
    def memberships(self, rows: Doubles) -> Doubles:
        """The posterior probability of each group."""
        return np.asarray(softmax(self.log_densities(rows), axis=1) @ self._is_in)

    @property
    def _is_in(self) -> Doubles:
        """1 where a part, the row, belongs to a group, the column."""
        return np.eye(self.groups.max() + 1)[self.groups]

    def group_means(self) -> Doubles:
        """The mean of each group."""
        share = self._is_in.T * self.weights
        return np.asarray(share @ self.means / share.sum(axis=1, keepdims=True))

    def numbered(self, rows: Doubles) -> "GaussianParts":
        """Number the groups by falling size; a group without rows joins the largest one."""
        memberships = self.memberships(rows)
        sizes = np.bincount(memberships.argmax(axis=1), minlength=memberships.shape[1])
        order = np.argsort(-sizes, kind="stable")
        number = np.zeros(len(sizes), np.intp)
        n_groups = np.count_nonzero(sizes)
        number[order[:n_groups]] = np.arange(n_groups)
        parts = replace(self, groups=number[self.groups])
        return parts if n_groups == len(sizes) else parts.numbered(rows)


def _center_and_scale(rows: Floats) -> tuple[Doubles, Doubles]:
    """The means and standard deviations of the columns; one for a column that is constant."""
    largest = np.abs(rows).max(axis=0).astype(np.float64)
    unit = np.where(largest > 0, largest, 1.0)  # squares of large numbers would overflow
    center = (rows / unit).mean(axis=0, dtype=np.float64)
    spread = (rows / unit).std(axis=0, dtype=np.float64)
    return center * unit, np.where(spread > 1e-12, spread, 1.0) * unit


def _blurred(rows: Doubles, random: np.random.RandomState) -> Doubles:
    """Rows moved at random, by up to half the median distance of neighbouring values."""
    values = [np.unique(column) for column in rows.T]
    gaps = np.array([np.median(np.diff(v)) if len(v) > 1 else 1.0 for v in values])
    return np.asarray(rows + gaps * random.uniform(-0.5, 0.5, rows.shape))


# ---- mixtures ------------------------------------------------------------------------------------


def _one_gaussian(rows: Doubles) -> GaussianParts:
    variances = rows.var(axis=0) + _REGULARISATION
    return GaussianParts(
        np.ones(1), rows.mean(axis=0)[None], np.diag(variances)[None], np.zeros(1, np.intp), 1
    )


def _voting_parts(rows: Doubles, random: np.random.RandomState) -> list[GaussianParts]:
    """The best mixtures, by ICL, of those that are better than one Gaussian."""
    if len(rows) < _FEWEST_ROWS or rows.shape[1] > _MOST_COLUMNS:
        return []
    seed = random.randint(2**31 - 1)
    with threadpool_limits(1):  # the matrices are small: threads would wait for one another
        fits = [
            _fit(rows, kind, n_parts, seed)
            for kind in ("full", "tied", "diag")
            for n_parts in range(1, _MOST_PARTS + 1)
            if _has_enough_rows(rows, kind, n_parts)
        ]
    one = min(icl for icl, mixture in fits if mixture.n_components == 1)
    better = [(icl, mixture) for icl, mixture in fits if mixture.n_components > 1 and icl < one]
    best = sorted(better, key=lambda fit: fit[0])[:_VOTERS]
    return [_parts_of(mixture) for _, mixture in best]


def _has_enough_rows(rows: Doubles, kind: str, n_parts: int) -> bool:
    n_rows, n_columns = rows.shape
    columns = {"full": n_columns * n_parts, "tied": n_columns, "diag": 0}[kind]
    return bool(n_rows >= max(_ROWS_OF_A_PART * n_parts, _ROWS_OF_A_COLUMN * columns))


def _fit(rows: Doubles, kind: str, n_parts: int, seed: int) -> tuple[float, Any]:
    """The ICL of a mixture, and the mixture."""
    mixture = GaussianMixture(
        n_parts, covariance_type=kind, reg_covar=_REGULARISATION, random_state=seed
    )
    # The start by k-means does not work with array_api_dispatch; rows are NumPy arrays here.
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        warnings.simplefilter("ignore", ConvergenceWarning)  # of k-means too: duplicates
        mixture.fit(rows)
    entropy = float(entr(mixture.predict_proba(rows)).sum())
    return float(mixture.bic(rows)) + 2 * entropy, mixture


def _parts_of(mixture: Any) -> GaussianParts:
    n_parts, n_columns = mixture.means_.shape
    covariances = mixture.covariances_
    if mixture.covariance_type == "diag":
        covariances = covariances[:, :, None] * np.eye(n_columns)
    return GaussianParts(
        np.maximum(mixture.weights_, np.finfo(np.float64).tiny),
        mixture.means_,
        np.broadcast_to(covariances, (n_parts, n_columns, n_columns)).copy(),
        np.arange(n_parts),
        int(mixture.n_iter_),
    )


def _elect(voters: list[GaussianParts], rows: Doubles) -> tuple[GaussianParts, float]:
    """The mixture that agrees best with all of them, and its mean adjusted Rand index."""
    partitions = [parts.memberships(rows).argmax(axis=1) for parts in voters]
    agreements = [[adjusted_rand_score(a, b) for b in partitions] for a in partitions]
    scores = np.array(agreements).mean(axis=1)
    return voters[int(scores.argmax())], float(scores.max())


# ---- joining -------------------------------------------------------------------------------------


def _joined(parts: GaussianParts, rows: Doubles) -> GaussianParts:
    """The same mixture, its parts in groups with valleys between them."""
    owner = parts.log_densities(rows).argmax(axis=1)
    groups = np.arange(len(parts.weights))
    valleys: dict[tuple[int, int], float] = {}

    def valley(i: int, j: int) -> float:
        pair = (min(i, j), max(i, j))
        if pair not in valleys:
            members = [rows[groups[owner] == group] for group in pair]
            valleys[pair] = _valley(parts, groups == pair[0], groups == pair[1], *members)
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


def _valley(
    parts: GaussianParts,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    first_rows: Doubles,
    second_rows: Doubles,
) -> float:
    """How deep the valley between two groups of parts is, on their linear discriminant.

    `first` and `second` are masks of the parts, `first_rows` and `second_rows` the rows of each.
    """
    means = [parts.weights[g] @ parts.means[g] / parts.weights[g].sum() for g in (first, second)]
    both = first | second
    weights = parts.weights[both] / parts.weights[both].sum()
    covariances = parts.covariances[both]
    line = np.linalg.solve(np.tensordot(weights, covariances, axes=1), means[0] - means[1])
    middle = parts.means[both] @ line
    width = np.sqrt(np.einsum("i,kij,j->k", line, covariances, line))
    if not width.min() > 0:  # the means coincide
        return 0.0
    grid = np.linspace(middle.min() - width.max(), middle.max() + width.max(), _GRID)
    log = np.log(weights / width) - 0.5 * ((grid[:, None] - middle) / width) ** 2
    depth = _depth(*(logsumexp(log[:, g[both]], axis=1) for g in (first, second)))
    if not (len(first_rows) and len(second_rows)):
        return depth
    places = [first_rows @ line, second_rows @ line]
    # Silverman's rule for the smaller and the narrower of both.
    spread = max(min(place.std() for place in places), 1e-9 * width.max())
    bandwidth = 1.06 * spread * min(map(len, places)) ** -0.2
    sums = [
        np.exp(-0.5 * ((grid[:, None] - place) / bandwidth) ** 2).sum(axis=1) for place in places
    ]
    return min(depth, _depth(*(np.log(np.maximum(each, _LEAST_SUM)) for each in sums)))


def _depth(first: Doubles, second: Doubles) -> float:
    """The lower peak of the sum of two densities minus the least value between, in logarithms."""
    log = np.logaddexp(first, second)
    left, right = sorted((int(first.argmax()), int(second.argmax())))
    bottom = left + int(log[left : right + 1].argmin())
    return float(min(log[: bottom + 1].max(), log[bottom:].max()) - log[bottom])
