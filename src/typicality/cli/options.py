"""Options that several commands share, gathered into one value each.

A decorator such as :func:`table_options` adds its options to a command, which then gets all of
them as one keyword, a frozen dataclass: ``table: TableChoice``, ``run: RunChoice``.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click

from typicality.cli.errors import explained

__all__ = [
    "RunChoice",
    "TableChoice",
    "command",
    "file_argument",
    "print_options",
    "run_options",
    "table_options",
]

Command = Callable[..., Any]


@dataclass(frozen=True)
class TableChoice:
    """Which numbers of a file are used, and how they are made ready.

    Parameters
    ----------
    file : str
        The path, or "-" for standard input.
    format : str or None
        The format, where the name of the file does not tell.
    columns : tuple of str
        The columns to use; all that are numeric where it is empty.
    ignore : tuple of str
        Columns to leave out.
    scale : {"robust", "standard", "none"}
        How columns are brought to one scale.
    missing : {"error", "drop", "median"}
        What happens to rows with missing values.
    """

    file: str
    format: str | None
    columns: tuple[str, ...]
    ignore: tuple[str, ...]
    scale: str
    missing: str


@dataclass(frozen=True)
class RunChoice:
    """Where results go, how much of the machine is used, and how much is printed.

    Parameters
    ----------
    output : str or None
        The folder; None for one named after the file.
    force : bool
        Whether a folder that is there is replaced.
    seed : int
        The seed of everything random.
    jobs : int or None
        The number of threads; None for all cores.
    memory : float or None
        Gigabytes of working memory; None for scikit-learn's setting.
    as_json : bool
        Whether the result is printed as JSON.
    quiet : bool
        Whether nothing but errors is printed.
    """

    output: str | None
    force: bool
    seed: int
    jobs: int | None
    memory: float | None
    as_json: bool
    quiet: bool


def command(function: Command) -> click.Command:
    """A command named after its function, with --debug, and its errors in one sentence."""
    settings = {"help_option_names": ["-h", "--help"], "show_default": True}
    made = click.command(context_settings=settings)(explained(function))
    made.params.append(click.Option(["--debug"], is_flag=True, help="Show tracebacks of errors."))
    return made


file_argument = click.argument("file", metavar="FILE")


def comma_separated(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Names that were given one by one, or several in one go."""
    return tuple(name for value in values for name in _split(value))


def _split(value: str) -> list[str]:
    import csv

    (names,) = csv.reader([value], skipinitialspace=True)  # names with commas may be quoted
    return [name.strip() for name in names if name.strip()]


_TABLE_OPTIONS = (
    file_argument,
    click.option(
        "--format",
        type=click.Choice(["csv", "tsv", "parquet", "arrow", "npy", "npz"]),
        help="The format of FILE. [default: by the end of its name]",
        show_default=False,
    ),
    click.option(
        "--columns",
        "-c",
        multiple=True,
        metavar="A,B",
        callback=comma_separated,
        help="Use these columns only. [default: all that hold numbers]",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="A,B",
        callback=comma_separated,
        help="Leave these columns out.",
    ),
    click.option(
        "--scale",
        type=click.Choice(["robust", "standard", "none"]),
        default="robust",
        help="How columns are brought to one scale: by median and quartiles, by mean and standard "
        "deviation, or not at all.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "median"]),
        default="error",
        help="Missing values: stop and say where they are, leave such rows out, or fill in the "
        "median of the column.",
    ),
)

_PRINT_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
)

_RUN_OPTIONS = (
    click.option(
        "--output",
        "-o",
        type=click.Path(),
        metavar="DIR",
        help="The folder for the results. [default: one named after FILE]",
    ),
    click.option("--force", is_flag=True, help="Replace results that are there already."),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        help="The seed of all that is random.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many threads compute. [default: one for each core]",
    ),
    click.option(
        "--memory",
        type=click.FloatRange(min=0, min_open=True),
        metavar="GB",
        help="Gigabytes that a step may take beyond the rows and the result. [default: 1]",
    ),
    *_PRINT_OPTIONS,
)


def table_options(function: Command) -> Command:
    """The argument FILE and the options of :class:`TableChoice`; the command gets ``table``."""
    return _gathered(function, "table", TableChoice, _TABLE_OPTIONS)


def run_options(function: Command) -> Command:
    """The options of :class:`RunChoice`; the command gets ``run``."""
    return _gathered(function, "run", RunChoice, _RUN_OPTIONS)


def print_options(function: Command) -> Command:
    """The options --json and --quiet, as ``as_json`` and ``quiet``."""
    for option in reversed(_PRINT_OPTIONS):
        function = option(function)
    return function


def _gathered(function: Command, name: str, kind: type, options: tuple[Any, ...]) -> Command:
    @functools.wraps(function)
    def call(**values: Any) -> Any:
        taken = {field.name: values.pop(field.name) for field in fields(kind)}
        return function(**values, **{name: kind(**taken)})

    for option in reversed(options):
        call = option(call)
    return call
