"""What X means under each kernel: the space it opens, and how new rows enter it."""

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from typicality._checks import OVERFLOW_MARGIN, check_magnitudes, check_reach, differ
from typicality._sparse import is_sparse, sparse_rows
from typicality._tensors import array_of
from typicality._typing import Floats
from typicality.bandwidth import bandwidth
from typicality.cluster._diagnostics import warn_about_unused_sigma
from typicality.kernels import (
    BANDWIDTH_KERNELS,
    KERNEL_NAMES,
    Cosine,
    Function,
    Gaussian,
    Kernel,
    Linear,
    LocalGaussian,
    Mixed,
    Polynomial,
    Stationary,
    named_kernel,
)
from typicality.minimax import MinimaxPaths
from typicality.rows import (
    Block,
    DistinctRows,
    Features,
    Rows,
    SparseRows,
    TensorRows,
    content_hash,
    row_blocks,
)
from typicality.spaces import Euclidean, Gram, Partial, Space
from typicality.spaces.far import typical_range
from typicality.sums import EXACT, KernelColumns, PrecomputedKernel, PrecomputedSqdist, Tolerance
from typicality.sums.choice import are_few
from typicality.sums.columns import is_constant
from typicality.sums.torch_blocked import log_profile

SPECIAL_KERNELS = ("precomputed", "dissimilarities", "connectivity")
_SPARSE_KERNELS = (*BANDWIDTH_KERNELS, "linear", "polynomial", "poly", "cosine")
ALL_KERNELS = ("local", *KERNEL_NAMES, *SPECIAL_KERNELS)
_LOCAL_NEIGHBOURS, _LOCAL_SHARE = 22, 0.25  # of the rows: prototypes do not collapse
_ASYMMETRY = 1e-6  # of the largest entry: more is no rounding
_NARROWEST = 4.0  # times the extent whose factor overflows


# ---- readers: how rows, old and new, enter a space -----------------------------------------------


class Reader(Protocol):
    """Turns validated rows into the rows of the space."""

    def read(self, rows: Floats) -> Floats:
        """New rows, or old ones."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Rows are points; those of sparse points, whose zeros are not stored, can be arrays."""

    origin: Annotated[Floats, "d"]
    sparse: bool = field(default=False, kw_only=True)

    def read(self, rows: Floats) -> Floats:
        points: Floats = sparse_rows(rows) if self.sparse else rows
        check_reach(points, self.origin.dtype)
        return points.astype(self.origin.dtype, copy=False)

    def restore(self, points: Floats) -> Floats:
        """Points of the space in the coordinates of the data."""
        return points


@dataclass(frozen=True, eq=False)
class Stretched:
    """Rows are points, each feature multiplied by a factor.

    Parameters
    ----------
    coordinates : Coordinates
        How the points enter the space.
    factor : array of shape (d,)
        What features are multiplied by.
    """

    coordinates: Coordinates
    factor: Annotated[Floats, "d"]

    def read(self, rows: Floats) -> Floats:
        with np.errstate(over="ignore"):
            points: Floats = rows * self.factor.astype(rows.dtype)
        return self.coordinates.read(points)


@dataclass(frozen=True, eq=False)
class Box(Coordinates):
    r"""Rows are points, each feature scaled to the same range.

    .. math:: x_j \mapsto b \, (x_j - l_j) / (h_j - l_j)

    from the range of each feature to [0, b], and no farther than b outside of it: extreme values
    are outliers however extreme they are. A constant feature becomes zero, and so does one whose
    values differ by rounding only.

    Implements :cite:`xenaki2014`, section 3, with b = 10.

    Parameters
    ----------
    origin : array of shape (d,)
        The mean of the rows, for checks.
    low, factor : arrays of shape (d,)
        The smallest values, and what differences from them are multiplied by.
    size : float
        The side of the box.
    """

    low: Annotated[Floats, "d"]
    factor: Annotated[Floats, "d"]
    size: float

    @classmethod
    def of(cls, low: Floats, high: Floats, origin: Floats, size: float) -> "Box":
        extent = np.where(differ(low, high, origin.dtype), high - low, 0.0)
        narrow = (extent > 0) & (extent < size * _NARROWEST / float(np.finfo(origin.dtype).max))
        if narrow.any():
            feature = int(narrow.argmax())
            raise ValueError(
                f"Feature {feature} of X has a range of only {extent[feature]:.3g}, too small "
                f"to be scaled to a box of {size:g} in {origin.dtype}. Drop the feature, or pass X "
                "in other units."
            )
        factor = np.divide(size, extent, out=np.zeros_like(extent), where=extent > 0)
        return cls(origin, low.astype(origin.dtype), factor, size)

    def read(self, rows: Floats) -> Floats:
        boxed: Floats = super().read(rows) - self.low
        with np.errstate(over="ignore"):
            boxed *= self.factor.astype(boxed.dtype)
        return np.clip(boxed, -self.size, 2.0 * self.size, out=boxed)

    def restore(self, points: Floats) -> Floats:
        extent = np.divide(1.0, self.factor, out=np.zeros_like(self.factor), where=self.factor > 0)
        return (points * extent + self.low).astype(points.dtype)


