"""Which bandwidth and rate to detect outliers with, in words, from how stable each was."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from scipy.stats import sem

from typicality._typing import Doubles
from typicality._words import enumerated

FEWEST_FLAGGED = 5  # the figures of settings that flag fewer rows of a half are coarse
_BY_LUCK = 0.025  # how often any of the settings may seem better than the default by chance
_MATTERS = 0.05  # a smaller difference is of no use to anybody
_LOW, _HIGH = 0.3, 0.7

_NONE_STABLE = (
    "No setting that was tried is stable: the flagged rows depend on which rows "
    "were sampled. Do not rely on single flagged rows; more rows, other columns or "
    "another scale may help."
)
_UNSTABLE = (
    f"A stability below {_LOW:g} is low: the flagged rows depend on which rows were "
    "sampled. Do not rely on single flagged rows."
)
_IN_BETWEEN = (
    "With other rows from the same source, some other rows would be flagged; the "
    "most certain outliers are those with the lowest scores."
)
_STABLE = "Most of these rows would also be flagged with another sample of rows."
_WIDER = (
    "But stable does not mean right: a wide kernel is stable because it mainly "
    "measures the distance from the middle of all rows. Compare the rows that both "
    "flag before you leave the default."
)
_NOT_BETTER = (
    "Stable does not mean right: wide kernels are often more stable, but do not "
    "find outliers better. Therefore, among settings that are equal within noise, "
    "the one closest to the default is recommended."
)


class Setting(NamedTuple):
    """A bandwidth and a rate, with the stability of the flagged rows.

    Parameters
    ----------
    sigma : float
        The bandwidth.
    rate : float
        The fraction of flagged rows.
    n_flagged : int
        The number of flagged rows in a half.
    stability : float
        The mean Jaccard index over the repetitions.
    standard_error : float
        The standard error of `stability`.
    """

    sigma: float
    rate: float
    n_flagged: int
    stability: float
    standard_error: float


@dataclass(frozen=True)
class Recommendation:
    """The recommended bandwidth and rate, and why.

    Parameters
    ----------
    chosen : Setting
        The recommended setting.
    default : Setting
        The default setting.
    best : Setting
        The most stable setting.
    settings : tuple of Setting
        All settings, by bandwidth and rate.
    gain : tuple of float
        The difference in stability between the chosen setting and the default, and its standard
        error.
    """

    chosen: Setting
    default: Setting
    best: Setting
    settings: tuple[Setting, ...]
    gain: tuple[float, float]

    @property
    def keeps_default(self) -> bool:
        """Whether the recommended setting is the default."""
        return self.chosen == self.default

    @property
    def sentences(self) -> tuple[str, ...]:
        """The recommendation, its reasons and its limits, as sentences."""
        caveat = _WIDER if self.chosen.sigma > self.default.sigma else _NOT_BETTER
        return (_advice(self), _place_among_all(self), _meaning(self), caveat)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the measurements."""
        few = {s.rate: s.n_flagged for s in self.settings if s.n_flagged < FEWEST_FLAGGED}
        if not few:
            return ()
        rates = enumerated([f"{rate:g}" for rate in few])
        told_once = few.values() if len(set(few.values())) > 1 else set(few.values())
        numbers = enumerated([f"{n_flagged}" for n_flagged in told_once])
        rows = "1 row of a half is" if numbers == "1" else f"{numbers} rows of a half are"
        return (
            f"At a rate of {rates} only {rows} flagged, so single rows decide the result. "
            "Use larger rates, or more rows.",
        )


