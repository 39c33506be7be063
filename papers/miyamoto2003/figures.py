"""Figures 1 to 5: the classification function of one cluster as a surface, and from above."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from matplotlib.figure import Figure as Picture
from sklearn.metrics import adjusted_rand_score

from miyamoto2003.examples import (
    BALL,
    CRESCENTS,
    DRAW,
    Doubles,
    Labels,
    best,
    entropy,
    n_wrong,
    standard,
    trials,
)
from regenerating import Page, Setting, draw_classification_function, markdown_table
from typicality.plot import MembershipContourDisplay

__all__ = ["FIGURES", "Figure", "fitted", "report"]

_SEED = 0

_TEXT = """## Figures 1 to 5

One draw of each data set, by the paper's protocol. Each picture has the classification function of
one cluster (the ball, the upper crescent) as a surface above the rows, as in the paper, and from
above with the partition; the line is where both memberships are one half."""


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: what is clustered, how, and what the paper shows."""

    number: int
    data: str
    method: str
    model: Any
    printed: str

    def draw(self, seed: int = _SEED) -> tuple[Doubles, Labels]:
        """A draw of the data set."""
        return DRAW[self.data](random_state=seed)


@cache
def fitted(figure: Figure) -> Any:
    """The best of ten trials on the draw that is shown."""
    return best(trials(figure.model, figure.draw()[0]))


FIGURES = (
    Figure(1, BALL, "m = 2, c = 10", standard(2.0, 10.0), "separated"),
    Figure(2, BALL, "entropy, λ = 10, c = 10", entropy(10.0, 10.0), "separated"),
    Figure(3, CRESCENTS, "m = 2, no kernel", standard(2.0, None), "misclassified rows"),
    Figure(4, CRESCENTS, "m = 2, c = 10", standard(2.0, 10.0), "misclassified rows"),
    Figure(5, CRESCENTS, "entropy, λ = 15, c = 50", entropy(15.0, 50.0), "separated"),
)


def report(page: Page, setting: Setting) -> None:
    """The table of the figures, and the pictures."""
    fits = [(figure, fitted(figure)) for figure in FIGURES]
    page.say(_TEXT)
    header = ("figure", "data", "method", "paper", "ARI", "rows on the wrong side")
    header += ("largest membership of a row",)
    page.say(markdown_table(header, [_row(*fit) for fit in fits]))
    for figure, model in fits:
        picture = _picture(figure, model, setting)
        caption = f"Fig. {figure.number}: {figure.data}, {figure.method}"
        page.show(setting.save(picture, f"figure_{figure.number}"), caption)


def _row(figure: Figure, model: Any) -> tuple[object, ...]:
    X, truth = figure.draw()
    ari = adjusted_rand_score(truth, model.labels_)
    wrong = f"{n_wrong(model.labels_, truth)} of {len(X)}"
    largest = model.memberships_.max(axis=1)
    between = f"{largest.min():.2f} to {largest.max():.2f}"
    name = figure.number, figure.data, figure.method, figure.printed
    return *name, f"{ari:.2f}", wrong, between


def _picture(figure: Figure, model: Any, setting: Setting) -> Picture:
    X, _ = figure.draw()
    picture = Picture(figsize=(8.8, 4.0), layout="constrained")
    picture.suptitle(f"Fig. {figure.number}. {figure.data.capitalize()}, {figure.method}")
    in_space = picture.add_subplot(1, 2, 1, projection="3d")
    from_above = picture.add_subplot(1, 2, 2, aspect="equal")
    cluster = model.labels_[0]
    draw_classification_function(
        in_space, model, X, cluster=cluster, resolution=setting.pick(60, 15)
    )
    shown = {"cluster": cluster, "grid_resolution": setting.pick(150, 30), "colorbar": True}
    MembershipContourDisplay.from_estimator(model, X, **shown, ax=from_above)
    in_space.set(xticks=[0.25, 0.5, 0.75], yticks=[0.25, 0.5, 0.75], zlabel="")
    for axes in (in_space, from_above):
        axes.set(xlabel="", ylabel="", title="")
    return picture
