"""Tables 1 to 4 of xenaki2014 next to what comes out here, row by row.

`PYTHONPATH=papers python -m xenaki2014.tables` prints the tables and writes them to
`papers/xenaki2014/RESULTS.md`. S2 must be in the folder that TYPICALITY_DATA names; without it
Table 2 is left out, and RESULTS.md as it is.
"""

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale

from typicality.datasets import load_s2, make_three_gaussians
from typicality.exceptions import ClusteringWarning
from typicality.metrics import generalized_rand_score, rand_score, success_rate
from xenaki2014.adaptive_rows import AFTER_STEPS, BY_BISECTION, OTHER_COUNT, Outcome, fitted, key
from xenaki2014.other_rows import by_fuzzy_c_means, by_kmeans, by_possibilistic_c_means
from xenaki2014.printed import TABLES, THREE_GAUSSIANS, Row

_RESULTS = Path(__file__).with_name("RESULTS.md")
_N_SAMPLES = 24
_N_STARTS = {"S2": 10}
_N_STARTS_OF_OTHERS = 60

Data = tuple[NDArray[np.float64], NDArray[np.int_]]
Result = tuple[int, float, float | None, float]


class Judged(NamedTuple):
    """A row of a table, what comes out here, and the verdict."""

    row: Row
    result: Result
    verdict: str


LOADERS: dict[str, Callable[[], Data]] = {
    "Iris": lambda: load_iris(return_X_y=True),
    "Wine": lambda: load_wine(return_X_y=True),
    "S2": load_s2,
    "three Gaussians": lambda: make_three_gaussians(random_state=0),
}


def measured(truth: NDArray[np.int_], found: Outcome) -> Result:
    """The number of clusters and the measures, as a table prints them."""
    u = found.memberships
    grm = None if u is None else generalized_rand_score(truth, u)
    scores = rand_score(truth, found.labels), grm, success_rate(truth, found.labels)
    rm, grm, sr = (score if score is None else round(100 * score, 2) for score in scores)
    return found.n_clusters, rm, grm, sr


# ---- one row: what comes out, and the verdict ---------------------------------------------------


def adaptive_row(row: Row, data: Data) -> tuple[Result, str]:
    X, truth = data
    result, steps = measured(truth, fitted(row, X)), AFTER_STEPS.get(key(row))
    if result == row.result:
        return result, "exact, by bisection" if key(row) in BY_BISECTION else "exact"
    if result == (OTHER_COUNT.get(key(row)), *row.result[1:]):
        return result, "exact but for m, by bisection: two clusters have two and three rows"
    if steps and measured(truth, fitted(row, X, max_iter=steps)) == row.result:
        return result, f"no fixed point is printed: it is exact after {steps} steps"
    return result, _why_not(row)


def kmeans_row(row: Row, data: Data) -> tuple[Result, str]:
    X, truth = data
    return _plainly(row, measured(truth, by_kmeans(row, X)))


def fuzzy_row(row: Row, data: Data) -> tuple[Result, str]:
    X, truth = data
    n_starts = _N_STARTS.get(row.data, _N_STARTS_OF_OTHERS)
    results = [measured(truth, found) for found in by_fuzzy_c_means(row, X, n_starts)]
    counts = Counter(results)
    if counts[row.result]:
        return row.result, f"exact from {counts[row.result]} of {n_starts} random starts"
    return counts.most_common(1)[0][0], _why_not(row)


def possibilistic_row(row: Row, data: Data) -> tuple[Result, str]:
    X, truth = data
    return _plainly(row, measured(truth, by_possibilistic_c_means(row, X)))


def _plainly(row: Row, result: Result) -> tuple[Result, str]:
    return result, "exact" if result == row.result else _why_not(row)


def _why_not(row: Row) -> str:
    if row.data == "three Gaussians":
        return "another sample"
    return {
        "FCM": "not reproducible: random start, not converged after 100 iterations",
        "PCM": "not reproducible: fuzzifier, start and rule for clusters that coincide are unknown",
    }.get(row.method, "differs")


METHODS: dict[str, Callable[[Row, Data], tuple[Result, str]]] = {
    "k-means": kmeans_row,
    "FCM": fuzzy_row,
    "PCM": possibilistic_row,
}


# ---- tables -------------------------------------------------------------------------------------


def judged(number: int) -> list[Judged]:
    """The rows of a table, each with what comes out and the verdict."""
    rows = TABLES[number]
    data = LOADERS[rows[0].data]()
    return [Judged(row, *METHODS.get(row.method, adaptive_row)(row, data)) for row in rows]


