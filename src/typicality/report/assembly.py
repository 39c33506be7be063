"""One self-contained page: a template, its style, its script, and what it is told."""

import base64
import hashlib
import html
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from typicality.report.encoding import escaped_json

_FOLDER = files("typicality.report")
_MARKS = re.compile(r"<!--(title|policy|payload)-->|/\*(css|js)\*/")


def assemble(payload: dict[str, Any]) -> str:
    """The page for a payload.

    Nothing from the data is markup: the payload is JSON in which no character can end the element
    it stands in, and the title is escaped. The policy of the page lets nothing run or load but the
    style and the script that stand in it, known by their hashes.
    """
    css, js = _text(_FOLDER / "page.css"), _script()
    policy = (
        f"default-src 'none'; script-src {_hash(js)}; style-src {_hash(css)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "title": html.escape(payload["title"]),
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "payload": f'<script type="application/json" id="payload">{escaped_json(payload)}</script>',
        "css": css,
        "js": js,
    }
    # In one pass: a mark inside of a part is not a mark.
    return _MARKS.sub(lambda mark: parts[mark[1] or mark[2]], _text(_FOLDER / "page.html"))


def _script() -> str:
    """The parts of the script, in the order of their names."""
    parts = (part for part in (_FOLDER / "page").iterdir() if part.name.endswith(".js"))
    return "\n".join(map(_text, sorted(parts, key=lambda part: part.name)))


def _text(part: Traversable) -> str:
    # With the ends of lines that browsers see, who compare hashes after they have read the page.
    return part.read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
