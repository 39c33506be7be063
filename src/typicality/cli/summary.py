"""What commands print: which rows and columns were used, and what was found in them."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.text import Text

from typicality._estimators import ESTIMATORS
from typicality._typing import Doubles
from typicality._words import (
    counted,
    listed,
    most_unusual,
    rows_for_alarms,
    share,
    stand_apart,
)
from typicality.cli.console import (
    Terminal,
    numbers,
    percentages,
    place,
    rich_table,
    shown,
    shown_apart,
    shown_value,
)
from typicality.cli.errors import option_of
from typicality.cli.options import quoted
from typicality.cli.rows import FitRows
from typicality.explain import TELLING, reason_words
from typicality.fitted import BETWEEN
from typicality.preprocessing.scaling import skewed_columns
from typicality.report.clusters import MOST_VALUES, Commonest, telling_categories
from typicality.report.payload import clusters_words
from typicality.tables.base import Assumption
from typicality.tables.cells import TRUTH

_MOST_CLUSTERS = 12  # listed one by one
_MOST_IN_SHORT = 6
_MOST_TABULATED = 3  # text columns
_RELATED = 0.2  # Cramer's V: columns below are not worth a line
_SPLIT_MIXED = "--method fcm --clusters 2 splits the rows in any case."
_SPLIT = "--at-least 2 gives the best split, and typicality compare shows what other methods find."
_UNUSUAL = "unusual columns (robust z-score)"
_ROWS_LOOKED_AT = 100_000  # to see whether columns are skewed
_RIGHT = ("rows", "share", "rarer than", "membership", "score", "p-value")

WITH_POINTS = "Results are written with decimal points."
_MOST_LEFT_OUT = 5  # columns explained one by one

Which = Callable[[Mapping[str, Any]], str]
Record = Mapping[str, Any]


def about_input(record: Record, rows: FitRows, X: Doubles, clean: FitRows | None) -> list[str]:
    """Which rows were used, and how, in sentences; X are the numbers of the rows, or of some."""
    results, n_rows = record["results"], n_judged(record)
    sentences = [about_rows(rows), *_hints(record, rows, X)]
    if clean is not None:
        sentences.append(f"Reference: {about_rows(clean)}")
    if results["sample"] is not None:
        sentences.append(
            f"Fitted on a random sample of {results['sample']['n_rows']:,} of the {n_rows:,} rows "
            f"(seed {record['seed']}; --max-rows N sets another number); all rows are given labels."
        )
    if results["n_shown"] not in (None, n_rows):
        sentences.append(
            "The rows were not held in memory. Counts refer to all rows. Medians, typical rows and "
            f"the report refer to {results['n_shown']:,} rows: a random sample, and the least "
            "typical rows of all."
        )
    return sentences


def say_result(terminal: Terminal, record: Record) -> None:
    """Print what was found: everything is made of the fields of run.json."""
    results, finds_outliers = record["results"], record["method"] == "outliers"
    named_by = results["named_by"]
    heading = "row" if named_by is None else f"row, {shown(named_by, 24)}"

    def which(row: Mapping[str, Any]) -> str:
        return f"{place(row['row'], row['line'])}  {shown(row['name'], 24)}".rstrip()

    for sentence in record["about"]:
        terminal.say(sentence)
    terminal.say()
    terminal.say(Text(_headline(record), style="bold"))
    if finds_outliers:
        for sentence in _meaning_of_flags(record):
            terminal.say(sentence)
    else:
        _say_clusters(terminal, record, heading, which)
    _say_what_clusters_are(terminal, record)
    _say_rows(terminal, record, heading, which)
    kind = results.get("chosen", record["estimator"]["class"])
    meaning = f": {ESTIMATORS[kind].meaning}" if kind in ESTIMATORS else ""
    took = f"{counted(results['n_iter'], 'iteration')}, {record['seconds']['all']:.1f} s in all"
    terminal.say()
    terminal.say(f"By {kind}{meaning}; {took}.\nHow it was computed: {results['sums']}")
    terminal.say_heading("In short")
    terminal.say(in_short(record))


def in_short(record: Record) -> str:
    """The result as a paragraph of plain text, for readers who were not there: summary.txt."""
    data, results = record["data"], record["results"]
    names = [*data["columns"], *data["categories"]]
    sentences = [
        f"{data['file']} has {counted(data['n_rows'], 'row')}; {counted(len(names), 'column')} "
        f"{'was' if len(names) == 1 else 'were'} used: {listed(map(shown, names))}.",
        _headline(record),
    ]
    short = shown_apart(data["columns"], 24)
    clusters = results.get("clusters", [])
    described = [(each["label"], _apart(each, short, "elsewhere")) for each in clusters]
    if any(phrases for _, phrases in described):
        for label, phrases in described[:_MOST_IN_SHORT]:
            size = counted(results["sizes"][label], "row")
            words = "; ".join(phrases[:2]) or "no single column sets it apart"
            sentences.append(f"Cluster {label} ({size}): {words}.")
        if rest := [results["sizes"][label] for label, _ in described[_MOST_IN_SHORT:]]:
            have = "has" if len(rest) == 1 else "have"
            more = f"{len(rest)} more {'cluster' if len(rest) == 1 else 'clusters'}"
            sentences.append(f"{more} {have} {counted(sum(rest), 'row')}.")
    related = _related(results)
    if related and record["method"] != "outliers":
        sentences.append(f"Not used: {_tabulated_words(related[0], finds_outliers=False)}")
    if record["method"] == "outliers" and (rows := rows_to_list(record)):
        least = TELLING if len(names) > 1 else 0.0
        apart = shown_apart((each["column"] for each in rows[0]["reasons"]), 24)
        why = _reasons(rows[0]["reasons"], apart, least).replace("\n", ", ")
        name = f" ({shown(rows[0]['name'], 24)})" if shown(rows[0]["name"], 24) else ""
        where = place(rows[0]["row"], rows[0]["line"])
        sentences.append(f"The most unusual is {where}{name}: {why}.")
    sentences.append(f"How sure? {results['certainty']}")
    if data["n_rows_left_out"]:
        sentences.append(f"Rows left out: {data['n_rows_left_out']:,}.")
    left_out = [f"{shown(each['name'])}, {each['reason']}" for each in data["columns_left_out"]]
    if left_out:
        words = listed(left_out, separator="; ", at_most=_MOST_LEFT_OUT)
        sentences.append(f"Columns left out: {words}.")
    if data["assumed"]:
        sentences.append(f"Assumed: {'; '.join(data['assumed'])}.")
    return " ".join(sentences)


def rows_to_list(record: Record) -> list[dict[str, Any]]:
    """The least typical rows that are listed: of outliers those flagged, and those apart."""
    results = record["results"]
    rows = [row for row in results["atypical_rows"] if row["rarer_than"] != 0]
    if record["method"] != "outliers":
        return rows
    return [row for k, row in enumerate(rows) if row["label"] < 0 or k < (results["n_apart"] or 0)]


def n_judged(record: Record) -> int:
    """How many rows of the file the model has judged."""
    return int(record["data"]["n_rows"] - record["data"]["n_rows_left_out"])


def _hints(record: Record, rows: FitRows, X: Doubles) -> list[str]:
    """What was done to columns, what may be wrong with them for this method, what to try."""
    hints, names = [], rows.numeric.names
    if logarithms := record["results"]["logarithms"]:
        names_of = listed([shown(name) for name in logarithms], at_most=5)
        hints.append(f"Logarithms were taken of: {names_of} (--transform none takes none).")
    if rows.options.transform in (None, "none"):
        skewed = skewed_columns(X[:: -(-len(X) // _ROWS_LOOKED_AT)])
        if skewed.any():
            columns = [shown(name) for name, is_so in zip(names, skewed, strict=True) if is_so]
            hints.append(
                f"Skewed: {listed(columns, at_most=5)}. --transform auto takes logarithms of "
                "skewed columns, so that ratios are compared instead of differences."
            )
    return hints


def _headline(record: Record) -> str:
    results, n_rows = record["results"], n_judged(record)
    if record["method"] != "outliers":
        counts = len(results["sizes"]), results["n_unassigned"], n_rows
        found = clusters_words(*counts, are_all=not record["data"]["n_rows_left_out"])
        column = results["values_of"]
        if column is None:
            return f"{found}."
        remedy = ""
        if column in record["data"]["columns"]:
            remedy = f" If it is no measurement, leave it out with {_ignoring(column)}."
        return f"{found}. The clusters are the values of {shown(column)}.{remedy}"
    if results["fdr"] is not None:
        flagged = f"{counted(results['n_outliers'], 'outlier')} among {counted(n_rows, 'row')}, "
        flagged += f"at a false discovery rate of {results['fdr']:g}"
    elif record["reference"] is not None:
        flagged = f"{results['n_outliers']:,} of {counted(n_rows, 'row')} are more unusual than "
        flagged += f"{100 - 100 * _rate(record):.4g} % of the reference rows"
    else:
        flagged = most_unusual(results["n_outliers"], n_rows, _rate(record))
    n_apart = results["n_apart"]
    if n_apart is None:  # not all rows were in memory
        return f"{flagged}."
    return f"{flagged}; {stand_apart(n_apart)}."


def _rate(record: Record) -> float:
    return float(record["estimator"]["parameters"]["contamination"])


def _meaning_of_flags(record: Record) -> list[str]:
    """What the threshold says of false alarms, and whether some rows stand apart."""
    results, sentences = record["results"], []
    if results["fdr"] is not None:
        if results["n_outliers"]:
            rate = f"{results['fdr']:.3g}"
            sentences = [f"On average, at most a share of {rate} of these rows are false alarms."]
    else:
        many = rows_for_alarms(_rate(record))
        low, high = (max(1, round(many * rate)) for rate in results["false_alarm_interval"])
        expected = f"{many * _rate(record):.3g}"
        source = " To control the false discovery rate instead, pass clean rows with --reference."
        sentences = [
            f"Rows with a score below {results['threshold']:.4g} are flagged. Expect {expected} "
            f"{'false alarm' if expected == '1' else 'false alarms'} in {many:,} ordinary rows, "
            f"between {low} and {high} for this model (95 % confidence)."
            f"{source if record['reference'] is None else ''}"
        ]
    parameters = record["estimator"]["parameters"]
    if parameters["trim"] and not parameters["novelty"]:
        sentences.append(
            f"The model leaves out the {100 * parameters['trim']:.3g} % of rows with the lowest "
            "scores, so that similar outliers do not hide each other; --param trim=0 uses all rows."
        )
    if results["gap"] is not None:
        n_apart, last, following = results["gap"]
        scores = f"score {last:.3g}{'' if n_apart == 1 else ' and below'}"
        who = "The worst row stands" if n_apart == 1 else f"The {n_apart:,} worst stand"
        sentences.append(f"{who} apart: {scores}, the next is {following:.3g}.")
    return sentences


def _say_clusters(terminal: Terminal, record: Record, heading: str, which: Which) -> None:
    """A line for each cluster, the first ones only where there are many."""
    results, n_rows = record["results"], n_judged(record)
    typical = {row["label"]: which(row) for row in results["typical_rows"]}
    first, rest = results["sizes"][:_MOST_CLUSTERS], results["sizes"][_MOST_CLUSTERS:]
    lines = [(str(label), size, typical.get(label, "")) for label, size in enumerate(first)]
    if rest:
        lines.append((f"{len(rest):,} more", sum(rest), ""))
    if results["n_unassigned"]:
        lines.append(("unassigned", results["n_unassigned"], ""))
    if first:
        table = [("cluster", "rows", "share", f"most typical {heading}")]
        table += [(label, f"{size:,}", share(size, n_rows), row) for label, size, row in lines]
        terminal.say(rich_table(table, right=_RIGHT))
    method, data = record["method"], record["data"]
    if method == "auto":
        terminal.say(results["explanation"])
    if method in ("auto", "alpha-cut") and len(first) == 1:
        if method == "alpha-cut":
            terminal.say("The data form one connected cluster.")
        terminal.say(_SPLIT_MIXED if data["categories"] or data["ordered"] else _SPLIT)


def _say_what_clusters_are(terminal: Terminal, record: Record) -> None:
    """The columns that set clusters apart, and the text columns that go with them."""
    results, finds_outliers = record["results"], record["method"] == "outliers"
    described = [] if finds_outliers else results["clusters"][:_MOST_CLUSTERS]
    short = shown_apart(record["data"]["columns"], 24)
    if any(cluster["apart"] or _categories(cluster) for cluster in described):
        rest = "the other clusters" if len(results["sizes"]) > 1 else "the unassigned rows"
        terminal.say()
        terminal.say(f"How each cluster differs (its medians against those of {rest}):")
        lines = [("cluster", "columns")]
        for cluster in described:
            phrases = "; ".join(_apart(cluster, short))
            lines.append((str(cluster["label"]), phrases or "no single column"))
        terminal.say(rich_table(lines, right=_RIGHT))
    related = _related(results)
    if related:
        terminal.say()
        terminal.say(f"Columns that were not used (those with up to {MOST_VALUES} values):")
        for each in related[:_MOST_TABULATED]:
            terminal.say(_tabulated_words(each, finds_outliers=finds_outliers))


def _related(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The text columns that took no part and go with the clusters."""
    found = [each for each in results["text_columns"] if each["association"] >= _RELATED]
    return [each for each in found if len(each["counts"]) > 1]


