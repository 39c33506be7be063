"""The number of clusters along lambda on Iris, Wine and S2: a table and a picture."""

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from typicality import SequentialPCM
from typicality.metrics import rand_score
from typicality.plot import LambdaPathDisplay
from xenaki2014.printed import TABLES

_PICTURE = Path(__file__).parents[1] / "results" / "xenaki2014_sweeps.png"
_N_VALUES = 60


def sweeps(data: Mapping[str, Any]) -> list[str]:
    """The table, in Markdown; the picture goes to papers/results."""
    figure = Figure(figsize=(8, 3.2 * len(data)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(data), 1))
    lines = [
        '| | λ, m in the paper | m at each λ, by the paper\'s start | λ, m, RM by `lam="auto"` |',
        "|---|---|---|---|",
    ]
    for ax, (name, (X, truth)) in zip(axes, data.items(), strict=True):
        model = SequentialPCM(assign="all").fit(X)
        path = model.lambda_path_
        lams = np.geomspace(path.lam[0], path.lam[-1], _N_VALUES)
        counts = np.array([_n_clusters(X, lam) for lam in lams])
        row = next(r for rows in TABLES.values() for r in rows if _is_sequential(r, name))
        _draw(ax, name, model, lams, counts, row)
        rand = 100 * rand_score(truth, model.labels_)
        chosen = f"{model.lam_:.3f}, {model.n_clusters_}, {rand:.2f}"
        windows = _windows(lams, counts)
        lines.append(f"| {name} | {row.lam}, {row.m_final} | {windows} | {chosen} |")
    _PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(_PICTURE, dpi=120)
    return lines


def _n_clusters(X: NDArray[np.float64], lam: float) -> int:
    return int(SequentialPCM(lam=lam, init="paper", assign="all").fit(X).n_clusters_)


def _is_sequential(row: Any, name: str) -> bool:
    return bool(row.data == name and row.method == "SeqSAPCM")


def _windows(lams: NDArray[np.float64], counts: NDArray[np.int_]) -> str:
    """The numbers of clusters, each with the values of lambda that give it."""
    steps = zip(counts.tolist(), lams.tolist(), strict=True)
    runs = [(m, [lam for _, lam in run]) for m, run in groupby(steps, key=lambda step: step[0])]
    return "; ".join(f"{m}: {lams[0]:.3f}-{lams[-1]:.3f}" for m, lams in runs)


def _draw(
    ax: Any,
    name: str,
    model: SequentialPCM,
    lams: NDArray[np.float64],
    counts: NDArray[np.int_],
    row: Any,
) -> None:
    display = LambdaPathDisplay.from_estimator(model, ax=ax)
    ax.lines[0].set_label('path of lam="auto"')
    ax.step(lams, counts, where="mid", color="0.6", lw=1, zorder=0, label="each λ on its own")
    ax.plot(row.lam, row.m_final, "k*", markersize=11, label="paper")
    ax.set_title(f"{name}: {ax.get_title()}")
    ax.set_ylim(0, 1.1 * max(counts.max(), model.lambda_path_.n_clusters.max()) + 0.5)
    # On the upper of the two axes, so that no line crosses it.
    display.index_ax_.legend(
        handles=ax.get_legend_handles_labels()[0], loc="lower left", fontsize=8
    )
