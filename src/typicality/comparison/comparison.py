"""The result of a comparison: a row for each method, agreement, and findings in words."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from typicality._typing import Doubles, Places
from typicality.comparison.agreement import (
    AgreementMatrix,
    agreement_matrix,
    placed_rows_agreement,
    rank_agreement,
)
from typicality.comparison.findings import findings_on_clusters, findings_on_outliers
from typicality.comparison.results import ClustererResult, DetectorResult
from typicality.comparison.tables import as_text, clusterer_table, detector_table, notes_on_run
from typicality.metrics import jaccard_score


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`compare_methods` found out; printing it gives tables and findings.

    Parameters
    ----------
    n_rows, n_features : int
        The size of the data.
    rows : array of int
        The numbers of the rows that were compared: all, or a sample.
    seed : int
        The seed, also where none was given.
    rate : float
        The nominal rate of outliers.
    n_repeats : int
        The number of refits of each method.
    clusterers : tuple of ClustererResult
        The methods that make clusters.
    detectors : tuple of DetectorResult
        The methods that flag outliers.
    """

    n_rows: int
    n_features: int
    rows: Places
    seed: int
    rate: float
    n_repeats: int
    clusterers: tuple[ClustererResult, ...]
    detectors: tuple[DetectorResult, ...]

    @cached_property
    def labels(self) -> dict[str, NDArray[np.int64]]:
        """The labels of the rows compared, by method; methods that failed have none."""
        return {r.name: r.labels for r in self.clusterers if r.labels is not None}

    @cached_property
    def flagged(self) -> dict[str, NDArray[np.bool_]]:
        """Which of the rows compared are outliers, by method."""
        return {r.name: r.flagged for r in self.detectors if r.flagged is not None}

    @cached_property
    def scores(self) -> dict[str, Doubles]:
        """The decisions on the rows compared, larger is more typical, by method."""
        return {r.name: r.scores for r in self.detectors if r.scores is not None}

    @cached_property
    def label_agreement(self) -> AgreementMatrix:
        """The adjusted Rand index of every two clusterers; -1 counts as a cluster of its own."""
        return agreement_matrix(
            self.labels,
            agree=adjusted_rand_score,
            measure="adjusted Rand index, rows left out as a cluster of their own",
        )

    @cached_property
    def placed_agreement(self) -> AgreementMatrix:
        """The adjusted Rand index on the rows that both clusterers put in a cluster."""
        return agreement_matrix(
            self.labels,
            agree=placed_rows_agreement,
            measure="adjusted Rand index on the rows that both put in a cluster",
        )

    @cached_property
    def rank_agreement(self) -> AgreementMatrix:
        """Spearman's correlation of the scores of every two detectors."""
        return agreement_matrix(
            self.scores, agree=rank_agreement, measure="Spearman's rank correlation of the scores"
        )

    @cached_property
    def flag_agreement(self) -> AgreementMatrix:
        """The Jaccard index of the rows flagged by every two detectors."""
        return agreement_matrix(
            self.flagged, agree=jaccard_score, measure="Jaccard index of the rows flagged"
        )

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """What was measured, in sentences."""
        return (
            *findings_on_clusters(self.clusterers, self.placed_agreement),
            *findings_on_outliers(self.detectors, self.rank_agreement),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was run on what, in sentences."""
        return notes_on_run(
            n_rows=self.n_rows,
            n_compared=len(self.rows),
            seed=self.seed,
            n_repeats=self.n_repeats,
            detectors=self.detectors,
        )

    def to_pandas(self) -> Any:
        """A row for each method, as a pandas DataFrame."""
        import pandas as pd

        clusterers = [result.to_dict() for result in self.clusterers]
        return pd.DataFrame(clusterers + [result.to_dict() for result in self.detectors])

    def to_dict(self) -> dict[str, Any]:
        """All but labels, flags and scores, ready for JSON."""
        matrices = ("label_agreement", "placed_agreement", "rank_agreement", "flag_agreement")
        return {
            "n_rows": self.n_rows,
            "n_compared": len(self.rows),
            "n_features": self.n_features,
            "seed": self.seed,
            "rate": self.rate,
            "n_repeats": self.n_repeats,
            "clusterers": [result.to_dict() for result in self.clusterers],
            "detectors": [result.to_dict() for result in self.detectors],
            **{name: getattr(self, name).to_dict() for name in matrices},
            "findings": list(self.findings),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        size = f"Comparison of {len(self.rows):,} rows, {self.n_features} features"
        tables = [
            *([as_text(clusterer_table(self.clusterers))] if self.clusterers else []),
            *([as_text(detector_table(self.detectors))] if self.detectors else []),
        ]
        sentences = "\n".join(f"- {sentence}" for sentence in self.findings)
        return "\n\n".join([size, *tables, sentences])
