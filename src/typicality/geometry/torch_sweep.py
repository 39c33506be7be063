"""The sweep of the input space in torch, on any device: sums over rows of memberships."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from typicality._tensors import tensor_of
from typicality._typing import Doubles, Floats
from typicality.membership.base import MembershipRule
from typicality.membership.fuzzy import Fuzzy

if TYPE_CHECKING:
    from torch import Tensor

_ENTRIES_OF_A_BLOCK = 2**24  # rows times clusters or features
_LARGEST_FUSED = 64  # clusters and features
_TILE_ROWS, _LANES, _PROGRAMS, _WARPS = 32, 4, 132 * 8, 1


class Sums(NamedTuple):
    """Weighted sums of rows, of weights and of squared distances, and of the objective."""

    first: Doubles
    mass: Doubles
    within: Doubles
    objective: float


def sum_tensor(rule: MembershipRule, X: Any, weight: Any, origin: Floats, offsets: Doubles) -> Sums:
    """Sums over the rows of a tensor, for prototypes at `origin + offsets`.

    Fuzzy c-means with m = 2 has a fused kernel on a GPU, in single precision. Other rules are
    computed by their array form in blocks, with distances and sums in double precision.
    """
    if _is_fused(rule, X, len(offsets)):
        return _fused(X, weight, origin, offsets)
    c, d = offsets.shape
    step = max(1, _ENTRIES_OF_A_BLOCK // max(c, d))
    centers = tensor_of(offsets, str(X.device))
    total = np.zeros((c, d + 2))
    objective = 0.0
    for start in range(0, len(X), step):
        some = slice(start, start + step)
        part, value = _sum_block(
            rule, X[some], None if weight is None else weight[some], origin, centers
        )
        total += part
        objective += value
    return Sums(total[:, :d], total[:, d], total[:, d + 1], objective)


def _sum_block(
    rule: MembershipRule, X: "Tensor", weight: "Tensor | None", origin: Floats, centers: "Tensor"
) -> tuple[Doubles, float]:
    import torch

    rows = X.double() - tensor_of(origin, str(X.device)).double()
    norms = rows.square().sum(dim=1, keepdim=True) + centers.square().sum(dim=1)
    sqdist = torch.addmm(norms, rows, centers.T, alpha=-2.0).clamp_(min=0.0).to(X.dtype)
    memberships = rule.memberships(sqdist)
    pull, value = rule.weights(memberships).double(), rule.objective(memberships, sqdist).double()
    if weight is not None:
        pull, value = pull * weight[:, None], value * weight
    columns = [pull.T @ rows, pull.sum(dim=0)[:, None], (pull * sqdist).sum(dim=0)[:, None]]
    return torch.hstack(columns).cpu().numpy(), float(value.sum())


def _is_fused(rule: Any, X: "Tensor", n_clusters: int) -> bool:
    return (
        type(rule) is Fuzzy
        and rule.m == 2.0
        and X.device.type == "cuda"
        and X.itemsize == np.dtype(np.float32).itemsize
        and max(n_clusters, X.shape[1]) <= _LARGEST_FUSED
        and find_spec("triton") is not None
    )


def _fused(X: "Tensor", weight: "Tensor | None", origin: Floats, offsets: Doubles) -> Sums:
    import torch

    from typicality.geometry.triton_sweep import sweep_fuzzy

    (n, d), c = X.shape, len(offsets)
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
        WEIGHTED=weight is not None, D=d, DP=width, C=c, CP=places, BM=_TILE_ROWS, LANES=_LANES,
        num_warps=_WARPS,
    )  # fmt: skip
    # One transfer: each waits for the device.
    parts = sums.sum(dim=0, dtype=torch.float64), objective.sum(dtype=torch.float64)
    entries = torch.cat([part.flatten() for part in parts]).cpu().numpy()
    total = entries[:-1].reshape(places, width + 2)[:c]
    return Sums(total[:, :d], total[:, width], total[:, width + 1], float(entries[-1]))
