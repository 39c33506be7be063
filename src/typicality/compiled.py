"""Compiled loops: the sweep over the rows of every input-space iteration, and kernel sums.

Rows are taken in tiles of a few hundred, transposed so that vector instructions run along the
rows: `sqdist`, `memberships` and every row of scratch space have the rows of the tile as their last
axis. A tile stays in cache from the distances to the sums, so no (n, c) matrix is ever formed.

A rule enters by three functions, chosen by the type of its parameters (the named tuple
`rule.twin`): `memberships` of a tile; `pull`, which turns memberships into weights in place and
gives the objective of each row; and `closeness` of a row to a cluster. Numba keeps one compiled
sweep for each type in its cache, which a function handed over as an argument would never reach.

All compiled code of the iterations stands in this one file, long as it is: numba's cache notices
changes of the file that holds the cached function, not of the files it calls.
"""

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from numpy import empty, float32, float64, inf, int64, log, log1p, sqrt

from typicality.kernels.of_distance import CauchyTwin, GaussianTwin, LaplacianTwin
from typicality.membership.entropic import EntropicTwin
from typicality.membership.fuzzy import FuzzyTwin
from typicality.membership.hard import HardTwin
from typicality.membership.possibilistic import Possibilistic1993Twin, Possibilistic1996Twin
from typicality.membership.sparse import SparsePossibilisticTwin

# Sums may be reordered (vector lanes) and products fused.
_SWEEP = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
# Inlined, so that a sweep is one function: a process that compiles would otherwise link to copies
# of the helpers that were optimised on their own, and round differently from one that finds the
# sweep in the cache.
_TILE = {**_SWEEP, "forceinline": True}
# Range reduction relies on the order of operations.
_EXACT = {"fastmath": {"contract"}, "error_model": "numpy", "forceinline": True}


# ---- exp and log that vectorise; within 1 ulp for the finite numbers that reach them -----------

_MAGIC = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer kept in the low bits
_MAGIC_BITS = 0x4338000000000000
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_HIGHEST_EXPONENT = 709.0


@intrinsic
def _bits(typingctx, x):
    return types.int64(types.float64), lambda ctx, b, sig, args: b.bitcast(args[0], ir.IntType(64))


@intrinsic
def _from_bits(typingctx, x):
    return types.float64(types.int64), lambda ctx, b, sig, args: b.bitcast(args[0], ir.DoubleType())


@njit(**_EXACT)
def _lowest_exponent(itemsize):
    # Below, the exponential is 0: subnormal numbers would cost more than all the rest.
    return -700.0 if itemsize == 8 else -80.0


@njit(**_EXACT)
def _reduced(y):
    """Exp(y) = 2**k (1 + q): an integer k in the low bits of a number, and q."""
    rounded = y * _LOG2_E + _MAGIC
    k = rounded - _MAGIC
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    return rounded, r + r * r * p


@njit(**_EXACT)
def _power_of_two(rounded):
    return _from_bits((_bits(rounded) << 52) + (1023 << 52))


@njit(**_EXACT)
def _exp(x, lowest):
    rounded, q = _reduced(min(max(x, lowest), _HIGHEST_EXPONENT))
    power = (1.0 + q) * _power_of_two(rounded)
    return power if x > lowest else 0.0


@njit(**_EXACT)
def _one_minus_exp(x, lowest):
    """For x <= 0, to full relative precision: without k, what is left of 1 - 2**k (1 + q) is -q."""
    rounded, q = _reduced(max(x, lowest))
    power = _power_of_two(rounded)
    return (1.0 - power) - power * q


@njit(**_EXACT)
def _log(x):
    # x = 2**e * f with f in [sqrt(1/2), sqrt(2)); log f = 2 artanh(s), s = (f - 1) / (f + 1)
    i = _bits(x) - _SQRT_HALF_BITS
    e = i >> 52
    f = _from_bits(i - (e << 52) + _SQRT_HALF_BITS) - 1.0
    exponent = _from_bits(e + _MAGIC_BITS) - _MAGIC
    s = f / (f + 2.0)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return exponent * _LN2_HIGH + (f - (s * (f - 2.0 * z * p) - exponent * _LN2_LOW))


@njit(**_EXACT)
def _largest_exponent(itemsize):
    return 603.0 if itemsize == 8 else 75.0


# ---- the rules on a tile ------------------------------------------------------------------------


def memberships(params, sqdist, low, total, out):
    """Memberships of a tile; scratch `low` and `total` are handed on to `pull`."""
    raise TypeError("compiled code only")


def pull(params, sqdist, low, total, out, value):
    """Memberships to weights, in place; `value` becomes the objective of each row."""
    raise TypeError("compiled code only")


def closeness(params, sqdist, membership, k):
    """How near a row is to cluster k, to compare clusters; infinite: does not belong there."""
    raise TypeError("compiled code only")


def ranked_by_membership(params):
    """Whether `closeness` looks at the membership."""
    raise TypeError("compiled code only")


@njit(**_TILE)
def _clear(row):
    for r in range(row.size):
        row[r] = 0


@njit(**_TILE)
def _row_minimum(sqdist, low):
    n_clusters, n_rows = sqdist.shape
    for r in range(n_rows):
        low[r] = sqdist[0, r]
    for k in range(1, n_clusters):
        for r in range(n_rows):
            low[r] = min(low[r], sqdist[k, r])


@njit(**_TILE)
def _normalise(out, total):
    """Divide by the row sums; `total` becomes their reciprocals."""
    n_clusters, n_rows = out.shape
    one = out.dtype.type(1)
    for r in range(n_rows):
        total[r] = one / total[r]
    for k in range(n_clusters):
        for r in range(n_rows):
            out[k, r] *= total[r]


def _hard_memberships(params, sqdist, low, total, out):
    _row_minimum(sqdist, low)
    n_clusters, n_rows = sqdist.shape
    _clear(total)
    for k in range(n_clusters):
        for r in range(n_rows):
            first = sqdist[k, r] <= low[r] and total[r] == 0
            out[k, r] = 1 if first else 0
            total[r] += out[k, r]


def _hard_pull(params, sqdist, low, total, out, value):
    for r in range(low.size):
        value[r] = low[r]