@dataclass(frozen=True, eq=False)
class KernelValues:
    """Rows are kernel values with the training rows; K(x, x) is appended to them.

    That is known if it is the same for all training rows, or for a row whose values are those of a
    training row.
    """

    dtype: np.dtype[Any]
    keys: Annotated[NDArray[np.uint64], "_known"]
    diagonal: Annotated[Floats, "_values"]

    @classmethod
    def of(cls, matrix: Floats) -> "KernelValues":
        diagonal = np.diagonal(matrix).copy()
        if is_constant(diagonal):  # no row needs to be looked up
            return cls(matrix.dtype, np.empty(0, np.uint64), diagonal)
        keys, first = np.unique(content_hash(matrix), return_index=True)
        return cls(matrix.dtype, keys, diagonal[first])

    def read(self, rows: Floats) -> Floats:
        rows = rows.astype(self.dtype, copy=False)
        if is_constant(self.diagonal):
            return np.column_stack([rows, np.full(len(rows), self.diagonal[0])])
        wanted = content_hash(rows)
        found = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        known = self.keys[found] == wanted
        if not known.all():
            raise ValueError(
                f"Row {int(np.flatnonzero(~known)[0])} of X is not a training row, so its kernel "
                "value with itself is not known: this value differs between the training rows. "
                "Pass the kernel as a function, or use kernel='dissimilarities' with the distances "
                "sqrt(K(x, x) + K(y, y) - 2 K(x, y)), in fit and in prediction."
            )
        return np.column_stack([rows, self.diagonal[found]])


@dataclass(frozen=True, eq=False)
class Dissimilarities:
    """Rows are dissimilarities to the training rows; the space works with their squares."""

    dtype: np.dtype[Any]

    def read(self, rows: Floats) -> Floats:
        check_dissimilarities(rows)
        return rows.astype(self.dtype, copy=False) ** 2


@dataclass(frozen=True, eq=False)
class Paths:
    """Rows are points; the minimax path distances are the squared distances of the space.

    Not their squares: with d itself no new row comes out at a negative squared distance of a
    mean, because d(i, j) <= d(x, i) + d(x, j). The square roots of an ultrametric are distances in
    a Euclidean space, as the ultrametric is.
    """

    coordinates: Coordinates
    paths: MinimaxPaths
    taking_part: Annotated[NDArray[np.bool_], "n"]

    def read(self, rows: Floats) -> Floats:
        # Paths lead through rows of positive weight only; the other columns have no weight.
        known = self.coordinates.read(rows)
        distances: Floats = self.paths.distances_to(known).astype(known.dtype, copy=False)
        if self.taking_part.all():
            return distances
        sqdist = np.zeros((len(rows), len(self.taking_part)), known.dtype)
        sqdist[:, self.taking_part] = distances
        return sqdist


# ---- spaces --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OpenSpace:
    """A space, how new rows enter it, and the kernel that made it.

    Parameters
    ----------
    space : Space
        The space of the training rows.
    reader : Reader
        How new rows are read.
    kernel : Kernel or str
        The kernel, or "precomputed", "dissimilarities" or "connectivity".
    features : Features, optional
        What the features look like, where rows have coordinates.
    """

    space: Space[Any]
    reader: Reader
    kernel: Kernel | str
    features: Features | None = None

    @property
    def sigma(self) -> float | None:
        """The bandwidth, where the kernel has one."""
        return getattr(self.kernel, "sigma", None)


def is_pairwise(kernel: Any) -> bool:
    """Whether X is a square matrix of pairs, for scikit-learn's tag."""
    return kernel in ("precomputed", "dissimilarities")


