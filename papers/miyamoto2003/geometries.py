"""The same methods on balls, rings and crescents of other sizes, for the paper prints none."""

from typing import Any

from miyamoto2003.examples import BALL, CRESCENTS
from miyamoto2003.successes import METHODS, Attempt, Method, attempt
from regenerating import Page, Setting, markdown_table

__all__ = ["report"]

_TEXT = """## Other sizes

The methods of Figures 1, 2 and 5 on {n_draws} draws of each shape: draws that are separated by ten
starts, in brackets the share of single starts, then by annealing."""

_BALLS: dict[str, dict[str, Any]] = {
    "as above: ball of 100 rows and radius .1, ring of 200 and width .1": {},
    "ball of 25 rows": {"n_ball": 25},
    "ball of 200 rows": {"n_ball": 200},
    "ball of radius .05": {"ball_radius": 0.05},
    "ball of radius .2": {"ball_radius": 0.2},
    "ball of radius .3": {"ball_radius": 0.3},
    "ring of width .2": {"ring_width": 0.2},
}

_CRESCENTS: dict[str, dict[str, Any]] = {
    "as above: 200 rows, noise .01": {},
    "100 rows": {"n_samples": 100},
    "noise .02": {"noise": 0.02},
    "noise .04": {"noise": 0.04},
}


def report(page: Page, setting: Setting) -> None:
    """A table for each data set."""
    n_draws = setting.pick(20, 1)
    page.say(_TEXT.format(n_draws=n_draws))
    for data, shapes in ((BALL, _BALLS), (CRESCENTS, _CRESCENTS)):
        methods = [m for m in METHODS if m.data == data and m.figure in (1, 2, 5)]
        rows = [
            (words, *(_cell(setting, method, options, n_draws) for method in methods))
            for words, options in list(shapes.items())[: setting.pick(None, 1)]
        ]
        page.say(markdown_table((data, *(method.words for method in methods)), rows))


def _cell(setting: Setting, method: Method, options: dict[str, Any], n_draws: int) -> str:
    found: list[Attempt]
    found = setting.each(attempt, [(method, seed, options) for seed in range(n_draws)])
    single = sum(a.n_right for a in found) / (10 * n_draws)
    text = f"{sum(a.separated for a in found)} ({single:.0%})"
    if found[0].annealed is not None:
        text += f", {sum(bool(a.annealed) for a in found)}"
    return text