def _fuzzy_memberships(params, sqdist, low, total, out):
    n_clusters, n_rows = sqdist.shape
    _clear(total)
    if params.m == 2.0:
        # Reciprocals of distances that are not zero, only at most so small that none overflows.
        one = sqdist.dtype.type(1)
        smallest = sqdist.dtype.type(1e-300 if sqdist.itemsize == 8 else 1e-34)
        for k in range(n_clusters):
            for r in range(n_rows):
                out[k, r] = one / max(sqdist[k, r], smallest)
                total[r] += out[k, r]
    else:
        _row_minimum(sqdist, low)
        lowest = _lowest_exponent(sqdist.itemsize)
        exponent = 1.0 / (params.m - 1.0)
        log_low = empty(n_rows, float64)
        for r in range(n_rows):
            log_low[r] = _log(low[r]) if low[r] > 0 else -1e300
        for k in range(n_clusters):
            for r in range(n_rows):
                power = _exp((log_low[r] - _log(sqdist[k, r])) * exponent, lowest)
                out[k, r] = power if sqdist[k, r] > low[r] else 1.0
                total[r] += out[k, r]
    _normalise(out, total)


def _fuzzy_pull(params, sqdist, low, total, out, value):
    n_clusters, n_rows = sqdist.shape
    if params.m == 2.0:
        for r in range(n_rows):
            value[r] = total[r]  # one over the sum of the reciprocals
        for k in range(n_clusters):
            for r in range(n_rows):
                out[k, r] *= out[k, r]
        return
    m = params.m
    limit = _largest_exponent(sqdist.itemsize)
    lowest = _lowest_exponent(sqdist.itemsize)
    shift = m * _log(float64(n_clusters))  # as in Fuzzy.weights: off the smallest numbers
    shift = shift if shift >= limit / 3 else 0.0
    largest = empty(n_rows, float64)
    for r in range(n_rows):
        log_total = -_log(float64(total[r]))
        largest[r] = _exp(min(shift - m * log_total, limit), lowest)
        value[r] = low[r] * _exp((1.0 - m) * log_total, _lowest_exponent(value.itemsize))
        # u ** (m - 1) * sqdist is the same for all clusters of a row
        total[r] = low[r] * largest[r] / total[r]
    for k in range(n_clusters):
        for r in range(n_rows):
            weight = out[k, r] * total[r] / sqdist[k, r]
            out[k, r] = weight if sqdist[k, r] > low[r] else largest[r]


def _entropic_memberships(params, sqdist, low, total, out):
    _row_minimum(sqdist, low)
    n_clusters, n_rows = sqdist.shape
    lowest = _lowest_exponent(sqdist.itemsize)
    _clear(total)
    for k in range(n_clusters):
        for r in range(n_rows):
            out[k, r] = _exp(-params.lam * float64(sqdist[k, r] - low[r]), lowest)
            total[r] += out[k, r]
    _normalise(out, total)


def _entropic_pull(params, sqdist, low, total, out, value):
    for r in range(sqdist.shape[1]):
        value[r] = low[r] + _log(float64(total[r])) / params.lam


def _possibilistic_1993_memberships(params, sqdist, low, total, out):
    n_clusters, n_rows = sqdist.shape
    exponent = 1.0 / (params.m - 1.0)
    limit = _largest_exponent(sqdist.itemsize)
    lowest = _lowest_exponent(sqdist.itemsize)
    for k in range(n_clusters):
        eta = params.eta[k]
        if params.m == 2.0:
            for r in range(n_rows):
                out[k, r] = 1.0 / (1.0 + sqdist[k, r] / eta)
        else:
            for r in range(n_rows):
                relative = sqdist[k, r] / eta
                power = _log(relative) * exponent
                degree = 1.0 / (1.0 + _exp(min(power, limit), lowest)) if power < limit else 0.0
                out[k, r] = degree if relative > 0 else 1.0


def _possibilistic_1993_pull(params, sqdist, low, total, out, value):
    n_clusters, n_rows = sqdist.shape
    lowest = _lowest_exponent(sqdist.itemsize)
    _clear(value)
    for k in range(n_clusters):
        eta = params.eta[k]
        if params.m == 2.0:
            for r in range(n_rows):
                value[r] += sqdist[k, r] * out[k, r]
                out[k, r] *= out[k, r]
        else:
            for r in range(n_rows):
                degree = float64(out[k, r])
                power = _exp((params.m - 1.0) * _log(degree), lowest)
                # The same value twice; far out, where degrees are cut off, the second is right.
                near = sqdist[k, r] * power
                far = eta * _exp((params.m - 1.0) * _log(1.0 - degree), lowest)
                value[r] += near if sqdist[k, r] < eta else far
                out[k, r] *= power


def _possibilistic_1996_memberships(params, sqdist, low, total, out):
    n_clusters, n_rows = sqdist.shape
    lowest = _lowest_exponent(sqdist.itemsize)
    for k in range(n_clusters):
        eta = params.eta[k]
        for r in range(n_rows):
            out[k, r] = _exp(-(sqdist[k, r] / eta), lowest)


def _possibilistic_1996_pull(params, sqdist, low, total, out, value):
    n_clusters, n_rows = sqdist.shape
    _clear(value)
    for k in range(n_clusters):
        eta = params.eta[k]
        for r in range(n_rows):
            value[r] -= eta * out[k, r]


def _sparse_possibilistic_memberships(params, sqdist, low, total, out):
    # Most rows are beyond the radius of most clusters: only the others are worked on.
    n_clusters, n_rows = sqdist.shape
    lowest = _lowest_exponent(8)
    slope = 1.0 - params.p
    place = empty(n_rows, int64)
    relative = empty(n_rows, float64)
    for k in range(n_clusters):
        eta, edge = params.eta[k], params.edge[k]
        n_inside = 0
        for r in range(n_rows):
            out[k, r] = 0.0
            place[n_inside] = r
            relative[n_inside] = sqdist[k, r] / eta
            n_inside += 1 if relative[n_inside] < edge else 0
        for i in range(n_inside):
            z = _sparse_root(slope * (relative[i] - edge), lowest)
            relative[i] = _exp(-relative[i] - z / slope, lowest)
        for i in range(n_inside):
            out[k, place[i]] = relative[i]


