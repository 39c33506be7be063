"""A report: a page that can be saved, and shown in a notebook."""

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Self

import narwhals
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted

from typicality._checks import check_rows
from typicality._compat import feature_names
from typicality._files import atomic_file
from typicality._tensors import array_of
from typicality.fitted import chosen_method, prepared, view
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.report.payload import build_payload

_FOLDER = files("typicality.report")
_MARKS = re.compile(r"<!--(title|policy|payload)-->|/\*(css|js)\*/")
_ASIDE = re.compile(r"^\s*(?:(?://|/\* ).*\n)?", re.MULTILINE)  # comments and indents: a fifth
# JSON needs none of these outside of strings, and none may end a script or begin a comment there.
_DANGEROUS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"}
_ROWS_COMPARED = 1000
_FRAME_STYLE = "width:100%;height:860px;border:0;border-radius:6px;background:transparent"


@dataclass(frozen=True)
class Report:
    """An HTML report of a fitted model and its rows, in one file.

    The report has a scatter plot of the rows, a histogram of typicalities with a movable cut, and a
    table of clusters. It also lists the least typical rows, with the features in which they are
    unusual. For :class:`~typicality.AlphaCutClustering`, it shows the cluster tree. The report
    needs no network. Text in the data is never interpreted as HTML. Create it with
    `from_estimator`, or with the method `report` of an estimator. Notebooks display it.

    Parameters
    ----------
    title : str
        The title of the report.
    html : str
        The report, as HTML.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import AlphaCutClustering
    >>> from typicality.report import Report
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (100, 2)), rng.normal(8, 1, (50, 2)), [[4, 20]]])
    >>> report = Report.from_estimator(AlphaCutClustering().fit(X), X)
    >>> report.title
    'Clusters and outliers in 151 rows'
    >>> report.save("report.html")  # doctest: +SKIP
    """

    title: str
    html: str = field(repr=False)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        title: str | None = None,
        display: Any = None,
        cells: Mapping[str, Sequence[Any]] | None = None,
        row_numbers: tuple[str, ArrayLike] | None = None,
        notes: Sequence[tuple[str, str]] = (),
        warnings: Sequence[str] = (),
        max_rows: int = 20_000,
        random_state: Any = 0,
    ) -> Self:
        """Create the report of a fitted estimator.

        Costs a prediction for X, and O(n d).

        Parameters
        ----------
        model : estimator or Pipeline
            A fitted estimator of typicality, or a fitted pipeline that ends in one.
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows. For :class:`~typicality.AlphaCutClustering`, the rows of the fit, in the same
            order; for other estimators, any rows. For a pipeline, the rows before its first step.
            The report shows these rows in their own units. Exception: if the steps make the same
            number of other columns (as PCA can), it shows the columns after the steps.
        title : str, optional
            The title of the report.
        display : array-like or dataframe of shape (n_samples, n_columns), optional
            The same features in the units that the report should show, if X was scaled. Missing
            values are allowed. Columns without numbers become `cells`. By default, X itself.
            Required if X is a matrix of pairs of rows (``kernel="precomputed"``,
            ``"dissimilarities"``), because such a matrix has no features.
        cells : mapping of str to sequence, optional
            Additional text columns that are shown with a row: names and values.
        row_numbers : (str, array-like of int of shape (n_samples,)), optional
            The word for a row and the number of each row, for example ``("line", lines)``. By
            default "row" and 0, 1, ...
        notes : sequence of (str, str), default=()
            Pairs of a heading and a sentence that describe the data, the method and the result. By
            default, the report describes the model.
        warnings : sequence of str, default=()
            Sentences that the report shows first.
        max_rows : int, default=20_000
            The largest number of rows that the report shows. If there are more rows, it shows a
            sample: all unassigned rows (at most `max_rows` / 2, the least typical ones) and a
            random sample of the others. The report mentions the sample.
        random_state : int, RandomState instance or None, default=0
            The seed of this sample.

        Returns
        -------
        Report
        """
        payload = build_payload(
            *explain(model, X, display),
            title=title,
            cells=cells,
            row_numbers=row_numbers,
            notes=notes,
            warnings=warnings,
            max_rows=max_rows,
            random_state=random_state,
        )
        return cls.of(payload)

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Self:
        """The report of a payload.

        Nothing from the data is markup: the payload is JSON in which no character can end the
        element it stands in, and the title is escaped. The policy of the page lets nothing run or
        load but the style and the script that stand in it, known by their hashes.
        """
        scripts = [part for part in (_FOLDER / "page").iterdir() if part.name.endswith(".js")]
        css = _text(_FOLDER / "page.css")
        js = "\n".join(map(_text, sorted(scripts, key=lambda part: part.name)))
        policy = (
            f"default-src 'none'; script-src {_hash(js)}; style-src {_hash(css)}; "
            "base-uri 'none'; form-action 'none'"
        )
        data = json.dumps(payload, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        data = data.translate(_DANGEROUS)
        parts = {
            "title": html.escape(payload["title"].encode("utf-8", "replace").decode()),
            "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            "payload": f'<script type="application/json" id="payload">{data}</script>',
            "css": css,
            "js": js,
        }
        # In one pass: a mark inside of a part is not a mark.
        page = _MARKS.sub(lambda mark: parts[mark[1] or mark[2]], _text(_FOLDER / "page.html"))
        return cls(payload["title"], page)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the report to a file, which appears only when it is complete.

        Parameters
        ----------
        path : str or path
            The file, for example "report.html".
        overwrite : bool, default=False
            Whether to replace an existing file.

        Returns
        -------
        path : Path
        """
        with atomic_file(path, overwrite=overwrite) as stream:
            stream.write(self.html)
        return Path(path)

    def _repr_html_(self) -> str:
        # Sandboxed: the page can neither see nor change the notebook around it.
        page = html.escape(self.html)
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{page}" '
            f'sandbox="allow-scripts allow-downloads" style="{_FRAME_STYLE}"></iframe>'
        )

    def __repr__(self) -> str:
        size = len(self.html.encode("utf-8")) / 1e6
        return f"<Report {self.title!r}, {size:.1f} MB>"


def _text(part: Traversable) -> str:
    # With the ends of lines that browsers see, who compare hashes after they have read the page.
    return _ASIDE.sub("", part.read_text(encoding="utf-8").replace("\r\n", "\n"))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


# ---- models, pipelines and frames ----------------------------------------------------------------


def explain(model: Any, X: Any, display: Any = None) -> tuple[Any, Explanation, dict[str, Any]]:
    """The estimator at the end of a model, what it says of rows, and their columns of text.

    A tree is drawn for its training rows only.
    """
    kinds = ("labels_at", "decision_function", "predict_memberships")
    rows, last = X, model
    if hasattr(model, "steps"):
        last, rows = model.steps[-1][1], prepared(model, X)
        numbers, _ = _without_text(X)
        if display is None and numbers is not None and _keeps_columns(model, X, numbers, rows):
            display = X
    if isinstance(last, type) or not any(hasattr(last, name) for name in kinds):
        raise TypeError(
            f"{last!r} is not an estimator of typicality: a report shows typicalities or "
            "memberships. Pass a fitted estimator, e.g. AlphaCutClustering().fit(X)."
        )
    check_is_fitted(last)
    last = last if getattr(last, "_home", None) is None else last._host()
    method, rows = chosen_method(last), array_of(rows)
    display, texts = _without_text(array_of(display))
    features = FeatureTable.of(last, check_rows(last, rows, training=False), display)
    training = _are_training_rows(method, rows)
    if hasattr(method, "tree_") and not (training and hasattr(method, "weights_")):
        raise ValueError(
            f"X ({len(features.shown)} rows) is not the X that the model was fitted on: its tree "
            "of clusters belongs to those rows, in their order. Pass the X of fit, or fit the "
            "model on an array of these rows."
        )
    return last, Explanation(view(method, rows, training=training), features), texts


def _are_training_rows(model: Any, X: Any) -> bool:
    """Whether rows have the typicalities of the fit; some of them are looked at."""
    known = getattr(model, "typicality_", ())
    if len(known) != len(X):
        return False
    n_compared = min(_ROWS_COMPARED, len(known))
    some, typicality = resample(X, known, replace=False, n_samples=n_compared, random_state=0)
    return np.allclose(model.predict_typicality(some), typicality, rtol=1e-3, atol=1e-6)


def _keeps_columns(pipeline: Any, X: Any, numbers: Any, rows: Any) -> bool:
    """Whether X has the columns that the last step sees, on whatever scale, in their order.

    Where the last step sees more or fewer columns, those of X are shown in any case.
    """
    width, n_features = (int(getattr(X, "shape", np.shape(X))[1]) for X in (numbers, rows))
    if width != n_features:
        return width > 0
    try:
        made = pipeline[:-1].get_feature_names_out(feature_names(X))
    except (AttributeError, ValueError):  # a step does not tell
        return False
    names = feature_names(numbers)
    known = [f"x{j}" for j in range(width)] if names is None else names
    # A ColumnTransformer puts the name of a step and two underscores before the name of a column.
    return [str(n).split("__")[-1] for n in made] == [str(n).split("__")[-1] for n in known]


def _without_text(table: Any) -> tuple[Any, dict[str, list[str]]]:
    """The columns of numbers of a frame, None where there is none; and its others, as text."""
    frame = narwhals.from_native(table, pass_through=True)
    if not hasattr(frame, "schema"):
        return table, {}
    numeric = [
        name
        for name, dtype in frame.schema.items()
        if dtype.is_numeric() or dtype == narwhals.Boolean
    ]
    if len(numeric) == len(frame.columns):
        return table, {}
    texts = {
        str(name): ["" if value is None or value != value else str(value) for value in frame[name]]
        for name in frame.columns
        if name not in numeric
    }
    return (frame.select(numeric).to_native() if numeric else None), texts
