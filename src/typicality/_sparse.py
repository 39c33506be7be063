"""Sparse rows: a csr array that has a length, and distances and products without dense rows."""

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Places

# |x|^2 - 2 x.y + |y|^2 loses digits where it is less than this share of |x|^2 + |y|^2. Such
# distances are computed again, feature by feature; all others are known to about 1e-12.
_CANCELLED = 1e-3
_ENTRIES_AT_A_TIME = 2**20  # of dense rows that are made for that
_PAIRS_AT_A_TIME = 2**14


class SparseArray(csr_array):  # type: ignore[misc]
    """Rows in compressed form: columns in rising order, each once, and no zero is stored.

    Unlike other sparse arrays it has a length, its number of rows, as dense arrays do: functions
    that look at the number of rows and take slices of them work for both. Equal rows are stored
    equally.
    """

    _COMPUTED = ("sqnorms", "transposed", "directions")

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, key: Any) -> Any:
        """As in scipy, but a slice of consecutive rows shares the memory of its values."""
        if not isinstance(key, slice) or key.step not in (None, 1):
            return super().__getitem__(key)
        first, last, _ = key.indices(len(self))
        if (first, last) == (0, len(self)):
            return self
        places = self.indptr[first : max(first, last) + 1]
        stored = slice(places[0], places[-1])
        parts = (self.data[stored], self.indices[stored], places - places[0])
        rows = SparseArray(parts, shape=(len(places) - 1, self.shape[1]))
        rows.data, rows.indices = parts[:2]  # which scipy copies
        return rows

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._COMPUTED}

    @cached_property
    def sqnorms(self) -> Doubles:
        """The squared length of each row."""
        squares = self._with(self.data.astype(np.float64) ** 2)
        return squares @ np.ones(self.shape[1])

    @cached_property
    def transposed(self) -> csr_array:
        """The transpose in double precision, by rows."""
        return csr_array(self.astype(np.float64, copy=False).T)

    @cached_property
    def directions(self) -> "SparseArray":
        """The rows divided by their length; a row of zeros stays one."""
        largest = np.maximum.reduceat(
            np.append(np.abs(self.data.astype(np.float64)), 0.0),
            np.minimum(self.indptr[:-1], len(self.data)),
        )
        stored = np.diff(self.indptr)
        scale = np.repeat(np.where(stored > 0, largest, 1.0), stored)
        scaled = self._with(self.data / scale)  # squares of tiny numbers would vanish
        return self._with(scaled.data / np.repeat(np.sqrt(scaled.sqnorms), stored))

    def _with(self, data: Floats) -> "SparseArray":
        return SparseArray((data, self.indices, self.indptr), shape=self.shape)


def is_sparse(X: Any) -> TypeGuard[SparseArray]:
    """Whether rows are sparse ones that `sparse_rows` has made."""
    return isinstance(X, SparseArray)


def sparse_rows(X: Any) -> SparseArray:
    """Any sparse matrix, or an array, as sparse rows.

    A csr matrix in canonical form shares its memory; anything else is copied, once.
    """
    if is_sparse(X):
        return X
    matrix = csr_array(X)
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy() if issparse(X) else matrix
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return SparseArray(matrix)


def as_dense(X: Any) -> Floats:
    """Few rows as an array."""
    return X.toarray() if is_sparse(X) else np.asarray(X)


def stack_rows(parts: list[Any]) -> Any:
    """Rows one below the other."""
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    # scipy's function would take what has a length for a sequence, and go through the rows.
    data, columns = (
        np.concatenate([getattr(part, a) for part in parts]) for a in ("data", "indices")
    )
    stored = np.concatenate([np.diff(part.indptr) for part in parts])
    places = np.append(0, np.cumsum(stored, dtype=np.int64))
    return SparseArray((data, columns, places), shape=(len(stored), parts[0].shape[1]))


# ---- distances and products ---------------------------------------------------------------------


