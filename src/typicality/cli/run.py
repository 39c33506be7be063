"""A finished run: everything that its files and its summary tell."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from typicality._typing import Places
from typicality.cli.fitting import FittedModel
from typicality.cli.notable import FileNotes
from typicality.cli.options import RunChoice, TableChoice
from typicality.cli.preparing import PreparedRows
from typicality.fitted import FittedView


@dataclass(frozen=True, eq=False)
class Run:
    """What was asked for, and what came of it.

    Parameters
    ----------
    command : tuple of str
        The command line that gives this run.
    method : str
        The method by name, "outliers" for those.
    table_choice : TableChoice
        What was read.
    run_choice : RunChoice
        How it was run.
    prepared : PreparedRows
        The rows.
    fitted : FittedModel
        The model.
    found : FittedView
        What the model says of the rows that took part.
    notes : FileNotes
        Notable rows, and what the file says of them.
    seconds : float, default=0.0
        How long everything took.
    """

    command: tuple[str, ...]
    method: str
    table_choice: TableChoice
    run_choice: RunChoice
    prepared: PreparedRows
    fitted: FittedModel
    found: FittedView
    notes: FileNotes
    seconds: float = 0.0

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.fitted.model

    @property
    def finds_outliers(self) -> bool:
        """Whether it looked for outliers instead of clusters."""
        return self.found.kind == "detector"

    @cached_property
    def sizes(self) -> Places:
        """How many rows each cluster has."""
        labels = self.found.labels
        n_clusters = 1 if self.finds_outliers else int(self.model.n_clusters_)
        return np.bincount(labels[labels >= 0], minlength=n_clusters)

    @property
    def n_nowhere(self) -> int:
        """How many rows belong nowhere, or are outliers."""
        return self.found.n_unassigned
