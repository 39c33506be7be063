"""The page: what was measured, the tables, the figure, the verdicts."""

import numpy as np

from filippone2007 import conditions, figure_1, prototypes, spheres
from filippone2007.claims import Found, all_claims, span
from filippone2007.conditions import Condition, share_of_noise
from filippone2007.figure_1 import ALPHA, Draws
from regenerating import Page, Setting, markdown_table

_PREFACE = """
Two rectangles of 100 rows, a ring of 300, and 1000 rows of noise on a square of 10 x 10; a
Gaussian kernel of width 0.5; stop when the typicalities change by less than 0.01 in all;
`AlphaCutClustering(sigma=0.5, alpha="valley")`. The paper prints the areas and no coordinates:
where the regions lie is our choice. `PYTHONPATH=papers python -m filippone2007` makes this page.
"""

_FIGURE = """## Figure 1

The draw whose valley is in the middle. The valley is the most persistent one of a Gaussian
density estimate of the typicalities with Silverman's bandwidth. Noise falls on the regions too,
and a kernel as wide as the regions blurs their edges, so some of it is inside.
"""

_NOISE = """## How much noise

Draws as in Fig. 1 with more and less noise; clusters of 20 rows or more. All typicalities lie
between {low:.3f} and {high:.3f}, so no row has much less pull than another, and the model is
nearly a plain density estimate. What removes the noise is the cut; and the cut needs noise to be
seen: without any, the deepest valley separates the rectangles from the ring, which is half as
dense.
"""

_WIDTH = """## How wide a kernel

A narrower kernel cuts the ring to pieces, a wider one joins everything.
"""


def measure(setting: Setting) -> Found:
    """All numbers of the page."""
    draws = figure_1.measure(setting)
    one = spheres.first_draw()
    return Found(
        draws,
        conditions.measure(setting),
        spheres.measure(setting, one),
        prototypes.measure(setting, one),
    )


def make(setting: Setting) -> Page:
    """Measure everything, draw the figure, write the page."""
    return write(measure(setting), setting)


def write(found: Found, setting: Setting) -> Page:
    """The page of numbers that were measured."""
    page = Page("filippone2007, Possibilistic clustering in feature space")
    page.say(_PREFACE)
    for claim in all_claims(found):
        page.judge(claim)
    page.say(_FIGURE)
    picture = figure_1.picture(found.draws.in_the_middle, setting)
    page.show(picture, "The histogram of typicalities with its valley; the data and the contour")
    page.say(_table_of_draws(found.draws))
    u = np.concatenate([draw.model.typicality_ for draw in found.draws.all])
    page.say(_NOISE.format(low=u.min(), high=u.max()))
    page.say(_table_of_noise(found.conditions.noise))
    page.say(_WIDTH)
    page.say(_table_of_widths(found.conditions.sigma))
    return page


def _table_of_draws(found: Draws) -> str:
    valleys = found.valleys
    ari = np.mean([draw.ari for draw in found.all])
    best = np.mean(found.best_aris)
    rows = [
        ("iterations", "", span(found.iterations)),
        ("valley", f"{ALPHA:.4f}", f"{valleys.mean():.4f} ± {valleys.std(ddof=1):.4f}"),
        ("clusters above it", "3", f"3 in {found.n_right}"),
        ("adjusted Rand index at the valley", "", f"{ari:.3f}"),
        (f"the same at the best of {found.n_levels} levels", "", f"{best:.3f}"),
    ]
    return markdown_table(("", "paper", f"{len(found.all)} draws"), rows)


def _table_of_noise(found: list[Condition]) -> str:
    header = (
        "rows of noise",
        "clusters: draws",
        "dense rows in them",
        "weight of noise",
        "its share of rows",
    )
    rows = [
        (
            c.value,
            c.counts,
            f"{c.dense_inside:.0%}",
            f"{c.weight_of_noise:.3f}",
            f"{share_of_noise(c.value):.3f}",
        )
        for c in found
    ]
    return markdown_table(header, rows)


def _table_of_widths(found: list[Condition]) -> str:
    header = ("sigma", "clusters: draws", "dense rows in them", "most iterations")
    rows = [(c.value, c.counts, f"{c.dense_inside:.0%}", c.most_iterations) for c in found]
    return markdown_table(header, rows)
