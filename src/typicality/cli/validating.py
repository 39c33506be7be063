"""What `typicality validate` does: read, split and fit many times, print, write."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import OneClassSVM

from typicality import OneClusterPCM
from typicality._typing import Doubles
from typicality._words import enumerated
from typicality.bandwidth import BANDWIDTH_RULES, bandwidth
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.methods import near_name
from typicality.cli.options import RunChoice, TableChoice
from typicality.cli.preparing import PreparedRows, open_chosen, prepare_rows
from typicality.cli.resources import within
from typicality.cli.run_folder import folder_if_named
from typicality.cli.summary import about_data
from typicality.cli.validation import Validation
from typicality.cli.validation_files import FILES, PICTURE, record_of, write_files
from typicality.cli.validation_summary import say_validation
from typicality.exceptions import RepetitionError
from typicality.geometry import Features
from typicality.geometry.checks import check_magnitudes
from typicality.preprocessing import ColumnScaler
from typicality.validation import OutlierStability, outlier_stability
from typicality.validation.sigma_grid import NamedSigma, named_sigmas, rounded

_FEWEST_ROWS = 20
_NO_PICTURE = (
    f"{PICTURE} was not drawn: that takes matplotlib, which is not installed. Install it by "
    'pip install "typicality[plot]".'
)
_ROWS_WORTH_PROCESSES = 1_000  # with fewer, to start processes takes longer than the fits


@dataclass(frozen=True)
class ValidateChoice:
    """The options of `validate` alone.

    Parameters
    ----------
    sigma : tuple of float and str
        Bandwidths: numbers, rules, or "auto" for a grid of them.
    rates : tuple of float
        Shares of rows to flag, in rising order.
    repeats : int
        The number of splits.
    transfer : {"threshold", "rank"}
        How one half flags rows of the other.
    compare : bool
        Whether a one-class SVM is measured, too.
    max_rows : int
        The most rows that are split.
    """

    sigma: tuple[float | str, ...]
    rates: tuple[float, ...]
    repeats: int
    transfer: str
    compare: bool
    max_rows: int


def run_validation(
    table: TableChoice,
    choice: ValidateChoice,
    run: RunChoice,
    *,
    command: tuple[str, ...],
    table_words: tuple[str, ...],
) -> None:
    """Measure the stability on the rows of a file, print what it means, write it where asked to."""
    terminal = Terminal(quiet=run.quiet, as_json=run.as_json)
    with (
        within(jobs=run.jobs, memory=run.memory),
        folder_if_named(run.output, force=run.force, ours=FILES) as folder,
        open_chosen(table) as opened,
    ):
        with terminal.doing(f"Reading {opened.name}"):
            memory = None if run.memory is None else int(run.memory * 1e9)
            rows = prepare_rows(opened, table, memory=memory)
        found = _validated(rows, table, choice, run, terminal)
        next_command = ("typicality", "outliers", *table_words, *_next_options(found))
        record = record_of(found, rows, table, command=command, next_command=next_command)
        written = () if folder is None else write_files(folder, found, record)
    if run.as_json:
        terminal.json(record)
    about = about_data(rows, table.missing)
    say_validation(terminal, found, about=about, next_command=next_command)
    if run.output is not None:
        terminal.say_path(f"Written: {', '.join(written)} in ", f"{Path(run.output)}/")
        terminal.warn([_NO_PICTURE] if PICTURE not in written else [])


def _next_options(found: Validation) -> Sequence[str]:
    chosen = found.recommendation.chosen
    rate = ("--rate", f"{chosen.rate:g}")
    if chosen.sigma == found.default_sigma:
        return rate
    return ("--sigma", f"{chosen.sigma!r}", *rate)


# ---- what is asked for ---------------------------------------------------------------------------


def parse_sigmas(texts: Sequence[str]) -> tuple[float | str, ...]:
    """What `--sigma` says: numbers, and names of rules."""
    if not texts:
        raise WrongUseError("--sigma is empty; leave it out, or give numbers above 0.")
    return tuple(_parse_sigma(text) for text in texts)


def _parse_sigma(text: str) -> float | str:
    if text in BANDWIDTH_RULES:
        return text
    value = _number(text)
    if value is None:
        raise WrongUseError(
            f"--sigma {text!r} is neither a number nor a rule; {near_name(text, BANDWIDTH_RULES)}"
        )
    if value <= 0 or not 0 < value * value < math.inf:
        raise WrongUseError(
            f"--sigma must be above 0 and finite, and so must be its square; got {text}."
        )
    return value


def parse_rates(texts: Sequence[str]) -> tuple[float, ...]:
    """What `--rates` says: shares of rows."""
    if not texts:
        raise WrongUseError("--rates is empty; leave it out, or give shares, say 0.05.")
    return tuple(sorted({_parse_rate(text) for text in texts}))


def _parse_rate(text: str) -> float:
    value = _number(text)
    if value is None or not 0 < value <= 0.5:
        raise WrongUseError(
            f"--rates must be shares of rows to flag, above 0 and at most 0.5; got {text!r}."
        )
    return value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# ---- what is measured ----------------------------------------------------------------------------


class _Task(NamedTuple):
    """A detector, and how many fits a repetition takes."""

    sigma: float
    detector: Any
    rate_parameter: str | None
    n_fits: int


def _validated(
    rows: PreparedRows, table: TableChoice, choice: ValidateChoice, run: RunChoice, terminal: Any
) -> Validation:
    """The stability for every bandwidth and rate."""
    began = time.perf_counter()
    Z = _scaled(rows, table)
    default = bandwidth("auto", Z)
    sigmas = _sigmas(Z, choice.sigma, default)
    X = _sampled(Z, choice.max_rows, run.seed)
    tasks = [_Task(sigma, OneClusterPCM(sigma=sigma), None, 2) for sigma, _ in sigmas]
    if choice.compare:
        n_fits = 2 * len(choice.rates)
        machines = [(sigma, OneClassSVM(gamma=0.5 / sigma**2)) for sigma, _ in sigmas]
        tasks += [_Task(sigma, machine, "nu", n_fits) for sigma, machine in machines]
    try:
        results, heard = _measured(tasks, X, choice, run, terminal)
    except RepetitionError as error:
        raise UnusableError(f"{rows.table.name} cannot be validated: {error}") from error
    return Validation(
        n_rows=len(Z),
        seed=run.seed,
        sigmas=sigmas,
        default_sigma=default,
        ours=tuple(results[: len(sigmas)]),
        svm=tuple(results[len(sigmas) :]),
        warnings=heard,
        seconds=time.perf_counter() - began,
    )


def _scaled(rows: PreparedRows, table: TableChoice) -> Doubles:
    """The rows as `outliers` scales them, if there is something to be found in them."""
    name = rows.table.name
    if len(rows.X) < _FEWEST_ROWS:
        raise UnusableError(
            f"{name}: {len(rows.X)} rows can be used, and at least {_FEWEST_ROWS} are needed to "
            "split them in halves; bring more rows."
        )
    missing = "median" if table.missing == "median" else "error"
    scaler = ColumnScaler(scale=table.scale, missing=missing)
    Z: Doubles = scaler.fit_transform(rows.X)
    if not np.ptp(Z, axis=0).any():
        raise UnusableError(f"{name}: all rows are equal, so none of them can be an outlier.")
    try:
        check_magnitudes(Features.of(Z), Z.dtype)
    except ValueError as error:
        raise UnusableError(str(error).replace(" X ", f" {name} ")) from error
    return Z


def _sigmas(Z: Doubles, wanted: Sequence[float | str], default: float) -> tuple[NamedSigma, ...]:
    """The bandwidths that were asked for, in rising order, and the one `outliers` would take."""
    chosen = {default: "auto (M / 2)"}
    for one in wanted:
        if one == "auto":
            chosen |= dict(named_sigmas(Z))
        elif isinstance(one, str):
            chosen.setdefault(rounded(bandwidth(one, Z)), one)
        elif one != rounded(default):  # the default, as it is printed
            chosen.setdefault(one, "")
    return tuple(NamedSigma(sigma, chosen[sigma]) for sigma in sorted(chosen))


def _sampled(Z: Doubles, at_most: int, seed: int) -> Doubles:
    if len(Z) <= at_most:
        return Z
    return np.asarray(Z[np.random.RandomState(seed).choice(len(Z), at_most, replace=False)])


def _measured(
    tasks: Sequence[_Task], X: Doubles, choice: ValidateChoice, run: RunChoice, terminal: Terminal
) -> tuple[list[OutlierStability], tuple[str, ...]]:
    """The result of each task, and what was warned of."""
    total = choice.repeats * sum(task.n_fits for task in tasks)
    results, done, heard = [], 0, dict[str, list[str]]()
    with terminal.counting(total, "fits") as tell:
        for task in tasks:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results.append(_stability(task, X, choice, run, _counted(tell, done, task.n_fits)))
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                heard.setdefault(text, []).append(f"{task.sigma:.4g}")
            done += choice.repeats * task.n_fits
    return results, tuple(
        f"With sigma {enumerated(sigmas)}: {text}" for text, sigmas in heard.items()
    )


def _stability(
    task: _Task, X: Doubles, choice: ValidateChoice, run: RunChoice, progress: Any
) -> OutlierStability:
    processes = -1 if len(X) >= _ROWS_WORTH_PROCESSES else 1
    return outlier_stability(
        task.detector,
        X,
        rates=choice.rates,
        rate_parameter=task.rate_parameter,
        transfer=choice.transfer,
        n_repeats=choice.repeats,
        random_state=run.seed,  # one for all, so that all see the same halves
        n_jobs=run.jobs or processes,
        progress=progress,
    )


def _counted(tell: Callable[[int], None], before: int, n_fits: int) -> Callable[[int, int], None]:
    return lambda done, _: tell(before + n_fits * done)