@njit(**_TILE)
def _sparse_root(below, lowest):
    """As `typicality.membership.sparse._root`."""
    q = _exp(below - 1.0, lowest)
    # 1 - exp(below), with all its digits near zero
    little = -below * (1.0 + below / 2 * (1.0 + below / 3 * (1.0 + below / 4 * (1.0 + below / 5))))
    r = sqrt(2.0 * (little if below > -1e-3 else 1.0 - 2.718281828459045 * q))
    near = r * (43 / 540 - r * (769 / 17280 - r * 221 / 8505))
    near = 1.0 - r * (1.0 - r * (1 / 3 - r * (11 / 72 - near)))
    far = q * (1.0 + q * (1.0 + q * (1.5 + q * 8 / 3)))
    z = near if below > -1.0 else far
    inner = r > 1e-2
    for _ in range(2):
        rate = _exp(-z, lowest)
        missing = q - z * rate
        left = 1.0 - z if inner else 1.0
        step = missing * left / (rate * left * left - 0.5 * (2.0 - z) * missing)
        z = z + step if inner else z
    return z


def _sparse_possibilistic_pull(params, sqdist, low, total, out, value):
    # Where the derivative is zero, lam u^p = -(eta / p) u (d / eta + ln u).
    n_clusters, n_rows = sqdist.shape
    ratio = (1.0 - params.p) / params.p
    _clear(value)
    for k in range(n_clusters):
        eta = params.eta[k]
        for r in range(n_rows):
            degree = float64(out[k, r])
            rest = sqdist[k, r] / eta + _log(degree if degree > 0 else 1.0)
            value[r] -= eta * degree * (1.0 + ratio * rest)


def _closeness_by_distance(params, sqdist, membership, k):
    return float64(sqdist)


def _closeness_by_spread(params, sqdist, membership, k):
    return sqdist / params.eta[k]


def _closeness_by_membership(params, sqdist, membership, k):
    return -float64(membership) if membership > 0 else inf


_RULES = {
    HardTwin: (_hard_memberships, _hard_pull, _closeness_by_distance),
    FuzzyTwin: (_fuzzy_memberships, _fuzzy_pull, _closeness_by_distance),
    EntropicTwin: (_entropic_memberships, _entropic_pull, _closeness_by_distance),
    Possibilistic1993Twin: (
        _possibilistic_1993_memberships,
        _possibilistic_1993_pull,
        _closeness_by_spread,
    ),
    Possibilistic1996Twin: (
        _possibilistic_1996_memberships,
        _possibilistic_1996_pull,
        _closeness_by_spread,
    ),
    SparsePossibilisticTwin: (
        _sparse_possibilistic_memberships,
        _sparse_possibilistic_pull,
        _closeness_by_membership,
    ),
}


@overload(memberships, jit_options=_TILE)
def _choose_memberships(params, sqdist, low, total, out):
    return _RULES[params.instance_class][0]


@overload(closeness, jit_options=_TILE)
def _choose_closeness(params, sqdist, membership, k):
    return _RULES[params.instance_class][2]


@overload(ranked_by_membership, jit_options=_TILE)
def _choose_ranked_by_membership(params):
    answer = _RULES[params.instance_class][2] is _closeness_by_membership
    return lambda params: answer


@overload(pull, jit_options=_TILE)
def _choose_pull(params, sqdist, low, total, out, value):
    return _RULES[params.instance_class][1]


# ---- tiles --------------------------------------------------------------------------------------


@njit(**_TILE)
def _load(X, start, stop, origin, columns):
    """Rows start to stop, about the origin, transposed; the rest of the tile is zero."""
    n_features, n_rows = columns.shape
    n_loaded = stop - start
    full = n_loaded - n_loaded % 8
    for first in range(0, full, 8):
        for j in range(n_features):
            for r in range(first, first + 8):
                columns[j, r] = X[start + r, j] - origin[j]
    for j in range(n_features):
        for r in range(full, n_rows):
            columns[j, r] = X[start + r, j] - origin[j] if r < n_loaded else 0


@njit(**_TILE)
def _load_weights(sample_weight, start, stop, weight):
    weighted = sample_weight.size > 0
    for r in range(weight.size):
        inside = 1 if start + r < stop else 0
        weight[r] = sample_weight[start + r] if weighted and inside else inside


@njit(**_TILE)
def _squared_distances(columns, centers, sqdist):
    # Four features at a time, so that a distance is stored once for four, not for each.
    n_clusters, n_features = centers.shape
    in_fours = n_features - n_features % 4
    for k in range(n_clusters):
        if in_fours == 0:
            _clear(sqdist[k])
        for j in range(0, in_fours, 4):
            _add_four_features(columns, centers, k, j, sqdist[k])
        for j in range(in_fours, n_features):
            v = centers[k, j]
            for r in range(columns.shape[1]):
                a = columns[j, r] - v
                sqdist[k, r] += a * a


@njit(**_TILE)
def _add_four_features(columns, centers, k, j, sqdist):
    v0, v1, v2, v3 = centers[k, j], centers[k, j + 1], centers[k, j + 2], centers[k, j + 3]
    for r in range(columns.shape[1]):
        a = columns[j, r] - v0
        b = columns[j + 1, r] - v1
        c = columns[j + 2, r] - v2
        d = columns[j + 3, r] - v3
        before = sqdist[r] if j else sqdist.dtype.type(0)
        sqdist[r] = before + ((a * a + b * b) + (c * c + d * d))


@njit(**_TILE)
def _add_moments(columns, weights, sqdist, sums):
    """Add a tile to `sums`: first moments, then mass, then the weighted sum of sqdist."""
    # Two clusters and four features at a time: every number loaded is used more than once.
    n_clusters, n_rows = weights.shape
    n_features = columns.shape[0]
    in_fours = n_features - n_features % 4
    in_twos = n_clusters - n_clusters % 2
    zero = weights.dtype.type(0)
    for k in range(n_clusters):
        mass, within = zero, zero
        for r in range(n_rows):
            mass += weights[k, r]
            within += weights[k, r] * sqdist[k, r]
        sums[k, n_features] += mass
        sums[k, n_features + 1] += within
        for j in range(in_fours if k < in_twos else 0, n_features):
            first = zero
            for r in range(n_rows):
                first += weights[k, r] * columns[j, r]
            sums[k, j] += first
    for k in range(0, in_twos, 2):
        for j in range(0, in_fours, 4):
            _add_two_by_four(columns, weights, k, j, sums)


