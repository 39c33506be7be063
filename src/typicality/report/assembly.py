"""One self-contained page: a template, its style, its script, and the data as JSON."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

_FOLDER = files("typicality.report")
_MARKS = re.compile(r"<!--(title|policy|payload)-->|/\*(css|js)\*/")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# JSON needs none of these outside of strings, and none may end a script or begin a comment there.
_DANGEROUS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"}


def assemble(payload: dict[str, Any]) -> str:
    """The page for a payload.

    Nothing from the data is markup: the payload is JSON in which no character can end the element
    it stands in, and the title is escaped. The policy of the page lets nothing run or load but the
    style and the script that stand in it, known by their hashes.
    """
    css = _text(_FOLDER / "page.css")
    scripts = [part for part in (_FOLDER / "page").iterdir() if part.name.endswith(".js")]
    js = "\n".join(map(_text, sorted(scripts, key=lambda part: part.name)))
    policy = (
        f"default-src 'none'; script-src {_hash(js)}; style-src {_hash(css)}; "
        "base-uri 'none'; form-action 'none'"
    )
    data = json.dumps(payload, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    data = data.translate(_DANGEROUS)
    parts = {
        "title": html.escape(payload["title"]),
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "payload": f'<script type="application/json" id="payload">{data}</script>',
        "css": css,
        "js": js,
    }
    # In one pass: a mark inside of a part is not a mark.
    return _MARKS.sub(lambda mark: parts[mark[1] or mark[2]], _text(_FOLDER / "page.html"))


def _text(part: Traversable) -> str:
    # With the ends of lines that browsers see, who compare hashes after they have read the page.
    return part.read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def encoded(values: Any, dtype: str) -> dict[str, str]:
    """An array as {"dtype": ..., "data": base64 of its little-endian bytes}.

    Parameters
    ----------
    values : array
        The values.
    dtype : {"f8", "f4", "i4", "i2", "u2", "u1"}
        What they are written as.
    """
    data = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"dtype": dtype, "data": base64.b64encode(data.tobytes()).decode("ascii")}


def clean_text(text: Any) -> str:
    """Text in which control characters and halves of characters are replaced."""
    return _UNPRINTABLE.sub("�", str(text))
