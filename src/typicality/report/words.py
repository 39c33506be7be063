"""What was run on what, in words."""

import inspect
from typing import Any

import numpy as np

from typicality._estimators import ESTIMATORS
from typicality._words import counted, share
from typicality.fitted import FittedView, chosen_method

_ENDINGS = {
    "converged": "It converged after {n}.",
    "max_iter": "It was stopped by max_iter after {n}, before it had converged.",
    "stopped": "It was stopped by a callback after {n}.",
}
_LONGEST_VALUE = 60  # characters of a parameter


def default_title(found: FittedView) -> str:
    """What a page is called when nobody says."""
    what = "Outliers" if found.kind == "detector" else "Clusters and outliers"
    return f"{what} in {counted(found.n_rows, 'row')}"


def row_words(row_word: str, *, counted_from_zero: bool) -> str:
    """How rows are called on the page."""
    if counted_from_zero:
        return "Rows are counted from 0, as in the data."
    return f"Rows are called by their {row_word} in the data."


def default_notes(model: Any, found: FittedView, n_features: int, n_clusters: int) -> list[Any]:
    """What was run on what, as pairs of a heading and a sentence or two."""
    explained = getattr(model, "explanation_", None)
    choice = [] if explained is None else [("Choice", explained)]
    model = chosen_method(model)
    return [
        ("Data", f"{counted(found.n_rows, 'row')}, {counted(n_features, 'feature')}."),
        *choice,
        ("Method", _method(model)),
        ("Result", _result(found, n_clusters)),
        ("Iterations", _ENDINGS[model.status_].format(n=counted(model.n_iter_, "iteration"))),
        ("Computation", f"{_sentence(model.plan_.method)}: {model.plan_.reason}"),
    ]


def _method(model: Any) -> str:
    name = type(model).__name__
    meaning = f" ({ESTIMATORS[name].meaning})" if name in ESTIMATORS else ""
    given = _given_parameters(model)
    return f"{name}{meaning}, {f'with {given}' if given else 'with its default parameters'}."


def _given_parameters(model: Any) -> str:
    defaults = inspect.signature(type(model)).parameters
    values = model.get_params(deep=False).items()
    changed = [(k, v) for k, v in values if not _same(v, defaults[k].default)]
    return ", ".join(f"{name}={_value(value)}" for name, value in changed)


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


def _value(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"an array of shape {tuple(value.shape)}"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _result(found: FittedView, n_clusters: int) -> str:
    n_nowhere = found.n_unassigned
    rows = f"{counted(n_nowhere, 'row')} ({share(n_nowhere, found.n_rows)})"
    if found.kind == "detector":
        be = "is" if n_nowhere == 1 else "are"
        return (
            f"{rows} {be} flagged as outliers: the least typical ones. How many are flagged was "
            "chosen beforehand (contamination), not found in the data; look at how far below the "
            "others they are."
        )
    clusters = counted(n_clusters, "cluster")
    if n_nowhere == 0:
        return f"{clusters}; every row belongs to one."
    be, belong = ("is", "belongs") if n_nowhere == 1 else ("are", "belong")
    if found.kind == "prototypes":
        return f"{clusters}; {rows} {belong} nowhere: typical of no cluster."
    return (
        f"{clusters}; {rows} {be} in the core of no cluster. That alone makes no outlier: rows at "
        "the edge of a cluster, or between two, are among them; outliers are those of the lowest "
        "typicality."
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
