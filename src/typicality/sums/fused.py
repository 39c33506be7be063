"""Gaussian sums on a GPU by fused kernels, in single precision where the promise allows it."""

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Floats
from typicality.kernels import Gaussian
from typicality.sums.base import matrix_of
from typicality.sums.torch_blocked import DeviceOperator

if TYPE_CHECKING:
    from torch import Tensor

_MOST_COLUMNS = 8  # of weights in one pass: they cost hardly more than one
DIRECT, PACKED, SPLIT = 0, 1, 2  # how exponents are computed, as in `triton_gaussian`
_FEW_FEATURES, _PACKED_FEATURES, _SPLIT_FEATURES = 3, 8, 64
_FIXED_POINT = 2.0**58  # of sums that are at most one
_UNIT = 2.0**-24  # rounding in single precision
_FINEST_SINGLE = 1e-7  # promises below are kept in double precision
_FINEST = 1e-12
_RELATIVE = 2e-4  # sums at points are known to this share of themselves
_UNDERFLOW = 1e-30  # of the total weight: smaller sums lose digits in single precision
_FARTHEST = 300.0  # from the middle, in units of the exponent: beyond, norms leave half precision
_MOST_DOUBTFUL = 0.25  # share of rows; if more are summed again, double precision is quicker
_POINTS_AT_A_TIME = 2**16
_ROWS_OF_A_RANGE = 2**14  # sums at points are cut into ranges of so many rows
_STEPS = 64  # tiles of a program, for sums over pairs


