"""The sweep of fuzzy c-means on a GPU, fused: one pass over the rows. Compiled by Triton."""

import triton
import triton.language as tl

_ONE_INSTRUCTION = tl.constexpr(not triton.knobs.runtime.interpret)


_SMALLEST = tl.constexpr(1e-30)  # squared distances; smaller ones are taken for zero


@triton.jit
def _reciprocal(numbers):
    """One over numbers, off by one unit in the last place at the most."""
    if _ONE_INSTRUCTION:
        inverse = tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [numbers], tl.float32, True, 1
        )
    else:
        inverse = 1.0 / numbers
    return inverse


@triton.jit
def _log2(numbers):
    """Logarithms to base two, off by 2**-22 at the most near one; minus infinity for zero."""
    if _ONE_INSTRUCTION:
        logarithm = tl.inline_asm_elementwise(
            "lg2.approx.ftz.f32 $0, $1;", "=f,f", [numbers], tl.float32, True, 1
        )
    else:
        logarithm = tl.log2(numbers)
    return logarithm


@triton.jit
def _exp2(numbers):
    """Powers of two, off by two units in the last place at the most."""
    if _ONE_INSTRUCTION:
        power = tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [numbers], tl.float32, True, 1
        )
    else:
        power = tl.exp2(numbers)
    return power


@triton.jit
def _weights(sqdist, taken, m, exponent, M_IS_2: tl.constexpr):
    """Weights `u**m` of a tile, clusters on axis 1, and the objective of its rows.

    The objective is `low * largest**(m - 1)`, with the smallest distance and the largest
    membership, because `u**(m - 1) * sqdist` is the same for all clusters.
    """
    if M_IS_2:  # reciprocals in the place of logarithms
        nearness = tl.where(taken, _reciprocal(tl.maximum(sqdist, _SMALLEST)), 0.0)
        value = _reciprocal(tl.sum(nearness, axis=1))
        membership = nearness * value[:, None, :]
        weights = membership * membership
    else:
        sqdist = tl.where(sqdist < _SMALLEST, 0.0, sqdist)
        low = tl.min(tl.where(taken, sqdist, float("inf")), axis=1)
        apart = sqdist > low[:, None, :]
        log_ratio = exponent * (_log2(low)[:, None, :] - _log2(sqdist))
        log_ratio = tl.where(taken, tl.where(apart, log_ratio, 0.0), -float("inf"))
        log_total = _log2(tl.sum(_exp2(log_ratio), axis=1))
        weights = _exp2(m * (log_ratio - log_total[:, None, :]))
        value = low * _exp2((1.0 - m) * log_total)
    return weights, value


@triton.jit(do_not_specialize=["n", "tiles", "m", "exponent"])
def sweep_fuzzy(
    x, weight, centers, sums, objective, n, tiles, m, exponent,
    M_IS_2: tl.constexpr, WEIGHTED: tl.constexpr, D: tl.constexpr, DP: tl.constexpr,
    C: tl.constexpr, CP: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Sums of each program, shape (CP, DP + 2): weighted rows, weights, and squared distances.

    A program walks over tiles of rows. Distances come from differences: from scalar products, those
    of rows near a prototype would lose their digits. Weighted sums are products on tensor cores, in
    three passes, which give single precision. `centers` has shape (DP, CP), and the origin after
    it. A tile has the shape (BM / LANES, CP, LANES): so the threads of a warp share the rows and
    the clusters between them, each keeps its centers in registers, and few sums cross threads.
    """
    program = tl.program_id(0)
    k, d = tl.arange(0, CP), tl.arange(0, DP)
    origin = tl.load(centers + DP * CP + d)
    first = tl.zeros((CP, DP), tl.float32)
    mass, within = tl.zeros((CP, LANES), tl.float32), tl.zeros((CP, LANES), tl.float32)
    value = tl.zeros((BM // LANES, LANES), tl.float32)
    place = tl.arange(0, BM // LANES)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    for tile in range(tiles):
        start = (program * tiles + tile).to(tl.int64) * BM
        flat = start + tl.arange(0, BM)
        there = (flat < n)[:, None] & (d < D)[None, :]
        rows = tl.load(x + flat[:, None] * D + d[None, :], mask=there, other=0.0)
        rows = tl.where(there, rows - origin[None, :], 0.0)
        r = start + place
        inside = r < n
        sqdist = tl.zeros((BM // LANES, CP, LANES), tl.float32)
        for feature in tl.static_range(D):
            row = tl.load(x + r * D + feature, mask=inside, other=0.0)
            row -= tl.load(centers + DP * CP + feature)
            center = tl.load(centers + feature * CP + k)
            difference = row[:, None, :] - center[None, :, None]
            sqdist += difference * difference
        taken = (k < C)[None, :, None]
        pull, of_rows = _weights(sqdist, taken, m, exponent, M_IS_2)
        counted = tl.where(inside, 1.0, 0.0)
        if WEIGHTED:
            counted = tl.load(weight + r, mask=inside, other=0.0)
        pull *= counted[:, None, :]
        by_cluster = tl.reshape(tl.permute(pull, (1, 0, 2)), (CP, BM))
        first += tl.dot(by_cluster, rows, input_precision="tf32x3")
        mass += tl.sum(pull, axis=0)
        within += tl.sum(pull * sqdist, axis=0)
        value += counted * of_rows
    here = sums + program * CP * (DP + 2) + k * (DP + 2)
    tl.store(here[:, None] + d[None, :], first)
    tl.store(here + DP, tl.sum(mass, axis=1))
    tl.store(here + DP + 1, tl.sum(within, axis=1))
    tl.store(objective + program * BM + place, value)