@njit(**_TILE)
def _add_two_by_four(columns, weights, k, j, sums):
    zero = weights.dtype.type(0)
    a0, a1, a2, a3 = zero, zero, zero, zero
    b0, b1, b2, b3 = zero, zero, zero, zero
    for r in range(weights.shape[1]):
        a, b = weights[k, r], weights[k + 1, r]
        x0, x1, x2, x3 = columns[j, r], columns[j + 1, r], columns[j + 2, r], columns[j + 3, r]
        a0 += a * x0
        a1 += a * x1
        a2 += a * x2
        a3 += a * x3
        b0 += b * x0
        b1 += b * x1
        b2 += b * x2
        b3 += b * x3
    sums[k, j] += a0
    sums[k, j + 1] += a1
    sums[k, j + 2] += a2
    sums[k, j + 3] += a3
    sums[k + 1, j] += b0
    sums[k + 1, j + 1] += b1
    sums[k + 1, j + 2] += b2
    sums[k + 1, j + 3] += b3


@njit(**_TILE)
def _store(tile, start, stop, out):
    for r in range(stop - start):
        for k in range(tile.shape[0]):
            out[start + r, k] = tile[k, r]


@njit(**_TILE)
def _store_labels(params, sqdist, degrees, start, stop, labels):
    for r in range(stop - start):
        best = inf
        labels[start + r] = -1
        for k in range(sqdist.shape[0]):
            here = closeness(params, sqdist[k, r], degrees[k, r], k)
            if here < best:
                best = here
                labels[start + r] = k


@njit(**_TILE)
def _add_members(columns, weight, labels, sums):
    """Add the rows of a tile to the `sums` of the cluster of their label: first moments, mass."""
    n_features = columns.shape[0]
    for r in range(labels.size):
        k = labels[r]
        if k >= 0:
            for j in range(n_features):
                sums[k, j] += weight[r] * columns[j, r]
            sums[k, n_features] += weight[r]


@njit(**_TILE)
def _weigh(weights, weight):
    n_clusters, n_rows = weights.shape
    for k in range(n_clusters):
        for r in range(n_rows):
            weights[k, r] *= weight[r]


# ---- sweeps -------------------------------------------------------------------------------------


def _sweep(function):
    """Compile, and keep the result on disk where there is a folder that can be written to."""
    try:
        return njit(nogil=True, cache=True, **_SWEEP)(function)
    except RuntimeError:
        return njit(nogil=True, **_SWEEP)(function)


@_sweep
def fold_chunks(
    X,
    sample_weight,
    origin,
    centers,
    params,
    tile_rows,
    chunk_rows,
    first,
    last,
    sums,
    objectives,
    labels,
    member_sums,
    memberships_out,
):
    """Add chunks `first` to `last` of the rows to their own `sums` and `objectives`.

    `sums` has shape (n_chunks, n_clusters, n_features + 2): first moments about the origin, mass,
    and weighted squared distances. An empty `sample_weight` stands for ones. Where `labels` is not
    empty it is filled, and `member_sums`, of shape (n_chunks, n_clusters, n_features + 1), gets the
    first moments and the mass of the rows of each label. `memberships_out` is filled where it is
    not empty.
    """
    n_samples, n_features = X.shape
    n_clusters = centers.shape[0]
    columns = empty((n_features, tile_rows), X.dtype)
    sqdist = empty((n_clusters, tile_rows), X.dtype)
    weights = empty((n_clusters, tile_rows), X.dtype)
    weight = empty(tile_rows, X.dtype)
    low = empty(tile_rows, X.dtype)
    total = empty(tile_rows, X.dtype)
    value = empty(tile_rows, float64)
    for chunk in range(first, last):
        end = min(n_samples, (chunk + 1) * chunk_rows)
        objective = 0.0
        for start in range(chunk * chunk_rows, end, tile_rows):
            stop = min(start + tile_rows, end)
            _load(X, start, stop, origin, columns)
            _load_weights(sample_weight, start, stop, weight)
            _squared_distances(columns, centers, sqdist)
            memberships(params, sqdist, low, total, weights)
            if memberships_out.size:
                _store(weights, start, stop, memberships_out)
            if labels.size:
                _store_labels(params, sqdist, weights, start, stop, labels)
                _add_members(columns, weight, labels[start:stop], member_sums[chunk])
            pull(params, sqdist, low, total, weights, value)
            if sample_weight.size or stop - start < tile_rows:
                _weigh(weights, weight)
            for r in range(tile_rows):
                objective += weight[r] * value[r]
            _add_moments(columns, weights, sqdist, sums[chunk])
        objectives[chunk] += objective


@_sweep
def write_rows(
    X, origin, centers, params, tile_rows, first, last, sqdist_out, memberships_out, labels
):
    """Squared distances, memberships and labels of rows `first` to `last`; empty outputs are left.

    Every row takes the same path through a full tile, so it gets the same numbers alone and in any
    batch.
    """
    n_features = X.shape[1]
    n_clusters = centers.shape[0]
    columns = empty((n_features, tile_rows), X.dtype)
    sqdist = empty((n_clusters, tile_rows), X.dtype)
    degrees = empty((n_clusters, tile_rows), X.dtype)
    low = empty(tile_rows, X.dtype)
    total = empty(tile_rows, X.dtype)
    for start in range(first, last, tile_rows):
        stop = min(start + tile_rows, last)
        _load(X, start, stop, origin, columns)
        _squared_distances(columns, centers, sqdist)
        if sqdist_out.size:
            _store(sqdist, start, stop, sqdist_out)
        if memberships_out.size or (labels.size and ranked_by_membership(params)):
            memberships(params, sqdist, low, total, degrees)
        if memberships_out.size:
            _store(degrees, start, stop, memberships_out)
        if labels.size:
            _store_labels(params, sqdist, degrees, start, stop, labels)


@_sweep
def add_distances(X, sample_weight, origin, centers, labels, chunk_rows, first, last, sums):
    """Add the distances of rows to the center of their label, for chunks `first` to `last`.

    `sums` has shape (n_chunks, n_clusters, 2): distances, and squared distances.
    """
    n_samples, n_features = X.shape
    weighted = sample_weight.size > 0
    for chunk in range(first, last):
        for i in range(chunk * chunk_rows, min(n_samples, (chunk + 1) * chunk_rows)):
            k = labels[i]
            if k >= 0:
                sqdist = 0.0
                for j in range(n_features):
                    difference = float64(X[i, j] - origin[j]) - centers[k, j]
                    sqdist += difference * difference
                weight = sample_weight[i] if weighted else 1.0
                sums[chunk, k, 0] += sqrt(sqdist) * weight
                sums[chunk, k, 1] += sqdist * weight