def takes_sparse(kernel: Any) -> bool:
    """Whether a kernel has values for sparse rows that are not made dense."""
    of_class = isinstance(kernel, Stationary | Linear | Polynomial | Cosine)
    return of_class or kernel in _SPARSE_KERNELS


def has_input_space(kernel: Any) -> bool:
    """Whether a kernel is the scalar product, whose space is that of the rows."""
    return isinstance(kernel, Linear) or kernel == "linear"


def open_space(
    kernel: Any,
    sigma: float | str,
    rows: Any,
    sample_weight: Floats | None,
    *,
    estimator: Any = None,
    explicit: bool = True,
    of_a_row: bool = False,
    box: float | None = None,
) -> OpenSpace:
    """The space of the training rows.

    Parameters
    ----------
    kernel : str, Kernel or callable
        As the user gave it.
    sigma : float or str
        The bandwidth or a rule for it.
    rows, sample_weight : arrays
        Already checked.
    estimator : estimator, optional
        Its `rtol` and `tol` are the promise of sums, which are exact if it is left out. `novelty`
        is for the automatic bandwidth; missing="partial" is only for the input space.
    explicit : bool, default=True
        Whether the linear kernel may open the input space itself.
    of_a_row : bool, default=False
        Whether `rtol` is relative to the height of a row that stands alone, and not to the variance
        of the mapped rows.
    box : float, optional
        The range each feature is scaled to, in the input space; extreme values are left out of it.
    """
    partial = getattr(estimator, "missing", "error") == "partial"
    device: str | None = getattr(estimator, "_device", None)
    check_kernel(kernel)
    if partial and is_sparse(rows):
        raise TypeError("X is a sparse matrix, which has no missing values. Use missing='error'.")
    if partial and not has_input_space(kernel):
        raise ValueError(
            f"missing='partial' compares the values that rows have, and kernel={kernel!r} needs "
            "all of them. Use kernel='linear', or fill in the missing values."
        )
    if is_sparse(rows) and not takes_sparse(kernel):
        raise TypeError(
            f"X is a sparse matrix, and kernel={kernel!r} takes arrays only. Use one of "
            f"{', '.join(map(repr, _SPARSE_KERNELS))}, or reduce the features first, e.g. with "
            "sklearn.decomposition.TruncatedSVD."
        )
    if is_pairwise(kernel):
        warn_about_unused_sigma(sigma, kernel)
        return _open_given(kernel, rows, sample_weight)
    if isinstance(kernel, Mixed):
        return _open_mixed(kernel, sigma, rows, sample_weight, estimator)
    input_space, coordinates = _open_points(rows, sample_weight, device, partial=partial)
    features = input_space.rows.features
    if kernel == "connectivity":
        warn_about_unused_sigma(sigma, kernel)
        return _open_paths(rows, sample_weight, coordinates, features)
    built = _kernel(kernel, sigma, rows, sample_weight, novelty=_has_novelty(estimator))
    if not (explicit and isinstance(built, Linear)):
        kept = rows.copy()  # a model must not see X change
        on_host = kept if is_sparse(kept) else np.asarray(kept)
        columns = KernelColumns(built, on_host)
        X = kept if log_profile(built) is not None else on_host
        tolerance = _tolerance(estimator, columns, sample_weight, of_a_row=of_a_row)
        space = Gram(columns, X, sample_weight, tolerance=tolerance, device=device)
        return OpenSpace(space, coordinates, built, features)
    if box is None:
        return OpenSpace(input_space, coordinates, built, features)
    low, high = typical_range(input_space.rows)
    reader = Box.of(low, high, coordinates.origin, box)
    boxed = Euclidean(input_space.rows.moved(reader.read))
    return OpenSpace(boxed, reader, built, boxed.rows.features)


def _open_points(
    rows: Any, weight: Floats | None, device: str | None, *, partial: bool
) -> tuple[Euclidean, Coordinates]:
    """The input space of rows with coordinates, whose squared distances do not overflow."""
    if partial:
        rows = rows if isinstance(rows, Rows) else np.asarray(rows)  # on the host
        space: Euclidean = Partial(rows, weight)
    elif device is not None and not isinstance(rows, Rows):
        space = Euclidean(TensorRows(rows, weight, str(device)), weight)
    else:
        space = Euclidean(rows, weight)
    features = space.rows.features
    check_magnitudes(features, rows.dtype)
    sparse = isinstance(space.rows, SparseRows)
    coordinates = Coordinates(features.mean.astype(rows.dtype), sparse=sparse)

    def within_reach(block: Block) -> int:
        check_reach(array_of(block.X), rows.dtype, block.start)
        return 0

    if space.rows.weighted:  # rows of weight zero are not in `features`
        space.rows.fold(within_reach)
    return space, coordinates


