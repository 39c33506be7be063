"""One self-contained page: a template, its style, its script, and what it is told."""

import base64
import hashlib
import html
import re
from importlib.resources import files
from typing import Any

from typicality.report.encoding import escaped_json

__all__ = ["assemble"]

_MARKS = re.compile(r"<!--(title|policy|payload)-->|/\*(css|js)\*/")


def assemble(payload: dict[str, Any]) -> str:
    """The page for a payload.

    Nothing from the data is markup: the payload is JSON in which no character can end the element
    it stands in, and the title is escaped. The policy of the page lets nothing run or load but the
    style and the script that stand in it, known by their hashes.
    """
    css, js = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; script-src {_hash(js)}; style-src {_hash(css)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "title": html.escape(payload["title"]),
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "payload": escaped_json(payload),
        "css": css,
        "js": js,
    }
    # In one pass: a mark inside of a part is not a mark.
    return _MARKS.sub(lambda mark: parts[mark[1] or mark[2]], _part("page.html"))


def _part(name: str) -> str:
    text = files("typicality.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # as browsers read it before they compare hashes


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
