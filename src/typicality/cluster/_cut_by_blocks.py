"""AlphaCutClustering on rows that are read block by block: a tree of a sample, labels of all."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from typicality._typing import Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._cut_parameters import is_word
from typicality.cluster._cut_warnings import warn_about_cut
from typicality.cluster._density import begin_density, density_attributes, warn_about_density
from typicality.cluster._density_by_blocks import solve_by_blocks
from typicality.cluster._spaces import OpenSpace, SumOptions, open_space
from typicality.cluster._warnings import warn_about_features
from typicality.geometry.block_space import BlockSpace
from typicality.kernels import Gaussian
from typicality.levelsets.landscape import Landscape, typicality_at
from typicality.operators import KernelColumns
from typicality.operators.bases import FourierBasis
from typicality.rows import DistinctRows, Rows

_MANY_MODES = 2**17  # the tree asks for heights often: more of them than rows take long
_SHARE_OF_A_ROW = 0.01  # of the height of a row that stands alone: how far heights may be off


def learn_cut_of_sample(estimator: Any, rows: Rows, callbacks: FitCallbacks) -> None:
    """Grow the tree of a sample of the distinct rows, 131,072 at the most, and label every row.

    The sample is that of the smallest hashes, with the weight of all copies of a row. Where there
    are no more distinct rows than that, the clusters are those of all rows in memory. Of more rows,
    the heights are sums over all of them where a Fourier series gives these: for a Gaussian kernel
    of one width and up to three features. Elsewhere they are sums over the sample.
    """
    if estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' needs all distances in memory. Pass rows of features, or the "
            "distances among a sample of the rows."
        )
    few = rows.sample()
    opened = _open_all_rows(estimator, rows, few) if len(few.rows) < few.n_distinct else None
    # Each row of the sample stands for several.
    of_a_row = 1.0 if opened is None else rows.total_weight / few.weight.sum()
    fit = None if opened is None else partial(_fit_all_rows, estimator, opened, of_a_row)
    estimator._learn(few.rows, (of_a_row * few.weight).astype(rows.dtype), callbacks, fit)
    estimator.medoid_indices_ = few.index[estimator.medoid_indices_]
    del estimator.weights_, estimator.memberships_
    if len(few.rows) < few.n_distinct:
        of_what = "the sample" if opened is None else "all rows"
        estimator.plan_ = replace(
            estimator.plan_,
            reason=f"the tree is that of a sample of {len(few.rows):,} distinct rows of "
            f"{rows.n_rows:,}, its heights are sums over {of_what}, and every row is labelled; "
            f"{estimator.plan_.reason}",
        )
    estimator.labels_ = estimator.predict(rows)
    estimator.typicality_ = estimator.predict_typicality(rows)
    if rows.lazy:
        estimator.memberships_ = estimator.predict_memberships(rows)


def _open_all_rows(estimator: Any, rows: Rows, few: DistinctRows) -> OpenSpace | None:
    """The space of all rows, if a Fourier series knows heights to a hundredth of a row."""
    kernel = "gaussian" if is_word(estimator.kernel, "auto") else estimator.kernel
    is_gaussian = isinstance(kernel, Gaussian) or kernel in ("gaussian", "rbf")
    if estimator._is_local or estimator.metric != "euclidean" or not is_gaussian:
        return None
    sums = SumOptions.of(estimator)
    if sums.algorithm not in ("auto", "nufft") or sums.rtol == 0:
        return None
    sigma = "alpha-cut" if is_word(estimator.sigma, "auto") else estimator.sigma
    promise = min(sums.rtol, _SHARE_OF_A_ROW / rows.total_weight)
    opened = open_space(kernel, sigma, few.rows, None, explicit=False)
    basis = FourierBasis.of(opened.kernel, rows, promise, 1)  # type: ignore[arg-type]
    if isinstance(basis, str) or basis.grid.n_modes > max(rows.n_rows, _MANY_MODES):
        return None
    return replace(opened, space=BlockSpace(basis.kernel, rows, basis), features=rows.features)


def _fit_all_rows(
    estimator: Any,
    opened: OpenSpace,
    of_a_row: float,
    nodes: DistinctRows,
    rows: Floats,
    callbacks: FitCallbacks,
) -> Callable[[Any], None]:
    """The density of all rows by passes over them, and the tree of the nodes on it.

    Returns a function of the weights that warns of what is suspicious.
    """
    space: Any = opened.space
    if space.total_variance > 0:
        warn_about_features(opened, estimator)

    def attributes(state: State) -> dict[str, Any]:
        mean: Any = state.prototypes
        rule: Any = state.rule
        sums, energy, eta = mean.for_prediction().sums, float(mean.energy[0]), float(rule.eta[0])
        pull = nodes.weight
        if estimator.weights != "uniform":
            heights = np.asarray(sums.at(nodes.rows)[:, 0], dtype=np.float64)
            pull = pull * typicality_at(heights, energy, eta)
        columns = KernelColumns(space.kernel, nodes.rows)
        landscape = Landscape(columns, pull / pull.sum(), energy, eta, sums)
        return estimator._for_prediction(opened.reader, landscape, nodes, rows)  # type: ignore[no-any-return]

    begin_density(space, callbacks, attributes)
    uniform = estimator.weights == "uniform"
    result = solve_by_blocks(estimator, space, callbacks, uniform=uniform)
    estimator._set(
        **attributes(result.state),
        **density_attributes(opened, result, callbacks),
        evidence_=None,
        agreement_=None,
    )

    def warn(weight: Any) -> None:
        warn_about_density(estimator, space, result, instead="")
        warn_about_cut(estimator, weight, of_a_row=of_a_row)

    return warn


def check_has_rows(estimator: Any) -> None:
    """Whether the rows of the fit were those of the tree, and in memory."""
    if not hasattr(estimator, "weights_"):
        raise ValueError(
            "labels_at cannot label rows that were read block by block: the model keeps "
            "only a sample of them. Fit with alpha at the level you want, or use predict."
        )