def table(rows: list[Judged]) -> list[str]:
    """A table of the paper, in Markdown."""
    return [
        "| | printed: m, RM, GRM, SR | here: m, RM, GRM, SR | verdict |",
        "|---|---|---|---|",
        *(
            f"| {row.setting} | {_cells(row.result)} | {_cells(result)} | {verdict} |"
            for row, result, verdict in rows
        ),
    ]


def _cells(result: Result) -> str:
    m, *scores = result
    return ", ".join([str(m), *("-" if score is None else f"{score:.2f}" for score in scores)])


def fresh_samples() -> list[str]:
    """Experiment 1 anew: the number of clusters in each of many samples."""
    samples = [make_three_gaussians(random_state=seed) for seed in range(_N_SAMPLES)]
    lines = ["| | printed m | m here: samples | RM where m is 3 |", "|---|---|---|---|"]
    for row in THREE_GAUSSIANS:
        if row.method not in METHODS:
            found = [measured(truth, fitted(row, X)) for X, truth in samples]
            counts = sorted(Counter(result[0] for result in found).items())
            counted = ", ".join(f"{m}: {n}" for m, n in counts)
            rand = [result[1] for result in found if result[0] == 3]
            mean = f"{np.mean(rand):.2f}" if rand else "-"
            lines.append(f"| {row.setting} | {row.m_final} | {counted} | {mean} |")
    return lines


_PREFACE = """# xenaki2014, Tables 1 to 4

`make papers` runs `tables.py`, which writes this page. RM, GRM and SR are per cents: the Rand
measure, the generalised one, the success rate. A row is exact where m and every printed digit come
out.

- **APCM, SAPCM, SeqSAPCM**: features stretched to [0, 10]; the start is the row farthest from the
  first one, then max-min; p = 1/2; memberships by exact roots, by bisection as in the paper where
  the verdict says so. Six printed rows are no fixed points: the iteration passes through them and
  goes on. After how many steps was found by looking; no one number gives them all.
- **k-means**: batches, then single rows (`kmeans_single_point.py`), from the same start; Iris with
  unit variances, Wine and S2 as they are. Batches alone, as in scikit-learn, give other digits.
- **FCM**: the data of k-means, m = 2, random memberships, at most 100 iterations, until the
  objective changes by less than 1e-5. The verdict says from how many starts the row comes out;
  where from none, the most frequent result is shown.
- **PCM**: the form of 1993 on the data of APCM; prototypes within 0.5 of each other are taken for
  one. The paper does not print the fuzzifier: with 3.1 the rows of a single cluster come out, and
  no others.

With features stretched to [0, 10], k-means and FCM find three clusters in Wine as well as SeqSAPCM
does (RM {kmeans:.1f} and {fuzzy:.1f}): their low rows in Table 4 are those of raw features.
"""

_TITLES = {
    1: "Table 1: three Gaussians\n\nThe paper shows one random sample; this is another one.",
    2: "Table 2: S2",
    3: "Table 3: Iris",
    4: "Table 4: Wine",
}


def page(numbers: list[int]) -> str:
    """All tables, in Markdown."""
    parts = [_PREFACE.format(**boxed_wine())]
    for number in numbers:
        rows = judged(number)
        n_exact = sum(result == row.result for row, result, _ in rows)
        count = f"{n_exact} of {len(rows)} rows are exact."
        parts.append("\n".join([f"## {_TITLES[number]}\n\n{count}\n", *table(rows), ""]))
    parts.append(
        "\n".join([f"## Experiment 1, {_N_SAMPLES} fresh samples\n", *fresh_samples(), ""])
    )
    return "\n".join(parts)


def boxed_wine() -> dict[str, float]:
    """The Rand measures of k-means and fuzzy c-means with three clusters on boxed features."""
    X, truth = load_wine(return_X_y=True)
    X = 10 * minmax_scale(X)
    row = next(row for row in TABLES[4] if row.m_ini == 3)
    fuzzy = next(by_fuzzy_c_means(row, X, 1))
    return {
        "kmeans": measured(truth, by_kmeans(row, X))[1],
        "fuzzy": measured(truth, fuzzy)[1],
    }


def main() -> None:
    warnings.simplefilter("ignore", ClusteringWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    try:
        load_s2()
    except FileNotFoundError as missing:
        print(f"Table 2 is left out, and RESULTS.md as it is. {missing}")
        print(page([1, 3, 4]))
        return
    text = page([1, 2, 3, 4])
    print(text)
    _RESULTS.write_text(text)


if __name__ == "__main__":
    main()
