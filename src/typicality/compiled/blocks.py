"""A kernel between blocks of rows, and distances between their bounding boxes.

Rows stand in blocks, the leaves of a complete k-d tree (`typicality.sums.row_tree.Blocks`):
leaf l has its features in columns[l], one a line, and its weights in weights[l]. The children of
node i are 2 i + 1 and 2 i + 2, and the leaves are the last nodes.

The type of the columns decides between two precisions. In single precision the columns are
relative to the centre of their block and scaled (`SinglePrecision.scale`), so that the distance
is the exponent to base two (Gaussian, Laplacian) or what is added to one (Cauchy). Values are then
2**100 times the kernel, which keeps products with small weights away from subnormal numbers.
"""

from numpy import float32

from typicality.compiled.jit import EXACT, INLINED, exact, inlined, of_form

MANY_FEATURES = 32  # more of them are summed in double precision, whatever the promise

# ---- the functions of a kernel ------------------------------------------------------------------


@of_form(INLINED)
def part(form, difference):
    """What one feature adds to the distance a kernel is a function of."""


@of_form(EXACT, by_precision=True)
def profile(form, distance):
    """The kernel as a function of that distance."""


@of_form(EXACT, by_precision=True)
def complement(form, distance):
    """One minus the kernel, to full relative precision."""


@of_form(EXACT)
def log_profile(form, distance):
    """The logarithm of the kernel."""


@of_form(EXACT)
def ratio(form, distance, nearest):
    """The kernel relative to its value at a smaller distance."""


@of_form(EXACT)
def distance_at(form, share):
    """The distance at which one minus the kernel is `share`."""


# ---- distances and values of one row against a block --------------------------------------------


@inlined
def _one_feature(form, columns, rows, i, out):
    a = rows[0, i]
    for r in range(out.size):
        out[r] = part(form, columns[0, r] - a)


@inlined
def _two_features(form, columns, j, rows, i, fresh, out):
    a, b = rows[j, i], rows[j + 1, i]
    for r in range(out.size):
        added = part(form, columns[j, r] - a) + part(form, columns[j + 1, r] - b)
        out[r] = added if fresh else out[r] + added


@inlined
def distances(form, columns, rows, i, out):
    """Distances of row i of a block to the rows of another; features two by two."""
    n_features = columns.shape[0]
    done = n_features % 2
    if done:
        _one_feature(form, columns, rows, i, out)
    while done < n_features:
        _two_features(form, columns, done, rows, i, done == 0, out)
        done += 2


@exact
def _add_four_features(form, columns, j, rows, a, b, c, d, sums):
    """Add four features, from j on, to the distances of the rows of a block to rows a to d."""
    a0, a1, a2, a3 = rows[j, a], rows[j + 1, a], rows[j + 2, a], rows[j + 3, a]
    b0, b1, b2, b3 = rows[j, b], rows[j + 1, b], rows[j + 2, b], rows[j + 3, b]
    c0, c1, c2, c3 = rows[j, c], rows[j + 1, c], rows[j + 2, c], rows[j + 3, c]
    d0, d1, d2, d3 = rows[j, d], rows[j + 1, d], rows[j + 2, d], rows[j + 3, d]
    for r in range(sums.shape[1]):
        x0, x1, x2, x3 = columns[j, r], columns[j + 1, r], columns[j + 2, r], columns[j + 3, r]
        to_a = sums[0, r] + part(form, x0 - a0)
        to_b = sums[1, r] + part(form, x0 - b0)
        to_c = sums[2, r] + part(form, x0 - c0)
        to_d = sums[3, r] + part(form, x0 - d0)
        to_a += part(form, x1 - a1)
        to_b += part(form, x1 - b1)
        to_c += part(form, x1 - c1)
        to_d += part(form, x1 - d1)
        to_a += part(form, x2 - a2)
        to_b += part(form, x2 - b2)
        to_c += part(form, x2 - c2)
        to_d += part(form, x2 - d2)
        sums[0, r] = to_a + part(form, x3 - a3)
        sums[1, r] = to_b + part(form, x3 - b3)
        sums[2, r] = to_c + part(form, x3 - c3)
        sums[3, r] = to_d + part(form, x3 - d3)


@exact
def _add_feature(form, columns, j, rows, a, b, c, d, sums):
    """The same for a single feature."""
    a0, b0, c0, d0 = rows[j, a], rows[j, b], rows[j, c], rows[j, d]
    for r in range(sums.shape[1]):
        x0 = columns[j, r]
        sums[0, r] += part(form, x0 - a0)
        sums[1, r] += part(form, x0 - b0)
        sums[2, r] += part(form, x0 - c0)
        sums[3, r] += part(form, x0 - d0)


@inlined
def distances_of_four(form, columns, rows, a, b, c, d, out):
    """Distances of four rows of a block to the rows of another, for many features."""
    out[:] = 0.0
    add_features(form, columns, 0, columns.shape[0], rows, a, b, c, d, out)


@inlined
def add_features(form, columns, first, last, rows, a, b, c, d, sums):
    """Add features to the distances of the rows of a block to four of another, in their order.

    Four rows share what is read of the columns: for many features that is twice as quick. A
    distance is summed in one accumulator, so it does not depend on the rows beside it.
    """
    j = first
    while j + 4 <= last:
        _add_four_features(form, columns, j, rows, a, b, c, d, sums)
        j += 4
    while j < last:
        _add_feature(form, columns, j, rows, a, b, c, d, sums)
        j += 1


@inlined
def evaluate(form, of_complement, values):
    """Distances to values of the kernel, or of one minus the kernel, in place."""
    if of_complement:
        for r in range(values.size):
            values[r] = complement(form, values[r])
    else:
        for r in range(values.size):
            values[r] = profile(form, values[r])


@inlined
def distance_between(form, lower, upper, other_lower, other_upper):
    """The distance of two boxes."""
    distance = 0.0
    for j in range(lower.size):
        gap = max(lower[j] - other_upper[j], other_lower[j] - upper[j], 0.0)
        distance += part(form, gap)
    return distance


@inlined
def relative_to(columns, centre, root, out):
    """The columns of a block in single precision, about another centre."""
    n_features, n_rows = columns.shape
    for j in range(n_features):
        here = centre[j]
        for r in range(n_rows):
            out[j, r] = float32((columns[j, r] - here) * root)
