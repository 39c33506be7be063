"""`typicality explain`: why a row is unusual."""

from typing import Any

import click

from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import Options, command, file_argument, format_options, print_options


@command
@click.argument("model", metavar="MODEL", type=click.Path())
@file_argument
@click.option(
    "--row", type=click.IntRange(min=0), metavar="N", help="The row by its number, from 0."
)
@click.option(
    "--line", type=click.IntRange(min=1), metavar="N", help="The row by its line in the file."
)
@format_options
@print_options
def explain(options: Options, model: str, row: int | None, line: int | None) -> None:
    """Explain why a row of a file is unusual, or is not.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written. Prints how
    rare the row is, and for each column its value, the value that is typical of such rows, and how
    far apart these are.
    """
    from typicality.cli.console import Terminal
    from typicality.cli.folder import as_json, load_run
    from typicality.cli.rows import require_file

    if (row is None) == (line is None):
        raise WrongUseError("Say which row: give one of --row N and --line N.")
    require_file(options)
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    with terminal.doing(f"Loading {model}"):
        pipeline, record, _ = load_run(model)
    with terminal.doing(f"Reading {options.file}"):
        found = _explained(pipeline, record, options, row, line)
    if options.as_json:
        terminal.json(as_json(found))
    for sentence in _words(found):
        terminal.say(sentence)


def _explained(
    pipeline: Any, record: Any, options: Options, row: int | None, line: int | None
) -> dict[str, Any]:
    """The row, what the model says of it, and its columns, the most unusual first."""
    from dataclasses import replace

    import numpy as np

    from typicality.cli.rows import open_file, read_file, sample_of
    from typicality.fitted import view
    from typicality.report.features import FeatureTable
    from typicality.report.outliers import ClusterCenters, deviations_of

    scaler, fitted = pipeline["columns"], pipeline["model"]
    names = tuple(str(name) for name in scaler.feature_names_in_)
    del scaler.feature_names_in_  # rows are arrays, their columns taken by name
    missing = "drop" if record is None else record["data"]["missing"]
    reading = replace(options, columns=names, missing="drop" if missing == "error" else missing)
    with open_file(reading) as table:
        rows = read_file(table, reading)
        for _ in rows.take_texts():
            pass
    word, numbers = rows.numbers
    if line is not None and word != "line":
        raise WrongUseError(f"{table.name} has no lines; give the number of the row with --row.")
    places = np.flatnonzero(rows.kept) if line is None else numbers
    wanted = row if line is None else line
    at = np.flatnonzero(places == wanted)
    if len(at) == 0:
        what = f"row {row}" if line is None else f"line {line}"
        raise UnusableError(
            f"{table.name} has no {what} without missing values; its rows have the numbers 0 to "
            f"{len(rows.kept) - 1:,}."
        )
    X, scaled = rows.X, scaler.transform(rows.X)
    fdr = None if record is None else record["results"].get("fdr")
    fitted_on = {} if record is None or record.get("reference") else record["data"]
    training = rows.numeric.fingerprint == fitted_on.get("fingerprint")
    sample = None if record is None else sample_of(record, rows)
    seen = view(fitted, scaled, training=training and sample is None, fdr=fdr, sample=sample)
    features = FeatureTable(list(names), X, scaled)
    centers = ClusterCenters.of(seen, features) if seen.kind == "prototypes" else None
    found = deviations_of(seen, features, centers, at)
    deviations = found.values[0]
    typical = scaled[at[0]] - deviations * np.broadcast_to(found.unit, scaled[at].shape)[0]
    expected = typical * scaler.scale_ + scaler.center_
    order = np.argsort(-np.abs(deviations), kind="stable")
    return {
        "row": int(np.flatnonzero(rows.kept)[at[0]]),
        "line": int(numbers[at[0]]) if word == "line" else None,
        "kind": seen.kind,
        "label": int(seen.labels[at[0]]),
        "rarer_than": None if seen.rarity is None else float(seen.rarity[at[0]]),
        "strength_name": seen.strength_name,
        "strength": float(seen.strength[at[0]]),
        "threshold": seen.cut if seen.kind == "detector" else None,
        "n_rows": seen.n_rows,
        "how": found.words,
        "columns": [
            {
                "column": names[j],
                "value": float(X[at[0], j]),
                "typical": float(expected[j]),
                "deviations": float(deviations[j]),
            }
            for j in order
        ],
    }


def _words(found: dict[str, Any]) -> list[Any]:
    """What is printed."""
    from math import isnan

    from typicality.cli.console import for_people, percentages, place, rich_table, shown_apart

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
    short = shown_apart((each["column"] for each in columns), 40)
    lines = [
        (
            short[each["column"]],
            "missing" if isnan(each["value"]) else for_people(each["value"]),
            for_people(each["typical"]),
            f"{each['deviations']:+.1f}",
        )
        for each in columns
    ]
    table = rich_table([("column", "value", "typical of such rows", "robust z-score"), *lines])
    return [" ".join([*sentences, f"{strength}."]), "", table, "", found["how"]]
