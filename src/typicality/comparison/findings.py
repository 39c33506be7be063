"""What a comparison measured, in sentences that claim no more than that."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from typicality._words import enumerated
from typicality.comparison.agreement import AgreementMatrix
from typicality.comparison.results import ClustererResult, DetectorResult

_SAME = 0.9  # an agreement above it is called the same clusters
_ALIKE = 0.6
_SHAKY = 0.6  # a stability below it is pointed out
_MOST_LEFT_OUT = 0.5  # who leaves more rows out than this has no vote
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def findings_on_clusters(
    results: Sequence[ClustererResult], placed: AgreementMatrix
) -> tuple[str, ...]:
    """Sentences about the clusterers.

    Parameters
    ----------
    results : sequence of ClustererResult
        All of them.
    placed : AgreementMatrix
        The adjusted Rand index on the rows that both put in a cluster.

    Returns
    -------
    tuple of str
    """
    worked = [result for result in results if result.failure is None]
    sentences = [*_failures(results)]
    if worked:
        sentences.append(_numbers_found(worked))
    if len(worked) > 1:
        sentences.append(_agreement_of_clusterers(worked, placed))
        sentences += _single_clusters(worked)
    return (*sentences, *_shaky(worked, "clusters"))


def _failures(results: Sequence[ClustererResult] | Sequence[DetectorResult]) -> Iterator[str]:
    for result in results:
        if result.failure is not None:
            yield f"{_capital(result.name)} failed: {result.failure}"


def _numbers_found(worked: Sequence[ClustererResult]) -> str:
    by_number: dict[int, list[str]] = {}
    for result in worked:
        by_number.setdefault(result.n_clusters or 0, []).append(result.name)
    parts = [f"{number} ({', '.join(names)})" for number, names in sorted(by_number.items())]
    return f"Numbers of clusters: {'; '.join(parts)}."


def _agreement_of_clusterers(worked: Sequence[ClustererResult], placed: AgreementMatrix) -> str:
    voters = [r for r in worked if (r.left_out or 0.0) <= _MOST_LEFT_OUT]
    others = [r.name for r in worked if r not in voters]
    not_counted = (
        f" {_capital(enumerated(others))} left out over half of the rows." if others else ""
    )
    return _groups(worked, _largest_group(voters, placed), placed) + not_counted


def _groups(
    worked: Sequence[ClustererResult], group: Sequence[ClustererResult], placed: AgreementMatrix
) -> str:
    n_all = _word(len(worked))
    if 2 * len(group) > len(worked):
        numbers = sorted({r.n_clusters or 0 for r in group})
        names = enumerated([r.name for r in group])
        if numbers == [1]:
            return (
                f"{_capital(_word(len(group)))} of {n_all} clusterers find a single cluster "
                f"({names}): separate clusters are not visible to them."
            )
        on = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        return (
            f"{_capital(_word(len(group)))} of {n_all} clusterers agree on {on} clusters "
            f"({names}): the adjusted Rand index of every two is above {_SAME}, on the rows "
            "that both put in a cluster."
        )
    return _partial_agreement(placed)


def _partial_agreement(placed: AgreementMatrix) -> str:
    if len(placed.of_pairs) == 0:
        return "There are no rows that two clusterers both put in clusters: nothing to compare."
    median = float(np.median(placed.of_pairs))
    measured = f"the median adjusted Rand index of two of them is {median:.2f}"
    if median >= _ALIKE:
        return f"The clusterers agree in part: {measured}."
    return (
        f"The clusterers disagree: {measured}. The clusters are not pronounced, or the methods "
        "mean different things by a cluster."
    )


def _largest_group(
    voters: Sequence[ClustererResult], placed: AgreementMatrix
) -> Sequence[ClustererResult]:
    """The most clusterers of which every two agree; all subsets are tried, there are few."""
    single = [r for r in voters if r.n_clusters == 1]
    several = [r for r in voters if r.n_clusters != 1]
    for size in range(len(several), max(len(single), 1), -1):
        for group in combinations(several, size):
            pairs = combinations([r.name for r in group], 2)
            if all(placed.between(*pair) > _SAME for pair in pairs):
                return group
    return single


def _single_clusters(worked: Sequence[ClustererResult]) -> Iterator[str]:
    """Methods that always divide the rows do not show that there is something to divide."""
    free = [r for r in worked if r.may_find_one]
    single = [r.name for r in free if (r.n_clusters or 0) < 2]
    if not single or len(single) == len(worked):
        return
    verb = "does" if len(single) == 1 else "do"
    yield (
        f"Of the {_word(len(free))} methods that may find one cluster or none, "
        f"{_word(len(single))} {verb} ({enumerated(single)})."
    )
    dividers = [r.name for r in worked if r.number_from == "silhouette"]
    if len(single) == len(free) and dividers:
        always = "it always does" if len(dividers) == 1 else "they always do"
        yield f"Only {enumerated(dividers)} divided the rows, which {always}."


def findings_on_outliers(
    results: Sequence[DetectorResult], ranking: AgreementMatrix
) -> tuple[str, ...]:
    """Sentences about the detectors.

    Parameters
    ----------
    results : sequence of DetectorResult
        All of them.
    ranking : AgreementMatrix
        Spearman's correlation of their scores.

    Returns
    -------
    tuple of str
    """
    worked = [result for result in results if result.failure is None]
    sentences = [*_failures(results), *_false_alarms(worked)]
    if len(worked) > 1:
        sentences.append(_flagged_by_all(worked))
    if len(ranking.of_pairs):
        low, high = ranking.of_pairs.min(), ranking.of_pairs.max()
        span = f"{low:.2f}" if len(ranking.of_pairs) == 1 else f"{low:.2f} to {high:.2f}"
        sentences.append(f"Rank correlations of the detectors' scores: {span} (Spearman).")
    return (*sentences, *_shaky(worked, "flags"))


def _false_alarms(worked: Sequence[DetectorResult]) -> Iterator[str]:
    told = [r for r in worked if r.rate is not None and r.held_out is not None]
    shares = [f"{r.name} {100 * r.held_out.mean:.1f} %" for r in told if r.held_out is not None]
    if told and told[0].rate is not None:
        yield (
            f"Asked to flag {100 * told[0].rate:g} %, the detectors flagged of rows they had not "
            f"seen: {', '.join(shares)}."
        )


def _flagged_by_all(worked: Sequence[DetectorResult]) -> str:
    flags = np.array([r.flagged for r in worked if r.flagged is not None])
    by_all, by_any = int(flags.all(axis=0).sum()), int(flags.any(axis=0).sum())
    rows = "row is" if by_any == 1 else "rows are"
    return (
        f"{by_any:,} {rows} flagged by at least one of {_word(len(worked))} detectors, "
        f"{by_all:,} by all."
    )


def _shaky(
    worked: Sequence[ClustererResult] | Sequence[DetectorResult], what: str
) -> Iterator[str]:
    shaky = [
        f"{r.name} ({r.stability.mean:.2f})"
        for r in worked
        if r.stability is not None and r.stability.mean < _SHAKY
    ]
    if shaky:
        yield f"These {what} depend on which rows were drawn (stability): {', '.join(shaky)}."


def _word(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else str(number)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
