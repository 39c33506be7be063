"""Inputs that are nearly right: bytes with a few changes."""

from hypothesis import strategies as st

# What parsers treat in a special way: marks, limits, other encodings, escapes of a terminal.
TOKENS = [
    *(b"", b"\0", b"\n", b"\r\n", b"\r", b",", b";", b"\t", b'"', b'""', b"#", b" ", b"="),
    *(b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"\x9b"),
    *("\u202e".encode(), "\u2028".encode(), "1\u00a0234".encode(), b"9" * 400),
    *(
        b"NA",
        b"-",
        b"-inf",
        b"1e999",
        b"-1e-999",
        b"1e308",
        b"1_000",
        b"1.234,5",
        b"$7,440",
        b"60%",
    ),
    *(b"[", b"]", b"{", b"}", b'{"a":', b"[[[[", b":", b"\\u0000", b"\\ud800"),
    *(b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80" * 9, b"\0" * 8, b"PAR1"),
]
_BYTES = st.sampled_from(TOKENS) | st.binary(max_size=6)


@st.composite
def changed_bytes(draw, seeds, *, most=4):
    """One of some seeds with bytes put in, taken out, copied or replaced, or cut off."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.sampled_from([0, 1, 1, 2, 4, 8, 40, 1000])))
        some = draw(_BYTES)
        kind = draw(st.sampled_from(["replace", "replace", "put in", "copy", "cut off", "repeat"]))
        if kind == "replace":
            content = content[:start] + some + content[start + len(some) :]
        elif kind == "put in":
            content = content[:start] + some + content[stop:]
        elif kind == "copy":
            place = draw(st.integers(0, len(content)))
            content = content[:place] + content[start:stop] + content[place:]
        elif kind == "cut off":
            content = content[:start]
        else:
            content = (
                content[:start] + content[start:stop] * draw(st.integers(2, 50)) + content[stop:]
            )
    return content
