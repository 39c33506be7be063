"""A report: a page that can be saved, and shown in a notebook."""

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import narwhals
from numpy.typing import ArrayLike

from typicality._compat import feature_names
from typicality._files import atomic_file
from typicality._tensors import array_of
from typicality.fitted import prepared
from typicality.report.assembly import assemble
from typicality.report.payload import build_payload

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
        if hasattr(model, "steps"):
            model, X, display = _parts_of(model, X, display)
        if getattr(model, "_home", None) is not None:  # a model of tensors
            model, X, display = model._host(), array_of(X), array_of(display)
        display, texts = _without_text(display)
        cells = (
            {**texts, **cells} if isinstance(cells, Mapping) else texts if cells is None else cells
        )
        payload = build_payload(
            model,
            X,
            title=title,
            display=display,
            cells=cells,
            row_numbers=row_numbers,
            notes=notes,
            warnings=warnings,
            max_rows=max_rows,
            random_state=random_state,
        )
        return cls(payload["title"], assemble(payload))

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


def _parts_of(pipeline: Any, X: Any, display: Any) -> tuple[Any, Any, Any]:
    """The last step of a pipeline, the rows as it sees them, and what the page shows of them."""
    rows = prepared(pipeline, X)
    if display is None:
        numbers, _ = _without_text(X)
        width = 0 if numbers is None else _n_columns(numbers)
        if width and (width != _n_columns(rows) or _keeps_columns(pipeline, X, numbers)):
            display = X
    return pipeline.steps[-1][1], rows, display


def _n_columns(rows: Any) -> int:
    return int(rows.shape[1]) if hasattr(rows, "shape") else len(rows[0])


def _keeps_columns(pipeline: Any, X: Any, numbers: Any) -> bool:
    """Whether the last step sees the columns of numbers, on whatever scale, in their order."""
    made = feature_names(X)
    for _, step in pipeline.steps[:-1]:
        if step in (None, "passthrough"):
            continue
        try:
            made = step.get_feature_names_out(made)
        except (AttributeError, ValueError):  # the step does not tell
            return False
    names = feature_names(numbers)
    known = [f"x{j}" for j in range(_n_columns(numbers))] if names is None else list(names)
    # A ColumnTransformer puts the name of a step and two underscores before the name of a column.
    return made is None or [str(name).split("__")[-1] for name in made] == [
        str(name).split("__")[-1] for name in known
    ]


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