def sqdist_to_points(X: SparseArray, points: Floats, origin: Floats | None = None) -> Doubles:
    """Squared distances of sparse rows to points at `origin + points`, shape (len(X), c).

    Each is known to about 1e-12 of itself: those much smaller than the rows and points are long
    are computed again feature by feature, O(d) each. All others cost O(stored values).
    """
    at = points if origin is None else points + origin
    total = X.sqnorms[:, None] + np.einsum("kj,kj->k", at, at)
    sqdist: Doubles = X.astype(np.float64, copy=False) @ np.ascontiguousarray(at.T)
    sqdist *= -2.0
    sqdist += total
    rows, places = np.nonzero(sqdist < _CANCELLED * total)
    step = max(1, _ENTRIES_AT_A_TIME // X.shape[1])
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        apart = X[rows[some]].toarray()
        if origin is not None:
            apart = apart - origin
        apart = apart - points[places[some]]
        sqdist[rows[some], places[some]] = np.einsum("hj,hj->h", apart, apart)
    return sqdist


def sparse_products(X: Any, Y: Any) -> Doubles:
    """Scalar products of rows, one of which or both are sparse; each pair by itself."""
    return (sparse_rows(X).astype(np.float64, copy=False) @ sparse_rows(Y).transposed).toarray()


def sparse_distances(X: Any, Y: Any, metric: str) -> Doubles:
    """Distances of rows, one of which or both are sparse, by a metric of `kernels.Stationary`.

    Squared distances that are much smaller than the rows are long come from the differences of the
    two rows, so that they keep their digits; those of equal rows are exactly zero.
    """
    X, Y = sparse_rows(X), sparse_rows(Y)
    if metric == "cityblock":
        from sklearn.metrics.pairwise import manhattan_distances

        return manhattan_distances(X.astype(np.float64), Y.astype(np.float64))
    total = X.sqnorms[:, None] + Y.sqnorms
    sqdist: Doubles = total - 2.0 * sparse_products(X, Y)
    rows, others = np.nonzero(sqdist < _CANCELLED * total)
    for start in range(0, len(rows), _PAIRS_AT_A_TIME):
        some = slice(start, start + _PAIRS_AT_A_TIME)
        near = row_distances(X[rows[some]], Y[others[some]], "sqeuclidean")
        sqdist[rows[some], others[some]] = near
    return np.sqrt(sqdist, out=sqdist) if metric == "euclidean" else sqdist


def row_distances(X: Any, Y: Any, metric: str) -> Doubles:
    """The distance of each row of X to the row of Y of the same number."""
    apart = SparseArray(X.astype(np.float64) - Y.astype(np.float64))
    if metric == "cityblock":
        return abs(apart) @ np.ones(X.shape[1])
    sqdist: Doubles = apart.sqnorms
    return np.sqrt(sqdist) if metric == "euclidean" else sqdist


# ---- order and medians --------------------------------------------------------------------------


def sparse_order(X: SparseArray) -> Places:
    """The lexicographic order of sparse rows: that of the same rows as an array.

    The first place in which two rows differ holds the next stored value of one of them or of both.
    A positive value comes after a zero, and the more so the further left it stands; a negative one
    before. Rows that are still equal are compared by their next stored values, and so on.
    """
    n_rows, n_features = X.shape
    order, group = np.arange(n_rows), np.zeros(n_rows, np.intp)
    place = X.indptr[:-1].astype(np.intp)
    while True:
        tied = np.flatnonzero(np.bincount(group, minlength=n_rows)[group] > 1)
        ends = place[order[tied]] >= X.indptr[1:][order[tied]]
        if ends.all():
            return order
        at = np.where(ends, 0, place[order[tied]])
        value = np.where(ends, 0.0, X.data[at].astype(np.float64))
        side = np.sign(value) * (n_features - X.indices[at])
        new = np.lexsort((value, side, group[tied]))
        order[tied] = order[tied[new]]
        keys = np.column_stack([group[tied], side, value])[new]
        starts = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        group[tied] = tied[np.maximum.accumulate(np.where(starts, np.arange(len(tied)), 0))]
        place[order[tied]] += 1


def sparse_medians(X: SparseArray, weight: Doubles, median: Any) -> Doubles:
    """The weighted median of each feature; `median(values, weight)` of those with many values.

    The median is zero where less than half of the weight has another value.
    """
    columns, unit = X.tocsc(), float(weight.max())
    stored = np.bincount(X.indices, np.repeat(weight, np.diff(X.indptr)), X.shape[1])
    medians = np.zeros(X.shape[1])
    for j in np.flatnonzero(stored >= 0.5 * weight.sum() - 2.0 * unit):
        medians[j] = median(columns[:, [j]].toarray()[:, 0].astype(np.float64), weight)
    return medians


def sparse_hash(X: SparseArray, mix: Any) -> NDArray[np.uint64]:
    """The sum over the stored values of a row of a hash of their column and value."""
    columns = mix(X.indices.astype(np.uint64) + np.uint64(1))
    entries = mix(columns ^ X.data.astype(np.float64).view(np.uint64))
    sums = np.append(np.uint64(0), np.cumsum(entries, dtype=np.uint64))
    return np.asarray(mix(sums[X.indptr[1:]] - sums[X.indptr[:-1]]))
