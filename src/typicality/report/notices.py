"""Warnings of a run in words for the reader of a page, who has not made the run."""

import re
from collections.abc import Sequence

# What was observed, as far as it is told by names of parameters, and the same for readers.
_IN_WORDS = [
    (r"alpha=\S+ is below \S+, the typicality of a point far from all rows: .*?\.",
     "The level is so low that all rows are one cluster."),
    (r"rtol=\S+ is too coarse to detect outliers: .*",
     "Scores were computed too coarsely to distinguish the least typical rows."),
    (r"sigma=\S+ has no effect with kernel=.*", ""),
    (r"p-values of kernel=\S+ with fewer than (\S+) rows are too small.*?\.",
     "With fewer than \\1 rows p-values are too small: rows look rarer than they are."),
    (r"(\S+) clusters were found, fewer than at_least=(\S+): .*?\.",
     r"\1 clusters were found, fewer than \2: there are too few distinct rows."),
    (r", so alpha='valley' is unreliable\.",
     ": the level between typical and other rows is arbitrary."),
    (r"alpha='auto' (treats|may mistake)", r"the method \1"),
    (r"(.*)Not converged after max_iter=(\S+) iterations: .*?, more than tol=\S+\.",
     r"The computation was stopped after \2 steps, before the result had settled."),
    (r"All typicalities are nearly equal \(.*?\)\. Use .*",
     "All typicalities are nearly equal: use them to rank rows only."),
    (r"The kernel is too narrow: half", "Half"),
    (r"The kernel is too wide: all rows look alike to it.*?linear kernel\.",
     "All rows look alike to the method: clusters and outliers mean little."),
    (r"these come last and are not counted in n_clusters_", "these are not counted"),
    (r"no typicality is above alpha=\S+, the highest is \S+\.",
     "no row is typical enough for the level."),
    (r"no component has min_cluster_size=(\S+) rows\.", r"no group has \1 rows."),
    (r"(?:lam=\S+ is too large for their spreads|clusters vanish at every lam that was tried)\.",
     "the method found no group that is dense enough."),
    # A sentence ends where a space follows its full stop; others are decimal points.
    (r"(?:lam|m)=\S+ is too (?:small|fuzzy).*?\.(?!\S)", ""),
    (r"The kernel is too narrow for m=.*?\.(?!\S)", ""),
    (r"Each prototype moves to a dense region as wide as its spread: .*?\.(?!\S)", ""),
    (r"The iterations may repeat a cycle.*?\.(?!\S)", ""),
    (r"The spread eta (of \S+ cluster\(s\) )?is degenerate(?: \(.*?\))?:",
     r"The width \1has no meaning:"),
    (r" in the space of the kernel", ""),
    (r"\bfeature\b", "column"), (r"\bfeatures\b", "columns"), (r"\bprototypes\b", "centres"),
]  # fmt: skip
_COMMAND_LINE = re.compile(r" \(On the command line: [^)]*\)")
# Advice is for whoever makes the run; a semicolon or full stop ends it.
_ADVICE = re.compile(
    r"(?:^|(?<=[.;:] ))(?:Use|Try|Give|Leave|Choose|Take|Set|Drop|Scale|Centre|Check|Remove|"
    r"Increase|Ask|Let|Divide|To make)\b.*?(?:\.(?= [A-Z(]|$)|$)"
)
_CODE = re.compile(r" ?\([^()]*(?:\w=|\w_\b)[^()]*\)|\([^()]*\w+PCM[^()]*\)")


def for_readers(warnings: Sequence[str]) -> list[str]:
    """What was observed and what it means, without advice about parameters.

    The reader of a page has not made the run. The full texts belong to the notes of the page.
    """
    found = [_for_reader(text) for text in warnings]
    return list(dict.fromkeys(filter(None, found)))


def _for_reader(text: str) -> str:
    text = _COMMAND_LINE.sub("", text)
    for pattern, words in _IN_WORDS:
        text = re.sub(pattern, words, text)
    text = re.sub(r"\s+", " ", _CODE.sub("", text))
    text = re.sub(r"\s+", " ", _ADVICE.sub("", text)).strip().rstrip(";:, ")
    return f"{text}." if text and text[-1] not in ".!?)" else text
