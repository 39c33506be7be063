"""`typicality validate`: are the outliers stable under resampling, and with which settings."""

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from typicality._words import counted
from typicality.cli.console import Terminal, rich_table
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import (
    Options,
    command,
    list_option,
    option,
    run_options_without_folder,
    table_options,
    table_words,
)

if TYPE_CHECKING:
    from typicality.stability import OutlierStudy

_PICTURE = "stability.png"
_FILES = ("validation.json", "validation.csv", "scores.csv", _PICTURE)
_ROWS_WORTH_PROCESSES = 1_000  # with fewer, to start processes takes longer than the fits
_NO_PICTURE = (
    f"{_PICTURE} was not drawn, because matplotlib is not installed. Install it: "
    "pip install matplotlib."
)
_ABOUT = (
    "Mean Jaccard index of the rows that two halves flag: 1 if both flag the same "
    "rows, 0 if no row is flagged by both."
)
_ABOUT_SVM = (
    "Computed on the same halves, with nu equal to the rate; outliers are taken by "
    "the scores of the SVM, not by its predictions."
)
_TRANSFERS = {
    "threshold": "score below its threshold",
    "rank": "score lowest, the same number of them",
}


@command
@table_options
@list_option(
    "--sigma A,B",
    "Kernel widths to compare, in units of the scaled columns: numbers, names of rules, or auto "
    "for seven widths. The default width of `outliers` is always included.",
    default=("auto",),
)
@list_option("--rates A,B", "Fractions of rows to flag.", default=("0.01", "0.05", "0.1"))
@option(
    "--repeats N",
    "The number of random splits into two halves.",
    type=click.IntRange(min=2),
    default=20,
)
@option(
    "--transfer",
    "Which rows of the other half a model flags: rows below its own threshold, or the rows with "
    "the lowest scores, as many as the model of the other half flags (rank).",
    type=click.Choice(["threshold", "rank"]),
    default="threshold",
)
@option("--compare", "Also evaluate a one-class SVM with the same kernels.", is_flag=True)
@option(
    "--max-rows N",
    "If there are more rows, split a random sample of N rows.",
    type=click.IntRange(min=20),
    default=2_000,
)
@run_options_without_folder
def validate(
    options: Options,
    sigma: tuple[str, ...],
    rates: tuple[str, ...],
    repeats: int,
    transfer: str,
    compare: bool,
    max_rows: int,
) -> None:
    """Check whether outliers are stable under resampling.

    Splits the rows into two halves many times, fits a model to each half, and compares which rows
    the two models flag, for several kernel widths and rates. Recommends a width and a rate, and
    prints the next command. Writes no files unless --output names a folder.
    """
    from typicality.cli.columns import about_rows
    from typicality.cli.folder import new_folder, record_of_result
    from typicality.cli.machine import within
    from typicality.cli.parameters import refuse_categories
    from typicality.cli.rows import open_file, read_file
    from typicality.exceptions import RepetitionError

    refuse_categories(
        options,
        "validate",
        "leave it out to see how stable the outliers in the numeric columns are.",
    )
    sigmas, shares = _parse_sigmas(sigma), _parse_rates(rates)
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    with (
        new_folder(options.output, force=options.force, record=_FILES[0]) as folder,
        open_file(options) as table,
        within(options),
    ):
        with terminal.doing(f"Reading {table.name}"):
            rows = read_file(table, options)
            from typicality.stability import outlier_study

            Z = rows.scaler().fit_transform(rows.X)
        processes = -1 if min(len(Z), max_rows) >= _ROWS_WORTH_PROCESSES else 1
        try:
            study = outlier_study(
                Z,
                sigmas=sigmas,
                rates=shares,
                n_repeats=repeats,
                transfer=transfer,
                compare=compare,
                max_rows=max_rows,
                random_state=options.seed,
                n_jobs=options.jobs or processes,
                progress=not options.quiet,
            )
        except RepetitionError as error:
            raise UnusableError(f"{table.name} cannot be validated: {error}") from error
        except ValueError as error:
            raise UnusableError(re.sub(r"\bX\b", lambda _: table.name, str(error))) from error
        chosen = study.recommendation.chosen
        next_command = ["typicality", "outliers", *table_words()]
        if chosen.sigma != study.default_sigma:
            next_command += ["--sigma", f"{chosen.sigma!r}"]
        next_command += ["--rate", f"{chosen.rate:g}"]
        record = record_of_result(rows, study.to_dict())
        record["recommendation"]["next_command"] = shlex.join(next_command)
        written = () if folder is None else _write(folder, study, record)
    if options.as_json:
        terminal.json(record)
    terminal.say(about_rows(rows))
    _say(terminal, study)
    again = ", with the same rows on standard input" if options.file == "-" else ""
    terminal.say_path(f"\nNext{again}: ", shlex.join(next_command))
    if options.output is not None:
        terminal.say_path(f"Written: {', '.join(written)} in ", f"{Path(options.output)}/")
        terminal.warn([_NO_PICTURE] if _PICTURE not in written else [])


# ---- what is asked for ---------------------------------------------------------------------------


def _parse_sigmas(texts: tuple[str, ...]) -> tuple[float | str, ...]:
    """What `--sigma` says: numbers, and names of rules."""
    if not texts:
        raise WrongUseError("--sigma is empty; leave it out, or give numbers above 0.")
    if texts == ("auto",):
        return texts
    from typicality.bandwidth import BANDWIDTH_RULES
    from typicality.cli.parameters import near_name

    sigmas: list[float | str] = []
    for text in texts:
        value = _number(text)
        if text not in BANDWIDTH_RULES and value is None:
            near = near_name(text, BANDWIDTH_RULES)
            raise WrongUseError(f"--sigma {text!r} is neither a number nor a rule; {near}")
        if value is not None and not (value > 0 and 0 < value * value < math.inf):
            raise WrongUseError(f"--sigma and its square must be above 0 and finite; got {text}.")
        sigmas.append(text if value is None else value)
    return tuple(sigmas)


