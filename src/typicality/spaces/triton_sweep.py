"""The sweep of fuzzy c-means with m = 2 on a GPU, fused: one pass over the rows. By Triton."""

import triton
import triton.language as tl

_ONE_INSTRUCTION = tl.constexpr(not triton.knobs.runtime.interpret)


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


@triton.jit(do_not_specialize=["n", "tiles"])
def sweep_fuzzy(
    x, weight, centers, sums, objective, n, tiles,
    WEIGHTED: tl.constexpr, D: tl.constexpr, DP: tl.constexpr,
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
        sqdist = tl.maximum(sqdist, 1e-30)
        nearness = tl.where((k < C)[None, :, None], _reciprocal(sqdist), 0.0)
        share = _reciprocal(tl.sum(nearness, axis=1))
        counted = tl.where(inside, 1.0, 0.0)
        if WEIGHTED:
            counted = tl.load(weight + r, mask=inside, other=0.0)
        membership = nearness * share[:, None, :]
        pull = membership * membership * counted[:, None, :]
        by_cluster = tl.reshape(tl.permute(pull, (1, 0, 2)), (CP, BM))
        first += tl.dot(by_cluster, rows, input_precision="tf32x3")
        mass += tl.sum(pull, axis=0)
        within += tl.sum(pull * sqdist, axis=0)
        value += counted * share
    here = sums + program * CP * (DP + 2) + k * (DP + 2)
    tl.store(here[:, None] + d[None, :], first)
    tl.store(here + DP, tl.sum(mass, axis=1))
    tl.store(here + DP + 1, tl.sum(within, axis=1))
    tl.store(objective + program * BM + place, value)
