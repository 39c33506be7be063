"""What a comparison measured, in sentences that claim no more than that, and in tables."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from typicality._words import enumerated
from typicality.stability.agreement import AgreementMatrix, Repeats
from typicality.stability.methods import ClustererResult, DetectorResult

if TYPE_CHECKING:
    from typicality.stability.compare import Comparison

Lines = list[tuple[str, ...]]

_SAME = 0.9  # an agreement above it is called the same clusters
_ALIKE = 0.6
_SHAKY = 0.6  # a reproducibility below it is pointed out
_MOST_LEFT_OUT = 0.5  # who leaves more rows out than this has no vote
_EMPTY = "-"  # a cell of a table
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
    sentences = [
        f"{_capital(r.name)} failed: {r.failure}" for r in results if r.failure is not None
    ]
    if worked:
        by_number: dict[int, list[str]] = {}
        for result in worked:
            by_number.setdefault(result.n_clusters or 0, []).append(result.name)
        parts = [f"{number} ({', '.join(names)})" for number, names in sorted(by_number.items())]
        sentences.append(f"Numbers of clusters: {'; '.join(parts)}.")
    if len(worked) > 1:
        sentences.append(_agreement_of_clusterers(worked, placed))
        sentences += _single_clusters(worked)
    return (*sentences, *_shaky(worked, "clusters"))


def _agreement_of_clusterers(worked: Sequence[ClustererResult], placed: AgreementMatrix) -> str:
    voters = [r for r in worked if (r.left_out or 0.0) <= _MOST_LEFT_OUT]
    others = [r.name for r in worked if r not in voters]
    group = _largest_group(voters, placed)
    if 2 * len(group) > len(worked):
        numbers = sorted({r.n_clusters or 0 for r in group})
        names = enumerated([r.name for r in group])
        share = f"{_capital(_word(len(group)))} of {_word(len(worked))} clusterers"
        on = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        sentence = (
            f"{share} agree on {on} clusters ({names}): the adjusted Rand index of any two "
            f"is above {_SAME}, on the rows that both put in a cluster."
        )
        if numbers == [1]:
            sentence = f"{share} find a single cluster ({names}): they see no separate clusters."
    elif len(placed.of_pairs) == 0:
        sentence = "No row was put in a cluster by two clusterers: there is nothing to compare."
    else:
        median = float(np.median(placed.of_pairs))
        measured = f"the median adjusted Rand index of two of them is {median:.2f}"
        sentence = f"The clusterers partly agree: {measured}."
        if median < _ALIKE:
            sentence = (
                f"The clusterers disagree: {measured}. The clusters are not clearly separated, "
                "or the methods define a cluster differently."
            )
    if others:
        sentence += f" {_capital(enumerated(others))} left out over half of the rows."
    return sentence


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
        f"Among the {_word(len(free))} methods that may find one cluster or none, "
        f"{_word(len(single))} {verb} ({enumerated(single)})."
    )
    dividers = [r.name for r in worked if r.number_from == "silhouette"]
    if len(single) == len(free) and dividers:
        always = "it always does" if len(dividers) == 1 else "they always do"
        yield f"Only {enumerated(dividers)} divided the rows into clusters, which {always}."


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
    sentences = [
        f"{_capital(r.name)} failed: {r.failure}" for r in results if r.failure is not None
    ]
    told = [r for r in worked if r.rate is not None and r.held_out.values]
    if told and told[0].rate is not None:
        shares = ", ".join(f"{r.name} {100 * r.held_out.mean:.1f} %" for r in told)
        sentences.append(
            f"The detectors were set to flag {100 * told[0].rate:g} % of the rows. Of rows "
            f"they had not seen, they flagged: {shares}."
        )
    if len(worked) > 1:
        flags = np.array([r.flagged for r in worked if r.flagged is not None])
        by_all, by_any = int(flags.all(axis=0).sum()), int(flags.any(axis=0).sum())
        rows = "row is" if by_any == 1 else "rows are"
        sentences.append(
            f"{by_any:,} {rows} flagged by at least one of {_word(len(worked))} detectors, "
            f"{by_all:,} by all."
        )
    if len(ranking.of_pairs):
        low, high = ranking.of_pairs.min(), ranking.of_pairs.max()
        span = f"{low:.2f}" if len(ranking.of_pairs) == 1 else f"{low:.2f} to {high:.2f}"
        sentences.append(f"Rank correlations of the detectors' scores: {span} (Spearman).")
    return (*sentences, *_shaky(worked, "flags"))


def _shaky(
    worked: Sequence[ClustererResult] | Sequence[DetectorResult], what: str
) -> Iterator[str]:
    measured = [(r.name, r.reproducibility.mean) for r in worked]
    shaky = [f"{name} ({mean:.2f})" for name, mean in measured if mean < _SHAKY]
    if shaky:
        yield f"These {what} depend on the subsample (reproducibility): {', '.join(shaky)}."


def _word(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else str(number)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---- tables and notes ----------------------------------------------------------------------------


def clusterer_table(results: Sequence[ClustererResult]) -> Lines:
    """A header, and a row for each clusterer."""
    lines: Lines = [("method", "clusters", "by", "left out", "reproducibility", "seconds")]
    for r in results:
        if r.failure is not None:
            lines.append((r.name, "failed", *[_EMPTY] * 4))
            continue
        numbers = (r.n_clusters or 0, *r.refit_n_clusters)
        least, most = min(numbers), max(numbers)
        clusters = f"{numbers[0]}" if least == most else f"{numbers[0]} ({least}-{most})"
        choosing = f" + {_seconds(r.seconds_choosing)}" if r.seconds_choosing else ""
        seconds = _seconds(r.seconds) + choosing
        refits = _mean_and_deviation(r.reproducibility)
        lines.append((r.name, clusters, r.number_from, _percent(r.left_out), refits, seconds))
    return lines


def detector_table(results: Sequence[DetectorResult]) -> Lines:
    """A header, and a row for each detector."""
    lines: Lines = [("method", "flagged", "of unseen", "reproducibility", "seconds")]
    for r in results:
        if r.failure is not None:
            lines.append((r.name, "failed", *[_EMPTY] * 3))
            continue
        shares = _percent(r.flagged_share), _percent(r.held_out.mean)
        refits = _mean_and_deviation(r.reproducibility)
        lines.append((r.name, *shares, refits, _seconds(r.seconds)))
    return lines


def agreement_table(above: AgreementMatrix, below: AgreementMatrix) -> Lines:
    """Two measures in one square, one above the diagonal and one below it."""
    numbers = [str(i + 1) for i in range(len(above.names))]
    square = np.triu(above.values, 1) + np.tril(below.values, -1)
    lines: Lines = [("", *numbers)]
    for i, name in enumerate(above.names):  # + 0.0: never -0.00
        cells = [_EMPTY if np.isnan(v) else f"{round(v, 2) + 0.0:.2f}" for v in square[i]]
        cells[i] = ""
        lines.append((f"{numbers[i]} {name}", *cells))
    return lines


def notes_on_run(found: "Comparison") -> tuple[str, ...]:
    """What was run on what, in sentences."""
    n_compared = len(found.rows)
    notes = [
        "Methods chosen by name run with the defaults of their libraries; with other settings they "
        "may do better."
    ]
    if n_compared < found.n_rows:
        notes.append(
            f"The comparison uses a random sample of {n_compared:,} of the {found.n_rows:,} "
            f"rows (seed {found.seed})."
        )
    notes += [
        f"Only {result.n_fitted:,} rows were used to fit {result.name}: its cost grows with the "
        "square of the number of rows."
        for result in found.detectors
        if 0 < result.n_fitted < n_compared
    ]
    notes += [
        "Clusters: their number; in brackets the smallest and the largest number in "
        "refits; and who chose the number: the method found it, it was given, or it "
        "has the best silhouette or the smallest BIC.",
        f"Reproducibility: every method was fitted again on {found.n_repeats} "
        "subsamples of 80 % of the rows. The number is the mean agreement of two of "
        "these fits on the rows they share (1 is best), with its standard deviation. "
        "Numbers of clusters that were chosen stay the same in these fits. A result "
        "with one cluster is trivially reproducible.",
        "Seconds: the time to fit once and to label or flag all rows of the "
        "comparison; compilation is not included. After a + is the additional time to choose "
        "the number of clusters.",
    ]
    return tuple(notes)


def _percent(share: float | None) -> str:
    return _EMPTY if share is None or np.isnan(share) else f"{100 * share:.1f} %"


def _mean_and_deviation(repeats: Repeats) -> str:
    deviation = f" ± {repeats.deviation:.2f}" if len(repeats.values) > 1 else ""
    return f"{repeats.mean:.2f}{deviation}" if repeats.values else _EMPTY


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"
