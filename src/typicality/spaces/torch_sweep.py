"""Fuzzy c-means on a GPU, in single precision, by one fused kernel."""

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality.membership.base import MembershipRule
from typicality.membership.fuzzy import Fuzzy
from typicality.rows import Block
from typicality.spaces.base import Sums

if TYPE_CHECKING:
    from torch import Tensor

_LARGEST_FUSED = 64  # clusters and features
_SMALLEST_WEIGHT = 2.0**-100  # of a row between all prototypes, off the smallest number
_TILE_ROWS, _LANES, _PROGRAMS, _WARPS = 32, 4, 132 * 8, 1


def fused_sums(rule: MembershipRule, prototypes: Any, block: Block) -> Sums | None:
    """The sums of a block of a tensor; None for other rules, types, sizes and devices."""
    X: Any = block.X
    if not _is_fused(rule, X, prototypes.n_clusters):
        return None
    return _fused(rule, X, block.weight, prototypes.origin, prototypes.offsets)


def _is_fused(rule: Any, X: "Tensor", n_clusters: int) -> bool:
    return (
        type(rule) is Fuzzy
        and X.device.type == "cuda"
        and X.itemsize == np.dtype(np.float32).itemsize
        and rule.m * math.log2(n_clusters) <= -math.log2(_SMALLEST_WEIGHT)
        and max(n_clusters, X.shape[1]) <= _LARGEST_FUSED
        and find_spec("triton") is not None
    )


def _fused(rule: Any, X: Any, weight: Any, origin: Any, offsets: Any) -> Sums:
    import torch

    from typicality.spaces.triton_sweep import sweep_fuzzy

    (n, d), c, m = X.shape, len(offsets), float(rule.m)
    width, places = (max(16, 1 << (size - 1).bit_length()) for size in (d, c))
    packed = np.zeros(width * (places + 1), np.float32)
    packed[: width * places].reshape(width, places)[:d, :c] = offsets.T
    packed[width * places :][:d] = origin
    centers = torch.from_numpy(packed).to(X.device)
    n_tiles = -(-n // _TILE_ROWS)
    n_programs = min(n_tiles, _PROGRAMS)
    tiles = -(-n_tiles // n_programs)
    sums = torch.empty((n_programs, places, width + 2), dtype=torch.float32, device=X.device)
    objective = torch.empty((n_programs, _TILE_ROWS), dtype=torch.float32, device=X.device)
    sweep_fuzzy[(n_programs,)](
        X, X if weight is None else weight, centers, sums, objective, n, tiles,
        m, 1.0 / (m - 1.0), M_IS_2=m == 2.0, WEIGHTED=weight is not None,
        D=d, DP=width, C=c, CP=places, BM=_TILE_ROWS, LANES=_LANES, num_warps=_WARPS,
    )  # fmt: skip
    # One transfer: each waits for the device.
    parts = sums.sum(dim=0, dtype=torch.float64), objective.sum(dtype=torch.float64)
    entries = torch.cat([part.flatten() for part in parts]).cpu().numpy()
    total = entries[:-1].reshape(places, width + 2)[:c]
    mass, within = total[:, width], total[:, width + 1]
    return Sums(total[:, :d], mass, within, mass, float(entries[-1]))
