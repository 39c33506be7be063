"""Products of a large matrix with a few columns, without the copy that BLAS makes of it first."""

from typicality.compiled.jit import REORDERED, cached, inlined


@inlined
def _four_by_two(a, b, c, d, v, w):
    """The scalar products of four rows with two columns; what is read is used twice or more."""
    av, bv, cv, dv = 0.0, 0.0, 0.0, 0.0
    aw, bw, cw, dw = 0.0, 0.0, 0.0, 0.0
    for j in range(v.size):
        av += a[j] * v[j]
        bv += b[j] * v[j]
        cv += c[j] * v[j]
        dv += d[j] * v[j]
        aw += a[j] * w[j]
        bw += b[j] * w[j]
        cw += c[j] * w[j]
        dw += d[j] * w[j]
    return (av, bv, cv, dv), (aw, bw, cw, dw)


@cached(**REORDERED)
def multiply(matrix, columns, first, last, out):
    """Rows `first` to `last` of `matrix @ columns.T`; a row does not depend on those beside it."""
    n_columns = columns.shape[0]
    for i in range(first, last, 4):
        b, c, d = min(i + 1, last - 1), min(i + 2, last - 1), min(i + 3, last - 1)
        for k in range(0, n_columns, 2):
            other = min(k + 1, n_columns - 1)
            of_k, of_other = _four_by_two(
                matrix[i], matrix[b], matrix[c], matrix[d], columns[k], columns[other]
            )
            out[i, k], out[b, k], out[c, k], out[d, k] = of_k
            out[i, other], out[b, other], out[c, other], out[d, other] = of_other