# ---- kernel sums --------------------------------------------------------------------------------
#
# Rows stand in blocks, the leaves of a complete k-d tree (`typicality.operators.row_tree.Blocks`):
# leaf l has its features in columns[l], one a line, and its weights in weights[l]; the children of
# node i are 2 i + 1 and 2 i + 2, and the leaves are the last nodes.
#
# Of two precisions the type of the columns decides. In single precision they are relative to the
# centre of their block and scaled, so that the distance is the exponent to base two (Gaussian,
# Laplacian) or what is added to one (Cauchy); values are 2**100 times the kernel, which keeps
# products with small weights away from subnormal numbers.


def _part(params, difference):
    """What one feature adds to the distance a kernel is a function of."""
    raise TypeError("compiled code only")


def _profile(params, distance):
    """The kernel as a function of that distance."""
    raise TypeError("compiled code only")


def _complement(params, distance):
    """One minus the kernel, to full relative precision."""
    raise TypeError("compiled code only")


def _log_profile(params, distance):
    """The logarithm of the kernel."""
    raise TypeError("compiled code only")


def _ratio(params, distance, nearest):
    """The kernel relative to its value at a smaller distance."""
    raise TypeError("compiled code only")


def _distance_at(params, share):
    """The distance at which one minus the kernel is `share`."""
    raise TypeError("compiled code only")


_MAGIC_32 = float32(12582912.0)  # 1.5 * 2**23
_LOWEST_32 = float32(-110.0)  # to base two; below, values are 0
_UNIT_32 = float32(2.0**100)
_ONE_32 = float32(1.0)
_NONE_32 = float32(0.0)
_LARGEST = 1e300  # a number over itself: infinity would be none
_LARGEST_32 = float32(1e38)
# (2**r - 1) / r for |r| <= 1/2, by interpolation in Chebyshev points; off by 4e-9 at the most
_P0 = float32(0.6931471880293429)
_P1 = float32(0.2402265092234272)
_P2 = float32(0.05550357104252972)
_P3 = float32(0.009618056669887258)
_P4 = float32(0.0013390867351400178)
_P5 = float32(0.00015461447462985332)


@intrinsic
def _times_power_32(typingctx, x, rounded):
    """`x * 2**(k + 100)`, by its bits, with k in the low bits of `rounded`."""

    def generate(context, builder, signature, args):
        int32 = ir.IntType(32)
        x_bits, rounded_bits = (builder.bitcast(arg, int32) for arg in args)
        k = builder.shl(rounded_bits, ir.Constant(int32, 23))
        power = builder.add(k, ir.Constant(int32, 100 << 23))
        return builder.bitcast(builder.add(x_bits, power), ir.FloatType())

    return types.float32(types.float32, types.float32), generate


@njit(**_EXACT)
def _reduced_32(y):
    """2**y = 2**k (1 + q): an integer k in the low bits of a number, and q."""
    rounded = y + _MAGIC_32
    r = y - (rounded - _MAGIC_32)
    p = _P5
    p = p * r + _P4
    p = p * r + _P3
    p = p * r + _P2
    p = p * r + _P1
    p = p * r + _P0
    return rounded, p * r


@njit(**_EXACT)
def _power_32(exponent):
    """`2**(100 - exponent)`."""
    y = max(-exponent, _LOWEST_32)
    rounded, q = _reduced_32(y)
    power = _times_power_32(_ONE_32 + q, rounded)
    return power if y > _LOWEST_32 else _NONE_32


@njit(**_EXACT)
def _one_minus_power_32(exponent):
    """`2**100 (1 - 2**-exponent)`."""
    rounded, q = _reduced_32(max(-exponent, _LOWEST_32))
    power = _times_power_32(_ONE_32, rounded)
    return (_UNIT_32 - power) - power * q


def _square(params, difference):
    return difference * difference


def _absolute(params, difference):
    return abs(difference)


def _exponential(params, distance):
    return _exp(-params.scale * distance, _lowest_exponent(8))


def _exponential_complement(params, distance):
    return _one_minus_exp(-params.scale * distance, _lowest_exponent(8))


def _exponential_log(params, distance):
    return -params.scale * distance


def _exponential_ratio(params, distance, nearest):
    return _exp(-params.scale * (distance - nearest), _lowest_exponent(8))


def _exponential_distance_at(params, share):
    return -log1p(-share) / params.scale


def _cauchy(params, distance):
    return 1.0 / (1.0 + params.scale * distance)


def _cauchy_complement(params, distance):
    relative = min(params.scale * distance, _LARGEST)
    return relative / (1.0 + relative)


def _cauchy_log(params, distance):
    return -log1p(params.scale * distance)


def _cauchy_ratio(params, distance, nearest):
    return (1.0 + min(params.scale * nearest, _LARGEST)) / (
        1.0 + min(params.scale * distance, _LARGEST)
    )


def _cauchy_distance_at(params, share):
    return share / (1.0 - share) / params.scale


def _of_power_32(params, distance):
    return _power_32(distance)


def _complement_of_power_32(params, distance):
    return _one_minus_power_32(distance)


def _cauchy_32(params, distance):
    return _UNIT_32 / (_ONE_32 + distance)


def _cauchy_complement_32(params, distance):
    relative = min(distance, _LARGEST_32)
    return relative * (_UNIT_32 / (_ONE_32 + relative))  # the product of both would overflow


_PARTS = {GaussianTwin: _square, LaplacianTwin: _absolute, CauchyTwin: _square}
_PROFILES = {
    (GaussianTwin, 64): (_exponential, _exponential_complement),
    (LaplacianTwin, 64): (_exponential, _exponential_complement),
    (CauchyTwin, 64): (_cauchy, _cauchy_complement),
    (GaussianTwin, 32): (_of_power_32, _complement_of_power_32),
    (LaplacianTwin, 32): (_of_power_32, _complement_of_power_32),
    (CauchyTwin, 32): (_cauchy_32, _cauchy_complement_32),
}
_IN_LOGARITHMS = {
    GaussianTwin: (_exponential_log, _exponential_ratio, _exponential_distance_at),
    LaplacianTwin: (_exponential_log, _exponential_ratio, _exponential_distance_at),
    CauchyTwin: (_cauchy_log, _cauchy_ratio, _cauchy_distance_at),
}


