"""Arithmetic that vectorises: exponentials and logarithms in both precisions.

In double precision they are within 1 ulp for the finite numbers that reach them (`exp2` and `log2`
state their own errors). In single
precision values are 2**100 times the result, which keeps products with small weights away from
subnormal numbers.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy import float32

from typicality.compiled.jit import exact, inlined

_MAGIC = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer kept in the low bits
_MAGIC_BITS = 0x4338000000000000
LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_MANTISSA_BITS = (1 << 52) - 1
_HIGHEST_EXPONENT = 709.0


@intrinsic
def bits(typingctx, x):
    """The bits of a number, as an integer."""
    return types.int64(types.float64), lambda ctx, b, sig, args: b.bitcast(args[0], ir.IntType(64))


@intrinsic
def from_bits(typingctx, x):
    """The number with some bits."""
    return types.float64(types.int64), lambda ctx, b, sig, args: b.bitcast(args[0], ir.DoubleType())


@exact
def lowest_exponent(itemsize):
    """Below, the exponential is 0: subnormal numbers would cost more than all the rest."""
    return -700.0 if itemsize == 8 else -80.0


@exact
def _reduced(y):
    """Exp(y) = 2**k (1 + q): an integer k in the low bits of a number, and q."""
    rounded = y * LOG2_E + _MAGIC
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


@exact
def _power_of_two(rounded):
    return from_bits((bits(rounded) << 52) + (1023 << 52))


@exact
def exp(x, lowest):
    """Exp(x), 0 from `lowest` down, see `lowest_exponent`."""
    rounded, q = _reduced(min(max(x, lowest), _HIGHEST_EXPONENT))
    power = (1.0 + q) * _power_of_two(rounded)
    return power if x > lowest else 0.0


@exact
def one_minus_exp(x, lowest):
    """For x <= 0, to full relative precision: without k, what is left of 1 - 2**k (1 + q) is -q."""
    rounded, q = _reduced(max(x, lowest))
    power = _power_of_two(rounded)
    return (1.0 - power) - power * q


@exact
def log(x):
    """The natural logarithm of a positive number."""
    # x = 2**e * f with f in [sqrt(1/2), sqrt(2)); log f = 2 artanh(s), s = (f - 1) / (f + 1)
    i = bits(x) - _SQRT_HALF_BITS
    e = i >> 52
    f = from_bits(i - (e << 52) + _SQRT_HALF_BITS) - 1.0
    exponent = from_bits(e + _MAGIC_BITS) - _MAGIC
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


@exact
def log2(x):
    """The logarithm of a positive number to base two, within 2.5e-16 and half an ulp.

    Cheaper than `log`, but without relative precision near 1.
    """
    # As in `log`. The coefficients of s, s**3, ... s**13 are a minimax fit: off by 5e-17 at most.
    i = bits(x) - _SQRT_HALF_BITS
    f = from_bits((i & _MANTISSA_BITS) + _SQRT_HALF_BITS)
    exponent = from_bits((i >> 52) + _MAGIC_BITS) - _MAGIC
    s = (f - 1.0) / (f + 1.0)
    z = s * s
    p = 0.24450933470839586
    p = p * z + 0.26129189811576387
    p = p * z + 0.32062199075521314
    p = p * z + 0.4121983031656055
    p = p * z + 0.5770780180945421
    p = p * z + 0.9617966939212171
    p = p * z + 2.8853900817779308
    return exponent + s * p


@exact
def exp2(x, lowest):
    """2**x for x below 1000, with a relative error of 4e-16; 0 from `lowest` >= -1010 down."""
    y = max(x, lowest)
    rounded = y + _MAGIC
    r = y - (rounded - _MAGIC)
    # A minimax fit of 2**r for |r| <= 1/2: off by 2.3e-16 at most
    p = 7.03818168862714e-09
    p = p * r + 1.020832306367658e-07
    p = p * r + 1.3215653584166679e-06
    p = p * r + 1.5252659427347007e-05
    p = p * r + 0.00015403529994264858
    p = p * r + 0.001333355822580089
    p = p * r + 0.009618129107983122
    p = p * r + 0.05550410866448181
    p = p * r + 0.240226506959091
    p = p * r + 0.6931471805599492
    p = p * r + 1.0
    power = from_bits(bits(p) + (bits(rounded) << 52))
    return power if x > lowest else 0.0


@exact
def largest_exponent(itemsize):
    """An exponent whose exponential is large but far from overflow."""
    return 603.0 if itemsize == 8 else 75.0


_MAGIC_32 = float32(12582912.0)  # 1.5 * 2**23
_LOWEST_32 = float32(-110.0)  # to base two; below, values are 0
UNIT_32 = float32(2.0**100)
ONE_32 = float32(1.0)
_NONE_32 = float32(0.0)
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


@exact
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


@exact
def power_32(exponent):
    """`2**(100 - exponent)`."""
    y = max(-exponent, _LOWEST_32)
    rounded, q = _reduced_32(y)
    power = _times_power_32(ONE_32 + q, rounded)
    return power if y > _LOWEST_32 else _NONE_32


@exact
def one_minus_power_32(exponent):
    """`2**100 (1 - 2**-exponent)`."""
    rounded, q = _reduced_32(max(-exponent, _LOWEST_32))
    power = _times_power_32(ONE_32, rounded)
    return (UNIT_32 - power) - power * q


@inlined
def clear(row):
    """Fill with zeros."""
    for r in range(row.size):
        row[r] = 0
