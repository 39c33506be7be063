"""The wording of what the package says, in one snapshot: errors, warnings and other sentences.

Other tests ask for the type of an error, and for the input, the place or the number it names.
"""

import ast
import difflib
import re
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "typicality"
SNAPSHOT = Path(__file__).with_name("messages.txt")
RAISED = re.compile(r"(Error|Warning|Exception|Exit)$")
SENTENCE = re.compile(r"(\S*\w\S* ){3}\S*\w")  # four words or more


def name_of(node):
    """The last name in an expression: UsageError of click.UsageError."""
    return getattr(node, "attr", getattr(node, "id", ""))


def kind_of(call):
    """The error or the category of warning that a call makes, or nothing."""
    named = [name_of(node) for node in [call.func, *call.args]]
    return next((name for name in named if RAISED.search(name)), "")


def template(node):
    """A text with {} for each value that is put in, or nothing."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"
        for part in parts
    )


def sentences(node, kind=""):
    """The texts below a node of the source, each with the kind of message it is part of."""
    if isinstance(node, ast.Call):
        kind = kind_of(node) or kind
    if isinstance(node, ast.JoinedStr | ast.Constant):
        yield kind, template(node)
    for child in ast.iter_child_nodes(node):
        docstring = isinstance(node, ast.Expr) and isinstance(child, ast.Constant)
        fragment = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
        if not docstring and not fragment:
            yield from sentences(child, kind)


def snapshot():
    """A line for each message of an error or a warning, and for each other sentence."""
    found = [
        (kind, text.strip().replace("\n", "\\n"))
        for path in SOURCE.rglob("*.py")
        for kind, text in sentences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    raised = {f"{kind}: {text}" for kind, text in found if kind and " " in text}
    said = {text for kind, text in found if not kind and SENTENCE.search(text)}
    return sorted(raised) + sorted(said)


def test_messages_are_worded_as_in_the_snapshot():
    kept = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    changes = list(difflib.unified_diff(kept, snapshot(), n=0, lineterm=""))[2:]
    assert changes == [], "if these words are meant: python tests/test_messages.py renews the file"


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(snapshot()) + "\n", encoding="utf-8")