def _tolerance(
    estimator: Any, columns: KernelColumns, weight: Floats | None, *, of_a_row: bool
) -> Tolerance:
    """The promise of sums, which must be known better than what the loop waits for."""
    if estimator is None or (are_few(columns) and not of_a_row):
        return EXACT
    tol = estimator.tol
    rtol: float = min(estimator.rtol, 0.1 * tol) if tol > 0 else estimator.rtol
    if of_a_row:
        return Tolerance.of_a_row(columns.n_training, weight, rtol)
    return Tolerance.of_distances(columns, weight, rtol)


def _has_novelty(estimator: Any) -> bool:
    """Whether the training rows are clean, for the automatic bandwidth."""
    return getattr(estimator, "novelty", False)


def _kernel(
    kernel: Any, sigma: float | str, rows: Floats, weight: Floats | None, *, novelty: bool
) -> Kernel:
    if kernel in BANDWIDTH_KERNELS:
        metric = named_kernel(kernel).metric  # type: ignore[attr-defined]
        width = _width(sigma, rows, weight, novelty=novelty, metric=metric)
        return named_kernel(kernel, width)
    warn_about_unused_sigma(sigma, kernel)
    if kernel == "local":
        reference = np.asarray(DistinctRows.of(rows, weight).rows)
        n_neighbors = max(_LOCAL_NEIGHBOURS, int(_LOCAL_SHARE * len(reference)))
        return LocalGaussian(reference, min(n_neighbors, len(reference) - 1))
    if isinstance(kernel, str):
        return named_kernel(kernel)
    return kernel if isinstance(kernel, Kernel) else Function(kernel)


def _width(
    sigma: float | str, rows: Floats, weight: Floats | None, *, novelty: bool, metric: str
) -> float:
    if not isinstance(sigma, str):
        return float(sigma)
    # All rows equal: any width will do, and the spread of the data is reported as degenerate.
    distance = "cityblock" if metric == "cityblock" else "euclidean"
    return bandwidth(sigma, rows, weight, novelty=novelty, metric=distance) or 1.0


def _open_mixed(
    kernel: Mixed, sigma: float | str, rows: Floats, weight: Floats | None, estimator: Any
) -> OpenSpace:
    """Numbers and categories: a Gaussian kernel once categories are in units of its width."""
    numbers = np.ascontiguousarray(rows[:, : kernel.n_numeric])
    if kernel.sigma is not None:
        warn_about_unused_sigma(sigma, kernel)
        width = float(kernel.sigma)
    elif isinstance(sigma, str) and numbers.shape[1] == 0:
        width = 1.0
    else:
        novelty = _has_novelty(estimator)
        width = _width(sigma, numbers, weight, novelty=novelty, metric=Gaussian.metric)
    factor = kernel.factors(rows.shape[1], width).astype(rows.dtype)
    points, options = rows * factor, {"estimator": estimator, "explicit": False}
    opened = open_space(Gaussian(width), "auto", points, weight, **options)
    reader: Any = opened.reader
    features = Euclidean(numbers, weight).rows.features if numbers.shape[1] else None
    return replace(opened, reader=Stretched(reader, factor), features=features)


def _open_given(kernel: str, matrix: Floats, sample_weight: Floats | None) -> OpenSpace:
    columns: Any
    reader: Reader
    if kernel == "precomputed":
        check_kernel_matrix(matrix)
        columns, rows = PrecomputedKernel.of(matrix)
        reader = KernelValues.of(matrix)
    else:
        check_dissimilarities(matrix, square=True)
        columns, rows = PrecomputedSqdist.of(matrix**2)
        reader = Dissimilarities(matrix.dtype)
    return OpenSpace(Gram(columns, rows, sample_weight), reader, kernel)


