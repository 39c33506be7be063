"""What a report is made of."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import narwhals
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample
from sklearn.utils.validation import check_array

from typicality._compat import feature_names

_FEWEST_ROWS = 10
_ROWS_COMPARED = 1000


def check_row_numbers(
    row_numbers: tuple[str, Any] | None, n_rows: int
) -> tuple[str, NDArray[np.int32]]:
    """What rows are called, and a number for each."""
    if row_numbers is None:
        return "row", np.arange(n_rows, dtype=np.int32)
    word, given = row_numbers
    numbers = np.asarray(given)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"row_numbers has numbers of shape {numbers.shape} and type {numbers.dtype}: pass a "
            f"word and {n_rows} whole numbers, one for each row."
        )
    if n_rows and not 0 <= numbers.min() <= numbers.max() <= np.iinfo(np.int32).max:
        raise ValueError("row_numbers must be numbers from 0 to 2147483647.")
    return str(word), numbers.astype(np.int32)


def check_reportable(model: Any) -> None:
    """An estimator of typicality, not a pipeline around one."""
    if hasattr(model, "steps"):
        raise TypeError(
            "A report is made of an estimator, not of a pipeline: pass its last step, the rows as "
            "the steps before have made them, and the rows as they were as display, i.e. "
            "model[-1].report(model[:-1].transform(X), display=X)."
        )
    kinds = ("labels_at", "decision_function", "predict_memberships")
    if isinstance(model, type) or not any(hasattr(model, name) for name in kinds):
        raise TypeError(
            f"{model!r} is not an estimator of typicality: a report shows typicalities or "
            "memberships. Pass a fitted estimator, e.g. AlphaCutClustering().fit(X)."
        )


def check_training_rows(model: Any, X: Any, *, n_rows: int) -> None:
    """The rows that a tree was grown from; some of them are looked at."""
    known = model.typicality_
    n_fitted = len(known)
    same = n_rows == n_fitted
    if same:
        n_compared = min(_ROWS_COMPARED, n_rows)
        some, typicality = resample(X, known, replace=False, n_samples=n_compared, random_state=0)
        same = np.allclose(model.predict_typicality(some), typicality, rtol=1e-3, atol=1e-6)
    if not same:
        raise ValueError(
            f"X has {n_rows} rows and is not what the model was fitted on ({n_fitted} rows): "
            "the tree of clusters knows those rows only, in their order. Pass the X of fit, or fit "
            "the model to these rows."
        )


def check_max_rows(max_rows: Any) -> int:
    """How many rows a page shows."""
    whole = isinstance(max_rows, Integral) and not isinstance(max_rows, bool)
    if not (whole and max_rows >= _FEWEST_ROWS):
        raise ValueError(
            f"max_rows must be a whole number of at least {_FEWEST_ROWS}, got {max_rows!r}: it is "
            "the number of rows the page shows at the most."
        )
    return int(max_rows)


def check_display(display: Any, n_rows: int) -> tuple[NDArray[np.float64], list[str] | None]:
    """Features as the user wants to see them, and their names; missing values are allowed."""
    table = narwhals.from_native(display, pass_through=True)
    for name, dtype in table.schema.items() if hasattr(table, "schema") else ():
        if not (dtype.is_numeric() or dtype == narwhals.Boolean):
            raise ValueError(
                f"display has the column {str(name)!r}, which holds no numbers ({dtype}). Leave it "
                "out, and pass it as cells, which takes text."
            )
    names = feature_names(display)
    values = check_array(
        display,
        dtype=np.float64,
        ensure_all_finite="allow-nan",
        ensure_min_samples=0,
        input_name="display",
    )
    if len(values) != n_rows:
        raise ValueError(
            f"display has {len(values)} rows, X has {n_rows}: they must be the same rows."
        )
    return values, None if names is None else [str(name) for name in names]


def check_cells(cells: Any, n_rows: int) -> Mapping[str, Sequence[Any]]:
    """Further columns, of text."""
    if not isinstance(cells, Mapping):
        raise TypeError(
            f"cells must map names of columns to their values, got {type(cells).__name__}. Pass "
            "e.g. {'city': list_of_cities}."
        )
    for name, values in cells.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(f"cells[{name!r}] must be a sequence with a value for each row.")
        if len(values) != n_rows:
            raise ValueError(
                f"cells[{name!r}] has {len(values)} values, X has {n_rows} rows: they must be of "
                "the same rows."
            )
    return cells


def check_sentences(notes: Any, warnings: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """Notes, as pairs of a heading and a sentence, and warnings."""
    if isinstance(notes, str) or any(isinstance(note, str) or len(note) != 2 for note in notes):
        raise ValueError("notes must be pairs of a heading and a sentence.")
    if isinstance(warnings, str):
        raise TypeError("warnings must be a sequence of sentences, not one string.")
    return [(str(heading), str(text)) for heading, text in notes], [str(w) for w in warnings]


def check_has_features(model: Any, *, has_features: bool) -> None:
    """Rows that can be drawn."""
    if not has_features:
        name = "metric" if getattr(model, "metric", None) == "precomputed" else "kernel"
        raise ValueError(
            f"The model was fitted with {name}={getattr(model, name)!r}: X holds values for pairs "
            "of rows, and a report has no features to draw. Pass them as display."
        )
