"""A first look: the estimators on Iris and Wine, a table and a figure.

Run as ``python -m typicality.demo [FOLDER]``.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from typicality.cluster import (
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
)
from typicality.datasets import make_discs_banana_ring
from typicality.exceptions import ClusteringWarning

__all__ = ["main"]

SURE, NOWHERE = 0.8, 0.01
RATE = 0.02  # of rows from the same source that a detector flags
ESTIMATORS = [
    FuzzyCMeans(3, m=1.5, n_init=5, random_state=0),
    EntropyCMeans(3, n_init=5, random_state=0),
    PossibilisticCMeans(3, objective="1993", m=1.5, gamma=0.3, n_init=5, random_state=0),
]


@dataclass(frozen=True)
class Fit:
    """One estimator on one data set."""

    data_name: str
    X: NDArray[np.float64]
    truth: NDArray[np.int_]
    model: Any
    seconds: float
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the estimator."""
        return type(self.model).__name__

    @property
    def largest(self) -> NDArray[np.float64]:
        """The largest membership of each row."""
        largest: NDArray[np.float64] = self.model.memberships_.max(axis=1)
        return largest


def fits() -> Iterator[Fit]:
    """Every estimator on every data set, features scaled to unit variance."""
    for estimator in ESTIMATORS:
        clone(estimator).fit(np.eye(6))  # compiles, on a machine that has never done so
    for load in (load_iris, load_wine):
        data = load()
        X = StandardScaler().fit_transform(data.data)
        for estimator in ESTIMATORS:
            yield _fit(load.__name__.removeprefix("load_"), X, data.target, clone(estimator))


def _fit(name: str, X: NDArray[np.float64], truth: NDArray[np.int_], model: Any) -> Fit:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ClusteringWarning)
        began = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - began
    return Fit(name, X, truth, model, seconds, tuple(str(w.message) for w in caught))


def table(results: list[Fit]) -> Table:
    """What was found, a line each."""
    out = Table(
        title="Soft clusters of Iris and Wine (features scaled, classes unknown to the fit)"
    )
    out.add_column("data")
    out.add_column("estimator")
    out.add_column("settings")
    for heading in ("clusters", "iterations", "ms", "adjusted Rand", "sure rows", "nowhere"):
        out.add_column(heading, justify="right")
    for number, fit in enumerate(results):
        out.add_row(*_cells(fit), end_section=number % len(ESTIMATORS) == len(ESTIMATORS) - 1)
    return out


def _cells(fit: Fit) -> list[str]:
    return [
        fit.data_name,
        fit.name,
        _settings(fit.model),
        str(fit.model.n_clusters_),
        str(fit.model.n_iter_),
        f"{1000 * fit.seconds:.0f}",
        f"{adjusted_rand_score(fit.truth, fit.model.labels_):.2f}",
        f"{100 * np.mean(fit.largest > SURE):.0f} %",
        f"{100 * np.mean(fit.largest < NOWHERE):.0f} %",
    ]


def _settings(model: Any) -> str:
    """The parameters that matter here."""
    shown = {
        name: value
        for name, value in model.get_params().items()
        if name in ("m", "lam", "gamma", "objective")
    }
    return ", ".join(f"{name}={value}" for name, value in shown.items())


def outliers(results: list[Fit]) -> Iterator[str]:
    """The rows of each data set that are least typical of it as a whole."""
    for name, X in {fit.data_name: fit.X for fit in results}.items():
        model = OneClusterPCM(contamination=RATE).fit(X)
        flagged = np.flatnonzero(model.predict(X) == -1)
        worst_first = flagged[np.argsort(model.score_samples(X[flagged]))]
        listed = ", ".join(f"{row} ({model.typicality_[row]:.2f})" for row in worst_first)
        yield f"{name}: rows {listed}; the median typicality is {np.median(model.typicality_):.2f}"