def _parse_rates(texts: Sequence[str]) -> tuple[float, ...]:
    """What `--rates` says: shares of rows."""
    if not texts:
        raise WrongUseError("--rates is empty; leave it out, or give shares, e.g. 0.05.")
    rates = []
    for text in texts:
        value = _number(text)
        if value is None or not 0 < value <= 0.5:
            raise WrongUseError(
                f"--rates must be shares of rows to flag, above 0 and at most 0.5; got {text!r}."
            )
        rates.append(value)
    return tuple(rates)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# ---- what is printed -----------------------------------------------------------------------------


def _say(terminal: Terminal, study: "OutlierStudy") -> None:
    """Print the figures and the recommendation."""
    about_errors = " After ± its standard error."
    if not study.shows_errors:
        largest = max(setting.standard_error for setting in study.recommendation.settings)
        about_errors = f" A column for each rate; standard errors are {largest:.2f} or less."
    ours, *others = study.results
    terminal.say_heading("Stability")
    terminal.say(_table(study, ours))
    terminal.say(_ABOUT + about_errors)
    for other in others:
        terminal.say_heading("One-class SVM with the same kernels")
        terminal.say(_table(study, other))
        terminal.say(_ABOUT_SVM)
    terminal.say_heading("Recommendation")
    advice, *reasons = study.recommendation.sentences
    terminal.say(advice)
    terminal.say(" ".join(reasons))
    terminal.say_heading("How it was measured")
    for sentence in _notes(study):
        terminal.say(f"- {sentence}")
    terminal.warn(study.warnings)


def _table(study: "OutlierStudy", detector: str) -> Any:
    """A line for each bandwidth, a column for each rate."""
    from rich.text import Text

    header, *lines = study.cells(detector)
    rows = []
    for sigma, rule, *figures in lines:
        words = Text(rule)
        words.highlight_words([", default"], "bold")
        rows.append((sigma, words, *figures))
    return rich_table([header, *rows], left=1)


def _notes(study: "OutlierStudy") -> Iterator[str]:
    if study.n_split < study.n_rows:
        yield (
            f"A random sample of {study.n_split:,} of the {study.n_rows:,} rows was split "
            f"(seed {study.seed}); use --max-rows for more."
        )
    yield (
        f"{counted(study.n_repeats, 'time')} the rows were split into halves of "
        f"{study.n_split // 2:,}, and a model was fitted on each. Both models scored "
        "the rows of one half: its own model flags those that score lowest; the other "
        f"model, which has not seen them, flags those that {_TRANSFERS[study.transfer]} "
        "(--transfer)."
    )
    yield (
        "Sigma is in units of scaled columns. M is the median distance between rows, h "
        f"the distance to the tenth neighbour. {study.seconds:.1f} s in all."
    )


# ---- what is written -----------------------------------------------------------------------------


def _write(folder: Path, study: "OutlierStudy", record: dict[str, Any]) -> tuple[str, ...]:
    """Write all files; the names of those that were written."""
    from typicality.cli.folder import write_csv, write_record

    write_csv(folder / _FILES[1], study.table)
    write_csv(folder / _FILES[2], study.score_table)
    has_picture = find_spec("matplotlib") is not None
    if has_picture:
        _draw(folder / _PICTURE, study)
    write_record(folder / _FILES[0], record)
    return _FILES if has_picture else _FILES[:-1]


# ---- what is drawn -------------------------------------------------------------------------------

_DOTS_PER_INCH = 120
_PANEL_HEIGHT, _BOX_WIDTH, _MARGIN = 2.3, 0.85, 1.5  # inches
_TOP = 1.15  # a word has room above boxes that reach 1
_BEHIND_CHOSEN = "#e3efda"
_IN_PICTURE = {"one-cluster": "typicality", "one-class svm": "one-class SVM"}


def _draw(path: Path, study: "OutlierStudy") -> None:
    """Draw a panel for each rate, with boxes of each detector for each bandwidth."""
    import numpy as np
    from matplotlib.figure import Figure

    from typicality.plot import StabilityDisplay

    n_rates, chosen = len(study.rates), study.recommendation.chosen
    size = (_MARGIN + _BOX_WIDTH * len(study.sigmas), _MARGIN / 2 + _PANEL_HEIGHT * n_rates)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(n_rates, 1, squeeze=False, sharex=True)[:, 0]
    names = {"setting_name": "sigma", "score_name": "stability"}
    labels = [
        f"{sigma:.4g}\n{rule}".rstrip() + "\ndefault" * (sigma == study.default_sigma)
        for sigma, rule in study.sigmas
    ]
    for number, (ax, rate) in enumerate(zip(panels, study.rates, strict=True)):
        scores = {
            _IN_PICTURE[name]: np.column_stack([result.scores[:, number] for result in results])
            for name, results in study.results.items()
        }
        StabilityDisplay(scores, settings=labels, **names).plot(ax=ax)
        ax.set(ylim=(-0.03, _TOP), title=f"Rate {rate:g}")
        ax.label_outer()
        if number > 0 and len(scores) > 1:
            ax.get_legend().remove()
        if chosen.rate == rate:
            place = [sigma for sigma, _ in study.sigmas].index(chosen.sigma)
            ax.axvspan(place - 0.5, place + 0.5, color=_BEHIND_CHOSEN, zorder=0)
            ax.text(place, 1.03, "recommended", ha="center", va="bottom", fontsize="small")
    figure.savefig(path, dpi=_DOTS_PER_INCH)
