"""The sweep of fuzzy c-means with m = 2 on a GPU, fused: one pass over the rows. By Triton."""

import triton
import triton.language as tl


@triton.jit
def sweep_fuzzy(
    x, weight, centers, sums, objective, n, tiles,
    WEIGHTED: tl.constexpr, D: tl.constexpr, DP: tl.constexpr,
    C: tl.constexpr, CP: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Sums of each program, shape (CP, DP + 2): weighted rows, weights, and squared distances.

    A program walks over tiles of rows. Distances come from differences: from scalar products, those
    of rows near a prototype would lose their digits. Weighted sums are products on tensor cores, in
    three passes, which give single precision. The last row of `centers` is the origin.
    """
    program = tl.program_id(0)
    k, d = tl.arange(0, CP), tl.arange(0, DP)
    origin = tl.load(centers + CP * DP + d)
    first = tl.zeros((CP, DP), tl.float32)
    mass, within = tl.zeros((CP,), tl.float32), tl.zeros((CP,), tl.float32)
    value = tl.zeros((BM,), tl.float32)
    for tile in range(tiles):
        r = (program * tiles + tile) * BM + tl.arange(0, BM)
        inside = r < n
        there = inside[:, None] & (d[None, :] < D)
        place = r.to(tl.int64)[:, None] * D + d[None, :]
        rows = tl.where(there, tl.load(x + place, mask=there, other=0.0) - origin[None, :], 0.0)
        sqdist = tl.zeros((BM, CP), tl.float32)
        for feature in tl.static_range(D):
            row = tl.load(x + r.to(tl.int64) * D + feature, mask=inside, other=0.0)
            row -= tl.load(centers + CP * DP + feature)
            difference = row[:, None] - tl.load(centers + k * DP + feature)[None, :]
            sqdist += difference * difference
        sqdist = tl.maximum(sqdist, 1e-30)
        nearness = tl.where(k[None, :] < C, 1.0 / sqdist, 0.0)
        total = tl.sum(nearness, axis=1)
        counted = tl.where(inside, 1.0, 0.0)
        if WEIGHTED:
            counted = tl.load(weight + r, mask=inside, other=0.0)
        membership = nearness / total[:, None]
        pull = membership * membership * counted[:, None]
        first += tl.dot(tl.trans(pull), rows, input_precision="tf32x3")
        mass += tl.sum(pull, axis=0)
        within += tl.sum(pull * sqdist, axis=0)
        value += counted / total
    here = sums + program * CP * (DP + 2) + k * (DP + 2)
    tl.store(here[:, None] + d[None, :], first)
    tl.store(here + DP, mass)
    tl.store(here + DP + 1, within)
    tl.store(objective + program * BM + tl.arange(0, BM), value)
