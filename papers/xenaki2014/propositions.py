"""Propositions 2 and 3: where the minimum of f lies, and on which side of a root f is positive."""

import numpy as np
from scipy.optimize import brentq

from regenerating import Claim, Page, Setting, Verdict, markdown_table

__all__ = ["cost", "larger_root", "minimum", "report", "slope"]

_P = 0.5
_LAM, _ETA = 0.5, 1.0

_TOO_LARGE = 5.0  # of lambda, for Proposition 2
_SQDISTS = (0.0, 0.5, 1.0, 1.5, 1.9, 2.1)

_TEXT = """## The propositions

For one row and one cluster the cost is J(u) = u d + η (u ln u - u) + λ u^p, and its derivative is
η f(u) with f(u) = d / η + ln u + (λ / η) p u^(p - 1). Here η = {eta:g}, p = {p:g}, and λ = {lam:g}.

**Proposition 2** says that the minimum of f, at u = (λ p (1 - p) / η)^(1 / (1 - p)), lies in
(0, 1]. It lies above 1 if λ p (1 - p) > η. With λ = {large:g} it lies at {outside:.2f}.

**Proposition 3** says that f is positive to the left of its larger root and negative to the right.
The signs are the other way round, and therefore the root is a minimum of J. It is only a local
minimum: J(0) = 0, so if J is positive at the root, u = 0 costs less. The estimators use the root
even then, as the paper does."""


def slope(u: float, d: float, *, lam: float = _LAM, eta: float = _ETA) -> float:
    """The function f of the paper, eq. (3)."""
    return float(d / eta + np.log(u) + lam / eta * _P * u ** (_P - 1))


def cost(u: float, d: float, *, lam: float = _LAM, eta: float = _ETA) -> float:
    """The part of the objective of one row and one cluster, eq. (1)."""
    return float(u * d + eta * (u * np.log(u) - u) + lam * u**_P)


def minimum(*, lam: float = _LAM, eta: float = _ETA) -> float:
    """Where f is smallest, as Proposition 2 has it."""
    return float((lam / eta * _P * (1 - _P)) ** (1 / (1 - _P)))


def larger_root(d: float) -> float:
    """The larger root of f, between its minimum and one."""
    return float(brentq(slope, minimum(), 1.0, args=(d,)))


def report(page: Page, setting: Setting) -> None:
    """Both propositions with numbers."""
    outside = minimum(lam=_TOO_LARGE)
    words = {"eta": _ETA, "p": _P, "lam": _LAM, "large": _TOO_LARGE, "outside": outside}
    page.say(_TEXT.format(**words))
    roots = {d: larger_root(d) for d in _SQDISTS}
    lines = [
        (
            d,
            f"{u:.3f}",
            f"{slope(0.9 * u, d):+.3f}",
            f"{slope(1.1 * u, d):+.3f}",
            f"{cost(u, d):+.3f}",
        )
        for d, u in roots.items()
    ]
    header = (
        "d",
        "larger root",
        "f at 0.9 times the root",
        "f at 1.1 times the root",
        "J at the root",
    )
    page.say(markdown_table(header, lines))
    page.judge(_inside(outside))
    page.judge(_signs(roots))


def _inside(outside: float) -> Claim:
    evidence = (
        f"with λ = {_TOO_LARGE:g} and η = {_ETA:g} the minimum lies at u = {outside:.2f}; it lies "
        "above 1 if λ p (1 - p) > η"
    )
    words = "the unique minimum of f lies at a u in (0, 1]"
    verdict = Verdict.FAILS if outside > 1 else Verdict.HOLDS
    return Claim("proposition 2", words, verdict, evidence)


def _signs(roots: dict[float, float]) -> Claim:
    swapped = all(slope(0.9 * u, d) < 0 < slope(1.1 * u, d) for d, u in roots.items())
    worse = [d for d, u in roots.items() if cost(u, d) > 0]
    evidence = (
        f"the root is a minimum of J, but f is negative to its left and positive to its right at "
        f"all {len(roots)} distances d that we tried; at {len(worse)} of them (d = {worse[0]:g} "
        "and more) u = 0 has a lower cost J"
    )
    words = (
        "the larger root of f minimises J, because f is positive to its left, negative to its right"
    )
    verdict = Verdict.IN_PART if swapped else Verdict.HOLDS
    return Claim("proposition 3", words, verdict, evidence)
