"""Fits of a million rows and more: time, memory, error, and growth with the number of rows."""

from itertools import pairwise
from math import log2

from _blobs import named
from _one_cluster_fit import SIGMA, OneClusterFit
from _report import Report, Verdict
from _score_errors import COLUMNS, verdict

__all__ = ["show_growth", "show_large"]

_SHAPES = [(1_000_000, 2), (1_000_000, 3), (10_000_000, 2)]
_SHAPES_QUICK = [(20_000, 2), (20_000, 3)]
_SIZES = [100_000 * 2**k for k in range(7)] + [10_000_000]
_SIZES_QUICK = [10_000, 20_000]
_N_FITS = 3
_MOST_ARRAYS = 12
_GROWTH = 1.15  # over linear, a doubling

Shape = tuple[int, int]


def show_large(quick: bool, report: Report) -> list[Verdict]:
    """Each shape in a fresh process."""
    fits: dict[Shape, OneClusterFit] = {}
    for shape in _SHAPES_QUICK if quick else _SHAPES:
        report.progress(f"fits of {named(shape)}, and exact sums")
        fits[shape] = OneClusterFit.in_fresh_process(shape, n_fits=_N_FITS, check=True)
    columns = [f"sigma {SIGMA}", "seconds", "iterations", "arrays of n"]
    columns += ["modes, tolerance", "a pair, s", "kept plans, s", "to 1.5 (iterations + 2) pairs"]
    report.table("Large fits", columns, [_row(shape, fit) for shape, fit in fits.items()])
    report.line(
        f"Eight blobs; the best of {_N_FITS} fits. arrays of n: the rise of memory during the "
        "first fit, rows not counted, in arrays of n float64. a pair: finufft's transforms of type "
        "1 and type 2 as plain calls, planning and sorting included, in the same process; kept "
        "plans: without."
    )
    for shape, fit in fits.items():
        report.line(f"{named(shape)}: plan_ {fit.method}: {fit.reason}")
    errors = {shape: fit.errors for shape, fit in fits.items() if fit.errors is not None}
    title = "Scores of training rows against exact sums, largest relative errors"
    report.table(title, ["", *COLUMNS], [[named(s), *e.cells] for s, e in errors.items()])
    return [
        *[_memory(shape, fit) for shape, fit in fits.items()],
        *[_pairs(shape, fit) for shape, fit in fits.items()],
        verdict(list(errors.values()), "large fits"),
    ]


def _row(shape: Shape, fit: OneClusterFit) -> list[str]:
    sizes = [f"{fit.seconds:.3g}", str(fit.n_iter), f"{_arrays(shape, fit):.1f}"]
    if fit.pair is None:
        return [named(shape), *sizes, "", "", "", ""]
    times = [f"{fit.pair.calls:.3g}", f"{fit.pair.kept:.3g}", f"{fit.seconds / fit.allowed:.2f}"]
    return [named(shape), *sizes, fit.transform, *times]


def _arrays(shape: Shape, fit: OneClusterFit) -> float:
    return fit.growth / (8 * shape[0])


def _memory(shape: Shape, fit: OneClusterFit) -> Verdict:
    arrays = _arrays(shape, fit)
    target = f"{named(shape)}: at most {_MOST_ARRAYS} arrays of n floats beyond X"
    return Verdict(target, f"{arrays:.1f}", (arrays <= _MOST_ARRAYS,))


def _pairs(shape: Shape, fit: OneClusterFit) -> Verdict:
    target = f"{named(shape)}: at most 1.5 (n_iter_ + 2) pairs of transforms"
    allowed = f"{fit.allowed:.3g} s" if fit.pair else f"none was made, plan_ {fit.method}"
    return Verdict(target, f"{fit.seconds:.3g} s; allowed {allowed}", (fit.seconds <= fit.allowed,))


def show_growth(quick: bool, report: Report) -> list[Verdict]:
    """Two features, twice as many rows each time."""
    fits: dict[int, OneClusterFit] = {}
    for n_rows in _SIZES_QUICK if quick else _SIZES:
        report.progress(f"fits of {n_rows:,} rows")
        fits[n_rows] = OneClusterFit.in_fresh_process((n_rows, 2), n_fits=_N_FITS, check=False)
    factors = [float("nan"), *[_over_linear(fits, *sizes) for sizes in pairwise(fits)]]
    rows = [
        [f"{n:,}", f"{fit.seconds:.3g}", f"{1e9 * fit.seconds / n:.0f}", f"{factor:.2f}",
         str(fit.n_iter), fit.method, fit.transform]
        for (n, fit), factor in zip(fits.items(), factors, strict=True)
    ]  # fmt: skip
    columns = ["rows", "seconds", "ns a row", "over linear, a doubling", "iterations", "plan_"]
    report.table("Growth, two features", [*columns, "modes, tolerance"], rows)
    whole = _over_linear(fits, min(fits), max(fits))
    steps = factors[1:]
    return [
        Verdict(
            f"{min(fits):,} to {max(fits):,} rows: at most linear, x {_GROWTH} a doubling",
            f"x {whole:.2f} a doubling over all, x {max(steps):.2f} in the worst step",
            (whole <= _GROWTH, *[step <= _GROWTH for step in steps]),
        )
    ]


def _over_linear(fits: dict[int, OneClusterFit], few: int, many: int) -> float:
    """The factor by which time grows faster than the rows, for each doubling of them."""
    ratio = (fits[many].seconds / many) / (fits[few].seconds / few)
    return float(ratio ** (1 / log2(many / few)))
