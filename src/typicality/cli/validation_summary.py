"""What `typicality validate` found, for a person at a terminal."""

import shlex
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from typicality._words import counted
from typicality.cli.console import Terminal
from typicality.cli.validation import Validation
from typicality.validation import OutlierStability

_MOST_WITH_ERRORS = 3  # rates; more would not fit a line of eighty
_ABOUT = (
    "Mean Jaccard index of the rows that two halves flag: 1 where both flag the same rows, 0 where "
    "none is flagged by both."
)
_ABOUT_SVM = "On the same halves, with nu the rate; by its scores, never by its own predictions."
_TRANSFERS = {
    "threshold": "score below its threshold",
    "rank": "score lowest, as many of them",
}


def say_validation(
    terminal: Terminal, found: Validation, *, about: str, next_command: Sequence[str]
) -> None:
    """Print the figures, the recommendation and the next command."""
    terminal.say(about)
    terminal.say(Text("\nStability", style="bold"))
    terminal.say(_table(found, found.ours))
    terminal.say(_ABOUT + _about_errors(found))
    if found.svm:
        terminal.say(Text("\nOne-class SVM with the same kernels", style="bold"))
        terminal.say(_table(found, found.svm, is_ours=False))
        terminal.say(_ABOUT_SVM)
    terminal.say(Text("\nRecommendation", style="bold"))
    advice, *reasons = found.recommendation.sentences
    terminal.say(advice)
    terminal.say(" ".join(reasons))
    terminal.say(Text("\nHow it was measured", style="bold"))
    for sentence in _notes(found):
        terminal.say(f"- {sentence}")
    terminal.warn([*found.recommendation.warnings, *found.warnings])
    _, _, file, *_ = next_command
    again = ", with the same rows on standard input" if file == "-" else ""
    terminal.say_path(f"\nNext{again}: ", shlex.join(next_command))


def _table(
    found: Validation, results: Sequence[OutlierStability], *, is_ours: bool = True
) -> Table:
    """A line for each bandwidth, a column for each rate."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("sigma", justify="right", no_wrap=True)
    table.add_column("rule", no_wrap=True)
    for rate in found.rates:
        name = f"rate {rate:g}" if _has_errors(found) else f"{rate:g}"
        table.add_column(name, justify="right", no_wrap=True)
    for named, result in zip(found.sigmas, results, strict=True):
        rule = Text(named.rule)
        if is_ours and named.sigma == found.default_sigma:
            rule.append(", default", style="bold")
        cells = _cells(found, result)
        table.add_row(f"{named.sigma:.4g}", rule, *cells)
    return table


def _cells(found: Validation, result: OutlierStability) -> Iterator[str]:
    for mean, error in zip(result.mean, result.standard_error, strict=True):
        yield f"{mean:.2f} ± {error:.2f}" if _has_errors(found) else f"{mean:.2f}"


def _has_errors(found: Validation) -> bool:
    return len(found.rates) <= _MOST_WITH_ERRORS


def _about_errors(found: Validation) -> str:
    if _has_errors(found):
        return " After ± its standard error."
    largest = max(setting.standard_error for setting in found.recommendation.settings)
    return f" A column for each rate; standard errors are {largest:.2f} or less."


def _notes(found: Validation) -> Iterator[str]:
    n_half = found.n_split // 2
    if found.n_split < found.n_rows:
        yield (
            f"Split is a random sample of {found.n_split:,} of the {found.n_rows:,} rows (seed "
            f"{found.seed}); --max-rows takes more."
        )
    yield (
        f"{counted(found.n_repeats, 'time')} the rows were split in halves of {n_half:,}, and a "
        "model was fitted on each. The rows of one half were judged by both models: its own flags "
        "those that score lowest, the other, which has not seen them, those that "
        f"{_TRANSFERS[found.transfer]} (--transfer)."
    )
    yield (
        "Sigma is in units of scaled columns; M is the median distance of rows, h the distance to "
        f"the tenth neighbour. {found.seconds:.1f} s in all."
    )
