"""Figures 1 to 5 of miyamoto2003: classification functions of fuzzy c-means, most with a kernel.

`python papers/miyamoto2003/figures.py` prints the numbers and draws each figure to
`papers/results/miyamoto2003_figure_N.png`: the classification function of one cluster (that of the
first row: the ball, the upper crescent) as a surface above the data, as in the paper, and from
above with the partition.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from typicality import EntropyCMeans, FuzzyCMeans
from typicality.datasets import make_ball_and_ring, make_crescents
from typicality.exceptions import ClusteringWarning
from typicality.kernels import Gaussian
from typicality.plot import ClassificationFunctionDisplay, MembershipContourDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parents[1] / "results"
_SEED = 0

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: the data, the estimator, and how to name it."""

    number: int
    title: str
    data: tuple[Doubles, NDArray[np.int_]]
    estimator: Any

    @property
    def n_wrong(self) -> int:
        """Rows on the wrong side, whichever cluster bears which number."""
        wrong = int(np.sum(self.estimator.labels_ != self.data[1]))
        return min(wrong, len(self.data[1]) - wrong)

    @property
    def path(self) -> Path:
        """Where the picture goes."""
        return _RESULTS / f"miyamoto2003_figure_{self.number}.png"


def figures() -> list[Figure]:
    """The five figures, not fitted yet."""
    ball, crescents = make_ball_and_ring(random_state=_SEED), make_crescents(random_state=_SEED)
    wide, narrow = Gaussian.from_gamma(10.0), Gaussian.from_gamma(50.0)
    fuzzy = FuzzyCMeans(2, m=2.0, random_state=_SEED)
    kernel_fuzzy = FuzzyCMeans(2, m=2.0, kernel=wide, random_state=_SEED)
    again = FuzzyCMeans(2, m=2.0, kernel=wide, random_state=_SEED)
    entropy_10 = EntropyCMeans(2, lam=10.0, kernel=wide, init="annealing", random_state=_SEED)
    entropy_15 = EntropyCMeans(2, lam=15.0, kernel=narrow, init="annealing", random_state=_SEED)
    return [
        Figure(1, "Ball and ring, fuzzy c-means, m = 2, c = 10", ball, kernel_fuzzy),
        Figure(2, "Ball and ring, entropy form, λ = 10, c = 10", ball, entropy_10),
        Figure(3, "Crescents, fuzzy c-means, m = 2, no kernel", crescents, fuzzy),
        Figure(4, "Crescents, fuzzy c-means, m = 2, c = 10", crescents, again),
        Figure(5, "Crescents, entropy form, λ = 15, c = 50", crescents, entropy_15),
    ]


def fit(figure: Figure) -> None:
    """Fit, and print what came out."""
    X, y = figure.data
    model = figure.estimator
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ClusteringWarning)
        model.fit(X)
    u = model.memberships_.max(axis=1)
    ari = adjusted_rand_score(y, model.labels_)
    print(
        f"Fig. {figure.number}: {figure.title}: ARI {ari:.3f}, {figure.n_wrong} of {len(X)} wrong"
    )
    print(f"  {model.n_iter_} iterations, largest memberships {u.min():.3f}-{u.max():.3f}")
    for warning in caught:
        print(f"  {warning.category.__name__}: {warning.message}")


# ---- pictures -----------------------------------------------------------------------------------


def draw(figure: Figure) -> None:
    """The surface, and the same from above."""
    X, model = figure.data[0], figure.estimator
    picture = plt.figure(figsize=(11, 5), layout="constrained")
    picture.suptitle(f"Fig. {figure.number}. {figure.title}")
    in_space = picture.add_subplot(1, 2, 1, projection="3d")
    from_above = picture.add_subplot(1, 2, 2, aspect="equal")
    cluster = {"cluster": model.labels_[0]}
    ClassificationFunctionDisplay.from_estimator(model, X, **cluster, ax=in_space)
    MembershipContourDisplay.from_estimator(model, X, **cluster, colorbar=True, ax=from_above)
    in_space.set(xticks=[0.25, 0.5, 0.75], yticks=[0.25, 0.5, 0.75], zlabel="")
    for axes in (in_space, from_above):
        axes.set(xlabel="", ylabel="", title="")
    figure.path.parent.mkdir(exist_ok=True)
    picture.savefig(figure.path, dpi=150)
    plt.close(picture)


def main() -> None:
    for figure in figures():
        fit(figure)
        draw(figure)


if __name__ == "__main__":
    main()
