"""What commands print: which rows and columns were used, and what was found in them."""

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from typicality._estimators import ESTIMATORS
from typicality._typing import Doubles
from typicality._words import YEARS, counted, listed, share
from typicality.cli.console import (
    Terminal,
    numbers,
    percentages,
    place,
    shown,
    shown_apart,
    shown_value,
)
from typicality.cli.errors import option_of
from typicality.cli.options import quoted
from typicality.cli.result import MOST_VALUES, TELLING, Result, Tabulated
from typicality.cli.rows import FileRows
from typicality.fitted import chosen_method
from typicality.preprocessing.scaling import skewed_columns
from typicality.report.clusters import Commonest, telling_categories
from typicality.report.payload import clusters_words
from typicality.run_folder import reason_words
from typicality.tables.base import Assumption
from typicality.tables.cells import TRUTH

_MOST_CLUSTERS = 12  # listed one by one
_MOST_TABULATED = 3  # text columns
_RELATED = 0.2  # Cramer's V: columns below are not worth a line
_ONE_MIXED_CLUSTER = (
    "The data form one connected cluster. --method fcm --clusters 2 splits it in any case."
)
_ONE_CLUSTER = (
    "The data form one connected cluster. --at-least 2 gives the best split, and "
    "typicality compare shows what other methods find."
)
_UNUSUAL = "unusual columns (robust z-score)"
_MANY_COLUMNS = 10
_FEW_COLUMNS = {
    "alpha-cut": "gaps in a density are hard to find in more than about ten columns",
    **dict.fromkeys(
        ("adaptive", "sparse-adaptive", "sequential"),
        "distances grow with their number, and the box of the method does not",
    ),
}
_ROWS_LOOKED_AT = 100_000  # to see whether columns are skewed
_RIGHT = ("rows", "share", "rarer than", "membership", "score", "p-value")

_CLASSES = ("class", "classes", "cluster", "group", "label", "labels", "target", "y")
_MOST_CLASSES = 50
_MOST_LEFT_OUT = 5  # columns explained one by one
_FEWEST_TO_ASK = 10  # values: fewer may well count up
_RUNNING = 2 / 3  # of the rows are one more than the row before, in a column that counts in groups
_CODES = frozenset(
    ["code", "id", "index", "key", "no", "nr", "number", "phone", "postcode", "zip", "zipcode"]
)

Which = Callable[[dict[str, Any]], str]


def say_result(terminal: Terminal, result: Result) -> None:
    """Print what was found."""
    heading = "row" if result.named_by is None else f"row, {shown(result.named_by, 24)}"

    def which(row: dict[str, Any]) -> str:
        return f"{place(row['row'], row['line'])}  {shown(row['name'], 24)}".rstrip()

    terminal.say(about_rows(result.source, result.shown.rows.X))
    for hint in _hints(result):
        terminal.say(hint)
    if result.reference is not None:
        terminal.say(f"Reference: {about_rows(result.reference, result.reference.X)}")
    if result.sample is not None:
        terminal.say(_about_sample(result))
    if result.passes is not None:
        terminal.say(_about_passes(result))
    terminal.say()
    terminal.say(Text(_headline(result), style="bold"))
    if result.finds_outliers:
        for sentence in _meaning_of_flags(result):
            terminal.say(sentence)
    elif result.sizes:
        terminal.say(_clusters(result, f"most typical {heading}", which))
    if result.method == "auto":
        terminal.say(result.model.explanation_)
    if result.method in ("auto", "alpha-cut") and len(result.sizes) == 1:
        terminal.say(_ONE_MIXED_CLUSTER if result.source.is_mixed else _ONE_CLUSTER)
    _say_what_clusters_are(terminal, result)
    rows = [row for row in result.atypical_rows if row["label"] < 0 or not result.finds_outliers]
    rows = [row for row in rows if row["rarer_than"] != 0]  # as typical as all others
    if rows:
        n_outliers = result.tally.n_unassigned
        worst = "The worst first:" if len(rows) == n_outliers else f"The {len(rows)} worst:"
        others = "Rows between clusters:" if result.view.shares else "The least typical rows:"
        terminal.say()
        terminal.say(worst if result.finds_outliers else others)
        terminal.say(_atypical(result, rows, heading, which))
    model = chosen_method(result.model)
    kind = type(model).__name__
    meaning = f": {ESTIMATORS[kind].meaning}" if kind in ESTIMATORS else ""
    took = f"{counted(model.n_iter_, 'iteration')}, {result.seconds['all']:.1f} s in all"
    terminal.say()
    terminal.say(f"By {kind}{meaning}; {took}.\nHow it was computed: {model.sums_}")


