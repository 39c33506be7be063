"""Random text files with known rows: a dialect, its bytes, the numbers and their lines."""

import random
from typing import NamedTuple

import numpy as np

_WORDS = ["Anna", "Zoë", "Müller, Jörg", 'the "big" one', "x;y", "a|b", "#7", "two\nlines", "ß\tt"]
_MISSING = ["", "NA", "n/a", "NaN", "null", "None", "?", "-"]
_UNITS = ["m", "kg", "%", "mg/L", "[cm]"]


class RandomFile(NamedTuple):
    """A file: its bytes, the numbers of its first columns and the line of each row.

    `bad` is the line and the column of the error, if any.
    """

    contents: bytes
    X: np.ndarray
    lines: list[int]
    bad: tuple[int, str | None] | None


def random_file(seed: int) -> RandomFile:
    """A file in a random dialect; about a quarter of them has an error."""
    rng = random.Random(seed)
    delimiter, quotes = rng.choice(",;\t| "), rng.choice(["needed", "all"])
    decimal, thousands = rng.choice([".", ","]), rng.random() < 0.4
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    end = rng.choice(["\n", "\r\n", "\r"])
    has_header, has_words = rng.random() < 0.7, rng.random() < 0.6
    has_units, has_titles, has_notes = (rng.random() < 0.2 for _ in range(3))
    n_rows, n_columns = rng.randint(5, 30), rng.randint(3, 6)

    missing = _MISSING[1:] if delimiter == " " else _MISSING

    values = np.array([[_value(rng) for _ in range(n_columns)] for _ in range(n_rows)])
    cells = [[_written(value, decimal, thousands) for value in row] for row in values]
    for row in range(2, n_rows):
        for column in range(n_columns):
            if rng.random() < 0.1:
                cells[row][column], values[row, column] = rng.choice(missing), np.nan
    if has_words:
        for row in cells:
            row.append(rng.choice(_WORDS))
    names = [f"größe {j}" for j in range(len(cells[0]))]

    spoiled = rng.choice(["cell", "short"]) if rng.random() < 0.25 else None
    at, column = rng.randrange(2, n_rows), rng.randrange(n_columns)
    if spoiled == "cell":
        cells[at][column] = rng.choice(["12x", "1.2.3.4", "red", "2024-01-31"])
    if spoiled == "short":
        del cells[at][-1]

    text, line, lines = "", 1, []
    for _ in range(rng.choice([0, 0, 1, 2])):
        text, line = f"{text}# made by hand; with, care{end}", line + 1
    if has_titles:
        text, line = f"{text}Report{end}{end}", line + 2
    units = [[rng.choice(_UNITS) for _ in range(n_columns)] + ["-"] * has_words] * has_units
    head = [names, *units] if has_header else []
    for number, row in enumerate([*head, *cells]):
        if number > 3 and rng.random() < 0.05:
            text, line = text + end, line + 1
        if number >= len(head):
            lines.append(line)
        record = delimiter.join(_quoted(cell, delimiter, quotes) for cell in row)
        text, line = text + record + end, line + 1 + record.count("\n")
    if has_notes:
        text += f"{end}Provisional{end}*{end}"
    if rng.random() < 0.3:
        text = text.removesuffix(end)
    column_name = names[column] if has_header else f"column {column + 1}"
    bad = (lines[at], column_name if spoiled == "cell" else None) if spoiled else None
    return RandomFile(text.encode(encoding), values, lines, bad)


def _value(rng: random.Random) -> float:
    """A number whose decimals are no three digits, which separators of thousands could be."""
    size = 10 ** rng.randint(0, 6)
    return float(rng.randint(-size, size)) + rng.choice([0.5, 0.25, -0.1])


def _written(value: float, decimal: str, thousands: bool) -> str:
    text = f"{value:,.2f}" if thousands else f"{value:.2f}"
    return text.translate(str.maketrans(",.", ".,")) if decimal == "," else text


def _quoted(cell: str, delimiter: str, quotes: str) -> str:
    special = any(letter in cell for letter in (delimiter, '"', "\n", "\r", "\t"))
    return '"' + cell.replace('"', '""') + '"' if special or quotes == "all" else cell
