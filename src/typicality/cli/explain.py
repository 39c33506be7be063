"""`typicality explain`: why a row is unusual."""

from typing import TYPE_CHECKING, Any

from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import (
    Options,
    command,
    file_argument,
    format_options,
    model_argument,
    number,
    print_options,
)

if TYPE_CHECKING:
    from typicality.cli.result import Result
    from typicality.cli.writing import ShownRows
    from typicality.tables import TableFile


@command
@model_argument
@file_argument
@number("--row N", "The number of the row, counted from 0.", 0)
@number("--line N", "The line of the row in the file.", 1)
@format_options
@print_options
def explain(options: Options, model: str, row: int | None, line: int | None) -> None:
    """Explain why a row is or is not unusual.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written. Prints how
    rare the row is. For each column, prints the value, the value that is typical of similar rows,
    and their difference as a robust z-score.
    """
    from typicality.cli.console import Terminal
    from typicality.cli.folder import as_json, opened_run

    if (row is None) == (line is None):
        raise WrongUseError("The row is missing: give either --row N or --line N.")
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    with opened_run(model, options, terminal) as (run, table):
        from typicality.cli.result import Result

        with terminal.doing(f"Judging {table.name}"):
            result = Result.of_file(run, table)
            found = _explained(result, _place_of(result.shown, table, row, line))
    if options.as_json:
        terminal.json(as_json(found))
    for sentence in _words(found):
        terminal.say(sentence)


def _explained(result: "Result", at: Any) -> dict[str, Any]:
    """The row, what the model says of it, and its columns, the most unusual first."""
    import numpy as np

    from typicality.explain import RowReasons

    run, shown, judged = result.run, result.shown, result.judged
    seen, found = judged.view, result.explanation.deviations_of(at)
    reasons = RowReasons.of(*shown.rows.shown(at), found.values, found.shares)
    measured, names = result.features.measured[at], shown.rows.names
    typical = measured - found.values * np.broadcast_to(found.unit, measured.shape)
    expected = typical[0] if not names else run.unscaled(typical, judged.scaled[at])[0]
    usual = [run.in_words(name, value) for name, value in zip(names, expected, strict=True)]
    order = np.argsort(-np.abs(reasons.deviations[0]), kind="stable").tolist()
    return result.row(at[0]) | {
        "kind": seen.kind,
        "strength_name": seen.strength_name,
        "threshold": seen.cut if seen.kind == "detector" else None,
        "fdr": seen.fdr,
        "n_rows": seen.n_rows,
        "how": found.words,
        "columns": [
            reasons.item(0, j) | {"typical": usual[j] if j < len(usual) else None} for j in order
        ],
    }


def _place_of(shown: "ShownRows", table: "TableFile", row: int | None, line: int | None) -> Any:
    """Where the row with a number, or in a line, is among those that take part."""
    import numpy as np

    word, numbers = shown.numbers
    if line is not None and word != "line":
        raise WrongUseError(
            f"{table.name} is not a text file, so it has no lines; give the number of "
            "the row with --row."
        )
    asked, among = (row, shown.row_numbers) if line is None else (line, numbers)
    at = np.flatnonzero(among == asked)
    if len(at) == 0:
        what = "row" if line is None else "line"
        raise UnusableError(
            f"{table.name} has no {what} {asked:,} with values; its {what}s are numbered from "
            f"{among.min():,} to {among.max():,}."
        )
    return at


def _words(found: dict[str, Any]) -> list[Any]:
    """What is printed."""
    from typicality.cli.console import percentages, place, rich_table, shown_apart, shown_value
    from typicality.explain import percent

    label, columns = found["label"], found["columns"]
    if found["kind"] == "detector":
        what = "an outlier" if label < 0 else "no outlier"
    else:
        what = "unassigned" if label < 0 else f"in cluster {label}"
    sentences = [f"{place(found['row'], found['line']).capitalize()} is {what}."]
    if found["rarer_than"] is not None:
        rarer = percentages([found["rarer_than"]], found["n_rows"])[0]
        sentences[0] += f" It is rarer than {rarer} of the rows."
    name = found["strength_name"]
    strength = f"Its {name} is {found['strength']:.4g}"
    if found["threshold"] is not None:
        strength += f"; rows below {found['threshold']:.4g} are outliers"
    if found["fdr"] is not None:
        strength += f" at a false discovery rate of {found['fdr']:g} among the rows of the file"
    short = shown_apart((each["column"] for each in columns), 40)
    lines = [
        (
            short[each["column"]],
            shown_value(each["value"], each["column"]),
            f"{percent(each['share'])} have it"
            if "share" in each
            else shown_value(each["typical"], each["column"]),
            "" if "share" in each else f"{each['deviations']:+.1f}",
        )
        for each in columns
    ]
    table = rich_table([("column", "value", "typical of such rows", "robust z-score"), *lines])
    return [" ".join([*sentences, f"{strength}."]), "", table, "", found["how"]]
