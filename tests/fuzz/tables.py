"""Files of rows: seeds of every format, and what must hold of a table that was read."""

import hashlib
import io
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fuzz.contract import Target
from fuzz.mutations import changed_bytes
from typicality.exceptions import TableError
from typicality.tables import arrow_rows, csv_text, open_table, read_rows, rows_of

_RNG = np.random.default_rng(3)
_X = np.round(_RNG.normal(size=(12, 3)), 3)
_CSV = [
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
]
_NDJSON = [
    b'{"a": 1, "b": 2.5, "c": "x"}\n{"a": 3, "b": null, "c": "y"}\n\n{"a": -4}\n',
    b'{"a": [1, 2], "t": "2024-01-01", "o": {"p": 1}}\n{"a": [], "o": {"p": 2}}\n',
    b'{"x": 1e3}\r\n{"x": true}\r\n',
]


def _arrow_tables():
    numbers = {f"x{j}": _X[:, j] for j in range(3)}
    mixed = {
        "i": pa.array([1, None, 3] * 4, pa.int16()),
        "text": pa.array(["a", None, "ü,\n"] * 4),
        "kind": pa.array(["x", "y", "x"] * 4).dictionary_encode(),
        "when": pa.array([1, 2, 10**15] * 4, pa.timestamp("us", "UTC")),
        "price": pa.array([1, 2, None] * 4, pa.decimal128(9, 2)),
        "list": pa.array([[1.5, None], [], None] * 4),
        "pair": pa.array([{"p": 1, "q": "z"}, None, {"p": 2, "q": None}] * 4),
        "yes": pa.array([True, False, None] * 4),
        "raw": pa.array([b"\0\xff", b"", None] * 4),
        "y": _X[:, 0],
    }
    return pa.table(numbers), pa.table(mixed)


def _parquet(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=5, **options)
    return file.getvalue()


def _ipc(table, new):
    file = io.BytesIO()
    with new(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return file.getvalue()


def _numpy(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


_PLAIN, _MIXED = _arrow_tables()
_PARQUET = [
    _parquet(_PLAIN, compression="none", use_dictionary=False),
    _parquet(_PLAIN, compression="snappy"),
    _parquet(_MIXED, compression="none"),
    _parquet(_MIXED, compression="zstd", data_page_version="2.0"),
]
_ARROW = [
    _ipc(table, new) for table in (_PLAIN, _MIXED) for new in (pa.ipc.new_file, pa.ipc.new_stream)
]
_NPY = [
    _numpy(np.save, array)
    for array in (_X, _X[:, 0], np.asfortranarray(_X), _X.astype(">f4"), _X > 0, np.arange(12))
]
_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "delimiter": st.sampled_from([",", ";", "whitespace", "|", "x"]),
        "header": st.booleans(),
        "encoding": st.sampled_from(["utf-8", "latin-1", "utf-16", "cp1252", "ascii"]),
        "decimal": st.sampled_from([".", ","]),
    },
)


# Cells that look like numbers, or nearly.
_CELLS = st.sampled_from(
    [
        *("1", "-2.5", "3e4", "0", "007", "1.234", "12.345", "1,5", "1.234,5", "1,234", "1,234.5"),
        *("", "NA", "-", "?", "nan", "$7", "$7,440", "60%", "5 %", "€3", "2024-01-02", "true"),
        *("x", "two words", 'a "b"', "#", "1 2", " 4 ", "\t", "ü", "inf", "1e999", "0x1f", "١٢"),
    ]
)
_FINITE = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@st.composite
def _grids(draw):
    """Text of as many cells in each line."""
    n_columns, delimiter = draw(st.integers(1, 4)), draw(st.sampled_from(",;\t| "))
    kinds = [draw(st.sampled_from([_FINITE, _FINITE | _CELLS, _CELLS])) for _ in range(n_columns)]
    rows = draw(st.lists(st.tuples(*kinds), min_size=1, max_size=12))
    quote = draw(st.booleans())

    def written(cell):
        marked = quote or delimiter in cell or '"' in cell
        return '"' + cell.replace('"', '""') + '"' if marked else cell

    lines = [delimiter.join(map(written, cells)) for cells in rows]
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines).encode()


def _read(value, folder, *, suffix):
    """Read a file in all the ways there are, and compare."""
    content, options = value
    path = folder / f"rows{suffix}"
    path.write_bytes(content)
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


def _target(suffix, inputs, options=st.just({})):  # noqa: B008
    return Target(st.tuples(inputs, options), partial(_read, suffix=suffix), (TableError,))


TARGETS = {
    "csv": _target(".csv", changed_bytes(_CSV) | _grids(), _OPTIONS),
    "ndjson": _target(".ndjson", changed_bytes(_NDJSON)),
    "parquet": _target(".parquet", changed_bytes(_PARQUET)),
    "arrow": _target(".arrow", changed_bytes(_ARROW)),
    "npy": _target(".npy", changed_bytes(_NPY)),
}
