"""The sweep over all rows with a membership rule.

Rows are taken in tiles of a few hundred, transposed so that vector instructions run along the
rows: `sqdist`, `memberships` and every row of scratch space have the rows of the tile as their last
axis. A tile stays in cache from the distances to the sums, so no (n, c) matrix is ever formed.
"""

from numba.extending import overload
from numpy import empty, float64, inf

from typicality.compiled.arithmetic import clear
from typicality.compiled.jit import (
    INLINED,
    Loop,
    functions_of,
    inlined,
    of_form,
    refuse_to_interpret,
)

# ---- the functions of a rule --------------------------------------------------------------------


@of_form(INLINED)
def memberships(form, sqdist, low, total, out):
    """Memberships of a tile; scratch `low` and `total` are handed on to `pull`."""


@of_form(INLINED)
def pull(form, sqdist, low, total, out, value):
    """Memberships to weights, in place; `value` becomes the objective of each row."""


@of_form(INLINED)
def closeness(form, sqdist, membership, k):
    """How near a row is to cluster k, to compare clusters; infinite: does not belong there."""


def ranks_by_membership(form):
    """Whether `closeness` looks at the membership."""
    refuse_to_interpret()


@overload(ranks_by_membership, jit_options=INLINED)
def _choose_ranks_by_membership(form):
    answer = functions_of(form.instance_class).ranks_by_membership
    return lambda form: answer


# ---- tiles --------------------------------------------------------------------------------------


@inlined
def row_minimum(sqdist, low):
    """The smallest squared distance of each row, to `low`."""
    n_clusters, n_rows = sqdist.shape
    for r in range(n_rows):
        low[r] = sqdist[0, r]
    for k in range(1, n_clusters):
        for r in range(n_rows):
            low[r] = min(low[r], sqdist[k, r])


@inlined
def normalise(out, total):
    """Divide by the row sums; `total` becomes their reciprocals."""
    n_clusters, n_rows = out.shape
    one = out.dtype.type(1)
    for r in range(n_rows):
        total[r] = one / total[r]
    for k in range(n_clusters):
        for r in range(n_rows):
            out[k, r] *= total[r]


@inlined
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


@inlined
def _load_weights(sample_weight, start, stop, weight):
    weighted = sample_weight.size > 0
    for r in range(weight.size):
        inside = 1 if start + r < stop else 0
        weight[r] = sample_weight[start + r] if weighted and inside else inside


@inlined
def _squared_distances(columns, centers, sqdist):
    # Four features at a time, so that a distance is stored once for four, not for each.
    n_clusters, n_features = centers.shape
    in_fours = n_features - n_features % 4
    for k in range(n_clusters):
        if in_fours == 0:
            clear(sqdist[k])
        for j in range(0, in_fours, 4):
            _add_four_features(columns, centers, k, j, sqdist[k])
        for j in range(in_fours, n_features):
            v = centers[k, j]
            for r in range(columns.shape[1]):
                a = columns[j, r] - v
                sqdist[k, r] += a * a


@inlined
def _add_four_features(columns, centers, k, j, sqdist):
    v0, v1, v2, v3 = centers[k, j], centers[k, j + 1], centers[k, j + 2], centers[k, j + 3]
    for r in range(columns.shape[1]):
        a = columns[j, r] - v0
        b = columns[j + 1, r] - v1
        c = columns[j + 2, r] - v2
        d = columns[j + 3, r] - v3
        before = sqdist[r] if j else sqdist.dtype.type(0)
        sqdist[r] = before + ((a * a + b * b) + (c * c + d * d))


@inlined
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


@inlined
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


@inlined
def _store_labels(form, sqdist, degrees, start, stop, labels):
    for r in range(stop - start):
        best = inf
        labels[start + r] = -1
        for k in range(sqdist.shape[0]):
            here = closeness(form, sqdist[k, r], degrees[k, r], k)
            if here < best:
                best = here
                labels[start + r] = k


@inlined
def _add_members(columns, weight, labels, sums):
    """Add the rows of a tile to the `sums` of the cluster of their label: first moments."""
    n_features = columns.shape[0]
    for r in range(labels.size):
        k = labels[r]
        if k >= 0:
            for j in range(n_features):
                sums[k, j] += weight[r] * columns[j, r]


@inlined
def _weigh(weights, weight):
    n_clusters, n_rows = weights.shape
    for k in range(n_clusters):
        for r in range(n_rows):
            weights[k, r] *= weight[r]


# ---- sweeps -------------------------------------------------------------------------------------


@Loop
def fold_rows(
    form, X, sample_weight, origin, centers, tile_rows, sums, labels, member_sums, memberships_out
):
    """Add rows to `sums`, and fill `labels` and `memberships_out`; returns the objective.

    `sums` has shape (n_clusters, n_features + 2): first moments about the origin, mass, and
    weighted squared distances. `member_sums`, of shape (n_clusters, n_features), gets the first
    moments of the rows of each label. What is empty is left out; an empty `sample_weight` stands
    for ones. Every row takes the same path through a full tile, so it gets the same numbers alone
    and in any batch.
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
    objective = 0.0
    for start in range(0, n_samples, tile_rows):
        stop = min(start + tile_rows, n_samples)
        _load(X, start, stop, origin, columns)
        _load_weights(sample_weight, start, stop, weight)
        _squared_distances(columns, centers, sqdist)
        if sums.size or memberships_out.size or ranks_by_membership(form):
            memberships(form, sqdist, low, total, weights)
        if memberships_out.size:
            for r in range(stop - start):
                for k in range(n_clusters):
                    memberships_out[start + r, k] = weights[k, r]
        if labels.size:
            _store_labels(form, sqdist, weights, start, stop, labels)
            if member_sums.size:
                _add_members(columns, weight, labels[start:stop], member_sums)
        if sums.size == 0:
            continue
        pull(form, sqdist, low, total, weights, value)
        if sample_weight.size or stop - start < tile_rows:
            _weigh(weights, weight)
        for r in range(tile_rows):
            objective += weight[r] * value[r]
        _add_moments(columns, weights, sqdist, sums)
    return objective
