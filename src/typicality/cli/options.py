"""Options that several commands share, gathered into one value each.

A decorator such as :func:`table_options` adds its options to a command, which then gets all of
them as one keyword, a frozen dataclass: ``table: TableChoice``, ``run: RunChoice``.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import click

from typicality.cli.errors import explained

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
    delimiter : str or None
        What stands between cells, where a first look at the file does not tell.
    header : bool or None
        Whether the first line names the columns, where a first look does not tell.
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
    delimiter: str | None
    header: bool | None
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


def command_line() -> tuple[str, ...]:
    """The command that was called, as it could be typed: what was left to defaults is left out."""
    ctx = click.get_current_context()
    return ("typicality", str(ctx.info_name), *_typed(ctx, ctx.command.params))


def table_words() -> tuple[str, ...]:
    """FILE and the options of :class:`TableChoice` that were given, for another command on it."""
    ctx = click.get_current_context()
    names = {field.name for field in fields(TableChoice)}
    return _typed(ctx, [parameter for parameter in ctx.command.params if parameter.name in names])


def _typed(ctx: click.Context, parameters: Sequence[click.Parameter]) -> tuple[str, ...]:
    """Arguments and options as they could be typed."""
    words: list[str] = []
    for parameter in parameters:
        name = str(parameter.name)
        if ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            continue
        value = ctx.params[name]
        if isinstance(parameter, click.Argument):
            words.append(_no_option(str(value)))
        elif getattr(parameter, "is_flag", False):
            words.append(parameter.opts[0] if value else parameter.secondary_opts[0])
        else:
            values = [_quoted(each) for each in value] if parameter.multiple else [value]
            words.extend(word for each in values for word in (parameter.opts[0], str(each)))
    return tuple(words)


def _no_option(path: str) -> str:
    """A path that is not taken for an option; "-" alone is standard input."""
    return f"./{path}" if path.startswith("-") and path != "-" else path


def _quoted(value: str) -> str:
    """A name as `comma_separated` reads it: quotation marks are doubled within others."""
    inner = value.replace('"', '""')
    return f'"{inner}"' if "," in value or inner != value else value


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


_FORMAT_OPTIONS = (
    click.option(
        "--format",
        type=click.Choice(["csv", "tsv", "ndjson", "parquet", "arrow", "npy", "npz"]),
        metavar="NAME",
        help="The format of FILE: csv, tsv, ndjson, parquet, arrow, npy or npz. [default: by the "
        "end of its name]",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="What stands between the cells of a csv file. [default: found out]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a csv file names the columns. [default: found out]",
    ),
)

_TABLE_OPTIONS = (
    file_argument,
    *_FORMAT_OPTIONS,
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

_MODEL_OPTIONS = (
    click.option(
        "--sigma",
        metavar="S",
        help="The width of the kernel, in units of scaled columns, or a rule for it. "
        "[default: auto]",
    ),
    click.option("--kernel", metavar="NAME", help="The kernel, for example gaussian or laplacian."),
    click.option(
        "--param",
        multiple=True,
        metavar="NAME=VALUE",
        help="Any other parameter of the estimator; may be given several times.",
    ),
)

report_option = click.option(
    "--report/--no-report", default=True, help="Whether to write report.html."
)

_MACHINE_OPTIONS = (
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
        help="Gigabytes for the rows, and for what a step needs beyond them. [default: half of the "
        "machine, and 1]",
    ),
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
        metavar="N",
        help="The seed of all that is random.",
    ),
    *_MACHINE_OPTIONS,
    *_PRINT_OPTIONS,
)


def table_options(function: Command) -> Command:
    """The argument FILE and the options of :class:`TableChoice`; the command gets ``table``."""
    return _gathered(function, "table", TableChoice, _TABLE_OPTIONS)


def run_options(function: Command) -> Command:
    """The options of :class:`RunChoice`; the command gets ``run``."""
    return _gathered(function, "run", RunChoice, _RUN_OPTIONS)


def run_options_without_folder(function: Command) -> Command:
    """The same, for a command that writes files only where ``--output`` names a folder."""
    output = click.option(
        "--output",
        "-o",
        type=click.Path(),
        metavar="DIR",
        help="A folder for the results. [default: they are only printed]",
    )
    return _gathered(function, "run", RunChoice, (output, *_RUN_OPTIONS[1:]))


def format_options(function: Command) -> Command:
    """The options --format, --delimiter and --header, each under its own name."""
    return _with(function, _FORMAT_OPTIONS)


def model_options(function: Command) -> Command:
    """The options --sigma, --kernel and --param, each under its own name."""
    return _with(function, _MODEL_OPTIONS)


def machine_options(function: Command) -> Command:
    """The options --jobs and --memory, each under its own name."""
    return _with(function, _MACHINE_OPTIONS)


def print_options(function: Command) -> Command:
    """The options --json and --quiet, as ``as_json`` and ``quiet``."""
    return _with(function, _PRINT_OPTIONS)


def _gathered(function: Command, name: str, kind: type, options: tuple[Any, ...]) -> Command:
    @functools.wraps(function)
    def call(**values: Any) -> Any:
        taken = {field.name: values.pop(field.name) for field in fields(kind)}
        return function(**values, **{name: kind(**taken)})

    return _with(call, options)


def _with(function: Command, options: tuple[Any, ...]) -> Command:
    """A command with options, in the order in which --help lists them."""
    for option in reversed(options):
        function = option(function)
    return function