def _hints(result: Result) -> list[str]:
    """What may be wrong with these columns for this method, and what to try."""
    hints, names = [], result.source.numeric.names
    if result.source.options.transform == "none":
        X = result.shown.rows.X
        skewed = skewed_columns(X[:: -(-len(X) // _ROWS_LOOKED_AT)])
        if skewed.any():
            columns = [shown(name) for name, is_so in zip(names, skewed, strict=True) if is_so]
            hints.append(
                f"Skewed: {listed(columns, at_most=5)}. --transform auto takes logarithms of "
                "skewed columns, so that ratios are compared instead of differences."
            )
    if result.method in _FEW_COLUMNS and len(names) > _MANY_COLUMNS:
        remedy = (
            "--method auto first tries a Gaussian mixture, which suits files with many columns."
        )
        if result.source.is_mixed:  # a mixture has no density for categories
            remedy = "Choose some with --columns, or take --method fcm --clusters N."
        hints.append(
            f"{len(names)} columns are too many for --method {result.method}: "
            f"{_FEW_COLUMNS[result.method]}. {remedy}"
        )
    return hints


def _about_sample(result: Result) -> str:
    n_rows = len((result.reference or result.source).X) if result.passes is None else result.n_rows
    whose = "reference rows" if result.reference is not None else "rows"
    judged = "scored" if result.finds_outliers else "given labels"
    return (
        f"Fitted on a random sample of {result.n_fitted:,} of the {n_rows:,} {whose} (seed "
        f"{result.source.options.seed}; --max-rows N sets another number); all rows are "
        f"{judged}."
    )


def _about_passes(result: Result) -> str:
    """How a file was read that was not held in memory, and what is said of a sample only."""
    assert result.passes is not None
    n_shown = result.passes["n_shown"]
    words = (
        f"The rows were not held in memory: they were read {result.passes['n_reads']} times, in "
        f"blocks of up to {result.passes['block_rows']:,}."
    )
    if n_shown == result.n_rows:
        return words
    return (
        f"{words} Counts refer to all rows. Medians, typical rows and the report refer "
        f"to {n_shown:,} rows: a random sample, and the least typical rows of all."
    )


def _headline(result: Result) -> str:
    n_rows, n_unassigned = result.n_rows, result.tally.n_unassigned
    if result.finds_outliers:
        outliers = f"{counted(n_unassigned, 'outlier')} among {counted(n_rows, 'row')}"
        if result.run.fdr is not None:
            return f"{outliers}, at a false discovery rate of {result.run.fdr:g}."
        return f"{outliers}, at a nominal rate of {result.model.contamination:g}."
    return f"{clusters_words(len(result.sizes), n_unassigned, n_rows)}."


def _meaning_of_flags(result: Result) -> list[str]:
    """What the threshold says of false alarms, and whether some rows stand apart."""
    if result.run.fdr is not None:
        share_of = (
            f"On average, at most a share of {result.run.fdr:.3g} of these rows are false alarms."
        )
        sentences = [share_of] if result.tally.n_unassigned else []
    else:
        low, high = (max(1, round(1000 * rate)) for rate in result.model.false_alarm_interval_)
        expected = 1000 * result.model.contamination
        alarms = "false alarm" if f"{expected:.3g}" == "1" else "false alarms"
        source = (
            ""
            if result.reference is not None
            else " To control the false discovery rate instead, pass clean rows with --reference."
        )
        sentences = [
            f"Rows with a score below {result.view.cut:.4g} are flagged. Expect {expected:.3g} "
            f"{alarms} in 1,000 ordinary rows, between {low} and {high} for this model "
            f"(95 % confidence).{source}"
        ]
    if result.gap is not None:
        n_apart, last, following = result.gap
        scores = f"score {last:.3g}{'' if n_apart == 1 else ' and below'}"
        who = "The worst row stands" if n_apart == 1 else f"The {n_apart:,} worst stand"
        sentences.append(f"{who} apart: {scores}, the next is {following:.3g}.")
    return sentences


def _clusters(result: Result, heading: str, which: Which) -> Table:
    """A line for each cluster, the first ones only where there are many."""
    typical = {row["label"]: which(row) for row in result.typical_rows}
    first, rest = result.sizes[:_MOST_CLUSTERS], result.sizes[_MOST_CLUSTERS:]
    lines = [(str(label), size, typical.get(label, "")) for label, size in enumerate(first)]
    if rest:
        lines.append((f"{len(rest):,} more", sum(rest), ""))
    if result.tally.n_unassigned:
        lines.append(("unassigned", result.tally.n_unassigned, ""))
    table = _table("cluster", "rows", "share", heading)
    for label, size, row in lines:
        table.add_row(label, f"{size:,}", share(size, result.n_rows), row)
    return table


def _say_what_clusters_are(terminal: Terminal, result: Result) -> None:
    """The columns that set clusters apart, and the text columns that go with them."""
    described = [] if result.finds_outliers else result.clusters[:_MOST_CLUSTERS]
    short = shown_apart(result.source.numeric.names, 24)
    if any(cluster["apart"] or _categories(cluster) for cluster in described):
        rest = "the other clusters" if len(result.sizes) > 1 else "the unassigned rows"
        terminal.say()
        terminal.say(f"How each cluster differs (its medians against those of {rest}):")
        table = _table("cluster", "columns")
        for cluster in described:
            phrases = [
                f"{short[each['column']]} {shown_value(each['median'], each['column'])} against "
                f"{shown_value(each['elsewhere'], each['column'])}"
                for each in cluster["apart"][:3]
            ]
            phrases += (shown(text, 60) for text in _categories(cluster)[:3])
            table.add_row(str(cluster["label"]), "; ".join(phrases) or "no single column")
        terminal.say(table)
    related = [each for each in result.tabulated if each.association >= _RELATED]
    if related and len(related[0].counts) > 1:
        terminal.say()
        terminal.say(f"Columns that were not used (those with up to {MOST_VALUES} values):")
        for each in related[:_MOST_TABULATED]:
            terminal.say(tabulated_words(each, finds_outliers=result.finds_outliers))


def _categories(cluster: dict[str, Any]) -> list[str]:
    return telling_categories([Commonest(**each) for each in cluster["categories"]])


def tabulated_words(each: Tabulated, *, finds_outliers: bool) -> str:
    """The most frequent value in each cluster: "species: cluster 0 is Gentoo (119 of 123)"."""
    phrases = []
    labels = sorted(each.counts, key=lambda label: (label < 0, label))
    for label in labels[:_MOST_CLUSTERS]:
        values = each.counts[label]
        name = f"cluster {label} is" if label >= 0 else "unassigned are"
        if finds_outliers:
            name = "outliers are" if label < 0 else "other rows are"
        n_rows = sum(values.values())
        value, n_most = next(iter(values.items()))
        text = f"{name} {shown(value) or '(empty)'} ({n_most:,} of {n_rows:,})"
        second = list(values.items())[1:2]
        if second and n_most < 0.9 * n_rows:
            text += f", {shown(second[0][0]) or '(empty)'} ({second[0][1]:,})"
        phrases.append(text)
    more = len(labels) - _MOST_CLUSTERS
    end = f"; and {more:,} more" if more > 0 else ""
    return f"{shown(each.column)}: {'; '.join(phrases)}{end}."


def _atypical(result: Result, rows: list[dict[str, Any]], heading: str, which: Which) -> Table:
    """The least typical rows, the worst first."""
    names = shown_apart((each["column"] for row in rows for each in row["reasons"]), 20)
    least = TELLING if len(result.source.column_names) > 1 else 0.0
    reasons = [_reasons(row["reasons"], names, least) for row in rows]
    if rows[0]["rivals"]:
        table = _table(heading, "membership", "between clusters")
        strengths = numbers([row["strength"] for row in rows])
        for row, strength in zip(rows, strengths, strict=True):
            table.add_row(which(row), strength, " and ".join(map(str, row["rivals"])))
        return table
    rarity = percentages([row["rarer_than"] for row in rows], result.n_fitted)
    middle: list[list[str]]
    if result.finds_outliers:
        headings, middle = ["score"], [numbers([row["strength"] for row in rows])]
        if result.reference is not None:
            headings.append("p-value")
            middle.append([f"{row['p_value']:.2g}" for row in rows])
    else:
        labels = [str(row["label"]) if row["label"] >= 0 else "unassigned" for row in rows]
        headings, middle = ["cluster"], [labels]
    table = _table(heading, "rarer than", *headings, _UNUSUAL)
    for cells in zip(map(which, rows), rarity, *middle, reasons, strict=True):
        table.add_row(*cells)
    return table


def _reasons(reasons: Sequence[dict[str, Any]], names: dict[str, str], least: float) -> str:
    """The columns that matter: the first, and a second one if it is nearly as far off."""
    largest = abs(reasons[0]["deviations"]) if reasons else 0.0
    if not reasons or largest < least:
        return "no single column"
    close = [reason for reason in reasons[:2] if abs(reason["deviations"]) >= largest / 2]
    return "\n".join(shown(reason_words(reason, names[reason["column"]]), 80) for reason in close)


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in _RIGHT else "left")
    return table


# ---- which rows and columns are used -------------------------------------------------------------


def about_rows(rows: FileRows, X: Doubles) -> str:
    """Which rows and columns were used, and why not the others; X are the numbers, or some rows."""
    names, left_out = rows.numeric.names, rows.numeric.left_out
    all_names = rows.column_names
    used = f"{counted(len(all_names), 'column')} ({listed(map(shown, all_names))})"
    sentences = [f"{rows.table.name}: {counted(rows.n_rows, 'row')}, {used}."]
    sentences += assumptions(rows.assumed)
    signs = rows.numeric.signs
    marked = [shown(name) for name, sign in signs.items() if sign != TRUTH]
    if marked:
        sentences.append(
            "Currency signs, percent signs and separators of thousands were removed in "
            f"{listed(marked)}."
        )
    truth = [shown(name) for name, sign in signs.items() if sign == TRUTH]
    if truth:
        sentences.append(f"True became 1 and false 0 in {listed(truth)}.")
    sentences += _about_categories(rows)
    if left_out:
        reasons = [f"{shown(column.name)}, {column.sentence(option_of)}" for column in left_out]
        n_told = max(_MOST_LEFT_OUT, sum(column.has_digits for column in left_out))
        more = len(reasons) - n_told
        others = [f"and {more:,} more"] if more > 0 else []
        sentences.append(f"Left out: {'; '.join([*reasons[:n_told], *others])}.")
    for name, column in zip(names, X.T, strict=True):
        n_values = _count_codes(column) if name.strip().lower() in _CLASSES else np.inf
        if n_values <= _MOST_CLASSES:
            sentences.append(
                f"{shown(name)} is used, with {n_values:.0f} values: if it is a class, not a "
                f"measurement, leave it out with {_ignoring(name)}."
            )
    if not rows.options.columns:
        sentences += _questions(names, X)
    sentences += _about_dropped(rows) if rows.n_left_out else []
    return " ".join(sentences)


def _about_dropped(rows: FileRows) -> list[str]:
    """How many rows were left out; where these are more than half, which column costs most."""
    counts, n_rows = rows.numeric.missing_by_column, rows.n_rows
    dropped = counted(rows.n_left_out, "row")
    if rows.options.missing != "drop":
        return [f"Not used: {dropped} without any value."]
    sentences = [f"Not used: {dropped} with missing values (--missing drop)."]
    if 2 * rows.n_left_out > n_rows:
        worst = max(counts, key=lambda name: counts[name])
        sentences.append(
            f"That is {share(rows.n_left_out, n_rows)} of the rows; {shown(worst)} alone "
            f"misses {share(counts[worst], n_rows)}. {_ignoring(worst)} keeps more "
            "rows."
        )
    return sentences


def _about_categories(rows: FileRows) -> list[str]:
    """Which columns are categories, and what became of missing ones."""
    if not rows.categories:
        nothing = rows.options.categorical and not rows.options.orders
        return ["No column of categories was found."] if nothing else []
    phrases = [f"{shown(each.name)} ({len(each.values)})" for each in rows.categories]
    sentences = [f"Categories: {listed(phrases)}."]
    n_missing = sum(each.n_missing for each in rows.categories)
    if n_missing:
        sentences.append(
            f"{counted(n_missing, 'missing category')} became a category of its own."
            if n_missing == 1
            else f"{n_missing:,} missing categories became a category of their own."
        )
    return sentences


def assumptions(assumed: Sequence[Assumption]) -> list[str]:
    """What was assumed about the file and its values, in a sentence, if there is anything."""
    phrases = [each.sentence(option_of) for each in assumed]
    return [f"Assumed: {'; '.join(phrases)}."] if phrases else []


def _questions(names: Sequence[str], X: Doubles) -> list[str]:
    """A sentence about columns that take part and may be no measurements: numbers, codes, years."""
    kinds = {name: _kind_of(name, column) for name, column in zip(names, X.T, strict=True)}
    found = {name: kind for name, kind in kinds.items() if kind}
    if not found:
        return []
    are = "; ".join(f"{shown(name)}, {kind}" for name, kind in found.items())
    remedy = " ".join(map(_ignoring, found))
    return [f"Used, but perhaps not a measurement: {are}. Leave out with {remedy}."]


def _ignoring(name: str) -> str:
    """The option that leaves a column out, as a shell takes it."""
    return f"--ignore {shlex.quote(quoted(name))}" if name.isprintable() else "--ignore"


def _kind_of(name: str, column: Doubles) -> str:
    """What whole numbers may be instead of measurements: running numbers, codes or years."""
    present = column[~np.isnan(column)]
    if len(present) < _FEWEST_TO_ASK or (present != np.rint(present)).any():
        return ""
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    low, high = present.min(), present.max()
    oldest, latest = (1000, 3000) if YEARS & set(words) else (1900, 2050)
    if oldest <= low and high <= latest:
        return f"years from {low:.0f} to {high:.0f}"
    if np.mean(np.diff(present) == 1) >= _RUNNING and high - low >= 2:
        return f"whole numbers that count up from {low:.0f}"
    if _CODES & set(words[-1:]) and len(np.unique(present)) > _MOST_CLASSES:
        return "whole numbers in a column called number or code"
    return ""


def _count_codes(column: Doubles) -> float:
    """How many whole numbers there are in a column; infinity where it has others."""
    values = np.unique(column[~np.isnan(column)])
    return len(values) if (values == np.rint(values)).all() else np.inf