def regions(results: list[Fit]) -> Iterator[str]:
    """What comes out where the number of clusters is not told."""
    data = {fit.data_name: fit.X for fit in results}
    for name, X in (data | {"six shapes": make_discs_banana_ring(random_state=0)[0]}).items():
        yield f"{name}: {_sizes(AlphaCutClustering().fit_predict(X))}"


def round_clusters(results: list[Fit]) -> Iterator[str]:
    """Round clusters of unknown number, a line for each data set."""
    for name, X in {fit.data_name: fit.X for fit in results}.items():
        yield f"{name}: {_sizes(SequentialPCM().fit_predict(X))}"


def _sizes(labels: NDArray[np.int32]) -> str:
    sizes = " + ".join(str(size) for size in np.bincount(labels[labels >= 0]))
    return f"{labels.max() + 1} cluster(s), {sizes} rows; {np.sum(labels < 0)} outside"


def figure(results: list[Fit], path: Path) -> None:
    """The rows on their first two principal components, paler where membership is weak."""
    from matplotlib.figure import Figure
    from sklearn.decomposition import PCA

    canvas = Figure(figsize=(11, 7), layout="constrained")
    axes = canvas.subplots(2, 3).ravel()
    for axis, fit in zip(axes, results, strict=True):
        plane = PCA(2, random_state=0).fit(fit.X)
        _draw(axis, fit, plane.transform(fit.X), plane.transform(fit.model.cluster_centers_))
    canvas.suptitle(
        "First two principal components. Colour: cluster. Strength: largest membership.\n"
        f"Stars: prototypes. Crosses: rows that belong nowhere (typicality below {NOWHERE})."
    )
    canvas.savefig(path, dpi=110)


def _draw(axis: Any, fit: Fit, rows: NDArray[np.float64], centers: NDArray[np.float64]) -> None:
    from_left_to_right = centers[:, 0].argsort().argsort()  # the same colours in every panel
    colours = np.array(["#0072b2", "#d55e00", "#009e73"])[from_left_to_right[fit.model.labels_]]
    nowhere = fit.largest < NOWHERE
    strength = 0.15 + 0.85 * fit.largest
    axis.scatter(*rows[~nowhere].T, c=colours[~nowhere], alpha=strength[~nowhere], s=22, lw=0)
    axis.scatter(*rows[nowhere].T, c="#555555", marker="x", s=24, lw=1)
    axis.scatter(*centers.T, c="black", marker="*", s=110, edgecolors="white")
    axis.set_title(f"{fit.data_name}: {fit.name}", fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def main(folder: str = "demo") -> None:
    """Fit, print the table, write the figure, and say where it is."""
    console = Console(width=120)
    console.print(
        "Fitting (the first time on a machine this compiles, for half a minute or less) ..."
    )
    results = list(fits())
    console.print(table(results))
    for fit in results:
        for note in fit.notes:
            console.print(f"[yellow]note[/] {fit.data_name}, {fit.name}: {note}", highlight=False)
    console.print(
        "\nAdjusted Rand: agreement with the classes, 1 is perfect, 0 is chance. "
        f"Sure rows: largest membership above {SURE}. "
        "Fuzzy and entropic memberships sum to one, so an outlier is shared out among the "
        "clusters; possibilistic ones are typicalities, so a row can belong nowhere "
        f"(all below {NOWHERE})."
    )
    console.print(
        f"\nLeast typical of all rows (OneClusterPCM, a nominal {RATE:.0%} flagged; typicality):"
    )
    for line in outliers(results):
        console.print(f"  {line}", highlight=False)
    console.print(
        "\nClusters that stand apart, their number not told (AlphaCutClustering; the classes of "
        "Wine, and two of Iris, overlap):"
    )
    for line in regions(results):
        console.print(f"  {line}", highlight=False)
    console.print("\nRound clusters, their number not told (SequentialPCM):")
    for line in round_clusters(results):
        console.print(f"  {line}", highlight=False)
    path = Path(folder) / "clusters.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure(results, path)
    console.print(f"\nFigure: {path.resolve()}", soft_wrap=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
