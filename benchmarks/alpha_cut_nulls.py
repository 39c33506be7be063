"""False splits: how often alpha="auto" finds more than one cluster where there is one.

`python benchmarks/alpha_cut_nulls.py [--quick] [--first SEED] [--markdown PATH]` prints the shares
of draws by shape and number of rows, HDBSCAN beside them on some shapes, and the statistic of the
rule beside its critical value; and writes them to a markdown file. The rule was fitted to other
draws than those of the seeds that are run by default.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.cluster import HDBSCAN

from _nulls import NULLS, Null
from _report import Report, Verdict, machine
from typicality import AlphaCutClustering
from typicality.levelsets.selection import contrasts, critical_value

_RESULTS = Path(__file__).resolve().parent / "results" / "alpha_cut_nulls.md"
_DRAWS = {100: 100, 300: 60, 1000: 25, 3000: 5}  # by the number of rows
_DRAWS_QUICK = {100: 8, 300: 4, 1000: 2}
_MANY_FEATURES, _FEWER = 10, 4  # there a draw takes long: so many times fewer
_COMPARED = [("uniform", 2), ("Gaussian", 2), ("Gaussian", 5), ("t, 3 df", 2)]
_COMPARED += [("thick ring", 2), ("thick filament", 2)]
_LEVEL = 0.05

PEERS: dict[str, dict[str, Any]] = {"H10": {}, "H10 single": {"allow_single_cluster": True}}


class Found(NamedTuple):
    """What was found in one draw: numbers of clusters, and the largest statistic of a branch."""

    n_clusters: int
    statistic: float
    peers: dict[str, int]


Cells = dict[tuple[Null, int], list[Found]]  # by shape and number of rows

# ---- the draws ----------------------------------------------------------------------------------


def run(
    draws: dict[int, int], first: int, progress: Callable[[str], None]
) -> tuple[Cells, Counter[str]]:
    """All draws, and the warnings of our fits by name."""
    cells: Cells = {}
    warned: Counter[str] = Counter()
    for n_rows, most in draws.items():
        progress(f"{n_rows:,} rows")
        for null in NULLS:
            count = -(-most // _FEWER) if null.n_features >= _MANY_FEATURES else most
            seeds = range(first, first + count)
            cells[null, n_rows] = [find(null, n_rows, seed, warned) for seed in seeds]
    return cells, warned


def find(null: Null, n_rows: int, seed: int, warned: Counter[str]) -> Found:
    X = null.draw(n_rows, seed)
    model = AlphaCutClustering()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    warned.update(warning.category.__name__ for warning in caught)
    statistic = contrasts(model._regions.landscape, model.tree_, above=1.0).max(initial=0.0)
    peers = PEERS if null[:2] in _COMPARED else {}
    numbers = {name: count_hdbscan(X, options) for name, options in peers.items()}
    return Found(model.n_clusters_, float(statistic), numbers)


def count_hdbscan(X: NDArray[np.float64], options: dict[str, Any]) -> int:
    labels = HDBSCAN(min_cluster_size=10, copy=True, **options).fit_predict(X)
    return int(labels.max()) + 1


# ---- the tables ---------------------------------------------------------------------------------


class Share(NamedTuple):
    """A share of draws."""

    hits: int
    draws: int

    @property
    def value(self) -> float:
        """Between 0 and 1."""
        return self.hits / self.draws

    @property
    def error(self) -> float:
        """The binomial standard error."""
        return float(np.sqrt(self.value * (1 - self.value) / self.draws))

    def __str__(self) -> str:
        return f"{100 * self.value:.1f}±{100 * self.error:.1f} ({self.hits} of {self.draws})"


def splits(found: list[Found]) -> Share:
    """Draws with more than one cluster."""
    return Share(sum(draw.n_clusters > 1 for draw in found), len(found))


def at(cells: Cells, n_rows: int) -> dict[Null, list[Found]]:
    """The draws of so many rows, by shape."""
    return {null: found for (null, n), found in cells.items() if n == n_rows}


def together(cells: Cells, n_rows: int) -> list[Found]:
    return [draw for found in at(cells, n_rows).values() for draw in found]


def show_splits(cells: Cells, draws: dict[int, int], report: Report) -> None:
    columns = ["one cluster", "features", *[f"n = {n:,}" for n in draws]]
    rows = [[null.name, str(null.n_features), *_cells_of(null, cells, draws)] for null in NULLS]
    rows.append(["all", "", *[f"{100 * splits(together(cells, n)).value:.1f}" for n in draws]])
    report.table("Draws with more than one cluster, %", columns, rows)
    counts = ", ".join(f"{count} of {n:,} rows" for n, count in draws.items())
    report.line(f"Draws of each shape: {counts}; of ten features a quarter of that.")


def _cells_of(null: Null, cells: Cells, draws: dict[int, int]) -> list[str]:
    return [f"{100 * splits(cells[null, n]).value:.1f}" for n in draws]


def show_worst(cells: Cells, draws: dict[int, int], report: Report) -> None:
    rows = []
    for n in draws:
        worst = max(at(cells, n).items(), key=lambda cell: splits(cell[1]).value)
        name = f"{worst[0].name}, {worst[0].n_features}-D"
        rows.append([f"{n:,}", str(splits(together(cells, n))), str(splits(worst[1])), name])
    title = "All shapes together, and the worst one; % ± standard error"
    report.table(title, ["rows", "all", "worst", "which"], rows)
    report.line(f"The worst of {len(NULLS)} shapes is chosen after the fact: it looks too bad.")


def show_statistic(cells: Cells, draws: dict[int, int], report: Report) -> None:
    columns = ["rows", "critical value", "median", "95 % point", "99 % point", "largest"]
    rows = []
    for n in draws:
        values = [draw.statistic for draw in together(cells, n)]
        points = np.quantile(values, [0.5, 0.95, 0.99, 1.0])
        rows.append([f"{n:,}", f"{critical_value(n):.2f}", *[f"{point:.2f}" for point in points]])
    report.table("The largest D (√p - √t)² of a draw, all shapes together", columns, rows)
    report.line("Critical value: 1.6 ln(1 + n / 20). Values whose bound is below 1 count as 0.")


def show_peers(cells: Cells, report: Report) -> None:
    columns = ["one cluster", "features", "rows", "draws", "ours"]
    columns += [*PEERS, *[f"{name}: none" for name in PEERS]]
    compared = {key: found for key, found in cells.items() if key[0][:2] in _COMPARED}
    rows = [_peer_row(null, n, found) for (null, n), found in compared.items()]
    every = [draw for found in compared.values() for draw in found]
    rows.append(["all draws", "", "", str(len(every)), *_peer_shares(every)])
    report.table("More than one cluster beside HDBSCAN, same draws, %", columns, rows)
    report.line(
        "H10: HDBSCAN of scikit-learn with min_cluster_size=10, else as shipped; single: with "
        "allow_single_cluster=True; none: no cluster at all, every row is noise."
    )


def _peer_row(null: Null, n_rows: int, found: list[Found]) -> list[str]:
    start = [null.name, str(null.n_features), f"{n_rows:,}", str(len(found))]
    return start + _peer_shares(found)


def _peer_shares(found: list[Found]) -> list[str]:
    numbers = [[draw.n_clusters for draw in found]]
    numbers += [[draw.peers[name] for draw in found] for name in PEERS]
    more = [np.mean(np.array(own) > 1) for own in numbers]
    none = [np.mean(np.array(own) == 0) for own in numbers[1:]]
    return [f"{100 * share:.0f}" for share in (*more, *none)]


def judge(cells: Cells, draws: dict[int, int]) -> list[Verdict]:
    names = ", ".join(f"{n:,}" for n in draws)
    pooled = [splits(together(cells, n)) for n in draws]
    shares = ", ".join(f"{100 * share.value:.1f} %" for share in pooled)
    return [
        Verdict(
            f"false splits in at most 5 % of draws of {names} rows",
            f"{shares}, all shapes together",
            tuple(share.value <= _LEVEL for share in pooled),
        ),
        _judge_cells([splits(found) for found in cells.values()]),
    ]


def _judge_cells(shares: list[Share]) -> Verdict:
    """Cells of few draws can hardly exceed chance: where shares are high it is unsure at best."""
    n_high = sum(share.value > _LEVEL for share in shares)
    smallest = min(1.0, min(map(_chance, shares)) * len(shares))
    return Verdict(
        "no shape is split in more than 5 % of draws",
        f"{n_high} of {len(shares)} cells are; by chance: p = {smallest:.2g} (Bonferroni)",
        (n_high == 0, smallest > _LEVEL),
    )


def _chance(share: Share) -> float:
    """How probable so many false splits are where 5 % are expected."""
    return float(binomtest(share.hits, share.draws, _LEVEL, alternative="greater").pvalue)


def main() -> None:
    options = _parse()
    draws = _DRAWS_QUICK if options.quick else _DRAWS
    report = Report()
    for line in machine():
        report.line(line)
    report.line(f"Seeds from {options.first}.")
    cells, warned = run(draws, options.first, report.progress)
    show_splits(cells, draws, report)
    show_worst(cells, draws, report)
    show_statistic(cells, draws, report)
    show_peers(cells, report)
    counts = ", ".join(f"{name} {count}" for name, count in warned.most_common())
    n_fits = sum(map(len, cells.values()))
    report.line(f"Warnings in {n_fits:,} fits of AlphaCutClustering: {counts or 'none'}.")
    report.verdicts(judge(cells, draws))
    report.write(options.markdown)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, for a first look")
    parser.add_argument("--first", type=int, default=30_000, metavar="SEED", help="the first seed")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