def _apart(cluster: Mapping[str, Any], short: Mapping[str, str], end: str = "") -> list[str]:
    """What sets a cluster apart: "mass 5,000 against 3,700"."""
    phrases = [
        f"{short[each['column']]} {shown_value(each['median'], each['column'])} against "
        f"{shown_value(each['elsewhere'], each['column'])} {end}".rstrip()
        for each in cluster["apart"][:3]
    ]
    return phrases + [shown(text, 60) for text in _categories(cluster)[:3]]


def _categories(cluster: Mapping[str, Any]) -> list[str]:
    return telling_categories([Commonest(**each) for each in cluster["categories"]])


def _tabulated_words(each: Mapping[str, Any], *, finds_outliers: bool) -> str:
    """The most frequent value in each cluster: "species: cluster 0 is Gentoo (119 of 123)"."""
    phrases = []
    labels = sorted(each["counts"], key=lambda label: (label < 0, label))
    for label in labels[:_MOST_CLUSTERS]:
        values = each["counts"][label]
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
    return f"{shown(each['column'])}: {'; '.join(phrases)}{end}."


def _say_rows(terminal: Terminal, record: Record, heading: str, which: Which) -> None:
    """The least typical rows, the worst first."""
    rows, results = rows_to_list(record), record["results"]
    if not rows:
        return
    above = "The least typical rows:"
    if rows[0]["rivals"]:
        above, n_between = "Rows between clusters:", results["n_between"]
        if n_between is not None and n_between > len(rows):
            above = (
                f"Rows between clusters, {len(rows)} of {n_between:,} with a membership of "
                f"{BETWEEN:g} or more in a second one:"
            )
    if record["method"] == "outliers":
        every = len(rows) == max(results["n_outliers"], results["n_apart"] or 0)
        above = "The worst first:" if every else f"The {len(rows)} worst:"
    table = {heading: list(map(which, rows))}
    strengths = numbers([row["strength"] for row in rows])
    if rows[0]["rivals"]:
        table["membership"] = strengths
        table["between clusters"] = [" and ".join(map(str, row["rivals"])) for row in rows]
    else:
        fitted = record["reference"] or record["data"]
        n_fitted = (results["sample"] or fitted)["n_rows"]
        table["rarer than"] = percentages([row["rarer_than"] for row in rows], n_fitted)
        if record["method"] == "outliers":
            table["score"] = strengths
        else:
            labels = (row["label"] for row in rows)
            table["cluster"] = [str(label) if label >= 0 else "unassigned" for label in labels]
        if record["reference"] is not None:
            table["p-value"] = [f"{row['p_value']:.2g}" for row in rows]
        columns = [*record["data"]["columns"], *record["data"]["categories"]]
        least = TELLING if len(columns) > 1 else 0.0
        names = shown_apart((each["column"] for row in rows for each in row["reasons"]), 20)
        table[_UNUSUAL] = [_reasons(row["reasons"], names, least) for row in rows]
    terminal.say()
    terminal.say(above)
    terminal.say(rich_table([[*table], *zip(*table.values(), strict=True)], right=_RIGHT))


