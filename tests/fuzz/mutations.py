"""Inputs that are nearly right: bytes and JSON with a few changes."""

import copy
import json

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
# The same for values of JSON.
STRANGE = [
    *(None, True, -1, 0, 3, 2**63, 10**400, -0.5, 1e300, "", "x", "drop", [], {}, [None], {"": 1}),
    *("\x1b[2J", "\u202e", "\ud800", "a\nb", "../x", "/dev/zero", "-", "ä" * 300, "<script>", "*"),
]
_BYTES = st.sampled_from(TOKENS) | st.binary(max_size=6)
_VALUES = st.sampled_from(STRANGE).map(copy.deepcopy) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


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


@st.composite
def changed_json(draw, document, *, most=3):
    """A document of JSON with some values replaced, taken out or put elsewhere."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(0, most))):
        places = list(_places(document))
        node, key = places[draw(st.integers(0, len(places) - 1))]
        kind = draw(st.sampled_from(["replace", "replace", "take out", "move", "add"]))
        if kind == "replace":
            node[key] = draw(_VALUES)
        elif kind == "take out":
            del node[key]
        elif kind == "move":
            other, its_key = places[draw(st.integers(0, len(places) - 1))]
            node[key] = copy.deepcopy(other[its_key])
        elif isinstance(node, list):
            node.insert(key, draw(_VALUES))
        else:
            node[draw(st.text(max_size=8))] = draw(_VALUES)
    return document


def _places(node):
    """Where another value can stand, as pairs of a container and a key."""
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def json_bytes(document):
    """The text of a document, whatever it holds."""
    return json.dumps(document).encode("utf-8", errors="surrogatepass")
