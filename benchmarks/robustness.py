"""Labels of the other rows when some rows are far away.

`python benchmarks/robustness.py [--draws N] [--markdown PATH] [--picture PATH]` draws three
clusters of 60 rows, 12 standard deviations apart, and adds rows in random directions: one, or up to
10 % of the rows, 10 to 1e9 standard deviations away. It prints the adjusted Rand index of the 180
rows for all estimators, k-means and scikit-fuzzy, the mean of some draws, and draws the same as a
picture. A row without a cluster (-1) counts as a label of its own kind. `OneClusterPCM` has no
clusters: of it, the shares of rows that are flagged are printed. Settings are the defaults, with
`n_clusters=3` and `n_init=3` where there are such parameters.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import skfuzzy
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from _report import Report, machine
from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
    SparseAdaptivePCM,
)

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parent / "results"
_N_DRAWS = 1
_CENTRES = 12.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
_TRUTH = np.repeat([0, 1, 2], 60)
_DISTANCES = (1e1, 3e1, 1e2, 1e3, 1e5, 1e7, 1e9)
_FAR = {"one row": 1, "1 %": 2, "2 %": 4, "5 %": 9, "10 %": 18}
_SETTINGS = {"n_clusters": 3, "n_init": 3}

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


def draw(n_far: int, distance: float, seed: int) -> Doubles:
    """The rows of the clusters, followed by the far ones."""
    rng = np.random.default_rng(seed)
    rows = _CENTRES[_TRUTH] + rng.normal(size=(len(_TRUTH), 2))
    direction = rng.normal(size=(n_far, 2))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return np.vstack([rows, _CENTRES.mean(axis=0) + distance * direction])


def by_skfuzzy(X: Doubles, seed: int) -> Labels:
    """Labels by the best of three runs of scikit-fuzzy, m = 2."""
    runs = [
        skfuzzy.cmeans(X.T, 3, 2.0, error=1e-5, maxiter=1000, seed=3 * seed + start)
        for start in range(3)
    ]
    best = min(runs, key=lambda run: run[4][-1])
    return np.asarray(best[1].argmax(axis=0))


def by(kind: Callable[..., Any]) -> Callable[[Doubles, int], Labels]:
    """Labels by an estimator."""
    known = kind().get_params()
    settings = {name: value for name, value in _SETTINGS.items() if name in known}
    if issubclass(kind, AdaptivePCM | SparseAdaptivePCM):  # there it is the number to begin with
        settings = {}

    def labels(X: Doubles, seed: int) -> Labels:
        seeded = {"random_state": seed} if "random_state" in known else {}
        return np.asarray(kind(**settings, **seeded).fit(X).labels_)

    return labels


METHODS: dict[str, Callable[[Doubles, int], Labels]] = {
    "k-means (scikit-learn)": by(KMeans),
    "fuzzy c-means (scikit-fuzzy)": by_skfuzzy,
    **{
        kind.__name__: by(kind)
        for kind in (
            FuzzyCMeans,
            EntropyCMeans,
            PossibilisticCMeans,
            AdaptivePCM,
            SparseAdaptivePCM,
            SequentialPCM,
            AlphaCutClustering,
            AutoClustering,
        )
    },
}


def agreement(method: Callable[[Doubles, int], Labels], n_draws: int) -> Doubles:
    """The mean adjusted Rand index, shape (shares, distances)."""
    found = np.empty((len(_FAR), len(_DISTANCES), n_draws))
    for i, n_far in enumerate(_FAR.values()):
        for j, distance in enumerate(_DISTANCES):
            for seed in range(n_draws):
                labels = method(draw(n_far, distance, seed), seed)
                found[i, j, seed] = adjusted_rand_score(_TRUTH, labels[: len(_TRUTH)])
    return found.mean(axis=2)


def flagged(n_draws: int) -> list[list[str]]:
    """Shares of the rows and of the far rows that OneClusterPCM flags, a row for each share."""
    rows = []
    for name, n_far in _FAR.items():
        cells = [name]
        for distance in _DISTANCES:
            sets = [draw(n_far, distance, seed) for seed in range(n_draws)]
            flags = np.array([OneClusterPCM().fit(X).predict(X) == -1 for X in sets])
            usual, far = flags[:, : len(_TRUTH)].mean(), flags[:, len(_TRUTH) :].mean()
            cells.append(f"{usual:.2f}, {far:.2f}")
        rows.append(cells)
    return rows


def paint(found: dict[str, Doubles], path: Path) -> None:
    """One field for each method: shares down, distances across."""
    figure, axes = plt.subplots(2, 5, figsize=(15, 5.4), sharex=True, sharey=True)
    for axis, (name, values) in zip(axes.flat, found.items(), strict=True):
        axis.imshow(values, vmin=0, vmax=1, cmap="RdYlBu", aspect="auto")
        for (i, j), value in np.ndenumerate(values):
            colour = "black" if 0.25 < value < 0.75 else "white"  # on the dark ends of the scale
            axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
        axis.set_title(name, fontsize=10)
        axis.set_xticks(range(len(_DISTANCES)), [f"{d:.0e}".replace("+0", "") for d in _DISTANCES])
        axis.set_yticks(range(len(_FAR)), list(_FAR))
        axis.tick_params(labelsize=8)
    figure.supxlabel("distance of the far rows (standard deviations of a cluster)", fontsize=10)
    for axis in axes[:, 0]:
        axis.set_ylabel("far rows", fontsize=10)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=85, metadata={"Software": None}, pil_kwargs={"optimize": True})
    plt.close(figure)


def main() -> None:
    options = _parse()
    warnings.simplefilter("ignore")
    report = Report()
    for line in machine():
        report.line(line)
    columns = ["far rows", *(f"{distance:g}" for distance in _DISTANCES)]
    found = {}
    for name, method in METHODS.items():
        report.progress(name)
        found[name] = agreement(method, options.draws)
        rows = [
            [share, *(f"{value:.2f}" for value in values)]
            for share, values in zip(_FAR, found[name], strict=True)
        ]
        report.table(name, columns, rows)
    report.table("OneClusterPCM: rows flagged, far rows flagged", columns, flagged(options.draws))
    report.write(options.markdown)
    paint(found, options.picture)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=_N_DRAWS, metavar="N", help="sets a cell")
    parser.add_argument("--markdown", type=Path, default=_RESULTS / "robustness.md")
    parser.add_argument("--picture", type=Path, default=_RESULTS / "robustness.png")
    return parser.parse_args()


if __name__ == "__main__":
    main()
