"""Options that several commands share, gathered into one value: :class:`Options`."""

import csv
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import click

from typicality.cli.errors import explained

Command = Callable[..., Any]
# Options about how a file is written.
FORMAT = ("format", "delimiter", "header", "encoding", "decimal")


@dataclass(frozen=True)
class Options:
    """What commands on a file are asked for; each command has some of these as its options.

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
    encoding : str or None
        The encoding of a csv file, where a first look does not tell.
    decimal : str or None
        The decimal mark of a csv file, where a first look does not tell.
    columns : tuple of str
        The columns to use; all that are numeric where it is empty.
    ignore : tuple of str
        Columns to leave out.
    scale : {"robust", "standard", "none"}
        How columns are brought to one scale.
    transform : {"none", "auto", "log"}
        Which columns are replaced by logarithms.
    categorical : tuple of str
        Columns of categories that take part; ("auto",) for all columns of text.
    ordered : tuple of str
        Columns of ordered categories, as they were given: NAME=LOW,...,HIGH.
    missing : {"error", "drop", "median"} or None
        What happens to rows with missing values; None for what an earlier run did.
    output : str or None
        The folder or file for the results; None for one named after the file.
    force : bool
        Whether results that are there are replaced.
    seed : int
        The seed of everything random.
    jobs : int or None
        The number of threads; None for all cores.
    safe_csv : bool
        Whether cells that a spreadsheet would take for formulas are made text.
    as_json : bool
        Whether the result is printed as JSON.
    quiet : bool
        Whether nothing but errors is printed.
    name : str or None
        The column that names rows in the output; None for the most useful one.
    exact : bool
        Whether no other columns of numbers are used than `columns`, even if these are none, and
        columns have any number of categories: those of an earlier run are known.
    device : str or None
        The device of torch on which rows in memory are fitted; None for arrays of NumPy.
    workers : int or None
        The number of Dask processes of this machine that read the file; None for no Dask.
    scheduler : str or None
        The address of a scheduler of Dask.
    """

    file: str = ""
    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    scale: str = "robust"
    transform: str = "none"
    categorical: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    missing: str | None = "error"
    output: str | None = None
    force: bool = False
    seed: int = 0
    jobs: int | None = None
    safe_csv: bool = False
    as_json: bool = False
    quiet: bool = False
    name: str | None = None
    exact: bool = False
    device: str | None = None
    workers: int | None = None
    scheduler: str | None = None

    @property
    def uses_dask(self) -> bool:
        """Whether processes of Dask read the file."""
        return self.workers is not None or self.scheduler is not None

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The ordered categories of each column of them, from the lowest to the highest."""
        return dict(map(_order, self.ordered))


def order_text(name: str, order: Sequence[str]) -> str:
    """Ordered categories of a column as --ordered takes them."""
    return f"{name}={','.join(map(quoted, order))}"


def _order(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, values = text.partition("=")
    return name.strip(), tuple(value.strip() for value in next(csv.reader([values])))


def command(function: Command, kind: type[click.Command] = click.Command) -> click.Command:
    """A command named after its function, with --debug, and its errors in one sentence.

    The function gets the fields of :class:`Options` as its first argument, other options by name.
    `kind` is the class of the command.
    """

    @functools.wraps(function)
    def call(*, debug: bool, **values: Any) -> None:
        shared = {field.name for field in fields(Options)} & values.keys()
        options = Options(**{name: values.pop(name) for name in shared})
        with explained(debug=debug):
            function(options, **values)

    settings = {"help_option_names": ["-h", "--help"], "show_default": True}
    made = click.command(cls=kind, context_settings=settings)(call)
    made.params.append(
        click.Option(["--debug"], is_flag=True, help="Show the traceback of an error.")
    )
    return made


def command_line() -> tuple[str, ...]:
    """The command that was called, as it could be typed: what was left to defaults is left out.

    So is --jobs, which changes no result.
    """
    ctx = click.get_current_context()
    parameters = [each for each in ctx.command.params if each.name != "jobs"]
    return ("typicality", str(ctx.info_name), *_typed(ctx, parameters))


def _typed(ctx: click.Context, parameters: Sequence[click.Parameter]) -> tuple[str, ...]:
    """Arguments and options as they could be typed."""
    words: list[str] = []
    for parameter in parameters:
        name = str(parameter.name)
        if ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            continue
        value = ctx.params[name]
        if isinstance(parameter, click.Argument):
            # A path is not to be taken for an option; "-" alone is standard input.
            words.append(f"./{value}" if value.startswith("-") and value != "-" else value)
        elif getattr(parameter, "is_flag", False):
            words.append(parameter.opts[0] if value else parameter.secondary_opts[0])
        else:
            values = map(quoted, value) if parameter.multiple else [value]
            words.extend(word for each in values for word in (parameter.opts[0], str(each)))
    return tuple(words)


def quoted(value: str) -> str:
    """A name as `list_option` reads it: quotation marks are doubled within others."""
    inner = value.replace('"', '""')
    return f'"{inner}"' if "," in value or inner != value else value


def _comma_separated(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Names that were given one by one, or several in one go; those with commas are quoted."""
    cells = (next(csv.reader([value], skipinitialspace=True)) for value in values)
    return tuple(name.strip() for names in cells for name in names if name.strip())


