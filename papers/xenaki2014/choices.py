"""What the paper says of its choices: beta, the start, p, and the box."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regenerating import Claim, Page, Setting, Verdict, markdown_table
from xenaki2014.data import LOADERS, N_CLASSES
from xenaki2014.estimators import PaperAPCM, PaperSeqSAPCM, RandomAPCM, with_constants
from xenaki2014.printed import TABLES

__all__ = ["report"]

_TOL, _MAX_ITER = 2e-5, 1000
_BETAS = (0.02, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_TYPICAL = (0.1, 0.5)
_POWERS = (1e-6, 0.001, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)
_SIDES = (7.0, 8.0, 9.0, 9.5, 10.0, 10.5, 11.0, 12.0, 14.0)
_PAPER_SIDE, _AROUND = 10.0, (9.0, 11.0)  # and what may be called around it

# Nine round clusters of unit width on a square grid: sparsely and densely located ones.
_SPACINGS = (12.0, 4.0)
_ROWS, _SIDE_OF_GRID, _N_INITIAL = 60, 3, 18
_SAME = 0.02  # shares of zeros that are equal
_N_INITIAL_OF = {"Iris": 10, "Wine": 8, "S2": 25}  # the largest that the tables have

_TEXT = """## The choices

**Beta.** APCM with the largest number of initial clusters in the tables ({initial}), and
with {n_initial} on nine round clusters on a grid, {n_draws} draws. The table shows the number of
clusters found; for grids, the draws with nine:"""

_START = """**Random start.** APCM from {n_initial} random rows, nine clusters at a spacing of 12.
On average {missing:.1f} clusters have no initial representative, and {found:.1f} clusters are
found. From the max-min start, {max_min:.1f} clusters are found."""

_P = """**The power p.** SeqSAPCM with the λ of the paper. The table shows the number of clusters,
and the share of memberships that are zero. A membership is zero if d ≥ R² = η / (1 - p)
(-ln(λ p (1 - p) / η) - 1). R² grows without bound for p → 1, and only like -η ln p for p → 0:"""

_BOX = """**The box.** SeqSAPCM with the λ of the paper. The table shows the number of clusters by
the side of the box:"""

Doubles = NDArray[np.float64]


class Choices(NamedTuple):
    """All that was measured, by data set."""

    betas: dict[str, list[int]]  # the number of clusters for each beta
    grids: dict[float, list[float]]  # the share of draws with nine clusters, for each beta
    random: list[tuple[int, int]]  # clusters without an initial representative, clusters found
    max_min: list[int]  # clusters found from the max-min start
    powers: dict[str, list[tuple[int, float]]]  # clusters, share of zeros
    sides: dict[str, list[int]]


def measure(names: Sequence[str], setting: Setting) -> Choices:
    """Fit everything."""
    n_draws = setting.pick(20, 4)
    draws = range(n_draws)
    random = setting.each(_from_random, draws)
    grids = {
        spacing: np.array(setting.each(partial(_by_beta_on_grid, spacing), draws))
        for spacing in _SPACINGS
    }
    return Choices(
        dict(zip(names, setting.each(_by_beta, names), strict=True)),
        {spacing: (counts == 9).mean(axis=0).tolist() for spacing, counts in grids.items()},
        random,
        grids[_SPACINGS[0]][:, _BETAS.index(0.1)].tolist(),
        dict(zip(names, setting.each(_by_power, names), strict=True)),
        dict(zip(names, setting.each(_by_side, names), strict=True)),
    )


def grid(spacing: float, seed: int) -> Doubles:
    """Nine round clusters; rows of a cluster are together."""
    side = range(_SIDE_OF_GRID)
    centres = spacing * np.array([(i, j) for i in side for j in side], dtype=np.float64)
    noise = np.random.RandomState(seed).normal(size=(len(centres), _ROWS, 2))
    return (centres[:, None] + noise).reshape(-1, 2)


def _adaptive(X: Doubles, n_clusters: int, beta: float, estimator: Any = PaperAPCM) -> int:
    model = estimator(n_clusters, beta=beta, tol=_TOL, max_iter=_MAX_ITER).fit(X)
    return len(model.cluster_centers_)


def _by_beta(name: str) -> list[int]:
    X, _ = LOADERS[name]()
    return [_adaptive(X, _N_INITIAL_OF[name], beta) for beta in _BETAS]


def _by_beta_on_grid(spacing: float, seed: int) -> list[int]:
    return [_adaptive(grid(spacing, seed), _N_INITIAL, beta) for beta in _BETAS]


def _from_random(seed: int) -> tuple[int, int]:
    X = grid(_SPACINGS[0], seed)
    reached = np.random.RandomState(seed).permutation(len(X))[:_N_INITIAL] // _ROWS
    found = _adaptive(X, _N_INITIAL, 0.1, with_constants(RandomAPCM, _seed=seed))
    return _SIDE_OF_GRID**2 - len(np.unique(reached)), found


def _sequential(name: str, estimator: Any = PaperSeqSAPCM, **parameters: Any) -> Any:
    X, _ = LOADERS[name]()
    rows = (row for table in TABLES.values() for row in table)
    lam = next(row.lam for row in rows if (row.data, row.method) == (name, "SeqSAPCM"))
    return estimator(lam=lam, tol=_TOL, **parameters).fit(X)


def _by_power(name: str) -> list[tuple[int, float]]:
    models = [_sequential(name, p=p) for p in _POWERS]
    return [(len(m.cluster_centers_), float((m.memberships_ == 0).mean())) for m in models]


def _by_side(name: str) -> list[int]:
    boxes = [with_constants(PaperSeqSAPCM, _side=side) for side in _SIDES]
    return [len(_sequential(name, box, assign="all").cluster_centers_) for box in boxes]


# ---- the page -----------------------------------------------------------------------------------


def report(page: Page, setting: Setting, names: Sequence[str]) -> None:
    """The tables, and the four claims."""
    found = measure(names, setting)
    initial = ", ".join(f"{_N_INITIAL_OF[name]} on {name}" for name in names)
    page.say(_TEXT.format(initial=initial, n_initial=_N_INITIAL, n_draws=len(found.random)))
    lines = [(name, *counts) for name, counts in found.betas.items()]
    lines += [
        (f"grid, spacing {spacing:g}", *(f"{share:.0%}" for share in shares))
        for spacing, shares in found.grids.items()
    ]
    page.say(markdown_table(("", *(f"β {beta:g}" for beta in _BETAS)), lines))
    missing, clusters = np.mean(found.random, axis=0)
    means = {"missing": missing, "found": clusters, "max_min": np.mean(found.max_min)}
    page.say(_START.format(n_initial=_N_INITIAL, **means))
    page.say(_P)
    lines = [(name, *(f"{m}, {z:.0%}" for m, z in each)) for name, each in found.powers.items()]
    page.say(markdown_table(("", *(f"p {p:g}" for p in _POWERS)), lines))
    page.say(_BOX)
    lines = [(name, *counts) for name, counts in found.sides.items()]
    page.say(markdown_table(("", *(f"{side:g}" for side in _SIDES)), lines))
    for claim in (_beta(found), _random_start(found), _extreme_powers(found), _any_box(found)):
        page.judge(claim)


def _beta(found: Choices) -> Claim:
    typical = [k for k, beta in enumerate(_BETAS) if _TYPICAL[0] <= beta <= _TYPICAL[1]]
    right = {
        name: sum(counts[k] == N_CLASSES[name] for k in typical)
        for name, counts in found.betas.items()
    }
    sparse, dense = (_best(found.grids[spacing]) for spacing in _SPACINGS)
    ends = {name: (counts[typical[0]], counts[typical[-1]]) for name, counts in found.betas.items()}
    evidence = (
        "APCM with β = 0.1 and 0.5 finds "
        + ", ".join(f"{a} and {b} clusters on {name}" for name, (a, b) in ends.items())
        + f". On nine round clusters β from {sparse[0]:g} to {sparse[1]:g} is best if they are far "
        f"apart (spacing 12 standard deviations), {dense[0]:g} to {dense[1]:g} if they are near "
        "(spacing 4): good values do not depend on how densely clusters are located"
    )
    words = "typical values of β are 0.1 to 0.5; smaller ones for sparsely located clusters"
    in_range = all(_BETAS[k] >= sparse[0] and _BETAS[k] <= sparse[1] for k in typical)
    verdict = Verdict.of(in_range, all(n == len(typical) for n in right.values()), dense > sparse)
    return Claim("section 2, β", words, verdict, evidence)


def _best(shares: list[float]) -> tuple[float, float]:
    """The least and the largest beta that are as good as the best but for one draw in ten."""
    good = [beta for beta, share in zip(_BETAS, shares, strict=True) if share >= max(shares) - 0.1]
    return good[0], good[-1]


def _random_start(found: Choices) -> Claim:
    missing, clusters = np.array(found.random).T
    evidence = (
        f"of nine clusters, {missing.mean():.1f} have no representative at a random start with "
        f"{_N_INITIAL} rows; APCM then finds {clusters.mean():.1f} clusters, and "
        f"{np.mean(found.max_min):.1f} from the max-min start"
    )
    words = "a random start leads several representatives to one cluster, and leaves others without"
    verdict = Verdict.of(missing.mean() > 0, clusters.mean() < np.mean(found.max_min))
    return Claim("section 2, footnote 3", words, verdict, evidence)


def _extreme_powers(found: Choices) -> Claim:
    none = _POWERS[-1]
    at_one = [each[-1][1] for each in found.powers.values()]
    at_zero = [each[0][1] for each in found.powers.values()]
    evidence = (
        f"true at 1: at p = {none:g} {max(at_one):.0%} of the memberships or fewer are zero. "
        f"Not at 0 in practice: at p = {_POWERS[0]:g} {min(at_zero):.0%} or more are zero, "
        "because the radius beyond which memberships are zero grows like -ln p only"
    )
    words = "for p → 0 or p → 1 no sparsity is imposed"
    verdict = Verdict.of(max(at_one) < _SAME, min(at_zero) < _SAME)
    return Claim("section 2, p", words, verdict, evidence)


def _any_box(found: Choices) -> Claim:
    right = {
        name: [side for side, m in zip(_SIDES, counts, strict=True) if m == N_CLASSES[name]]
        for name, counts in found.sides.items()
    }
    around = [side for side in _SIDES if _AROUND[0] <= side <= _AROUND[1] and side != _PAPER_SIDE]
    evidence = "sides that give the right number of clusters: " + "; ".join(
        f"{', '.join(f'{side:g}' for side in sides)} on {name}" for name, sides in right.items()
    )
    evidence += f" (of {', '.join(f'{side:g}' for side in _SIDES)})"
    words = "scaling to any value around 10 works, too"
    of_side = [all(side in sides for sides in right.values()) for side in around]
    return Claim("section 3, footnote 5", words, Verdict.of(*of_side), evidence)
