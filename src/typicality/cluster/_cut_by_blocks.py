"""AlphaCutClustering on rows that are read block by block: a tree of a sample, labels of all."""

from dataclasses import replace
from typing import Any

from typicality.cluster._callbacks import FitCallbacks
from typicality.rows import LARGEST_SAMPLE, Rows


def learn_cut_of_sample(estimator: Any, rows: Rows, callbacks: FitCallbacks) -> None:
    """Fit a sample of the distinct rows, 131,072 at the most, and label every row.

    The sample is that of the smallest hashes, with the weight of all copies of a row. Where there
    are no more distinct rows than that, the clusters are those of all rows in memory.
    """
    if estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' needs all distances in memory. Pass rows of features, or the "
            "distances among a sample of the rows."
        )
    few = rows.sample()
    estimator._learn(few.rows, few.weight.astype(rows.dtype), callbacks)
    estimator.medoid_indices_ = few.index[estimator.medoid_indices_]
    del estimator.weights_, estimator.memberships_
    if len(few.rows) < few.n_distinct:
        estimator.plan_ = replace(
            estimator.plan_,
            reason=f"of the {rows.n_rows:,} rows, a sample of {LARGEST_SAMPLE:,} distinct ones is "
            f"fitted, and every row is labelled; {estimator.plan_.reason}",
        )
    estimator.labels_ = estimator.predict(rows)
    estimator.typicality_ = estimator.predict_typicality(rows)
    if rows.lazy:
        estimator.memberships_ = estimator.predict_memberships(rows)


def check_has_rows(estimator: Any) -> None:
    """Whether the rows of the fit were those of the tree, and in memory."""
    if not hasattr(estimator, "weights_"):
        raise ValueError(
            "labels_at cannot label rows that were read block by block: the model keeps "
            "only a sample of them. Fit with alpha at the level you want, or use predict."
        )