@overload(_part, jit_options=_TILE)
def _choose_part(params, difference):
    return _PARTS[params.instance_class]


@overload(_profile, jit_options=_EXACT)
def _choose_profile(params, distance):
    return _PROFILES[params.instance_class, distance.bitwidth][0]


@overload(_complement, jit_options=_EXACT)
def _choose_complement(params, distance):
    return _PROFILES[params.instance_class, distance.bitwidth][1]


@overload(_log_profile, jit_options=_EXACT)
def _choose_log_profile(params, distance):
    return _IN_LOGARITHMS[params.instance_class][0]


@overload(_ratio, jit_options=_EXACT)
def _choose_ratio(params, distance, nearest):
    return _IN_LOGARITHMS[params.instance_class][1]


@overload(_distance_at, jit_options=_EXACT)
def _choose_distance_at(params, share):
    return _IN_LOGARITHMS[params.instance_class][2]


# ---- distances and values of one row against a block --------------------------------------------


@njit(**_TILE)
def _one_feature(params, columns, j, rows, i, fresh, out):
    a = rows[j, i]
    for r in range(out.size):
        part = _part(params, columns[j, r] - a)
        out[r] = part if fresh else out[r] + part


@njit(**_TILE)
def _two_features(params, columns, j, rows, i, fresh, out):
    a, b = rows[j, i], rows[j + 1, i]
    for r in range(out.size):
        part = _part(params, columns[j, r] - a) + _part(params, columns[j + 1, r] - b)
        out[r] = part if fresh else out[r] + part


@njit(**_TILE)
def _eight_features(params, columns, j, rows, i, fresh, out):
    a, b, c, d = rows[j, i], rows[j + 1, i], rows[j + 2, i], rows[j + 3, i]
    e, f, g, h = rows[j + 4, i], rows[j + 5, i], rows[j + 6, i], rows[j + 7, i]
    for r in range(out.size):
        part = (
            (_part(params, columns[j, r] - a) + _part(params, columns[j + 1, r] - b))
            + (_part(params, columns[j + 2, r] - c) + _part(params, columns[j + 3, r] - d))
        ) + (
            (_part(params, columns[j + 4, r] - e) + _part(params, columns[j + 5, r] - f))
            + (_part(params, columns[j + 6, r] - g) + _part(params, columns[j + 7, r] - h))
        )
        out[r] = part if fresh else out[r] + part


@njit(**_TILE)
def _distances(params, columns, rows, i, out):
    """Distances of row i of a block to the rows of another; features in groups of 8, 2 and 1."""
    n_features = columns.shape[0]
    done = n_features % 2
    if done:
        _one_feature(params, columns, 0, rows, i, True, out)
    elif n_features % 8:
        _two_features(params, columns, 0, rows, i, True, out)
        done = 2
    else:
        _eight_features(params, columns, 0, rows, i, True, out)
        done = 8
    while (n_features - done) % 8:
        _two_features(params, columns, done, rows, i, False, out)
        done += 2
    while done < n_features:
        _eight_features(params, columns, done, rows, i, False, out)
        done += 8


@njit(**_TILE)
def _evaluate(params, complement, values):
    """Distances to values of the kernel, or of one minus the kernel, in place."""
    if complement:
        for r in range(values.size):
            values[r] = _complement(params, values[r])
    else:
        for r in range(values.size):
            values[r] = _profile(params, values[r])


@njit(**_TILE)
def _distance_between(params, lower, upper, other_lower, other_upper):
    """The distance of two boxes."""
    distance = 0.0
    for j in range(lower.size):
        gap = max(lower[j] - other_upper[j], other_lower[j] - upper[j], 0.0)
        distance += _part(params, gap)
    return distance


@njit(**_TILE)
def _relative_to(columns, centre, root, out):
    """The columns of a block in single precision, about another centre."""
    n_features, n_rows = columns.shape
    for j in range(n_features):
        here = centre[j]
        for r in range(n_rows):
            out[j, r] = float32((columns[j, r] - here) * root)


# ---- sums over pairs of blocks ------------------------------------------------------------------


@njit(**_TILE)
def _fold_four(values, i, here, there, sums, onto_here, unit):
    """Add four lines of values to the sums of their rows, and to those of the columns."""
    a, b, c, d = here[i], here[i + 1], here[i + 2], here[i + 3]
    s0 = s1 = s2 = s3 = values.dtype.type(0)
    for r in range(sums.size):
        v0, v1, v2, v3, w = values[0, r], values[1, r], values[2, r], values[3, r], there[r]
        s0 += v0 * w
        s1 += v1 * w
        s2 += v2 * w
        s3 += v3 * w
        sums[r] += (v0 * a + v1 * b) + (v2 * c + v3 * d)
    onto_here[i] += unit * s0
    onto_here[i + 1] += unit * s1
    onto_here[i + 2] += unit * s2
    onto_here[i + 3] += unit * s3


@njit(**_TILE)
def _add_tile(
    params,
    rows,
    n_rows,
    columns,
    complement,
    both,
    here,
    there,
    units,
    values,
    sums,
    onto_here,
    onto_there,
):
    """Add the tile of two blocks to the sums of the first and, where `both`, of the second."""
    n_columns, width = sums.shape
    for start in range(0, n_rows, 32):  # few enough that sums in single precision keep their digits
        for k in range(n_columns):
            _clear(sums[k])
        for i in range(start, min(start + 32, n_rows), 4):
            for p in range(4):
                _distances(params, columns, rows, i + p, values[p])
                _evaluate(params, complement, values[p])
            for k in range(n_columns):
                _fold_four(values, i, here[k], there[k], sums[k], onto_here[k], units[k])
        if both:
            for k in range(n_columns):
                for r in range(width):
                    onto_there[k, r] += units[k] * sums[k, r]


