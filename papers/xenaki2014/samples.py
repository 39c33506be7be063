"""Experiment 1 again: the clusters of the one sample that is shown, and counts over many."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from regenerating import Claim, Page, Setting, Verdict, markdown_table
from typicality.datasets import make_three_gaussians
from xenaki2014.adaptive_rows import Outcome, fitted
from xenaki2014.data import LOADERS, Result, measured
from xenaki2014.other_rows import by_fuzzy_c_means, by_kmeans, by_possibilistic_c_means
from xenaki2014.printed import THREE_GAUSSIANS, Row

__all__ = ["picture_of_s2", "report"]

_ADAPTIVE = ("APCM", "SAPCM", "SeqSAPCM")
_SEED = 0

# The panels of the paper's Fig. 1: method, beta, clusters at the start.
_PANELS = (
    ("k-means", None, 3),
    ("k-means", None, 5),
    ("FCM", None, 3),
    ("FCM", None, 5),
    ("PCM", None, 20),
    ("APCM", 0.1, 5),
    ("SAPCM", 0.1, 5),
    ("SeqSAPCM", None, None),
)

_FIGURE = """## Figure 1

The panels of the paper, drawn for the sample of Table 1 above. Bold dots are the representatives.
Panel (e) has a circle of radius η around each; it is an ellipse here, because PCM works on scaled
features and the rows are drawn unscaled."""

_TEXT = """## Experiment 1, {n_samples} fresh samples

The table counts the samples in which each number of clusters is found."""


class Task(NamedTuple):
    """A row to compute on a sample."""

    row: Row
    seed: int


def _of_sample(task: Task) -> Result:
    X, truth = make_three_gaussians(random_state=task.seed)
    return measured(truth, fitted(task.row, X))


def report(page: Page, setting: Setting) -> None:
    """The figure, the counts, and what Table 1 claims."""
    page.say(_FIGURE)
    page.show(setting.save(_picture(), "figure_1"), "Fig. 1: Experiment 1")
    rows = [row for row in THREE_GAUSSIANS if row.method in _ADAPTIVE]
    rows = setting.pick(rows, [rows[0], rows[-1]])
    n_samples = setting.pick(24, 4)
    found = setting.each(_of_sample, [Task(row, seed) for row in rows for seed in range(n_samples)])
    results = {row: found[i * n_samples : (i + 1) * n_samples] for i, row in enumerate(rows)}
    page.say(_TEXT.format(n_samples=n_samples))
    header = ("", "printed m", "m here: number of samples", "mean RM if m is 3")
    page.say(markdown_table(header, [_line(*item) for item in results.items()]))
    page.judge(_sequential(results))
    page.judge(_united(results))


def _line(row: Row, results: list[Result]) -> tuple[object, ...]:
    counts = ", ".join(f"{m}: {n}" for m, n in sorted(Counter(r[0] for r in results).items()))
    rand = [result[1] for result in results if result[0] == 3]
    return row.setting, row.m_final, counts, f"{np.mean(rand):.2f}" if rand else "-"


def _sequential(results: dict[Row, list[Result]]) -> Claim:
    row, found = next(item for item in results.items() if item[0].method == "SeqSAPCM")
    n_right = sum(m == row.m_final for m, *_ in found)
    evidence = f"the paper shows one sample; with λ = {row.lam:g}, SeqSAPCM finds three clusters "
    evidence += f"in {n_right} of {len(found)} fresh samples"
    words = "Experiment 1: SeqSAPCM finds the three clusters"
    share = n_right / len(found)
    verdict = Verdict.HOLDS if share >= 0.9 else Verdict.IN_PART
    return Claim("Table 1, SeqSAPCM", words, Verdict.FAILS if share < 0.1 else verdict, evidence)


def _united(results: dict[Row, list[Result]]) -> Claim:
    found = [r for row, each in results.items() if row.method == "APCM" for r in each]
    n_two = sum(m == 2 for m, *_ in found)
    n_settings = sum(row.method == "APCM" for row in results)
    runs = f"{n_settings} settings, {len(found) // n_settings} samples each"
    evidence = f"two clusters in {n_two} of {len(found)} runs ({runs})"
    words = "Experiment 1: APCM merges two of the three clusters"
    verdict = Verdict.HOLDS if n_two >= 0.8 * len(found) else Verdict.IN_PART
    return Claim("Table 1, APCM", words, verdict, evidence)


# ---- picture ------------------------------------------------------------------------------------


def _outcome(row: Row) -> Outcome:
    X, _ = make_three_gaussians(random_state=_SEED)
    if row.method == "FCM":
        return next(by_fuzzy_c_means(row, X, 1))
    others = {"k-means": by_kmeans, "PCM": by_possibilistic_c_means}
    return others.get(row.method, fitted)(row, X)


def _picture() -> Figure:
    X, truth = make_three_gaussians(random_state=_SEED)
    figure = Figure(figsize=(10.0, 5.4), layout="constrained")
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    for letter, ax, panel in zip("abcdefgh", axes.ravel(), _PANELS, strict=True):
        row = next(r for r in THREE_GAUSSIANS if (r.method, r.beta, r.m_ini) == panel)
        outcome = _outcome(row)
        ax.scatter(*X.T, c=outcome.labels, cmap="tab10", vmin=0, vmax=9, s=3)
        ax.scatter(*outcome.prototypes.T, c="black", s=28, zorder=3)
        if outcome.radii is not None:
            for centre, radii in zip(outcome.prototypes, outcome.radii, strict=True):
                ax.add_patch(Ellipse(centre, *(2 * radii), fill=False, color="black", lw=1.2))
        m, rand, *_ = measured(truth, outcome)
        ax.set_title(f"({letter}) {row.setting}\nm = {m}, RM {rand:.2f}", fontsize=8)
    return figure


def picture_of_s2() -> Figure:
    """Fig. 2: the rows of S2 with the true labels."""
    X, truth = LOADERS["S2"]()
    figure = Figure(figsize=(5.0, 4.6), layout="constrained")
    ax = figure.subplots()
    ax.scatter(*X.T, c=truth, cmap="tab20", s=2)
    ax.set(aspect="equal", xticks=[], yticks=[])
    return figure
