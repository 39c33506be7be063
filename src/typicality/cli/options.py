"""Options that several commands share, gathered into one value: :class:`Options`."""

import csv
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

import click

from typicality.cli.errors import explained

Command = Callable[..., Any]
_THREADS = "OMP_NUM_THREADS"
# Options about how a file is written.
FORMAT = ("format", "delimiter", "header", "encoding", "decimal")


@dataclass(frozen=True)
class Options:
    """What commands on a file are asked for; --help says what each option means.

    Parameters
    ----------
    file : str
        The path, or "-" for standard input.
    exact : bool, default=False
        Whether no other columns of numbers are used than `columns`, even if these are none, and
        columns have any number of categories: those of an earlier run are known.
    """

    file: str = ""
    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    columns: tuple[str, ...] = ()
    geo: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    scale: str = "robust"
    transform: str | None = None
    categorical: tuple[str, ...] = ()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: str | None = "median"
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
    workers: str | None = None
    param: tuple[str, ...] = ()
    max_rows: int | None = None
    report: bool = True
    reference: str | None = None
    fdr: float | None = None

    @contextmanager
    def threads(self) -> Iterator[None]:
        """A context in which fits keep to --jobs threads.

        BLAS computes in one thread: its threads would change last bits. Libraries that are loaded
        later read the environment.
        """
        from threadpoolctl import threadpool_limits

        from typicality._threads import one_blas_thread

        with threadpool_limits(self.jobs, "openmp"), one_blas_thread():
            before = os.environ.get(_THREADS)
            if self.jobs is not None:
                os.environ[_THREADS] = str(self.jobs)
            try:
                yield
            finally:
                os.environ.pop(_THREADS, None)
                if before is not None:
                    os.environ[_THREADS] = before


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


# ---- values of options ---------------------------------------------------------------------------


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
) -> dict[str, tuple[str, ...]]:
    """The ordered categories of each column of them, from the lowest to the highest."""
    orders = {}
    for value in values:
        name, _, words = (part.strip() for part in value.partition("="))
        known = tuple(word.strip() for word in next(csv.reader([words])))
        if not name or "" in known or len({*known}) < max(2, len(known)):
            raise click.BadParameter(
                f"{value!r} does not have the form NAME=LOW,...,HIGH with different categories; "
                "write, for example, size=small,medium,large.",
                ctx,
                parameter,
            )
        orders[name] = known
    return orders


# ---- the options ---------------------------------------------------------------------------------


def option(names: str, help: str, **settings: Any) -> Callable[[Command], Command]:
    """An option as --help shows it, for example "--output -o DIR", and what it means.

    `settings` are those of :func:`click.option`.
    """
    flags = [word for word in names.split() if word.startswith("-")]
    metavar = "".join(names.split()[len(flags) :]) or None
    return click.option(*flags, metavar=metavar, help=help, **settings)


def flag(names: str, help: str) -> Callable[[Command], Command]:
    """An option without a value."""
    return option(names, help, is_flag=True)


def list_option(names: str, help: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes names with commas between them, and may be given several times."""
    return option(names, help, **{"multiple": True, "callback": _comma_separated} | settings)


def choice(names: str, help: str, *values: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes one of some values."""
    return option(names, help, type=click.Choice(values), **settings)


def number(names: str, help: str, least: int, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes a whole number."""
    return option(names, help, type=click.IntRange(min=least), **settings)


def _adding(*options: Any) -> Callable[[Command], Command]:
    """A decorator that adds options to a command, in the order in which --help lists them."""

    def add(function: Command) -> Command:
        for each in reversed(options):
            function = each(function)
        return function

    return add


file_argument = click.argument("file", metavar="FILE")
model_argument = click.argument("model", metavar="MODEL", type=click.Path())
force = flag("--force", "Replace existing results.")
quiet = flag("--quiet -q", "Print only errors.")
jobs = number("--jobs N", "The number of threads. [default: all cores]", 1)
safe_csv = flag(
    "--safe-csv",
    "Write an apostrophe before cells of text that begin with = + - or @, so that a spreadsheet "
    "does not treat them as formulas.",
)
print_options = _adding(
    click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON."), quiet
)

format_options = _adding(
    choice(
        "--format NAME",
        "The format of FILE: csv, tsv, ndjson, json, parquet, arrow, npy or xlsx. "
        "[default: detected]",
        *("csv", "tsv", "ndjson", "json", "parquet", "arrow", "npy", "xlsx"),
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
    choice(
        "--decimal CHAR",
        "The decimal mark of a csv file, a point or a comma. [default: detected]",
        *(".", ","),
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
    list_option(
        "--geo LAT,LON",
        "The columns of latitude and longitude in degrees, which are compared on the sphere; none "
        "compares them as plain numbers. [default: detected]",
    ),
    choice(
        "--scale",
        "Scale columns by median and quartiles (robust), by mean and standard deviation "
        "(standard), or not at all.",
        *("robust", "standard", "none"),
        default="robust",
    ),
    choice(
        "--transform",
        "Take logarithms, before scaling, of no column, of skewed columns (auto), or of all "
        "columns (log). [default: auto for outliers, else none]",
        *("none", "auto", "log"),
    ),
    choice(
        "--missing",
        "What to do with missing values: fill in the median of the column (median; missing "
        "categories become a category of their own, and rows without any value are left out), "
        "leave such rows out (drop), or stop (error).",
        *("median", "drop", "error"),
        default="median",
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

work_options = _adding(
    option(
        "--seed N", "The seed of all random numbers.", type=click.IntRange(0, 2**32 - 1), default=0
    ),
    jobs,
    print_options,
)

fit_options = _adding(
    option(
        "--sigma S",
        "The width of the kernel, in units of the scaled columns, or the name of a rule (knn, "
        "median, scott, ...). [default: auto]",
    ),
    option(
        "--param NAME=VALUE",
        "Any other parameter of the estimator, for example kernel=laplacian; may be given several "
        "times.",
        multiple=True,
    ),
    option(
        "--name COLUMN",
        "The column that names rows in the output. [default: the most useful column of text]",
    ),
    option("--report/--no-report", "Whether to write report.html.", default=True),
    option(
        "--output -o DIR",
        "The folder for the results. [default: a folder named after FILE]",
        type=click.Path(),
    ),
    safe_csv,
    option(
        "--device NAME",
        "Fit the model on a device of torch: cuda, cuda:1, cpu, or auto (cuda if there is one). "
        "[default: without torch]",
    ),
    option(
        "--workers N",
        "Read FILE in blocks with N Dask workers on this machine, or with the workers of a running "
        "Dask scheduler, e.g. tcp://host:8786; these need FILE under the same path.",
    ),
    force,
    work_options,
)
