"""What is chosen by stability: the number of clusters, and the width of a kernel.

`python benchmarks/stability_choice.py [--first SEED] [--quick] [--markdown PATH]` prints in how
many draws StabilitySearch finds the right number of clusters, for blobs that stand apart and for
harder ones; and how well OneClusterPCM ranks known outliers with the width that is most stable,
beside the default. Nothing was tuned on the seeds that are run by default. Breast and Ionosphere
are left out, with a word, where they are not at hand (TYPICALITY_DATA).
"""

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from _blobs_apart import KINDS, Kind, draw_blobs
from _report import Report, Verdict, machine
from _sets_with_outliers import REAL, SYNTHETIC
from typicality import FuzzyCMeans, OneClusterPCM
from typicality.bandwidth import median_distance
from typicality.stability import select_by_stability

_RESULTS = Path(__file__).resolve().parent / "results" / "stability_choice.md"
_FIRST = 90_000
_NUMBERS = range(2, 9)
_TRIED = range(2, 11)
_N_HARDER = 2  # draws of each number, of harder kinds


class Method(NamedTuple):
    """A clusterer, the parameter that is chosen, and how many draws of each number it sees."""

    estimator: Any
    parameter: str
    n_draws: int

    @property
    def name(self) -> str:
        """As Python writes it."""
        return repr(self.estimator)


_METHODS = (
    Method(KMeans(n_init=10), "n_clusters", 10),
    Method(GaussianMixture(n_init=2), "n_components", 4),
    Method(FuzzyCMeans(m=2.0, n_init=2), "n_clusters", 4),
)
_WIDTHS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)  # times the median distance; "auto" is 1/2
_N_SETS = 5


# ---- the number of clusters ---------------------------------------------------------------------


def show_numbers(kind: Kind, first: int, at_most: int, report: Report) -> list[Verdict]:
    """A table of right choices, and whether they keep the promise for blobs that stand apart."""
    found: dict[str, dict[int, list[int]]] = {}
    for method in _METHODS:
        report.progress(f"blobs {kind.name}, {method.name}")
        seeds = range(first, first + min(method.n_draws, at_most))
        found[method.name] = {n: _found(kind, n, seeds, method) for n in _NUMBERS}
    rows = [
        [str(n), *[_right(found[name][n], n) for name in found], *_wrong(found, n)]
        for n in _NUMBERS
    ]
    columns = ["clusters", *found, *[f"else chosen, {name.split('(')[0]}" for name in found]]
    report.table(f"Blobs {kind.name}: draws with the right number", columns, rows)
    return [
        Verdict(
            f"{name}, blobs {kind.name}: right in 9 of 10 draws for each number",
            ", ".join(_right(by_number[n], n) for n in _NUMBERS),
            tuple(by_number[n].count(n) >= 0.9 * len(by_number[n]) for n in _NUMBERS),
        )
        for name, by_number in found.items()
    ]


def _found(kind: Kind, n_blobs: int, seeds: range, method: Method) -> list[int]:
    return [_chosen_number(method, draw_blobs(kind, n_blobs, seed), seed) for seed in seeds]


def _chosen_number(method: Method, X: Any, seed: int) -> int:
    search = select_by_stability(
        method.estimator,
        X,
        {method.parameter: _TRIED},
        refit=False,
        random_state=seed,
        n_jobs=_n_cores(),
    )
    return int(search.best_params_[method.parameter])


def show_real(report: Report) -> None:
    sets = {"Iris": load_iris(), "Wine": load_wine()}
    rows = [
        [f"{name}, scaled (3 classes)"]
        + [str(_chosen_number(m, StandardScaler().fit_transform(data.data), 0)) for m in _METHODS]
        for name, data in sets.items()
    ]
    report.table("Real sets: the number chosen", ["set", *[m.name for m in _METHODS]], rows)


