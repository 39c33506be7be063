"""Tables from anybody: success, or a refusal in words, in bounded time and memory."""

import hashlib
import io
import re
import resource
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from typicality.exceptions import TableError
from typicality.tables import arrow_rows, csv_text, open_table, read_rows, rows_of

MOST_SECONDS = 30.0  # of the processor; to compile a loop at its first use takes up to 12
MOST_MEMORY = 500e6  # bytes that an input may add to the peak of the process
# Characters that a terminal obeys: C0, delete, C1, marks of direction, separators of lines.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


# ---- inputs that are nearly right ----------------------------------------------------------------


def written(write, *args):
    file = io.BytesIO()
    write(file, *args)
    return file.getvalue()


NUMBERS = np.random.default_rng(3).normal(size=(12, 3)).round(3)
MIXED = pa.table(
    {
        "i": pa.array([1, None, 3] * 4, pa.int16()),
        "text": pa.array(["a", None, "ü,\n"] * 4),
        "kind": pa.array(["x", "y", "x"] * 4).dictionary_encode(),
        "when": pa.array([1, 2, 10**15] * 4, pa.timestamp("us", "UTC")),
        "price": pa.array([1, 2, None] * 4, pa.decimal128(9, 2)),
        "pair": pa.array([{"p": 1, "q": "z"}, None, {"p": 2, "q": None}] * 4),
        "raw": pa.array([b"\0\xff", b"", None] * 4),
        "y": NUMBERS[:, 0],
    }
)
SEEDS = {
    "csv": [
        b"a,b,name\n1,2.5,x\n3,4.25,y\n,NA,\n-5,1e3,z\n",
        b"a;b\n1.234,5;2\n7,25;3\n1,5;4\n",
        b"# made by hand\n# a b\n1 2\n3 4\n5 7\n",
        b'name,"a ""b""",c\n"two\nlines",1,$7,440\n"x, y",2,60%\n',
        b"\xef\xbb\xbfx\ty\n1\t2\n\n3\t5\n",
        "größe,b\n1,2\n3,4\n".encode("latin-1"),
        "a,b\n1,2\n3,5\n".encode("utf-16"),
        b"1,2,3\n4,5,6\n7,8,1\n" * 30,
        b"a,a,,a\n1,2,3,4\n5,6,7,9\n2,2,2,2\n",
        b"id,price\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(40)),
    ],
    "ndjson": [
        b'{"a": 1, "b": 2.5, "c": "x"}\n{"a": 3, "b": null, "c": "y"}\n\n{"a": -4}\n',
        b'{"a": [1, 2], "t": "2024-01-01", "o": {"p": 1}}\n{"a": [], "o": {"p": 2}}\n',
    ],
    "parquet": [written(lambda file: pq.write_table(MIXED, file, row_group_size=5))],
    "npy": [written(np.save, array) for array in (NUMBERS, NUMBERS[:, 0].astype(">f4"))],
}
# What parsers treat in a special way: marks, limits, other encodings, escapes of a terminal.
TOKENS = [
    *(b"\0", b"\n", b"\r", b",", b";", b"\t", b'"', b'""', b"#", b" ", b"=", b"[", b"}", b'{"a":'),
    *(b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", "\u202e".encode(), "1\u00a0234".encode()),
    *(b"9" * 400, b"NA", b"-inf", b"1e999", b"1_000", b"1.234,5", b"$7,440", b"60%", b"\\ud800"),
    *(b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80" * 9, b"PAR1"),
]
# Cells that look like numbers, or nearly.
CELLS = [
    *("1", "-2.5", "3e4", "007", "1.234", "12.345", "1,5", "1.234,5", "1,234.5", "$7,440", "60%"),
    *(
        "",
        "NA",
        "-",
        "nan",
        "€3",
        "2024-01-02",
        "true",
        "x",
        'a "b"',
        "#",
        "1 2",
        "\t",
        "inf",
        "١٢",
    ),
]
OPTIONS = {
    "delimiter": st.sampled_from([",", ";", "whitespace", "|", "x"]),
    "header": st.booleans(),
    "encoding": st.sampled_from(["utf-8", "latin-1", "utf-16", "cp1252", "ascii"]),
    "decimal": st.sampled_from([".", ","]),
}


@st.composite
def changed_bytes(draw, seeds):
    """One of some seeds with bytes replaced, put in, repeated, or cut off."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.sampled_from([0, 1, 4, 40, 1000])))
        some = draw(st.sampled_from(TOKENS) | st.binary(max_size=6))
        middle = draw(st.sampled_from([some, some, content[start:stop] * 20, None]))
        content = content[:start] + (b"" if middle is None else middle + content[stop:])
    return content


@st.composite
def grids(draw):
    """Text of as many cells in each line."""
    delimiter = draw(st.sampled_from(",;\t| "))
    cells = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.sampled_from(CELLS)
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=12))

    def quoted(cell):
        is_marked = delimiter in cell or '"' in cell
        return '"' + cell.replace('"', '""') + '"' if is_marked else cell

    return "\n".join(delimiter.join(map(quoted, row)) for row in rows).encode()


INPUTS = {name: changed_bytes(seeds) for name, seeds in SEEDS.items()}
INPUTS["csv"] |= grids()


# ---- what must hold ------------------------------------------------------------------------------


def check_table(path, options, content):
    """Read a file in all the ways there are, and compare."""
    with open_table(path, **options) as table:
        texts = [csv_text(block, {}, header=block.first_row == 0) for block in table.blocks()]
        rows = read_rows(table)
        again = [rows_of(block, rows.names, signs=rows.signs) for block in table.blocks()]
        typed = [arrow_rows(block, {}, numeric=rows.names) for block in table.blocks()]
        n_rows = table.n_rows
    assert rows.X.shape == (n_rows, len(rows.names))
    assert not np.isinf(rows.X).any()
    assert_array_equal(rows.n_missing, np.isnan(rows.X).sum(axis=0))
    assert_array_equal(np.concatenate(again), rows.X)
    assert sum(part.num_rows for part in typed) == n_rows
    assert all(text.endswith(b"\n") for text in texts)
    assert rows.fingerprint == f"sha256:{hashlib.sha256(content).hexdigest()}"


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("name", INPUTS)
def test_a_table_is_read_or_refused_in_words(name, tmp_path):
    outcomes, words = set(), []
    options = st.fixed_dictionaries({}, optional=OPTIONS if name == "csv" else {})
    calm = settings(
        max_examples=120,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )

    @calm
    @given(INPUTS[name], options)
    def use(content, options):
        path = tmp_path / f"rows.{name}"
        path.write_bytes(content)
        seconds, memory = time.process_time(), peak()
        try:
            check_table(path, options, content)
            outcomes.add("read")
        except TableError as error:
            outcomes.add("refused")
            words.append(str(error))
        assert time.process_time() - seconds < MOST_SECONDS
        assert peak() - memory < MOST_MEMORY

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        use()
    assert outcomes == {"read", "refused"}
    assert all(text.strip() and not CONTROL.search(text) for text in words)
