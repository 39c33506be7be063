"""Gaussian sums on a GPU, fused: no kernel value leaves the chip. Compiled by Triton.

A program keeps a block of rows and walks over blocks of others. Exponents have base 2, and rows
come scaled, so that a kernel value is one instruction. Sums within a few tiles have the precision
of the tiles. Sums of these are in double precision; where several programs add to one number they
are in fixed point, because whole numbers add up to the same bits in any order.
"""

import triton
import triton.language as tl

_DIRECT, _PACKED, _SPLIT = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
_ONE_INSTRUCTION = tl.constexpr(not triton.knobs.runtime.interpret)
_LOG_2 = tl.constexpr(0.6931471805599453)
_NORMS = tl.constexpr(16)  # numbers of a row in the product of the norms


@triton.jit
def _loaded(a, a_low, a_norm, i, MODE: tl.constexpr, D: tl.constexpr):
    """What a program keeps of its rows `i`: high parts, low parts and norms."""
    if MODE == _DIRECT:
        high, low, norm = i, i, i
    else:
        places = i[:, None] * D + tl.arange(0, D)[None, :]
        high = tl.load(a + places)
        if MODE == _PACKED:
            low, norm = high, high
        else:
            low = tl.load(a_low + places)
            norm = tl.load(a_norm + i[:, None] * _NORMS + tl.arange(0, _NORMS)[None, :])
    return high, low, norm


@triton.jit
def _kernel_values(
    a, a_length, i, high, low, norm,
    b, b_low, b_norm, b_length, j,
    MODE: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Kernel values of rows `i` of `a` with rows `j` of `b`.

    DIRECT: arrays of shape (D, length); differences are squared one by one.
    PACKED and SPLIT: arrays of shape (length, D) in half precision. Tensor cores multiply the high
    and the low parts of rows, and those of the norms with ones: they lie side by side, and one
    product gives the exponents; or apart, and four products do.
    """
    if MODE == _DIRECT:
        sqdist = tl.zeros((BM, BN), a.dtype.element_ty)
        if D <= 8:
            for d in tl.static_range(D):
                row, column = tl.load(a + d * a_length + i), tl.load(b + d * b_length + j)
                difference = row[:, None] - column[None, :]
                sqdist += difference * difference
        else:
            for d in range(D):
                row, column = tl.load(a + d * a_length + i), tl.load(b + d * b_length + j)
                difference = row[:, None] - column[None, :]
                sqdist += difference * difference
        exponents = -sqdist
    else:
        places = j[None, :] * D + tl.arange(0, D)[:, None]
        columns = tl.load(b + places)
        if MODE == _PACKED:
            exponents = tl.dot(high, columns)
        else:
            exponents = tl.dot(low, columns)
            exponents = tl.dot(high, tl.load(b_low + places), exponents)
            exponents = tl.dot(high, columns, exponents)
            norms = tl.load(b_norm + j[None, :] * _NORMS + tl.arange(0, _NORMS)[:, None])
            exponents = tl.dot(norm, norms, exponents)
    if exponents.dtype == tl.float64:
        values = tl.exp(exponents * _LOG_2)
    elif _ONE_INSTRUCTION:
        values = tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [exponents], tl.float32, True, 1
        )
    else:
        values = tl.exp2(exponents)
    return values


@triton.jit(do_not_specialize=["n_blocks"])
def sum_pairs(
    a, a_low, a_norm, b, b_low, b_norm, weights, sums, length, n_blocks, scale,
    MODE: tl.constexpr, D: tl.constexpr, B: tl.constexpr, BN: tl.constexpr,
    C: tl.constexpr, CP: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    """Sums over all pairs of rows, each pair once, added to `sums` of shape (C, length).

    Block I meets the blocks I, I + 1, ..., I + n_blocks // 2, counted in a circle.
    """
    block = tl.program_id(0)
    i = block * B + tl.arange(0, B)
    high, low, norm = _loaded(a, a_low, a_norm, i, MODE, D)
    own = tl.load(weights + i)
    c_all = tl.arange(0, CP)
    total = tl.zeros((B, CP), tl.float64)
    some = tl.zeros((B, CP), weights.dtype.element_ty)
    half = n_blocks // 2
    # In a circle of even length, blocks opposite to each other meet twice: once is enough.
    last = tl.where((n_blocks % 2 == 0) & (block >= half), half, half + 1)
    last = tl.where(n_blocks == 1, 1, last)
    first = tl.program_id(1) * STEPS
    parts: tl.constexpr = B // BN
    few: tl.constexpr = 8  # tiles whose sums are added up in their own precision
    for tile in range(first * parts, tl.minimum(first + STEPS, last) * parts):
        other = block + tile // parts
        other = tl.where(other >= n_blocks, other - n_blocks, other)
        j = other * B + (tile % parts) * BN + tl.arange(0, BN)
        values = _kernel_values(
            a, length, i, high, low, norm, b, b_low, b_norm, length, j, MODE, D, B, BN
        )
        for c in tl.static_range(C):
            of_rows = tl.sum(values * tl.load(weights + c * length + j)[None, :], axis=1)
            some += tl.where(c_all[None, :] == c, of_rows[:, None], 0.0)
            mine = own if C == 1 else tl.load(weights + c * length + i)
            of_columns = tl.sum(values * mine[:, None], axis=0)
            fixed = (of_columns.to(tl.float64) * scale).to(tl.int64)
            fixed = tl.where(tile >= parts, fixed, 0)  # the block with itself is whole already
            tl.atomic_add(sums + c * length + j, fixed, sem="relaxed")
        if tile % few == few - 1:
            total += some.to(tl.float64)
            some = tl.zeros((B, CP), weights.dtype.element_ty)
    fixed = ((total + some.to(tl.float64)) * scale).to(tl.int64)
    places = sums + c_all[None, :] * length + i[:, None]
    tl.atomic_add(places, fixed, mask=(c_all[None, :] < C) & (i[:, None] >= 0), sem="relaxed")


@triton.jit
def sum_at(
    a, a_low, a_norm, a_length, b, b_low, b_norm, weights, b_length, sums,
    MODE: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    C: tl.constexpr, CP: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    """Sums at points `a` over a range of the rows `b`, to `sums` of shape (ranges, C, a_length).

    A point gets the same bits whatever other points there are.
    """
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    high, low, norm = _loaded(a, a_low, a_norm, i, MODE, D)
    c_all = tl.arange(0, CP)
    total = tl.zeros((BM, CP), tl.float64)
    first = tl.program_id(1) * STEPS
    for step in range(first, tl.minimum(first + STEPS, b_length // BN)):
        j = step * BN + tl.arange(0, BN)
        values = _kernel_values(
            a, a_length, i, high, low, norm, b, b_low, b_norm, b_length, j, MODE, D, BM, BN
        )
        for c in tl.static_range(C):
            of_rows = tl.sum(values * tl.load(weights + c * b_length + j)[None, :], axis=1)
            total += tl.where(c_all[None, :] == c, of_rows.to(tl.float64)[:, None], 0.0)
    places = sums + (tl.program_id(1) * C + c_all[None, :]) * a_length + i[:, None]
    tl.store(places, total, mask=(c_all[None, :] < C) & (i[:, None] >= 0))