def _orders(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Orders of categories as they were given; those that are none are refused."""
    for value in values:
        name, known = _order(value)
        if not name or "" in known or len({*known}) < max(2, len(known)):
            raise click.BadParameter(
                f"{value!r} does not have the form NAME=LOW,...,HIGH with different categories; "
                "write, for example, size=small,medium,large.",
                ctx,
                parameter,
            )
    return values


def _device(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"auto|cpu|cuda(:\d{1,3})?", value):
        raise click.BadParameter(
            f"{value!r} is not a device; write cuda, cuda:1, cpu or auto.", ctx, parameter
        )
    return value


def option(names: str, help: str, **settings: Any) -> Callable[[Command], Command]:
    """An option as --help shows it, for example "--output -o DIR", and what it means.

    `settings` are those of :func:`click.option`.
    """
    flags = [word for word in names.split() if word.startswith("-")]
    metavar = "".join(names.split()[len(flags) :]) or None
    return click.option(*flags, metavar=metavar, help=help, **settings)


def list_option(names: str, help: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes names with commas between them, and may be given several times."""
    return option(names, help, multiple=True, callback=_comma_separated, **settings)


def _adding(*options: Any) -> Callable[[Command], Command]:
    """A decorator that adds options to a command, in the order in which --help lists them."""

    def add(function: Command) -> Command:
        for each in reversed(options):
            function = each(function)
        return function

    return add


file_argument = click.argument("file", metavar="FILE")
format_options = _adding(
    option(
        "--format NAME",
        "The format of FILE: csv, tsv, ndjson, parquet, arrow, npy or xlsx. [default: detected]",
        type=click.Choice(["csv", "tsv", "ndjson", "parquet", "arrow", "npy", "xlsx"]),
    ),
    option(
        "--delimiter CHAR",
        "The character between the cells of a csv file, or `whitespace` for blanks and tabs. "
        "[default: detected]",
    ),
    option(
        "--header/--no-header",
        "Whether the first line of a csv file names the columns. [default: detected]",
        default=None,
    ),
    option(
        "--decimal CHAR",
        "The decimal mark of a csv file, a point or a comma. [default: detected]",
        type=click.Choice([".", ","]),
    ),
    option(
        "--encoding NAME", "The encoding of a csv file, for example cp1252. [default: detected]"
    ),
)

table_options = _adding(
    file_argument,
    format_options,
    list_option("--columns -c A,B", "Use only these columns. [default: all columns of numbers]"),
    list_option("--ignore A,B", "Leave these columns out."),
    option(
        "--scale",
        "Scale columns by median and quartiles (robust), by mean and standard deviation "
        "(standard), or not at all.",
        type=click.Choice(["robust", "standard", "none"]),
        default="robust",
    ),
    option(
        "--transform",
        "Take logarithms, before scaling, of no column, of skewed columns (auto), or of all "
        "columns (log).",
        type=click.Choice(["none", "auto", "log"]),
        default="none",
    ),
    option(
        "--missing",
        "What to do with missing values: stop and report them (error), leave such rows out "
        "(drop), or fill in the median of the column (median; missing categories become a "
        "category of their own).",
        type=click.Choice(["error", "drop", "median"]),
        default="error",
    ),
)

category_options = _adding(
    list_option(
        "--categorical auto|A,B",
        "Use these columns, or all columns of text (auto), as categories. [default: "
        "columns of text are not used]",
    ),
    option(
        "--ordered NAME=LOW,...,HIGH",
        "A column of ordered categories, from the lowest to the highest; a category is replaced "
        "by its rank. May be given several times.",
        multiple=True,
        callback=_orders,
    ),
)

print_options = _adding(
    click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON."),
    option("--quiet -q", "Print only errors.", is_flag=True),
)

safe_csv_option = option(
    "--safe-csv",
    "Write an apostrophe before cells of text that begin with = + - or @, so that a spreadsheet "
    "does not treat them as formulas.",
    is_flag=True,
)

jobs_option = option(
    "--jobs N", "The number of threads. [default: all cores]", type=click.IntRange(min=1)
)

_work_options = _adding(
    option("--force", "Replace existing results.", is_flag=True),
    option(
        "--seed N", "The seed of all random numbers.", type=click.IntRange(0, 2**32 - 1), default=0
    ),
    jobs_option,
    print_options,
)


def _output(help: str) -> Any:
    return option("--output -o DIR", help, type=click.Path())


fit_options = _adding(
    option(
        "--sigma S",
        "The width of the kernel, in units of the scaled columns, or the name of a rule (knn, "
        "median, scott, ...). [default: auto]",
    ),
    option("--kernel NAME", "The kernel, for example gaussian or laplacian."),
    option(
        "--param NAME=VALUE",
        "Any other parameter of the estimator; may be given several times.",
        multiple=True,
    ),
    option(
        "--name COLUMN",
        "The column that names rows in the output. [default: the most useful column of text]",
    ),
    option("--report/--no-report", "Whether to write report.html.", default=True),
    _output("The folder for the results. [default: a folder named after FILE]"),
    safe_csv_option,
    option(
        "--device NAME",
        "Fit the model on a device of torch: cuda, cuda:1, cpu, or auto (cuda if there is one). "
        "[default: without torch]",
        callback=_device,
    ),
    option(
        "--workers N",
        "Read FILE in blocks with N Dask workers on this machine.",
        type=click.IntRange(min=1),
    ),
    option(
        "--scheduler ADDRESS",
        "Read FILE in blocks with the workers of a running Dask scheduler, e.g. tcp://host:8786. "
        "The workers need FILE under the same path.",
    ),
    _work_options,
)
run_options_without_folder = _adding(
    _output("A folder for the results. [default: results are only printed]"), _work_options
)
