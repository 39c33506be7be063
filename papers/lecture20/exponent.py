"""The exponent of the memberships: 2 / (m - 1) on squared distances is not stationary."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from lecture20.sample import Doubles, fitted, rows, squared_distances
from regenerating import Claim, Page, Setting, Verdict, markdown_table

__all__ = ["gradient_spread", "iterated", "memberships", "objective", "report"]

_N_ITER = 30

_TEXT = """## The exponent

The notes print the exponent 2 / (m - 1) on *squared* distances. The sum of u^m d under the
constraint that rows sum to 1 is stationary where m u^(m-1) d is the same for all clusters of a row,
which gives 1 / (m - 1); 2 / (m - 1) belongs to distances that are not squared. Below, at the same
centres, m = 2: by how much m u^(m-1) d differs between the clusters of a row, relative to its mean
over them (mean over rows), the objective there, and the objective after {n_iter} iterations from
the same start, with either exponent."""

_PRINTED_IS = """At m = {m:g} the printed memberships are those of m = {as_if:g}, used with weights
u^{m:g}: a sharper partition, and not the one that lowers the objective. Its largest memberships are
{sharp:.2f} on average, those of fuzzy c-means {right:.2f}."""


class Path(NamedTuple):
    """The objective before the first iteration and after each."""

    objectives: Doubles
    memberships: Doubles


def memberships(sqdist: Doubles, power: float) -> Doubles:
    """The notes' formula with any exponent."""
    inverse = sqdist ** (-power)
    shares: Doubles = inverse / inverse.sum(axis=1, keepdims=True)
    return shares


def objective(u: Doubles, sqdist: Doubles, m: float) -> float:
    """The sum of u^m d."""
    return float(np.sum(u**m * sqdist))


def gradient_spread(u: Doubles, sqdist: Doubles, m: float) -> float:
    """How unequal the derivatives are over the clusters of a row; 0 where u is stationary."""
    slope = m * u ** (m - 1) * sqdist
    return float(np.mean(np.ptp(slope, axis=1) / slope.mean(axis=1)))


def iterated(X: Doubles, centers: Doubles, m: float, power: float) -> Path:
    """Alternate memberships by the given exponent and weighted means."""
    values = []
    for _ in range(_N_ITER):
        sqdist = squared_distances(X, centers)
        u = memberships(sqdist, power)
        values.append(objective(u, sqdist, m))
        weights = u**m
        centers = weights.T @ X / weights.sum(axis=0)[:, None]
    return Path(np.array(values), u)


def report(page: Page, setting: Setting) -> None:
    """The table, the picture, and the claim."""
    X, _ = rows()
    m, start = 2.0, X[[0, 1, 2]] + 0.01  # no row at a centre
    powers = {"1 / (m - 1)": 1 / (m - 1), "2 / (m - 1), as printed": 2 / (m - 1)}
    sqdist = squared_distances(X, fitted(X).cluster_centers_)
    paths = {words: iterated(X, start, m, power) for words, power in powers.items()}
    page.say(_TEXT.format(n_iter=_N_ITER))
    lines, spreads = [], []
    for words, power in powers.items():
        u = memberships(sqdist, power)
        spreads.append(gradient_spread(u, sqdist, m))
        values = spreads[-1], objective(u, sqdist, m), paths[words].objectives[-1]
        lines.append((words, f"{values[0]:.2g}", *(f"{value:.1f}" for value in values[1:])))
    header = ("exponent", "difference of slopes", "objective", f"after {_N_ITER} iterations")
    page.say(markdown_table(header, lines))
    right, printed = paths.values()
    sharp, plain = (path.memberships.max(axis=1).mean() for path in (printed, right))
    page.say(_PRINTED_IS.format(m=m, as_if=(m + 1) / 2, sharp=sharp, right=plain))
    page.show(setting.save(_picture(paths), "exponent"), "Both exponents")
    page.judge(_claim(spreads, printed, right))


def _claim(spreads: list[float], printed: Path, right: Path) -> Claim:
    worse = printed.objectives[-1] / right.objectives[-1] - 1
    n_rises = int(np.sum(np.diff(printed.objectives) > 1e-9))
    evidence = (
        "the derivatives for the clusters of a row should be equal, but differ by "
        f"{spreads[1]:.2f} times their mean (with 1 / (m - 1), by {spreads[0]:.0e}). The iteration "
        f"ends at an objective {worse:.0%} above that with 1 / (m - 1), and the objective rises in "
        f"{n_rises} of {len(printed.objectives) - 1} steps"
    )
    holds = spreads[1] < 1e-6
    words = "u is stationary with the exponent 2 / (m - 1) on squared distances"
    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Claim("section 20.1, exponent", words, verdict, evidence)


def _picture(paths: dict[str, Path]) -> Figure:
    figure = Figure(figsize=(8.8, 3.4), layout="constrained")
    between, over = figure.subplots(1, 2)
    x = np.linspace(-0.5, 1.5, 401)[:, None]
    sqdist = np.hstack([x**2, (x - 1) ** 2]) + 1e-12
    for (words, path), power in zip(paths.items(), (1.0, 2.0), strict=True):
        between.plot(x[:, 0], memberships(sqdist, power)[:, 0], label=words)
        over.plot(path.objectives, label=words)
    between.set_xticks([-0.5, 0, 0.5, 1, 1.5])
    between.set(xlabel="x, with centres at 0 and 1", ylabel="membership of the first (m = 2)")
    lowest = min(path.objectives[-1] for path in paths.values())
    over.set(xlabel="iteration", ylabel="objective", ylim=(0.9 * lowest, 2 * lowest))
    over.legend(frameon=False, title="exponent")
    return figure