def _right(found: list[int], n_blobs: int) -> str:
    return f"{found.count(n_blobs)} of {len(found)}"


def _wrong(found: dict[str, dict[int, list[int]]], n_blobs: int) -> list[str]:
    return [
        " ".join(str(n) for n in sorted(by_number[n_blobs]) if n != n_blobs) or "-"
        for by_number in found.values()
    ]


# ---- the width of a kernel ----------------------------------------------------------------------


def show_widths(n_sets: int, first: int, report: Report) -> None:
    rows = [_width_row(name, draw, range(first, first + n_sets)) for name, draw in _sets(report)]
    columns = ["set", "auto", "chosen, threshold", "chosen, rank", "best of grid", "worst of grid"]
    columns += ["width chosen, threshold", "width chosen, rank", "best width"]
    report.table("Area under the ROC curve of OneClusterPCM by the rule for sigma", columns, rows)
    report.line(
        "Widths as multiples of the median distance of two rows, "
        f"{', '.join(f'{w:g}' for w in _WIDTHS)}, the narrowest first; 'auto' is 0.5. Rates .01, "
        f".05 and .1; means (widths: medians) of {n_sets} draws. Rows and outliers are judged "
        "together, as they were fitted."
    )


def _sets(report: Report) -> list[tuple[str, Callable[[int], Any]]]:
    if "TYPICALITY_DATA" not in os.environ:
        report.line(f"Not run for want of TYPICALITY_DATA: {', '.join(REAL)}.")
        return list(SYNTHETIC.items())
    return [*SYNTHETIC.items(), *REAL.items()]


def _width_row(name: str, draw: Callable[[int], Any], seeds: range) -> list[str]:
    told = np.array([_judge_widths(*draw(seed), seed) for seed in seeds])
    areas, widths = told[:, :5].mean(axis=0), np.median(told[:, 5:], axis=0)
    return [name, *[f"{area:.3f}" for area in areas], *[f"{width:g}" for width in widths]]


def _judge_widths(X: Any, is_outlier: Any, seed: int) -> list[float]:
    unit = median_distance(X)
    areas = [_area(OneClusterPCM(sigma=width * unit), X, is_outlier) for width in _WIDTHS]
    by = [_chosen(X, unit, transfer, seed) for transfer in ("threshold", "rank")]
    return [
        _area(OneClusterPCM(), X, is_outlier),
        *[areas[chosen] for chosen in by],
        max(areas),
        min(areas),
        *[_WIDTHS[chosen] for chosen in by],
        _WIDTHS[int(np.argmax(areas))],
    ]


def _area(detector: OneClusterPCM, X: Any, is_outlier: Any) -> float:
    return float(roc_auc_score(~is_outlier, detector.fit(X).score_samples(X)))


def _chosen(X: Any, unit: float, transfer: str, seed: int) -> int:
    return select_by_stability(
        OneClusterPCM(),
        X,
        {"sigma": [width * unit for width in _WIDTHS]},
        transfer=transfer,
        n_repeats=20,
        refit=False,
        random_state=seed,
        n_jobs=_n_cores(),
    ).best_index_


def _n_cores() -> int:
    return len(os.sched_getaffinity(0))


def main() -> None:
    options = _parse()
    report = Report()
    for line in machine():
        report.line(line)
    report.line(f"The first seed of each kind of data is {options.first}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of wide kernels, and of prototypes that coincide
        for kind in KINDS:
            most = _METHODS[0].n_draws if kind is KINDS[0] else _N_HARDER
            verdicts = show_numbers(kind, options.first, 1 if options.quick else most, report)
            report.verdicts(verdicts if kind is KINDS[0] else [])
        show_real(report)
        report.progress("widths of kernels")
        show_widths(1 if options.quick else _N_SETS, options.first, report)
    report.write(options.markdown)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=_FIRST, metavar="SEED", help="the first draw")
    parser.add_argument("--quick", action="store_true", help="one draw of each kind")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