@_sweep
def sum_pairs(params, blocks, weights, reach, complement, pairs, first, last, sums, near):
    """Kernel sums over pairs of blocks, for the pairs of nodes `first` to `last`.

    The tile of two leaves below a pair of nodes is computed once and added to the `sums`, of shape
    (n_leaves, n_columns, leaf_rows), of both. Boxes farther apart than `reach` (in the measure of
    the kernel) are skipped; `near`, of shape (n_leaves, n_columns + 1), gets the weight and the
    number of the blocks that are not. Pairs of nodes must have no node in common, so that two
    threads never add to the same leaf.
    """
    n_leaves, n_features, leaf_rows = blocks.columns.shape
    n_columns = sums.shape[1]
    values = empty((4, leaf_rows), float64)
    part = empty((n_columns, leaf_rows), float64)
    rows_32 = empty((n_features, leaf_rows), float32)
    values_32 = empty((4, leaf_rows), float32)
    part_32 = empty((n_columns, leaf_rows), float32)
    waiting = empty((256, 2), int64)
    for pair in range(first, last):
        waiting[0, 0], waiting[0, 1] = pairs[pair, 0], pairs[pair, 1]
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            a, b = waiting[n_waiting, 0], waiting[n_waiting, 1]
            distance = _distance_between(
                params, blocks.lower[a], blocks.upper[a], blocks.lower[b], blocks.upper[b]
            )
            if distance > reach:
                continue
            here, there = a - (n_leaves - 1), b - (n_leaves - 1)
            if here < 0:
                n_waiting = _wait_for_children(a, b, waiting, n_waiting)
                continue
            both = here != there
            _count_near(weights.total, here, there, both, near)
            n_rows = blocks.counts[here]
            if blocks.narrow[there] and distance <= blocks.single_reach:
                _relative_to(blocks.columns[here], blocks.centres[there], blocks.root, rows_32)
                _add_tile(
                    params,
                    rows_32,
                    n_rows,
                    blocks.columns_32[there],
                    complement,
                    both,
                    weights.placed_32[here],
                    weights.placed_32[there],
                    weights.units_32,
                    values_32,
                    part_32,
                    sums[here],
                    sums[there],
                )
            else:
                _add_tile(
                    params,
                    blocks.columns[here],
                    n_rows,
                    blocks.columns[there],
                    complement,
                    both,
                    weights.placed[here],
                    weights.placed[there],
                    weights.units,
                    values,
                    part,
                    sums[here],
                    sums[there],
                )


@njit(**_TILE)
def _wait_for_children(a, b, waiting, n_waiting):
    """Put the pairs of children of two nodes onto the stack; of a node with itself, each once."""
    for left in range(1, 3):
        for right in range(1, 3):
            if a != b or left <= right:
                waiting[n_waiting, 0] = 2 * a + left
                waiting[n_waiting, 1] = 2 * b + right
                n_waiting += 1
    return n_waiting


@njit(**_TILE)
def _count_near(total, here, there, both, near):
    n_columns = total.shape[1]
    for k in range(n_columns):
        near[here, k] += total[there, k]
        if both:
            near[there, k] += total[here, k]
    near[here, n_columns] += 1.0
    if both:
        near[there, n_columns] += 1.0


# ---- sums at points -----------------------------------------------------------------------------

_POINTS_AT_ONCE = 32  # share a block while it is in the cache
_A_LITTLE_MORE = 1.0 + 1e-9  # each point looks for itself at what a group of points does not skip


@njit(**_TILE)
def _load_points(points, start, stop, group, lower, upper):
    """A group of points, transposed, and their box; filled up with copies of the last."""
    for j in range(lower.size):
        lower[j] = upper[j] = points[start, j]
        for p in range(group.shape[1]):
            here = points[min(start + p, stop - 1), j]
            group[j, p] = here
            lower[j] = min(lower[j], here)
            upper[j] = max(upper[j], here)


@njit(**_TILE)
def _distances_to_box(params, group, lower, upper, out):
    """Distances of a group of points to a box, each by itself."""
    _clear(out)
    for j in range(lower.size):
        low, high = lower[j], upper[j]
        for p in range(out.size):
            gap = max(low - group[j, p], group[j, p] - high, 0.0)
            out[p] += _part(params, gap)


@njit(**_TILE)
def _add_row(params, group, p, columns, complement, weights, units, values, sums, i):
    """Add one block to the sums of one point."""
    _distances(params, columns, group, p, values)
    _evaluate(params, complement, values)
    for k in range(weights.shape[0]):
        total = values.dtype.type(0)
        for r in range(values.size):
            total += values[r] * weights[k, r]
        sums[i, k] += units[k] * total


@njit(**_TILE)
def _add_leaf_at(
    params,
    blocks,
    weights,
    leaf,
    reach,
    complement,
    group,
    group_32,
    distances,
    values,
    values_32,
    start,
    stop,
    sums,
    near,
):
    """Add a leaf to the sums at those points of a group that it is near enough to."""
    n_columns = sums.shape[1]
    narrow = blocks.narrow[leaf]
    if narrow:
        _relative_to(group, blocks.centres[leaf], blocks.root, group_32)
        columns_32, placed_32 = blocks.columns_32[leaf], weights.placed_32[leaf]
        for p in range(stop - start):
            if distances[p] <= reach and distances[p] <= blocks.single_reach:
                _add_row(
                    params,
                    group_32,
                    p,
                    columns_32,
                    complement,
                    placed_32,
                    weights.units_32,
                    values_32,
                    sums,
                    start + p,
                )
    columns, placed = blocks.columns[leaf], weights.placed[leaf]
    for p in range(stop - start):
        if distances[p] <= reach:
            for k in range(n_columns):
                near[start + p, k] += weights.total[leaf, k]
            near[start + p, n_columns] += 1.0
            if not (narrow and distances[p] <= blocks.single_reach):
                _add_row(
                    params,
                    group,
                    p,
                    columns,
                    complement,
                    placed,
                    weights.units,
                    values,
                    sums,
                    start + p,
                )