def _open_paths(
    rows: Floats, sample_weight: Floats | None, coordinates: Coordinates, features: Features
) -> OpenSpace:
    taking_part = np.ones(len(rows), bool) if sample_weight is None else sample_weight > 0
    reader = Paths(coordinates, MinimaxPaths.of(rows[taking_part]), taking_part)
    columns, sqdist = PrecomputedSqdist.of(reader.read(rows), positive_semidefinite=True, order=1)
    space = Gram(columns, sqdist, sample_weight)
    return OpenSpace(space, reader, "connectivity", features)


# ---- checks --------------------------------------------------------------------------------------


def check_kernel(kernel: Any) -> None:
    """`kernel` given as a class where an object is meant."""
    if isinstance(kernel, type):
        raise ValueError(
            f"kernel is the class {kernel.__name__}: pass an object, e.g. {kernel.__name__}(1.0), "
            "or a name."
        )


def check_compressible(kernel: Any, rtol: Any, reader: Reader) -> None:
    """A model that can be made small, and a promise."""
    if not (isinstance(rtol, Real) and 0 < float(rtol) < 1):
        raise ValueError(
            f"rtol must be between 0 and 1, got {rtol!r}: it is the relative error that is allowed."
        )
    if isinstance(kernel, Linear):
        raise ValueError(
            "A model in the input space cannot be made smaller: it has prototypes, but no "
            "training rows. Use it as it is."
        )
    if getattr(reader, "sparse", False):
        raise ValueError(
            "This model was fitted on a sparse matrix, and only models of arrays can be "
            "compressed with an error bound. Fit it on fewer rows, or on features of "
            "sklearn.decomposition.TruncatedSVD."
        )
    if not isinstance(kernel, Stationary):
        raise ValueError(
            f"kernel_={kernel!r} is not a function of a distance, and only sums of such "
            "kernels can be compressed with an error bound. Use 'gaussian', 'laplacian' or "
            "'cauchy'."
        )


def check_kernel_matrix(matrix: Floats) -> None:
    """`kernel="precomputed"` in training: square and symmetric."""
    _check_square(matrix, "kernel='precomputed'", "the kernel of each training row with each")
    if not np.diagonal(matrix).any() and matrix.max() > 0:
        raise ValueError(
            "X has zeros on the diagonal and larger values elsewhere, so it looks like a "
            "matrix of distances; a kernel is largest on the diagonal. Use "
            "kernel='dissimilarities', or pass similarities."
        )


def check_dissimilarities(matrix: Floats, *, square: bool = False) -> None:
    """`kernel="dissimilarities"`: not negative; in training square, symmetric, zero with itself."""
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        raise ValueError(
            f"X has a negative dissimilarity, {matrix[row, column]:.3g} in row {row}, "
            f"column {column}. Pass distances; for similarities, use an estimator with "
            "kernel='precomputed'."
        )
    limits = np.finfo(matrix.dtype)
    largest = float(matrix.max())
    if largest > np.sqrt(limits.max / OVERFLOW_MARGIN) or 0 < largest < np.sqrt(limits.tiny) * 1e8:
        raise ValueError(
            f"The squares of the dissimilarities in X overflow or vanish in {matrix.dtype}: the "
            f"largest dissimilarity is {largest:.1e}. Divide all dissimilarities by a typical "
            "value."
        )
    if not square:
        return
    _check_square(matrix, "kernel='dissimilarities'", "the dissimilarity of each row to each")
    own = np.diagonal(matrix)
    if own.any():
        raise ValueError(
            f"X has a nonzero value on the diagonal, {own[np.flatnonzero(own)[0]]:.3g} in "
            f"row {np.flatnonzero(own)[0]}, so a row is dissimilar to itself. Set the "
            "diagonal to zero; for similarities, use an estimator with "
            "kernel='precomputed'."
        )


def _check_square(matrix: Floats, parameter: str, meaning: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"X has shape {matrix.shape}, but {parameter} needs a square matrix in fit: {meaning}."
        )
    largest = float(np.abs(matrix).max())
    for block in row_blocks(len(matrix)):
        apart = np.abs(matrix[block] - matrix[:, block].T)
        if apart.max() > _ASYMMETRY * largest:
            row, column = np.unravel_index(apart.argmax(), apart.shape)
            raise ValueError(
                f"X is not symmetric, but {parameter} needs a symmetric matrix: entries "
                f"({row + block.start}, {column}) and ({column}, {row + block.start}) differ by "
                f"{apart.max():.3g}. Pass (X + X.T) / 2 if the difference is an error of "
                "rounding."
            )