def recommend(
    sigmas: Sequence[float],
    rates: Sequence[float],
    scores: ArrayLike,
    *,
    n_flagged: Sequence[int],
    default_sigma: float,
    default_rate: float = 0.05,
) -> Recommendation:
    """Recommend a bandwidth and a rate from the stability of outlier detection.

    Two settings are equal within noise if their means differ by less than 0.05, or by no more than
    chance explains. Chance is measured by Student's distribution of the difference, with a
    Bonferroni correction for the number of settings. With twenty repetitions, this is about three
    standard errors of the difference. Repetition k has the same split for all settings, so the
    difference is taken within repetitions. If the default is equal to the best setting, it is kept.
    Otherwise, of the settings that are equal to the best and better than the default, the one
    nearest to the default is chosen.

    A rate above the default is never chosen, because larger rates are usually more stable. Settings
    that flag fewer than five rows of a half are never chosen instead of the default, because single
    rows decide their stability.

    Original to typicality.

    Parameters
    ----------
    sigmas : sequence of float
        The bandwidths.
    rates : sequence of float
        The fractions of flagged rows.
    scores : array-like of shape (n_sigmas, n_repeats, n_rates)
        The Jaccard indices, of at least two repetitions.
    n_flagged : sequence of int
        The number of flagged rows of a half at each rate.
    default_sigma : float
        The default bandwidth, one of `sigmas`.
    default_rate : float, default=0.05
        The default rate; the nearest of `rates` is used.

    Returns
    -------
    Recommendation
    """
    of_setting: dict[Setting, Doubles] = {}
    for sigma, of_sigma in zip(sigmas, np.asarray(scores, dtype=np.float64), strict=True):
        for rate, n_rows, values in zip(rates, n_flagged, of_sigma.T, strict=True):
            mean, error = float(values.mean()), float(sem(values))
            of_setting[Setting(sigma, rate, n_rows, mean, error)] = values
    usual_rate = min(rates, key=lambda rate: abs(np.log(rate / default_rate)))
    (default,) = (s for s in of_setting if (s.sigma, s.rate) == (default_sigma, usual_rate))
    candidates = [
        s
        for s in of_setting
        if s == default or (s.rate <= usual_rate and s.n_flagged >= FEWEST_FLAGGED)
    ]
    most_stable = of_setting[max(candidates, key=attrgetter("stability"))]
    level = 1 - _BY_LUCK / max(1, len(candidates) - 1)

    def is_noise(differences: Doubles) -> bool:
        mean, n_errors = float(differences.mean()), stdtrit(len(differences) - 1, level)
        return bool(mean < _MATTERS or mean <= n_errors * sem(differences))

    equal = [s for s in candidates if is_noise(most_stable - of_setting[s])]
    if default not in equal:
        # What is hardly more stable than the default is no reason to leave it, either.
        equal = [s for s in equal if not is_noise(of_setting[s] - of_setting[default])]

    def how_far(s: Setting) -> tuple[float, float, float]:
        """First by rate, then by bandwidth, then the narrower."""
        by_rate = abs(float(np.log(s.rate / default.rate)))
        return by_rate, abs(float(np.log(s.sigma / default.sigma))), s.sigma

    chosen = min(equal, key=how_far)
    gains = of_setting[chosen] - of_setting[default]
    return Recommendation(
        chosen=chosen,
        default=default,
        best=max(of_setting, key=attrgetter("stability")),
        settings=tuple(of_setting),
        gain=(float(gains.mean()), float(sem(gains))),
    )


# ---- in words ------------------------------------------------------------------------------------


def _advice(found: Recommendation) -> str:
    chosen, default = found.chosen, found.default
    share = f"of the rows that at least one of two halves flags, both flag {_percent(chosen)}"
    if found.keeps_default:
        kept = f"Keep the default, sigma {chosen.sigma:.4g}, at a rate of {chosen.rate:g}"
        return f"{kept}: {share} ({_figure(chosen.stability, chosen.standard_error)})."
    return (
        f"Use {_change(chosen, default)}: {share}, and with the default "
        f"{_percent(default)} (a difference of {_figure(*found.gain)} on the same "
        "halves)."
    )


def _change(chosen: Setting, default: Setting) -> str:
    """What to take instead of what."""
    if chosen.rate == default.rate:
        instead = f"instead of the default, {default.sigma:.4g}, at a rate of {chosen.rate:g}"
        return f"sigma {chosen.sigma:.4g} {instead}"
    which = "the default sigma," if chosen.sigma == default.sigma else "sigma"
    return f"a rate of {chosen.rate:g} instead of {default.rate:g}, and {which} {chosen.sigma:.4g}"


def _place_among_all(found: Recommendation) -> str:
    chosen, best = found.chosen, found.best
    if best.stability <= chosen.stability:
        return "No setting that was tried is more stable."
    but = "which is not more than noise"
    if best.rate > chosen.rate:
        but = "but larger rates are usually more stable"
    elif best.n_flagged < FEWEST_FLAGGED:
        but = "but too few rows are flagged for a decision"
    return (
        f"The most stable setting is sigma {best.sigma:.4g} at a rate of {best.rate:g} "
        f"({_figure(best.stability, best.standard_error)}), {but}."
    )


def _meaning(found: Recommendation) -> str:
    if found.best.stability < _LOW:
        return _NONE_STABLE
    if found.chosen.stability < _LOW:
        return _UNSTABLE
    return _IN_BETWEEN if found.chosen.stability < _HIGH else _STABLE


def _percent(setting: Setting) -> str:
    return f"{100 * round(setting.stability, 2):.0f} %"  # the digits of _figure


def _figure(mean: float, error: float) -> str:
    return f"{mean:.2f} ± {error:.2f}"