@_sweep
def sum_at(params, blocks, weights, reach, complement, points, first, last, sums, near):
    """Kernel sums at points `first` to `last`, each over the blocks that are near enough to it.

    What is skipped, and in which precision a block is added, depends on the point and the block
    alone, and blocks are added in their order: a point gets the same numbers alone and in any
    batch. `sums` has the shape (n_points, n_columns); for `near` see `sum_pairs`.
    """
    n_leaves, n_features, leaf_rows = blocks.columns.shape
    lower, upper = empty(n_features, float64), empty(n_features, float64)
    group = empty((n_features, _POINTS_AT_ONCE), float64)
    group_32 = empty((n_features, _POINTS_AT_ONCE), float32)
    distances = empty(_POINTS_AT_ONCE, float64)
    values = empty(leaf_rows, float64)
    values_32 = empty(leaf_rows, float32)
    waiting = empty(128, int64)
    for start in range(first, last, _POINTS_AT_ONCE):
        stop = min(start + _POINTS_AT_ONCE, last)
        _load_points(points, start, stop, group, lower, upper)
        waiting[0] = 0
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            node = waiting[n_waiting]
            distance = _distance_between(
                params, lower, upper, blocks.lower[node], blocks.upper[node]
            )
            if distance > reach * _A_LITTLE_MORE:
                continue
            leaf = node - (n_leaves - 1)
            if leaf < 0:
                waiting[n_waiting] = 2 * node + 2
                waiting[n_waiting + 1] = 2 * node + 1
                n_waiting += 2
                continue
            _distances_to_box(params, group, blocks.lower[node], blocks.upper[node], distances)
            _add_leaf_at(
                params,
                blocks,
                weights,
                leaf,
                reach,
                complement,
                group,
                group_32,
                distances,
                values,
                values_32,
                start,
                stop,
                sums,
                near,
            )


# ---- tails: sums in the domain of logarithms, and rows in the same place ------------------------


@njit(**_TILE)
def _add_same_place(values, n_rows, same_place, weights, copies, counts, i):
    """Add the rows of a block that are no farther than `same_place`."""
    for r in range(n_rows):
        if values[r] <= same_place:
            counts[i, 0] += weights[r]
            counts[i, 1] += copies[r]


@_sweep
def coincidences_at(params, blocks, weights, copies, nearest, points, first, last, counts):
    """Weight and copies of the rows in the same place as points `first` to `last`.

    That is where one minus the kernel is at most `nearest`. `counts` has shape (n_points, 2).
    """
    n_leaves, n_features, leaf_rows = blocks.columns.shape
    same_place = _distance_at(params, nearest)
    point = empty((n_features, 1), float64)
    values = empty(leaf_rows, float64)
    waiting = empty(128, int64)
    for i in range(first, last):
        for j in range(n_features):
            point[j, 0] = points[i, j]
        waiting[0] = 0
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            node = waiting[n_waiting]
            distance = _distance_between(
                params, points[i], points[i], blocks.lower[node], blocks.upper[node]
            )
            if distance > same_place * _A_LITTLE_MORE:
                continue
            leaf = node - (n_leaves - 1)
            if leaf < 0:
                waiting[n_waiting] = 2 * node + 2
                waiting[n_waiting + 1] = 2 * node + 1
                n_waiting += 2
                continue
            _distances(params, blocks.columns[leaf], point, 0, values)
            _add_same_place(
                values, blocks.counts[leaf], same_place, weights[leaf], copies[leaf], counts, i
            )


@njit(**_TILE)
def _find_nearest(params, blocks, weights, node_weights, same_place, point, values, waiting):
    """The distance and the weight of the nearest row elsewhere that has a weight."""
    n_leaves = blocks.columns.shape[0]
    best, best_weight = inf, 0.0
    waiting[0] = 0
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        at = point[:, 0]
        distance = _distance_between(params, at, at, blocks.lower[node], blocks.upper[node])
        if distance >= best or node_weights[node] == 0.0:
            continue
        leaf = node - (n_leaves - 1)
        if leaf < 0:
            left = 2 * node + 1
            to_left = _distance_between(params, at, at, blocks.lower[left], blocks.upper[left])
            to_right = _distance_between(
                params, at, at, blocks.lower[left + 1], blocks.upper[left + 1]
            )
            nearer = left if to_left <= to_right else left + 1
            waiting[n_waiting] = 2 * left + 1 - nearer
            waiting[n_waiting + 1] = nearer
            n_waiting += 2
            continue
        _distances(params, blocks.columns[leaf], point, 0, values)
        for r in range(blocks.counts[leaf]):
            if same_place < values[r] < best and weights[leaf, r] > 0.0:
                best, best_weight = values[r], weights[leaf, r]
    return best, best_weight


@njit(**_TILE)
def _add_elsewhere(params, blocks, leaf, weights, same_place, best, values):
    """The sum over the rows of a block elsewhere, relative to the kernel at distance `best`."""
    total = 0.0
    for r in range(values.size):
        relative = _ratio(params, max(values[r], best), best)
        total += weights[leaf, r] * (relative if values[r] > same_place else 0.0)
    return total


@_sweep
def log_sums_at(
    params, blocks, weights, node_weights, nearest, share, points, first, last, log_sums
):
    """Logarithms of kernel sums at points `first` to `last`, over the rows in other places.

    Relative to the nearest row, and without blocks that add less than `share` of the sum.
    """
    n_leaves, n_features, leaf_rows = blocks.columns.shape
    same_place = _distance_at(params, nearest)
    point = empty((n_features, 1), float64)
    values = empty(leaf_rows, float64)
    waiting = empty(128, int64)
    for i in range(first, last):
        for j in range(n_features):
            point[j, 0] = points[i, j]
        best, best_weight = _find_nearest(
            params, blocks, weights, node_weights, same_place, point, values, waiting
        )
        log_sums[i] = -inf
        if best == inf:
            continue
        least = share * best_weight / node_weights[0]
        total = 0.0
        waiting[0] = 0
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            node = waiting[n_waiting]
            distance = _distance_between(
                params, points[i], points[i], blocks.lower[node], blocks.upper[node]
            )
            far = _ratio(params, max(distance, best), best) < least
            if far or node_weights[node] == 0.0:
                continue
            leaf = node - (n_leaves - 1)
            if leaf < 0:
                waiting[n_waiting] = 2 * node + 2
                waiting[n_waiting + 1] = 2 * node + 1
                n_waiting += 2
                continue
            _distances(params, blocks.columns[leaf], point, 0, values)
            total += _add_elsewhere(params, blocks, leaf, weights, same_place, best, values)
        log_sums[i] = _log_profile(params, best) + log(total)
