"""The number of clusters along lambda on Iris, Wine and S2, and the value that is chosen.

`PYTHONPATH=papers python -m xenaki2014.sweeps` prints a table and draws
`papers/results/xenaki2014_sweeps.png`. S2 must be in the folder that TYPICALITY_DATA names; without
it that part is left out.
"""

from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sklearn.datasets import load_iris, load_wine

from typicality import SequentialPCM
from typicality.datasets import load_s2
from typicality.metrics import rand_score
from typicality.plot import LambdaPathDisplay

_PICTURE = Path(__file__).parents[1] / "results" / "xenaki2014_sweeps.png"
PRINTED = {"Iris": (0.15, 3), "Wine": (0.08, 3), "S2": (0.1, 15)}


def sets() -> dict[str, Any]:
    """The data that are there."""
    known = {"Iris": load_iris(return_X_y=True), "Wine": load_wine(return_X_y=True)}
    try:
        return known | {"S2": load_s2()}
    except FileNotFoundError as missing:
        print(missing)
        return known


def windows(model: SequentialPCM) -> str:
    """The numbers of clusters along the path, each with the values of lambda that give it."""
    path = model.lambda_path_
    steps = zip(path.n_clusters.tolist(), path.lam.tolist(), strict=True)
    runs = [(count, [lam for _, lam in run]) for count, run in groupby(steps, key=lambda s: s[0])]
    return "; ".join(f"{count}: {lams[0]:.3f}-{lams[-1]:.3f}" for count, lams in runs)


def main() -> None:
    """Fit, print, draw."""
    data = sets()
    figure = Figure(figsize=(8, 3.2 * len(data)), layout="constrained")
    axes = figure.subplots(len(data), 1)
    print("| data | paper: lambda, m | chosen: lambda, m, RM | m along lambda |\n|---|---|---|---|")
    for ax, (name, (X, truth)) in zip(axes, data.items(), strict=True):
        model = SequentialPCM(assign="all").fit(X)
        LambdaPathDisplay.from_estimator(model, ax=ax)
        ax.set_title(f"{name}: {ax.get_title()}")
        lam, m = PRINTED[name]
        ax.plot(lam, m, "k*", markersize=12, label="paper")
        ax.legend(loc="upper left")
        found = (
            f"{model.lam_:.3f}, {model.n_clusters_}, {100 * rand_score(truth, model.labels_):.2f}"
        )
        print(f"| {name} | {lam}, {m} | {found} | {windows(model)} |")
    _PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(_PICTURE, dpi=120)
    print(_PICTURE)


if __name__ == "__main__":
    main()
