"""How often fresh draws are separated, and whether more starts could have helped."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from miyamoto2003.examples import (
    BALL,
    CRESCENTS,
    DRAW,
    N_STARTS,
    Standing,
    annealed,
    best,
    entropy,
    is_separated,
    standard,
    standing,
    trials,
)
from regenerating import Claim, Page, Setting, Verdict, markdown_table
from typicality import EntropyCMeans

__all__ = ["METHODS", "Attempt", "Method", "attempt", "report"]

_MOST, _FEW = 0.75, 0.25  # of the draws
_FAST_SEEDS = (0, 1, 2, 13)

_TEXT = """## How often

{n_draws} draws of each data set. *Single starts*: of all {n_fits} random starts, those that
separate the draw; *ten starts*: draws that are separated by the lowest objective of ten;
*annealing*: by one start with λ rising to its value, which is ours. The last three columns are for
the failures of ten starts, beside the result of the same iteration from the true labels: where the
wrong one has the lower objective no number of starts can help; where the iteration leaves the true
labels the right partition is no solution at all. Annealing does not look for the lowest objective:
it follows one solution while λ rises, and so ends at the right one in some of these draws."""


class Method(NamedTuple):
    """A method on a data set; `figure` is the number of the paper's figure, or 0."""

    data: str
    words: str
    model: Any
    figure: int = 0


METHODS = (
    Method(BALL, "m = 2, c = 10", standard(2.0, 10.0), 1),
    Method(BALL, "entropy, λ = 10, c = 10", entropy(10.0, 10.0), 2),
    Method(CRESCENTS, "m = 2, no kernel", standard(2.0, None), 3),
    Method(CRESCENTS, "m = 2, c = 10", standard(2.0, 10.0), 4),
    Method(CRESCENTS, "entropy, λ = 15, c = 50", entropy(15.0, 50.0), 5),
    Method(CRESCENTS, "m = 2, c = 50", standard(2.0, 50.0)),
    Method(CRESCENTS, "m = 1.15, c = 50", standard(1.15, 50.0)),
)


class Attempt(NamedTuple):
    """What a method made of one draw.

    `n_right` counts the single starts that separate it; `annealed` is None for the standard form,
    failures are None for successes.
    """

    n_right: int
    ari: float
    annealed: bool | None
    failure: Standing | None
    annealing_failure: Standing | None

    @property
    def separated(self) -> bool:
        """Whether the lowest objective of ten starts separates the draw."""
        return self.failure is None


def attempt(task: tuple[Method, int, dict[str, Any]]) -> Attempt:
    """Try a method on a draw: the seed, and what else the generator is told."""
    method, seed, options = task
    X, truth = DRAW[method.data](random_state=seed, **options)
    fits = trials(method.model, X)
    chosen = best(fits)
    cooled = annealed(method.model, X) if isinstance(method.model, EntropyCMeans) else None

    def failure(fit: Any) -> Standing | None:
        return None if fit is None or is_separated(fit, truth) else standing(fit, X, truth)

    return Attempt(
        sum(is_separated(fit, truth) for fit in fits),
        float(adjusted_rand_score(truth, chosen.labels_)),
        None if cooled is None else is_separated(cooled, truth),
        failure(chosen),
        failure(cooled),
    )


def report(page: Page, setting: Setting) -> None:
    """Count separated draws, and judge the figures by them."""
    seeds = setting.pick(range(100), _FAST_SEEDS)
    n_draws = len(seeds)
    found = {
        method: setting.each(attempt, [(method, seed, {}) for seed in seeds]) for method in METHODS
    }
    page.say(_TEXT.format(n_draws=n_draws, n_fits=n_draws * N_STARTS))
    header = ("figure", "data", "method", "single starts", "ten starts", "annealing", "mean ARI")
    header += tuple(standing.value for standing in Standing)
    page.say(markdown_table(header, [_row(*item) for item in found.items()]))
    for method, attempts in found.items():
        if method.figure:
            page.judge(_claim(method, attempts))
    page.judge(_lowest_is_best(found))
    page.judge(_standard_form(found))


def _row(method: Method, attempts: list[Attempt]) -> tuple[object, ...]:
    failures = Counter(a.failure for a in attempts)
    name = method.figure or "-", method.data, method.words
    return (
        *name,
        f"{np.mean([a.n_right for a in attempts]) / N_STARTS:.0%}",
        sum(a.separated for a in attempts),
        "-" if attempts[0].annealed is None else sum(bool(a.annealed) for a in attempts),
        f"{np.mean([a.ari for a in attempts]):.2f}",
        *(failures[standing] for standing in Standing),
    )


def _claim(method: Method, attempts: list[Attempt]) -> Claim:
    """The claim of a figure: draws are separated, or they are not."""
    n_draws, n_right = len(attempts), sum(a.separated for a in attempts)
    evidence = f"the best of ten starts separates {n_right} of {n_draws} draws; a single start "
    evidence += f"separates {np.mean([a.n_right for a in attempts]) / N_STARTS:.0%}"
    if attempts[0].annealed is not None:
        n_annealed = sum(bool(a.annealed) for a in attempts)
        evidence += f"; annealing separates {n_annealed} of {n_draws}"
    separates = method.figure in (1, 2, 5)
    share = n_right / n_draws if separates else 1 - n_right / n_draws
    verb = "separates" if separates else "leaves misclassified rows in"
    verdict = Verdict.HOLDS if share >= _MOST else Verdict.IN_PART
    verdict = Verdict.FAILS if share <= _FEW else verdict
    return Claim(
        f"Fig. {method.figure}", f"{method.words}: {verb} {method.data}", verdict, evidence
    )


def _lowest_is_best(found: dict[Method, list[Attempt]]) -> Claim:
    attempts = next(found[method] for method in METHODS if method.figure == 5)
    failures = Counter(a.failure for a in attempts if a.failure)
    annealing = Counter(a.annealing_failure for a in attempts if a.annealing_failure)
    lower = failures[Standing.LOWER]
    evidence = (
        f"crescents, entropy form: ten starts fail in {sum(failures.values())} draws. In {lower} "
        "of these the wrong partition has the lower objective, and in "
        f"{failures[Standing.UNSTABLE]} the right partition is not a solution, so more starts "
        f"cannot help. Annealing fails in {sum(annealing.values())} draws, "
        f"{annealing[Standing.LOWER]} and {annealing[Standing.UNSTABLE]} for these two reasons"
    )
    hopeless = lower + failures[Standing.UNSTABLE]
    words = "among ten trials, the one with the lowest objective is the best result"
    return Claim(
        "section 4, ten trials", words, Verdict.IN_PART if hopeless else Verdict.HOLDS, evidence
    )


def _standard_form(found: dict[Method, list[Attempt]]) -> Claim:
    *_, wide_m, narrow_m = (found[method] for method in METHODS)
    n_narrow = sum(a.separated for a in narrow_m)
    evidence = (
        f"the standard form separates {sum(a.separated for a in wide_m)} of {len(wide_m)} draws "
        f"with m = 2 and c = 50 (the centres coincide), and {n_narrow} with m = 1.15 and c = 50"
    )
    words = "even with a kernel the standard form cannot separate the crescents"
    verdict = Verdict.IN_PART if n_narrow > _FEW * len(narrow_m) else Verdict.HOLDS
    return Claim("section 4, standard form", words, verdict, evidence)
