"""What X means under each kernel: the space it opens."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from typicality._sparse import is_sparse
from typicality._tensors import OnDevice
from typicality._typing import Floats
from typicality.bandwidth import bandwidth
from typicality.cluster._readers import (
    Box,
    Coordinates,
    Dissimilarities,
    KernelValues,
    Paths,
    Reader,
    SparseCoordinates,
    Stretched,
    check_dissimilarities,
    check_kernel_matrix,
)
from typicality.cluster._warnings import warn_about_unused_sigma
from typicality.geometry.checks import check_magnitudes, check_reach
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
from typicality.operators import (
    EXACT,
    KernelColumns,
    PrecomputedKernel,
    PrecomputedSqdist,
    Tolerance,
)
from typicality.operators.columns import DeviceColumns
from typicality.operators.tolerance import are_few
from typicality.operators.torch_blocked import log_profile
from typicality.rows import DistinctRows, Features, Rows, SparseRows, TensorRows
from typicality.spaces import Euclidean, Gram, Space
from typicality.spaces.far import typical_range

SPECIAL_KERNELS = ("precomputed", "dissimilarities", "connectivity")
_LOCAL_NEIGHBOURS, _LOCAL_SHARE = 22, 0.25  # of the rows: prototypes do not collapse
_SPARSE_KERNELS = (*BANDWIDTH_KERNELS, "linear", "polynomial", "poly", "cosine")
ALL_KERNELS = ("local", *KERNEL_NAMES, *SPECIAL_KERNELS)


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


class SumOptions(NamedTuple):
    """How sums of kernel values are to be computed.

    Parameters
    ----------
    rtol : float, default=0.0
        How far they may be off, relative to the variance of the mapped rows.
    of_a_row : bool, default=False
        Whether that is relative to the height of a row that stands alone instead.
    n_columns : int, default=1
        How many clusters rows that are read block by block are compared with.
    device : str, optional
        Where they are computed, as torch names it; None for NumPy and compiled code.
    """

    rtol: float = 0.0
    of_a_row: bool = False
    n_columns: int = 1
    device: str | None = None

    @classmethod
    def of(cls, estimator: Any, n_columns: int = 1, *, of_a_row: bool = False) -> "SumOptions":
        """What an estimator asks for; sums must be known better than what its loop waits for."""
        rtol: float = estimator.rtol
        if estimator.tol > 0:
            rtol = min(rtol, 0.1 * estimator.tol)
        device = getattr(estimator, "_device", None)
        return cls(rtol, of_a_row, n_columns, device)

    def tolerance(self, columns: KernelColumns, sample_weight: Floats | None) -> Tolerance:
        """The same in terms of the sums."""
        if self.of_a_row:
            return Tolerance.of_a_row(columns.n_training, sample_weight, self.rtol)
        if are_few(columns):
            return EXACT
        return Tolerance.of_distances(columns, sample_weight, self.rtol)


EXACT_SUMS = SumOptions()


def is_pairwise(kernel: Any) -> bool:
    """Whether X is a square matrix of pairs, for scikit-learn's tag."""
    return isinstance(kernel, str) and kernel in ("precomputed", "dissimilarities")


def takes_sparse(kernel: Any) -> bool:
    """Whether a kernel has values for sparse rows that are not made dense."""
    if isinstance(kernel, str):
        return kernel in _SPARSE_KERNELS
    return isinstance(kernel, Stationary | Linear | Polynomial | Cosine)


def has_input_space(kernel: Any) -> bool:
    """Whether a kernel is the scalar product, whose space is that of the rows."""
    return isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")


def has_points(kernel: Any) -> bool:
    """Whether a prototype can start at a point given by its coordinates."""
    return not (isinstance(kernel, str) and kernel in SPECIAL_KERNELS)


