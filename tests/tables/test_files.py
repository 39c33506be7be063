"""Text files: bytes and settings, and the cells, the numbers or the error that they give."""

import csv
import io
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.dialects import random_file
from typicality.exceptions import TableError
from typicality.tables import base, csv_text, open_table, read_rows, rows_of

nan = np.nan
UMLAUTS = "größe,b\n1,ü\n4,é\n"
ROW, NAMES = "the first line is a row", "the first line holds names"


class Case(NamedTuple):
    """The contents of a file, what is found in it and assumed, how it is opened, what is chosen.

    A table is written "name name / line cell cell / line cell cell", with • for blanks in cells.
    """

    contents: str | bytes
    expected: Any
    assumed: str
    columns: list[str] | None
    settings: dict[str, Any]


def case(contents, expected, assumed="", *, columns=None, **settings):
    return Case(contents, expected, assumed, columns, settings)


CELLS = {
    "comma": case("a b,x\n1.5,2\n", "a•b x / 2 1.5 2"),
    "semicolon": case("a b;x\n1.5;2\n", "a•b x / 2 1.5 2"),
    "tab": case("a b\tx\n1.5\t2\n", "a•b x / 2 1.5 2"),
    "bar": case("a b|x\n1.5|2\n", "a•b x / 2 1.5 2"),
    "tsv": case("a,b\tc\n1\t2\n", "a,b c / 2 1 2", format="tsv"),
    "names with commas": case("x, cm;y\n1,5;2,5\n", "x,•cm y / 2 1,5 2,5", "commas"),
    "alike": case("a;b\n1,5;x\n2,5;y,z\n", "a b / 2 1,5 x / 3 2,5 y,z", "commas"),
    "delimiter said": case("a;b,c\n1;2,3\n", "a;b c / 2 1;2 3", delimiter=","),
    "CR LF": case("a,b\r\n1,2\r\n\r\n4,5\r\n", "a b / 2 1 2 / 4 4 5"),
    "CR": case("a,b\r1,2\r\r4,5", "a b / 2 1 2 / 4 4 5"),
    "byte order mark": case(UMLAUTS.encode("utf-8-sig"), "größe b / 2 1 ü / 3 4 é"),
    "UTF-16": case(UMLAUTS.encode("utf-16"), "größe b / 2 1 ü / 3 4 é"),
    "cp1252": case(UMLAUTS.encode("cp1252"), "größe b / 2 1 ü / 3 4 é", "cp1252"),
    "cp850 said": case(UMLAUTS.encode("cp850"), "größe b / 2 1 ü / 3 4 é", encoding="cp850"),
    "UTF-16 said": case(
        UMLAUTS.encode("utf-16-le"), "größe b / 2 1 ü / 3 4 é", encoding="utf-16-le"
    ),
    "no header": case("1.5,2\n3,4\n", "column•1 column•2 / 1 1.5 2 / 2 3 4"),
    "row with text": case("5.1,a\n4.9,b\n", "column•1 column•2 / 1 5.1 a / 2 4.9 b", ROW),
    "row with a gap": case("5.1,\n4.9,3\n", "column•1 column•2 / 1 5.1  / 2 4.9 3", ROW),
    "row with a date": case(
        "a,2024-01-31\nb,31.1.24\n", "column•1 column•2 / 1 a 2024-01-31 / 2 b 31.1.24", ROW
    ),
    "a row alone": case("5.1,a\n", "column•1 column•2 / 1 5.1 a", ROW),
    "row of words": case(
        "a,b\nc,d\nb,b\na,d\n", "column•1 column•2 / 1 a b / 2 c d / 3 b b / 4 a d", ROW
    ),
    "row with a year": case("a,2009\nb,2010\n", "column•1 column•2 / 1 a 2009 / 2 b 2010", ROW),
    "years as names": case("a,2009\nb,17.5\n", "a 2009 / 2 b 17.5", NAMES),
    "years only": case("2010,2009\n4,17.5\n", "2010 2009 / 2 4 17.5", NAMES),
    "row of years": case("2009;2010\n2010;2011\n", "column•1 column•2 / 1 2009 2010 / 2 2010 2011"),
    "wavelengths": case("id,4,4.5,5,5.5\na,1,0,2,3\n", "id 4 4.5 5 5.5 / 2 a 1 0 2 3", NAMES),
    "names of which one is a number": case("a,7\n1.5,2\n", "a 7 / 2 1.5 2", NAMES),
    "names above text": case("name,town\na,b\na,b\n", "name town / 2 a b / 3 a b"),
    "names of pandas": case("0;1\n1;2\n", "0 1 / 2 1 2", NAMES),
    "names with an index": case(",0,1\na,2,7\n", "column•1 0 1 / 2 a 2 7", NAMES),
    "no name": case("a,,c\n1,2,3\n", "a column•2 c / 2 1 2 3"),
    "spaces": case(" a , b\n1,2\n", "a b / 2 1 2"),
    "header said": case("1,2\n3,4\n", "1 2 / 2 3 4", header=True),
    "no header said": case("a,b\n3,4\n", "column•1 column•2 / 1 a b / 2 3 4", header=False),
    "units below names": case(
        'a,b,c,d\nm,,kg,"a\nname"\n1,2,3,x\n4,5,6,y\n',
        "a b c d / 4 1 2 3 x / 5 4 5 6 y",
        "units or types",
    ),
    "text below names": case(
        "a,b,c\nm,kg,4\n1,2,3\n4,5,6\n", "a b c / 2 m kg 4 / 3 1 2 3 / 4 4 5 6"
    ),
    "text in one column of numbers": case("a,b\nm,x\n1,y\n4,z\n", "a b / 2 m x / 3 1 y / 4 4 z"),
    "blank lines before": case("\n\na,b\n1,2\n4,5\n", "a b / 4 1 2 / 5 4 5"),
    "name of two lines": case('"a\nb",c\n1,2\n', "a\nb c / 3 1 2"),
    "cells of two lines": case(
        'a,b\n"x\r\ny",1\n\nz,2\n"p\n\nq",3\nr,4\n', "a b / 2 x\r\ny 1 / 5 z 2 / 6 p\n\nq 3 / 9 r 4"
    ),
    "quotation marks": case('a,b\n"a ""b"",c",2\n"""",4\n', 'a b / 2 a•"b",c 2 / 3 " 4'),
    "blanks after quotations": case(
        '"a" ,"b"\t\n"x, y"  ,2 \n"p ""\n" ,"q"" ,r"\t \r\n', 'a b / 2 x,•y 2• / 3 p•"\n q"•,r'
    ),
    "titles above the table": case(
        "Report, 2026\n\nsum;of;sales;x\n1;2;3;4\n5;6;7;8\n9;8;7;6\n",
        "sum of sales x / 4 1 2 3 4 / 5 5 6 7 8 / 6 9 8 7 6",
        "1 line above the table skipped",
    ),
    "titles above two columns": case(
        "Source: us\nAll\nweek,n\n1,5\n2,6\n3,7\n",
        "week n / 4 1 5 / 5 2 6 / 6 3 7",
        "2 lines above the table skipped",
    ),
    "counts above a table without names": case(
        "3,4,a,b\n" + "1,2,3,4,5,6,7,8.5\n" * 3,
        " ".join(f"column•{j}" for j in range(1, 9))
        + "".join(f" / {line} 1 2 3 4 5 6 7 8.5" for line in (2, 3, 4)),
        "1 line above the table skipped",
    ),
    "a name above decimal commas": case(
        "price\n1,5\n2,25\n3,5\n", "price / 2 1,5 / 3 2,25 / 4 3,5", "decimal commas"
    ),
    "notes below the table": case(
        "a,b,c\n1,2,3\n4,5,6\n\nSource: us\n",
        "a b c / 2 1 2 3 / 3 4 5 6",
        "1 line below the table skipped",
    ),
    "titles above and notes below": case(
        "Report\na,b,c\n1,2,3\n4,5,6\n\nSource: us\nAll",
        "a b c / 3 1 2 3 / 4 4 5 6",
        "the table skipped",
    ),
    "delimiters at the ends of rows": case("a,b\n1,2,\n3,4,\n", "a b column•3 / 2 1 2  / 3 3 4 "),
    "no name for names of rows": case(
        '"mpg","cyl"\n"Mazda RX4",21,6\n"Hornet",21.4,4\n',
        "column•1 mpg cyl / 2 Mazda•RX4 21 6 / 3 Hornet 21.4 4",
        "the first column has no name",
    ),
    "blanks before quotations": case(
        '"name",   "age"\n"Doe, A",\t 41\n"B ""C"" D", "5"\n  "E",\t"6" \n',
        'name age / 2 Doe,•A \t•41 / 3 B•"C"•D 5 / 4 E 6',
    ),
    "backslashes before quotation marks": case(
        'a,b\n"the \\"big\\", one",1\n"C:\\\\",2\n"5\\"",4\n',
        'a b / 2 the•"big",•one 1 / 3 C:\\\\ 2 / 4 5" 4',
        "quotation mark",
    ),
    "backslashes at the end": case('a,b\n"C:\\",1\n"D:\\",2\n', "a b / 2 C:\\ 1 / 3 D:\\ 2"),
    "mark after a blank line": case(
        b"a\r\n\r\n\xef\xbb\xbf\r\nx\r\n", "a / 3 \ufeff / 4 x", "blank lines", header=True
    ),
    "blank lines of one column": case(
        "\nx\n\n5\n\n\n7\n\n\n", "x / 4 5 / 7 7", "blank lines hold no rows"
    ),
    "a pair or a decimal comma": case(
        "1,5\n2,5\n", "column•1 column•2 / 1 1 5 / 2 2 5", "commas between two columns"
    ),
    "commas in one column": case("1,5\n2,05\n", "column•1 / 1 1,5 / 2 2,05", "decimal commas"),
    "commas in one column said": case("1,5\n2,5\n", "column•1 / 1 1,5 / 2 2,5", decimal=","),
    "blanks": case(
        '  x   name\tn\n 1.5  "New York"   7 \r\n\n\t-2 Rome 8\n',
        "x name n / 2 1.5 New•York 7 / 4 -2 Rome 8",
        "blanks",
    ),
    "words with blanks": case("first name\nAnna B\n", "first•name / 2 Anna•B"),
    "times with blanks": case("date\n2024-01-01 10:00\n", "date / 2 2024-01-01•10:00"),
    "decimal commas among texts": case(
        "Anna;1,5\nBob;2,5\nBob;4,7\n",
        "column•1 column•2 / 1 Anna 1,5 / 2 Bob 2,5 / 3 Bob 4,7",
        "decimal commas",
        header=False,
    ),
    "decimal commas after more texts": case(
        "978-3\t10:00\t0,369\n978-1\t10:05\t0,85\n",
        "column•1 column•2 column•3 / 1 978-3 10:00 0,369 / 2 978-1 10:05 0,85",
        "decimal commas",
        header=False,
    ),
    "a delimiter in a name": case("label;x\n5\n7\n", "label;x / 2 5 / 3 7"),
    "blanks in cells": case("kg\tb\n1 2\t7\n3 4\t8\n", "kg b / 2 1•2 7 / 3 3•4 8"),
    "decimal commas between blanks in cells": case(
        "a b\tc\n1,5 2,5\t7\n3,5 4,5\t8\n", "a•b c / 2 1,5•2,5 7 / 3 3,5•4,5 8"
    ),
    "blanks in cells of one row": case("k|b c\nA|5 6\n", "k b•c / 2 A 5•6"),
    "texts between blanks": case(
        '"a b" "c|d"\n"x, y" "q"\n"z" "p, q"\n', "a•b c|d / 2 x,•y q / 3 z p,•q", "blanks"
    ),
    "a title of as many words": case(
        "Report of sales\nx\ty\tz\n1\t2\t3\n4\t5\t6\n",
        "x y z / 3 1 2 3 / 4 4 5 6",
        "1 line above the table skipped",
    ),
    "an empty name": case('""\n4.5\n3.5\n', "column•1 / 2 4.5 / 3 3.5", NAMES),
    "row with a word for missing": case(
        "A\tn/a\nB\tx\n", "column•1 column•2 / 1 A n/a / 2 B x", ROW
    ),
    "words that occur again are no units": case(
        "a,b\nlost,lost\n" + "1,2\n" * 20 + "lost,3\n",
        " / ".join(["a b", "2 lost lost", *(f"{i} 1 2" for i in range(3, 23)), "23 lost 3"]),
    ),
    "rows that begin like comments": case(
        "#1,5\n#2,6\nNA,7\n#3,8\n#1,9\n",
        "column•1 column•2 / 1 #1 5 / 2 #2 6 / 3 NA 7 / 4 #3 8 / 5 #1 9",
        ROW,
    ),
    "a row of 0, 1 and a text that occurs again": case(
        "0,1,a b\n1,2,c\n0,1,a b\n",
        "column•1 column•2 column•3 / 1 0 1 a•b / 2 1 2 c / 3 0 1 a•b",
        ROW,
    ),
    "a column called #": case("#,name\n1,a\n2,b\n", "# name / 2 1 a / 3 2 b"),
    "comments": case("# by me, today\n#\n\na,b\n1,2\n4,5\n", "a b / 5 1 2 / 6 4 5", "#"),
    "comment above rows": case("# by me\n1;2\n4;5\n", "column•1 column•2 / 2 1 2 / 3 4 5", "#"),
    "no comments": case("name,x\n#1,2\n#2,5\n", "name x / 2 #1 2 / 3 #2 5"),
    "one name": case("a,b,a,a.1,b\n1,2,3,4,5\n", "a b a.2 a.1 b.1 / 2 1 2 3 4 5", "same name"),
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # files are named without a folder in messages

    def write_file(contents, name="rows.csv"):
        data = contents if isinstance(contents, bytes) else contents.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return write_file


@pytest.mark.parametrize("size", [1, 5, 2**21])
@pytest.mark.parametrize("case", CELLS.values(), ids=CELLS)
def test_cells_and_lines_are_those_of_the_file(write, monkeypatch, case, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    names, *expected = [
        tuple(cell.replace("•", " ") for cell in row.split(" "))
        for row in case.expected.split(" / ")
    ]
    with open_table(write(case.contents), **case.settings) as table:
        blocks = list(table.blocks())
        text = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in blocks).decode()
    lines = [str(line) for b in blocks for line in b.lines]
    rows = [row for b in blocks for row in zip(*map(b.cells, names), strict=True)]
    assert (table.names, table.n_rows) == (names, len(rows))
    assert [(line, *row) for line, row in zip(lines, rows, strict=True)] == expected
    assert bool(table.assumed) == bool(case.assumed)
    assert all(case.assumed in each.what for each in table.assumed)
    written = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert written == [list(names), *map(list, rows)]


class Bad(NamedTuple):
    """What is expected of a bad file: line and column of the error, and a word of its message."""

    line: int | None
    column: str | None
    word: str


GERMAN = "Name;Apps;Quote\nA;1.660;18,1\nB;945;12,2\nC;48.094;-0,5\nD;1.234.567;1.000,25\n"
MIXED = "a;b;c\n1.660;2,5;3.25\n2.945;3,5;4.5\n3.500;1,5;0.125\n"
SIGNED = 'n,price,share,count\n1,"$7,440",60%,"1,234"\n4,-$12.50, 5.5 %,"2,345,678"\n9,8,NA,5\n'
PAIR = 'pair,x,n\n"1,5",1.234,1\n"2,12",5.678,5\n'
GAPS = "a,b,t\n1,-,-\nNA,5,x\n?, - ,y\n3,7,\n n/a,nan,\n"
BLANKS = "a b c d\n1   4\n6 7 8 9\n"
AMOUNTS = "a;b\n1.234,50 €;1,5\n7 €;2,5\n"
MARK, LATE = b"\xef\xbb\xbf", b"x,name\n" + b"1,Anna\n" * 20_000 + b"2,M\xfcller\n"

# The numbers of each column used, or the error.
FILES = {
    "points are thousands": case(
        GERMAN, {"Apps": [1660, 945, 48094, 1234567], "Quote": [18.1, 12.2, -0.5, 1000.25]}
    ),
    "points are decimal points": case(
        "a,b\n1.234,2\n5.678,4\n0.5,7\n", {"a": [1.234, 5.678, 0.5], "b": [2, 4, 7]}
    ),
    "no header, decimal commas": case(
        "0,5;1,5\n2,5;3,5\n", {"column 1": [0.5, 2.5], "column 2": [1.5, 3.5]}
    ),
    "as pandas writes a series": case(
        ",0\n1821,269\n1822,321\n", {"column 1": [1821, 1822], "0": [269, 321]}
    ),
    "lists of codes": case('a,b\n"39,06",7\n' + "358,5\n" * 12, {"b": [7] + [5] * 12}),
    "counts with points": case("t;n\na;245\nb;16.403\nc;2.733\n", {"n": [245, 16403, 2733]}),
    "two points": case("t;n\na;1.234.567\nb;8.403\n", {"n": [1234567, 8403]}),
    "counts if points are decimal elsewhere": case(
        "t;n;x\na;245;0.5\nb;16.403;2\nc;2.733;7\n", {"n": [245, 16.403, 2.733], "x": [0.5, 2, 7]}
    ),
    "a large whole number": case(
        "t;n\na;1245\nb;16.403\nc;2.733\nd;4\n", {"n": [1245, 16.403, 2.733, 4]}
    ),
    "one eighth": case("n;m\n1;5\n1.125;2\n3;2\n", {"n": [1, 1.125, 3], "m": [5, 2, 2]}),
    "a typing error": case(
        "a;b\n" + "1.660;2,5\n9;3,5\n" * 20 + "7;n/k\n", {"a": [1660, 9] * 20 + [7]}
    ),
    "commas far down": case(
        "a;b\n" + "1;3\n5;4\n" * 9_000 + "2;3,5\n", {"a": [1, 5] * 9_000 + [2]}
    ),
    "decimal commas with three digits": case(
        "a;b\n-6,180;7\n1,512;5\n", {"a": [-6.18, 1.512], "b": [7, 5]}
    ),
    "decimal commas in one row": case("0,831;5;1,5\n", Bad(None, None, "only one row")),
    "decimal commas below units": case(
        "a;b\nm;kg\n0,5;1\n1,25;2\n", {"a": [0.5, 1.25], "b": [1, 2]}
    ),
    "decimal commas above notes": case(
        "a;b\n0,5;1\n1,25;2\nSource: us, here\n* provisional\n", {"a": [0.5, 1.25], "b": [1, 2]}
    ),
    "eighths": case("a,b\n3.375,1\n3,2\n8.125,4\n", {"a": [3.375, 3, 8.125], "b": [1, 2, 4]}),
    "counts beside fractions": case(
        "n;m\n245;1.125\n16.403;2.375\n2.733;5.625\n",
        {"n": [245, 16.403, 2.733], "m": [1.125, 2.375, 5.625]},
    ),
    "blanks in cells beside decimal commas": case(
        "kg\tb\n1 2\t7,5\n3 4\t8,25\n", {"b": [7.5, 8.25]}, columns=["b"]
    ),
    "a decimal point in the first row": case(
        "5;9.25\n1;7\n4;2.875\n2;9.625\n",
        {"column 1": [5, 1, 4, 2], "column 2": [9.25, 7, 2.875, 9.625]},
    ),
    "columns that differ": case(MIXED, {"a": [1.66, 2.945, 3.5], "c": [3.25, 4.5, 0.125]}),
    "points given": case(MIXED, {"a": [1.66, 2.945, 3.5], "c": [3.25, 4.5, 0.125]}, decimal="."),
    "chosen twice": case("a,b\n1,2\n4,5\n", {"b": [2, 5]}, columns=["b", "b"]),
    "commas given": case("a;b\n1.660;2\n945;3\n", {"a": [1660, 945], "b": [2, 3]}, decimal=","),
    "a quoted pair": case(PAIR, {"x": [1.234, 5.678], "n": [1, 5]}),
    "missing between blanks that delimit": case(
        BLANKS, {"a": [1, 6], "b": [nan, 7], "d": [4, 9]}, delimiter=" ", columns=["a", "b", "d"]
    ),
    "missing": case(GAPS, {"a": [1, nan, nan, 3, nan], "b": [nan, 5, nan, 7, nan]}),
    "signs": case(
        SIGNED,
        {
            "n": [1, 4, 9],
            "price": [7440, -12.5, 8],
            "share": [60, 5.5, nan],
            "count": [1234, 2345678, 5],
        },
    ),
    "truth": case(
        "x,flag,k\n1,true,1\n2,FALSE,True\n5,NA,3\n", {"x": [1, 2, 5], "flag": [1, 0, nan]}
    ),
    "signs of two kinds": case("x,y,z\n1,$5,5\n2,€6,6%\n5,$7,7\n", {"x": [1, 2, 5]}),
    "digits in groups that are no numbers": case("x,y\n1,030 123\n2,031 456\n", {"x": [1, 2]}),
    "signs and decimal commas": case(
        AMOUNTS, {"a": [1234.5, 7], "b": [1.5, 2.5]}, columns=["a", "b"]
    ),
    "empty": case("", Bad(None, None, "is empty")),
    "header only": case("a,b\n", Bad(None, None, "no rows")),
    "ragged": case("a,b\n1,2\n3,4,5\n6,7\n", Bad(3, None, "3 cells")),
    "binary": case(b"PK\x03\x04\x14\0\x06\0", Bad(None, None, "begins like")),
    "wrong encoding": case(b"x,name\n1,Anna\n2,M\x81ller\n", Bad(3, None, "byte 4 .* 0x81")),
    "all text": case(
        "a,b\nred,up\nblue,down\n", Bad(None, None, "'red' in line 2.*'up' in line 2")
    ),
    "one constant column": case("a\n5\n5\n5\n", Bad(None, "a", "constant")),
    "nothing but NaN": case(
        "a,b\nNaN,NA\n,?\n", Bad(None, None, "'a': all values are missing; 'b'")
    ),
    "blank": case(MARK + b" \n\n", Bad(None, None, "is empty")),
    "one row": case("a,b\n1,2\n", Bad(None, None, "only one row")),
    "ragged after two lines": case('a,b\n"1\n",2\n\n3\n6,7\n', Bad(5, None, "1 cell,")),
    "zeros": case("a,b\n1,2\n\0,3\n", Bad(3, None, "zero")),
    "zeros far down": case("a,b\n" + "1,2\n" * 20_000 + "\0,3\n", Bad(20_002, None, "zero")),
    "wrong names": case(MARK + b"a\xfc,b\n1,2\n", Bad(1, None, "byte 2 of")),
    "wrong second line": case(MARK + b"a,b\n1,\xfc\n", Bad(2, None, "byte 3 of")),
    "wrong far down": case(LATE, Bad(20_002, None, "byte 4 .*encoding='cp1252'")),
    "wrong UTF-16": case("a,b\n1,2\n".encode("utf-16") + b"\0", Bad(None, None, "utf-16")),
    "not as given": case(b"x,n\n1,M\xfc\n", Bad(2, None, "byte 4 of"), encoding="utf-8"),
    "unknown encoding": case("a\n1\n", Bad(None, None, "encoding is 'rot13'"), encoding="rot13"),
    "infinity": case("a,b\n1,2\n3,-inf\n", Bad(3, "b", "'-inf' is not a finite")),
    "too large a number": case("a,b\n1,2\n3,1e999\n", Bad(3, "b", "'1e999' is not a finite")),
    "a last row without cells": case("a,b\n1,2\n3\n", Bad(3, None, "1 cell,")),
    "ragged between blanks": case("a b\n" + "1 2\n" * 20 + "3 4 5\n", Bad(22, None, "3 cells,")),
    "cut off in a row": case("a,b\n1,2\n3", Bad(3, None, "1 cell,")),
    "cut off in a quotation": case('a,b\n1,2\n"3,4\n5,6\n', Bad(3, None, "inside a quotation")),
    "a stray quotation mark": case('a,b\n1,2\n"3"4,5\n', Bad(3, None, "quotation mark")),
    "a stray mark in the names": case('a,"b"c\n1,2\n3,5\n', Bad(1, None, "quotation mark")),
    "a quotation without end": case('a,b\n1,2\n"3' + "x\n" * 70_000, Bad(3, None, "field limit")),
    "a cell of many letters": case("x" * 200_000 + "\n1\n", Bad(1, None, "field larger")),
    "a line without end": case("a,b\n1,2\n3," + "4" * 2**25, Bad(3, None, "letters")),
    "text": case("a,b\n1,2\n3,x\n", Bad(3, "b", "'x' is not a number"), columns=["b"]),
    "a long text": case("a,b\n" + "x" * 99 + ",2\n", Bad(2, "a", r"'x{37}\.\.\.'"), columns=["a"]),
    "decimal commas": case(
        "a;b\n1,5;2\n", Bad(2, "a", "use decimal=','"), decimal=".", columns=["a"]
    ),
    "decimal points": case(
        "a;b\n1.5;2\n", Bad(2, "a", r"use decimal='\.'"), decimal=",", columns=["a"]
    ),
    "commas beside points": case(MIXED, Bad(2, "b", "use decimal=','"), columns=["b"]),
    "two currencies": case("a,b\n$5,1\n€6,1\n", Bad(None, "a", "different"), columns=["a"]),
    "percent and none": case("a,b\n60%,1\n0.5,1\n", Bad(None, "a", "different"), columns=["a"]),
    "no value": case("a,b\n1,\n2,\n", Bad(None, "b", "missing"), columns=["b"]),
    "a near name": case("a\n1\n", Bad(None, "A", r"'A'\. Did you mean 'a'\?"), columns=["A"]),
    "none chosen": case("a\n1\n", Bad(None, None, "no column was chosen"), columns=[]),
    "unknown format": case("a\n1\n", Bad(None, None, "format is 'xls'"), format="xls"),
    "two characters": case("a\n1\n", Bad(None, None, "delimiter is ',,'"), delimiter=",,"),
}
BAD = {name: each for name, each in FILES.items() if isinstance(each.expected, Bad)}
GOOD = {name: each for name, each in FILES.items() if name not in BAD}


@pytest.mark.parametrize("size", [8, 2**21])
@pytest.mark.parametrize("case", GOOD.values(), ids=GOOD)
def test_numbers_are_those_of_the_file(write, monkeypatch, case, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", max(size, len(case.contents) // 20))
    with open_table(write(case.contents), **case.settings) as table:
        rows = read_rows(table, columns=case.columns)
        again = np.concatenate([rows_of(b, rows.names, signs=rows.signs) for b in table.blocks()])
    assert rows.names == tuple(case.expected)
    np.testing.assert_array_equal(rows.X, np.transpose(list(case.expected.values())))
    np.testing.assert_array_equal(again, rows.X)


POINTS = {
    "counts": ("n;m\n245;1\n16.403;2\n2.733;3\n", "points between thousands (16.403 is 16403)"),
    "fractions": ("n;m\n1.245;1\n16.403;2\n", "decimal points (1.245), as nothing shows"),
    "one fraction": ("n;m\n1;1\n1.125;2\n", "decimal points (1.125), as nothing shows"),
    "commas after semicolons": (
        "n;m\n1,245;1\n16,403;2\n",
        "decimal commas (1,245), as semicolons",
    ),
    "commas after tabs": ("n\tm\n1,245\t1\n16,403\t2\n", "commas between thousands (1,245)"),
    "columns that differ": ("n;m\n245;.1\n16.403;2\n2.733;3\n", "decimal points (16.403), as in"),
}


@pytest.mark.parametrize(("contents", "what"), POINTS.values(), ids=POINTS)
def test_assumed_reading_of_points_is_told_with_the_option(write, contents, what):
    with open_table(write(contents)) as table:
        (assumption,) = table.assumed
    other = "." if what.startswith(("points between", "decimal commas")) else ","
    assert assumption.what.startswith(what)
    assert (assumption.remedy.parameter, assumption.remedy.value) == ("decimal", other)


@pytest.mark.parametrize("numbers", ["0.5 1.234", "1.234 1500", "1.25 5", "7 12"])
def test_points_that_can_only_be_decimal_points_are_not_told(write, numbers):
    with open_table(write("x;n\n" + "".join(f"{cell};1\n" for cell in numbers.split()))) as table:
        assert table.assumed == []


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_text_is_refused_with_its_place(write, case):
    path = write(case.contents)
    with (
        pytest.raises(TableError, match=case.expected.word) as caught,
        open_table(path, **case.settings) as table,
    ):
        read_rows(table, columns=case.columns)
    assert (caught.value.line, caught.value.column) == case.expected[:2]


RANDOM = {seed: random_file(seed) for seed in range(100)}
RIGHT = [seed for seed, made in RANDOM.items() if made.bad is None]


@pytest.mark.parametrize("size", [40, 2**21])
@pytest.mark.parametrize("seed", RIGHT)
def test_random_dialect_is_read_right(write, monkeypatch, seed, size):
    made = RANDOM[seed]
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    with open_table(write(made.contents)) as table:
        rows = read_rows(table, columns=table.names[: made.X.shape[1]])
        lines = [block.lines for block in table.blocks()]
    np.testing.assert_array_equal(rows.X, made.X)
    np.testing.assert_array_equal(np.concatenate(lines), made.lines)


@pytest.mark.parametrize("size", [40, 2**21])
@pytest.mark.parametrize("seed", RANDOM.keys() - {*RIGHT})
def test_random_dialect_with_an_error_is_refused_with_its_place(write, monkeypatch, seed, size):
    made = RANDOM[seed]
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    with pytest.raises(TableError) as caught, open_table(write(made.contents)) as table:
        read_rows(table, columns=table.names[: made.X.shape[1]])
    assert (caught.value.line, caught.value.column) == made.bad


def test_numbers_with_signs_are_scored_only_where_the_model_had_some(write):
    with open_table(write("a,b\n60%,1\n")) as table:
        (block,) = table.blocks()
        assert rows_of(block, ["a", "b"], signs={"a": "%"}).tolist() == [[60, 1]]
        for signs in (None, {}, {"a": "$"}):
            with pytest.raises(TableError, match="column 'a'"):
                rows_of(block, ["a"], signs=signs)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6),
    size=st.integers(1, 40),
    delimiter=st.sampled_from(",;\t|§"),
)
def test_any_cells_are_read_and_written_back(tmp_path_factory, rows, size, delimiter):
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("a", "b"), *rows])
    how = {"delimiter": delimiter, "header": True}
    with pytest.MonkeyPatch.context() as patch, open_table(path, **how) as table:
        patch.setattr(base, "BLOCK_BYTES", size)
        blocks = list(table.blocks())
        text = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in blocks).decode()
    found = [row for b in blocks for row in zip(b.cells("a"), b.cells("b"), strict=True)]
    assert found == rows
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [list(row) for row in rows]