class Layout(NamedTuple):
    """How exponents are computed, and in which tiles.

    Parameters
    ----------
    mode : int
        DIRECT, PACKED or SPLIT of `triton_gaussian`.
    double : bool
        Whether in double precision; else in single precision.
    block : int
        Rows of a tile.
    columns : int
        Columns of a tile.
    warps : int
        Warps of a program.
    stages : int
        Tiles that are on their way from memory while others are computed.
    registers : int, optional
        The most of a thread; the compiler chooses when left out.
    """

    mode: int
    double: bool
    block: int
    columns: int
    warps: int
    stages: int = 3
    registers: int | None = None

    @classmethod
    def of(cls, n_features: int, *, double: bool) -> "Layout":
        """The quickest on an H200, where all were measured."""
        if double:
            return cls(DIRECT, True, 64, 64, 4)
        if n_features <= _PACKED_FEATURES:
            few = n_features <= _FEW_FEATURES
            return cls(PACKED, False, 64, 64, 1, *((3, 128) if few else (4, None)))
        if n_features <= _SPLIT_FEATURES:
            return cls(SPLIT, False, 128, 128, 4, 3 if n_features <= _SPLIT_FEATURES // 2 else 2)
        return cls(DIRECT, False, 64, 64, 2)

    @property
    def options(self) -> dict[str, int | None]:
        """What Triton is told of it."""
        chosen = {"num_warps": self.warps, "num_stages": self.stages, "maxnreg": self.registers}
        return {name: value for name, value in chosen.items() if value is not None}


class _Rows(NamedTuple):
    """Rows as the kernels take them: high parts, low parts and norms."""

    a: "Tensor"
    a_low: "Tensor"
    a_norm: "Tensor"
    b: "Tensor"
    b_low: "Tensor"
    b_norm: "Tensor"
    width: int
    length: int


def _arranged(points: "Tensor", layout: Layout) -> _Rows:
    """Scaled rows in the form of a layout, padded with zeros to whole blocks."""
    import torch

    n, d = points.shape
    length = -(-max(n, 1) // layout.block) * layout.block
    padded = torch.zeros((length, d), dtype=torch.float64, device=points.device)
    padded[:n] = points
    if layout.mode == DIRECT:
        kind = torch.float64 if layout.double else torch.float32
        z = (padded.T / math.sqrt(2.0)).to(kind).contiguous()
        return _Rows(z, z, z, z, z, z, d, length)
    high, low = _halves(padded, 2)
    negative = -0.5 * (high.double() + low.double()).square().sum(dim=1, keepdim=True)
    norms, ones = _halves(negative, 3), [torch.ones_like(high[:, :1])] * 3
    if layout.mode == PACKED:
        width = _power_of_two(max(3 * d + 6, 16))
        a = _side_by_side([high, high, low, *norms, *ones], width)
        b = _side_by_side([high, low, high, *ones, *norms], width)
        return _Rows(a, a, a, b, b, b, width, length)
    width = _power_of_two(max(d, 16))
    high, low = _side_by_side([high], width), _side_by_side([low], width)
    norm_a, norm_b = _side_by_side([*norms, *ones], 16), _side_by_side([*ones, *norms], 16)
    return _Rows(high, low, norm_a, high, low, norm_b, width, length)


def _halves(values: "Tensor", n_parts: int) -> list["Tensor"]:
    """Numbers in half precision that add up to the values, the largest first."""
    parts = []
    for _ in range(n_parts):
        parts.append(values.half())
        values = values - parts[-1].double()
    return parts


def _side_by_side(parts: list["Tensor"], width: int) -> "Tensor":
    import torch

    together = torch.hstack(parts)
    return torch.nn.functional.pad(together, (0, width - together.shape[1])).contiguous()


def _relative_error(
    reach: "Tensor", sums: "Tensor", largest: "Tensor", layout: Layout, n_features: int
) -> "Tensor":
    r"""A bound for the rounding error of sums of positive terms, relative to the sums.

    Rows at a distance r from the middle have neighbours within r + 1.5, as a rule. Their scalar
    products are off by A (r + 1.5)^2 units, more with more features. A is 14 for a single term; the
    errors of the terms average out to 2, and a sum s has at least s / w terms, where w is the
    largest weight. Differences are off by r sqrt(E) units, where the exponents that matter are up
    to E = 3 - log2(s). The constants are the largest that were measured, and a margin.
    """
    if layout.double:
        return 1e-14 * (4.0 + _exponents(sums)) * (1.0 + reach)
    if layout.mode == DIRECT:
        exponent = _exponents(sums)
        off = (2.0 * exponent).sqrt() * reach + 0.5 * (n_features + 6) * exponent
    else:
        few = (sums / largest).clamp(min=1.0).rsqrt()
        off = (2.0 + 12.0 * few) * (1.0 + n_features / 32) * (reach + 1.5).square()
    return _UNIT * (math.log(2.0) * off + 8.0)


def _exponents(sums: "Tensor") -> "Tensor":
    return 3.0 - sums.clamp(min=1e-300, max=1.0).log2()


class GaussianRows:
    """Training rows on a device, and Gaussian sums over them.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        The rows.
    sigma : float
        The width of the kernel.
    """

    def __init__(self, rows: "Tensor", sigma: float) -> None:
        self._centre = rows.double().mean(dim=0)
        self._scale = math.sqrt(math.log2(math.e)) / sigma
        self.points = self.scaled(rows)
        self.reach = self.points.norm(dim=1, keepdim=True)
        self._cached: dict[Layout, _Rows] = {}

    def scaled(self, rows: "Tensor") -> "Tensor":
        """Rows of float64 in which a kernel value is 2 ** (-sqdist / 2)."""
        return (rows.double() - self._centre) * self._scale

    @property
    def n_features(self) -> int:
        return int(self.points.shape[1])

    def layout(self, *, double: bool) -> Layout:
        """How sums are computed; rows very far away leave the range of half precision."""
        layout = Layout.of(self.n_features, double=double)
        if layout.mode == DIRECT:
            return layout
        return Layout(DIRECT, False, 64, 64, 2) if self._farthest > _FARTHEST else layout

    @cached_property
    def _farthest(self) -> float:
        return float(self.reach.max())

    def arranged(self, layout: Layout) -> _Rows:
        if layout not in self._cached:
            self._cached[layout] = _arranged(self.points, layout)
        return self._cached[layout]

    def over_pairs(self, weights: "Tensor", layout: Layout) -> "Tensor":
        """Products with the kernel matrix, for weights (n, c) whose absolute values sum to one."""
        import torch

        from typicality.sums.triton_gaussian import sum_pairs

        rows, n = self.arranged(layout), len(weights)
        n_blocks = rows.length // layout.block
        n_parts = -(-(n_blocks // 2 + 1) // _STEPS)
        out = torch.empty_like(weights)
        for first in range(0, weights.shape[1], _MOST_COLUMNS):
            some = weights[:, first : first + _MOST_COLUMNS]
            c = some.shape[1]
            sums = torch.zeros((c, rows.length), dtype=torch.int64, device=weights.device)
            sum_pairs[n_blocks, n_parts](
                rows.a, rows.a_low, rows.a_norm, rows.b, rows.b_low, rows.b_norm,
                _padded(some, rows.length, layout), sums, rows.length, n_blocks, _FIXED_POINT,
                MODE=layout.mode, D=rows.width, B=layout.block, BN=layout.columns,
                C=c, CP=_power_of_two(c), STEPS=_STEPS, **layout.options,
            )  # fmt: skip
            out[:, first : first + c] = sums[:, :n].T.double() / _FIXED_POINT
        return out

    def at(self, points: "Tensor", weights: "Tensor", layout: Layout) -> "Tensor":
        """Sums at scaled points, for weights (n, c) whose absolute values sum to one."""
        import torch

        out = torch.empty(
            (len(points), weights.shape[1]), dtype=torch.float64, device=points.device
        )
        for start in range(0, len(points), _POINTS_AT_A_TIME):
            here = slice(start, start + _POINTS_AT_A_TIME)
            placed = _arranged(points[here], layout)
            for first in range(0, weights.shape[1], _MOST_COLUMNS):
                some = weights[:, first : first + _MOST_COLUMNS]
                sums = self._at(placed, some, layout)
                out[here, first : first + _MOST_COLUMNS] = sums[:, : len(points[here])].T
        return out

    def _at(self, points: _Rows, weights: "Tensor", layout: Layout) -> "Tensor":
        import torch

        from typicality.sums.triton_gaussian import sum_at

        rows, c = self.arranged(layout), weights.shape[1]
        n_ranges = -(-rows.length // _ROWS_OF_A_RANGE)
        sums = torch.empty((n_ranges, c, points.length), dtype=torch.float64, device=weights.device)
        sum_at[points.length // layout.block, n_ranges](
            points.a, points.a_low, points.a_norm, points.length,
            rows.b, rows.b_low, rows.b_norm, _padded(weights, rows.length, layout),
            rows.length, sums,
            MODE=layout.mode, D=rows.width, BM=layout.block, BN=layout.columns,
            C=c, CP=_power_of_two(c), STEPS=_ROWS_OF_A_RANGE // layout.columns, **layout.options,
        )  # fmt: skip
        total = sums[0].clone()
        for part in sums[1:]:  # in this order, whatever the number of points
            total += part
        return total

    def sums(
        self,
        weights: "Tensor",
        rtol: float,
        points: "Tensor | None" = None,
        *,
        double: bool = False,
    ) -> "tuple[Tensor, Tensor]":
        """Sums at the rows, or at scaled points, and the places of those that may be off.

        At points, sums must be known to a share of themselves, too.
        """
        import torch

        total = weights.abs().sum(dim=0)
        unit = weights / torch.where(total > 0, total, 1.0)
        c, signed = weights.shape[1], bool((weights < 0).any())
        columns = torch.hstack([unit, unit.abs()]) if signed else unit
        layout, reach = self.layout(double=double), self.reach
        if points is None:
            sums = self.over_pairs(columns, layout)
        else:
            reach = points.norm(dim=1, keepdim=True)
            far = (reach > _FARTHEST) & (layout.mode != DIRECT)
            sums = self.at(torch.where(far, 0.0, points), columns, layout)
        size = sums[:, c:] if signed else sums
        largest = unit.abs().amax(dim=0).clamp(min=1e-300)
        relative = _relative_error(reach, size, largest, layout, self.n_features)
        doubtful = relative * size > rtol
        if points is not None:
            doubtful |= far | ((relative > _RELATIVE) & (size > _UNDERFLOW))
        return sums[:, :c] * total, doubtful.any(dim=1).nonzero()[:, 0]


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _padded(weights: "Tensor", length: int, layout: Layout) -> "Tensor":
    import torch

    kind = torch.float64 if layout.double else torch.float32
    padded = torch.zeros((weights.shape[1], length), dtype=kind, device=weights.device)
    padded[:, : len(weights)] = weights.T
    return padded


def can_be_fused(kernel: Any, device: str, rtol: float) -> bool:
    """Whether there are fused sums of a kernel on a device that keep a promise."""
    on_gpu = device.startswith("cuda") and find_spec("triton") is not None
    return on_gpu and type(kernel) is Gaussian and rtol >= _FINEST


class Fused(DeviceOperator):
    r"""Products of a Gaussian kernel matrix on a GPU, by kernels that are fused.

    Sums are in single precision with exponents from tensor cores, as far as the promise allows it:
    a bound of the rounding error is known for each row, and rows that might break the promise are
    summed again in double precision. If these are many, or the promise is finer than 1e-7, all sums
    are in double precision, which takes ten times as long. Every product has the same bits in
    every run.

    Costs O(n^2 d) time and O(n) memory.

    Original to typicality, see docs/theory.
    """

    finest = _FINEST
    _mostly_doubtful = False

    def _place(self, rows: "Tensor") -> None:
        self._rows = GaussianRows(rows, self.columns.kernel_function.sigma)

    @property
    def how(self) -> str:
        double = self.rtol < _FINEST_SINGLE or self._mostly_doubtful
        precision = "double precision" if double else "single precision, checked row by row"
        return (
            f"{matrix_of(self.columns.n_training)} is computed again in each iteration on "
            f"{self.device}, by a fused kernel in {precision}."
        )

    def error(self, sums: Floats) -> Floats:
        """Sums are known to a share of themselves, until they vanish in single precision."""
        return np.minimum(_RELATIVE * np.abs(sums) + _UNDERFLOW, self.rtol)

    def sums(
        self, weights: "Tensor", points: "Tensor | None" = None, *, complement: bool
    ) -> "Tensor":
        rows, at_rows = self._rows, points is None
        placed = None if points is None else rows.scaled(points)
        double = self.rtol < _FINEST_SINGLE or (at_rows and self._mostly_doubtful)
        sums, doubtful = rows.sums(weights, self.rtol, placed, double=double)
        if not double and at_rows and len(doubtful) > _MOST_DOUBTFUL * len(sums):
            self._mostly_doubtful = True
            return self.sums(weights, complement=complement)
        if not double and len(doubtful):
            again = (rows.points if placed is None else placed)[doubtful]
            sums[doubtful] = rows.sums(weights, self.rtol, again, double=True)[0]
        return weights.sum(dim=0) - sums if complement else sums