def open_space(
    kernel: Any,
    sigma: float | str,
    rows: Any,
    sample_weight: Floats | None,
    *,
    novelty: bool = False,
    explicit: bool = True,
    sums: SumOptions = EXACT_SUMS,
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
    novelty : bool, default=False
        Whether the training rows are clean, for the automatic bandwidth.
    explicit : bool, default=True
        Whether the linear kernel may open the input space itself.
    sums : SumOptions
        How sums of kernel values are to be computed; exactly, when left out.
    box : float, optional
        The range each feature is scaled to, in the input space; extreme values are left out of it.
    """
    check_kernel(kernel)
    if is_sparse(rows) and not takes_sparse(kernel):
        raise TypeError(
            f"X is a sparse matrix, and kernel={kernel!r} takes arrays only. Use one of "
            f"{', '.join(map(repr, _SPARSE_KERNELS))}, or reduce the features first, e.g. with "
            "sklearn.decomposition.TruncatedSVD."
        )
    if is_pairwise(kernel):
        warn_about_unused_sigma(sigma, kernel)
        return _open_pairs(kernel, rows, sample_weight)
    if isinstance(kernel, Mixed):
        return _open_mixed(kernel, sigma, rows, sample_weight, novelty=novelty, sums=sums)
    on_device = sums.device is not None and not isinstance(rows, Rows)
    given = TensorRows(rows, sample_weight, str(sums.device)) if on_device else rows
    input_space = Euclidean(given, sample_weight)
    features = input_space.features
    check_magnitudes(features, rows.dtype)
    sparse = isinstance(input_space.rows, SparseRows)
    points = SparseCoordinates if sparse else Coordinates
    coordinates = points(features.mean.astype(rows.dtype))
    every_row = not input_space.rows.weighted or input_space.rows.every_row
    check_reach(rows, coordinates.origin, features if every_row else None)
    if isinstance(kernel, str) and kernel == "connectivity":
        warn_about_unused_sigma(sigma, kernel)
        return _open_paths(rows, sample_weight, coordinates, features)
    built = _kernel(kernel, sigma, rows, sample_weight, novelty=novelty)
    if explicit and isinstance(built, Linear) and box is not None:
        low, high = typical_range(input_space.rows)
        reader = Box.of(low, high, coordinates.origin, box)
        moved = input_space.rows.moved(reader.read)
        boxed = Euclidean(moved)
        return OpenSpace(boxed, reader, built, boxed.features)
    if explicit and isinstance(built, Linear):
        return OpenSpace(input_space, coordinates, built, features)
    kept = rows.copy()  # a model must not see X change
    in_torch = isinstance(kept, OnDevice) and log_profile(built) is not None
    if not in_torch and not is_sparse(kept):
        kept = np.asarray(kept)
    columns = (DeviceColumns if in_torch else KernelColumns)(built, kept)
    space = Gram(
        columns,
        columns.given,
        sample_weight,
        tolerance=sums.tolerance(columns, sample_weight),
        device=sums.device,
    )
    return OpenSpace(space, coordinates, built, features)


def _kernel(
    kernel: Any, sigma: float | str, rows: Floats, weight: Floats | None, *, novelty: bool
) -> Kernel:
    if isinstance(kernel, str) and kernel in BANDWIDTH_KERNELS:
        metric = named_kernel(kernel).metric  # type: ignore[attr-defined]
        width = _width(sigma, rows, weight, novelty=novelty, metric=metric)
        return named_kernel(kernel, width)
    warn_about_unused_sigma(sigma, kernel)
    if isinstance(kernel, str) and kernel == "local":
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
    kernel: Mixed,
    sigma: float | str,
    rows: Floats,
    weight: Floats | None,
    *,
    novelty: bool,
    sums: SumOptions,
) -> OpenSpace:
    """Numbers and categories: a Gaussian kernel once categories are in units of its width."""
    numbers = np.ascontiguousarray(rows[:, : kernel.n_numeric])
    if kernel.sigma is not None:
        warn_about_unused_sigma(sigma, kernel)
        width = float(kernel.sigma)
    elif isinstance(sigma, str) and numbers.shape[1] == 0:
        width = 1.0
    else:
        width = _width(sigma, numbers, weight, novelty=novelty, metric=Gaussian.metric)
    factor = kernel.factors(rows.shape[1], width).astype(rows.dtype)
    opened = open_space(Gaussian(width), "auto", rows * factor, weight, explicit=False, sums=sums)
    reader: Any = opened.reader
    features = Euclidean(numbers, weight).features if numbers.shape[1] else None
    return replace(opened, reader=Stretched(reader, factor), features=features)


def _open_pairs(kernel: str, matrix: Floats, sample_weight: Floats | None) -> OpenSpace:
    if kernel == "precomputed":
        check_kernel_matrix(matrix)
        columns, rows = PrecomputedKernel.of(matrix)
        space = Gram(columns, rows, sample_weight)
        return OpenSpace(space, KernelValues.of(matrix), kernel)
    check_dissimilarities(matrix, square=True)
    sqdist, squares = PrecomputedSqdist.of(matrix**2)
    return OpenSpace(Gram(sqdist, squares, sample_weight), Dissimilarities(matrix.dtype), kernel)


def _open_paths(
    rows: Floats, sample_weight: Floats | None, coordinates: Coordinates, features: Features
) -> OpenSpace:
    taking_part = np.ones(len(rows), bool) if sample_weight is None else sample_weight > 0
    reader = Paths(coordinates, MinimaxPaths.of(rows[taking_part]), taking_part)
    paths = reader.read(rows)
    columns, sqdist = PrecomputedSqdist.of(paths, positive_semidefinite=True, order=1)
    space = Gram(columns, sqdist, sample_weight)
    return OpenSpace(space, reader, "connectivity", features)


# ---- checks -------------------------------------------------------------------------------------


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
    if isinstance(reader, SparseCoordinates):
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