def _reasons(reasons: Sequence[dict[str, Any]], names: dict[str, str], least: float) -> str:
    """The columns that matter: the first, and a second one if it is nearly as far off."""
    largest = abs(reasons[0]["deviations"]) if reasons else 0.0
    if not reasons or largest < least:
        return "no single column"
    close = [reason for reason in reasons[:2] if abs(reason["deviations"]) >= largest / 2]
    return "\n".join(shown(reason_words(reason, names[reason["column"]]), 80) for reason in close)


# ---- which rows and columns are used -------------------------------------------------------------


def about_rows(rows: FitRows) -> str:
    """Which rows and columns were used, and why not the others."""
    left_out = rows.numeric.left_out
    all_names = rows.column_names
    used = f"{counted(len(all_names), 'column')} ({listed(map(shown, all_names))})"
    sentences = [f"{rows.table.name}: {counted(rows.n_rows, 'row')}, {used}."]
    sentences += assumptions(rows.assumed)
    if rows.table.decimal == ",":
        sentences.append(WITH_POINTS)
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
        n_told = max(_MOST_LEFT_OUT, sum(column.has_digits for column in left_out))
        told, more = left_out[:n_told], len(left_out) - n_told
        following = [*(column.remedy for column in told[1:]), None]
        reasons = [  # a remedy for columns side by side is named once
            f"{shown(each.name)}, {each.what if each.remedy == after else each.sentence(option_of)}"
            for each, after in zip(told, following, strict=True)
        ]
        others = [f"and {more:,} more"] if more > 0 else []
        sentences.append(f"Left out: {'; '.join([*reasons, *others])}.")
    if doubts := rows.numeric.doubts:
        are = "; ".join(f"{shown(name)}, {what}" for name, what in doubts.items())
        remedy = " ".join(map(_ignoring, doubts))
        sentences.append(f"Used, but perhaps not a measurement: {are}. Leave out with {remedy}.")
    sentences += _about_dropped(rows) if rows.n_left_out else []
    return " ".join(sentences)


def _about_dropped(rows: FitRows) -> list[str]:
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


def _about_categories(rows: FitRows) -> list[str]:
    """Which columns are categories, and what became of missing ones."""
    if not rows.categories:
        nothing = rows.options.categorical and not rows.options.ordered
        return ["No column of categories was found."] if nothing else []
    phrases = [f"{shown(name)} ({len(values)})" for name, values in rows.categories.items()]
    sentences = [f"Categories: {listed(phrases)}."]
    n_missing = sum(rows.numeric.missing_by_column[name] for name in rows.categories)
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


def _ignoring(name: str) -> str:
    """The option that leaves a column out, as a shell takes it."""
    return f"--ignore {shlex.quote(quoted(name))}" if name.isprintable() else "--ignore"
