"""Suspicious data and results, and the warnings that say what to do about them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from typicality._typing import Doubles, Floats, Places
from typicality.cluster._labels import Clustering, PrototypeLabels
from typicality.exceptions import (
    BandwidthWarning,
    CalibrationWarning,
    ClusteringWarning,
    CoincidentClustersWarning,
    CollapsedMembershipsWarning,
    DegenerateSpreadWarning,
    EmptyClustersWarning,
    FeatureWarning,
    FragmentedClustersWarning,
    IndefiniteKernelWarning,
    warn,
)
from typicality.geometry.checks import differ
from typicality.kernels import Linear, LocalGaussian, Stationary
from typicality.metrics.discoveries import penalty
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import ClusterState
from typicality.spaces import Gram, Space
from typicality.spaces.base import Tally

_LARGEST_SCALE_RATIO = 1000.0
_LARGE_SCALE_RATIO, _LEAST_SHARE = 100.0, 0.001  # suspicious where others add less to the variance
_COLLAPSED_SPREAD = 0.05  # all memberships within 5 % of 1 / c
_COARSE = 0.5  # of the threshold of a detector
_TOO_WIDE = 1e-3  # of the largest distance on the sphere: the kernel is then a linear one
_TOO_FEW_NEIGHBOURS = 0.05  # of the kernel's weight on other rows, relative to the row itself
_EQUAL_TYPICALITIES = 1e-3
_LARGE_SCALE = 100.0
_LONELY_WEIGHT = 0.5
_LOST_SHARE = 1e-6  # of the variance: more is not what the user means
_NARROW_FUZZIFIER = 1.45  # a bound below: the kernel, more than m, is what keeps clusters together
_LINEAR = ", or kernel='linear', which is the same and quicker"
_TOO_MANY_NOWHERE = 1 / 3
_FRAGMENTS = 2  # clusters of a single row that are nothing to speak of
_INDEFINITE_SHARE = 1e-8  # of negative eigenvalues: more is no rounding


def warn_about_features(opened: Any, model: Any) -> None:
    """Constant features do nothing; features on large scales decide alone.

    Only where rows have features, and constants do matter to kernels that are not of a distance.
    """
    features, kernel = opened.features, opened.kernel
    if features is None:
        return
    names = _feature_labels(model)
    varies = differ(features.low, features.high, opened.space.dtype)
    constant = np.flatnonzero(~varies)
    of_distance = isinstance(kernel, str | Linear | LocalGaussian | Stationary)
    if len(constant) and of_distance:
        warn(
            f"Constant: {_listed(constant, names)}. A constant feature does not influence the "
            "clusters. Drop it, or check how it was made.",
            FeatureWarning,
        )
    # Squares of tiny differences vanish.
    width = features.high - features.low
    scales = np.where(features.variance > 0, np.sqrt(features.variance), width)
    if getattr(opened.reader, "sparse", False):  # what is rare is not small
        scales = width
    _warn_about_scales(scales, np.flatnonzero(varies), names)


def warn_about_units(rows: Floats, model: Any) -> None:
    """Features on large scales decide alone, where no space of features was opened."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    unit = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    unit[unit == 0] = 1.0
    scales = (rows / unit).std(axis=0, dtype=np.float64) * unit  # squares do not overflow
    varying = np.flatnonzero(differ(low, high, rows.dtype) & (scales > 0))
    _warn_about_scales(scales, varying, _feature_labels(model))


def _warn_about_scales(scales: Doubles, varying: Places, names: Sequence[str]) -> None:
    """Features that differ by a factor of 1000, or one beside which all others vanish.

    The second rule needs a factor of 100 and all but a thousandth of the variance: features that
    share a unit are hardly ever so.
    """
    if len(varying) < 2:
        return
    widest, narrowest = varying[scales[varying].argmax()], varying[scales[varying].argmin()]
    others = scales[varying[varying != widest]] / scales[widest]
    is_alone = (others**2).sum() < _LEAST_SHARE and others.min() < 1.0 / _LARGE_SCALE_RATIO
    if is_alone or scales[widest] > _LARGEST_SCALE_RATIO * scales[narrowest]:
        power = np.log10(scales[widest]) - np.log10(scales[narrowest])
        warn(
            "The scales of the features differ by a factor of "
            f"{f'{10**power:,.0f}' if power < 6 else f'1e{power:.0f}'} (standard deviation "
            f"{scales[widest]:.3g} of {names[widest]}, {scales[narrowest]:.3g} of "
            f"{names[narrowest]}), so the feature with the largest scale dominates the "
            "distances. Scale the features, e.g. with "
            "sklearn.preprocessing.StandardScaler, unless they share a unit.",
            FeatureWarning,
        )


def warn_about_few_reference_rows(
    p_values: Doubles, n_rows: float, *, fdr: float, method: str
) -> None:
    """The smallest p-value there can be is too large for any row to be an outlier."""
    smallest, m = 1.0 / (n_rows + 1.0), len(p_values)
    n_smallest = max(1, int(np.sum(p_values <= smallest * (1 + 1e-12))))
    level = fdr * n_smallest / (m * penalty(p_values, method))
    if smallest <= level:
        return
    alike = f"for {n_smallest} rows with the smallest p-value" if n_smallest > 1 else "for one row"
    warn(
        f"No row can be called an outlier: with {n_rows:,.0f} reference rows no p-value "
        f"is below {smallest:.2g}, but {m:,} tested rows need a p-value of at most "
        f"{level:.2g} {alike}. Use at least {int(np.ceil(1.0 / level)) - 1:,} reference "
        "rows, or test fewer rows at once.",
        CalibrationWarning,
    )


def warn_about_local_p_values(fewest: int) -> None:
    """The local kernel takes its widths from so few rows that p-values are not valid."""
    warn(
        f"p-values of kernel='local' with fewer than {fewest} rows are too small, "
        "because its widths depend on all rows. Use kernel='gaussian', or "
        "calibration='split'.",
        CalibrationWarning,
    )


def _feature_labels(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature {j}" for j in range(model.n_features_in_)]
    return [f"feature {str(name)!r}" for name in names]


def _listed(columns: Places, names: list[str]) -> str:
    shown = ", ".join(names[j] for j in columns[:5])
    return shown + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")


def warn_about_coarse_promise(rtol: float, offset: float) -> None:
    """A model is made so small that what it can tell is above its threshold."""
    threshold = float(np.exp(offset))
    if rtol > _COARSE * threshold:
        warn(
            f"rtol={rtol:g} is too coarse to detect outliers: rows are flagged if the mean of "
            f"kernel values is below {threshold:.1e}. Use rtol={0.1 * threshold:.0e} or less.",
            ClusteringWarning,
        )


def warn_about_unused_sigma(sigma: float | str, kernel: Any) -> None:
    """A width was given, and the kernel has none."""
    if sigma != "auto":
        name = repr(kernel) if isinstance(kernel, str) else "a kernel object or function"
        warn(
            f"sigma={sigma!r} has no effect with kernel={name}: use kernel='gaussian', or leave "
            "sigma out.",
            BandwidthWarning,
        )


def warn_about_kernel(
    space: Any, prototypes: Any, kernel: Any, *, narrow: bool = True, instead: str = _LINEAR
) -> bool:
    """A kernel that is no scalar product, too wide, or too narrow; whether it is too narrow."""
    if not isinstance(space, Gram):
        return False
    if space.lost_share > _LOST_SHARE:
        warn(
            "The kernel values are so large that rounding may account for "
            f"{min(space.lost_share, 1.0):.0e} of the variance in the space of the kernel. "
            "Centre the features, e.g. with sklearn.preprocessing.StandardScaler.",
            FeatureWarning,
        )
    else:
        warn_about_indefinite(space, prototypes, kernel)
    if not space.columns.on_sphere or space.total_variance == 0:
        return False
    remedy = "sigma" if isinstance(kernel, str) and kernel != "precomputed" else "kernel"
    too_narrow = narrow and space.neighbours < _TOO_FEW_NEIGHBOURS
    if space.share_of_sphere < _TOO_WIDE:
        warn(
            "The kernel is too wide: all rows look alike to it (1 - K is "
            f"{space.share_of_sphere:.1e} on average), so the result is nearly that of the "
            f"linear kernel. Use a narrower {remedy}{instead}.",
            BandwidthWarning,
        )
    elif too_narrow:
        warn(
            "The kernel is too narrow: half of the rows or more have practically no "
            f"similar row, so typicalities mean little. Use a wider {remedy}.",
            BandwidthWarning,
        )
    return too_narrow


def warn_about_indefinite(space: Any, prototypes: Any, kernel: Any) -> None:
    """A kernel that is no scalar product: count what was clipped."""
    share = space.negative_share
    n_clipped = space.n_clipped(prototypes)
    if share <= _INDEFINITE_SHARE and (n_clipped == 0 or space.columns.positive_semidefinite):
        return
    what, remedy = (
        "The kernel is",
        "use a positive semidefinite kernel, or add a constant to its diagonal",
    )
    if isinstance(kernel, str) and kernel == "dissimilarities":
        what = (
            "The dissimilarities are not distances between points: their double-centred kernel is"
        )
        constant = f"{1.01 * space.missing_sqdist:.3g}"
        remedy = (
            f"pass sqrt(X**2 + {constant} * (1 - eye(n))), which adds a constant off the diagonal"
        )
    warn(
        f"{what} not positive semidefinite. {share:.1%} of its spectrum (on a sample of "
        f"rows) is negative, and {n_clipped} squared distances to prototypes were "
        "negative and set to zero. Distances and the objective are approximate; the "
        f"error grows with these numbers. To make them exact, {remedy}.",
        IndefiniteKernelWarning,
    )


def require_finite(result: PicardResult[Any]) -> None:
    """An iteration that left the finite numbers has no result."""
    if result.status is Status.NONFINITE:
        raise ValueError(
            f"The iteration reached numbers that are not finite after {result.n_iter} "
            "step(s). Rescale the features, e.g. with "
            "sklearn.preprocessing.StandardScaler, and check the parameters."
        )


def warn_about_convergence(
    result: PicardResult[Any],
    *,
    tol: float,
    max_iter: int,
    stage: str = "",
    change: str = "the prototypes still move by {:.1e} of the spread of the data",
    advice: str = "Increase max_iter, or tol if that is precise enough.",
) -> None:
    """An iteration that ran out of steps, unless that was asked for by tol = 0."""
    if result.status is Status.MAX_ITER and tol > 0:
        warn(
            f"{stage}Not converged after max_iter={max_iter} iterations: "
            f"{change.format(result.residuals[-1])}, more than tol={tol:.1e}. {advice}",
            ConvergenceWarning,
        )


def warn_about_degenerate_spread(clusters: Places) -> None:
    """Clusters of identical rows have no spread."""
    if len(clusters):
        warn(
            f"The spread eta of {len(clusters)} cluster(s) is degenerate: the preliminary "
            "partition put all their weight on identical rows. The median of the other spreads, or "
            "the variance of all data, is used instead. Use fewer clusters, or give eta as a "
            "number.",
            DegenerateSpreadWarning,
        )


def warn_about_constant_rows() -> None:
    """All rows are one point in the space of the kernel."""
    warn(
        "The spread eta is degenerate: all rows of positive weight are one point in "
        "the space of the kernel, and every typicality is 1. Check how the data were "
        "made, or use another kernel.",
        DegenerateSpreadWarning,
    )


def warn_about_equal_typicalities(
    log_typicality: Doubles, eta_scale: float, neighbours: float
) -> None:
    """Typicalities that differ by little more than rounding, and not because the rows are alike."""
    spread = float(np.ptp(log_typicality))
    smooth = eta_scale >= _LARGE_SCALE
    if spread >= _EQUAL_TYPICALITIES or not (smooth or neighbours < 1):
        return
    remedy = "a smaller eta_scale" if smooth else "a wider sigma"
    warn(
        "All typicalities are nearly equal (their logarithms differ by at most "
        f"{spread:.1e}). Use {remedy}. Rounding affects typicality_, but neither scores "
        "nor predictions.",
        BandwidthWarning,
    )


def warn_about_lonely_row(
    weights: Doubles,
    uniform: Doubles,
    row_of: Places | None = None,
) -> None:
    """One row has most of the weight, and not because it was given it."""
    heaviest = int(weights.argmax())
    weight = weights[heaviest]
    if weight > _LONELY_WEIGHT and uniform[heaviest] < weight / 10:
        row = heaviest if row_of is None else row_of[heaviest]
        warn(
            f"The spread eta is degenerate: row {row} alone has {weight:.0%} of the weight, "
            "and typicalities only measure how close a row is to this row. Increase eta_scale, "
            "or use a wider kernel.",
            DegenerateSpreadWarning,
        )


def warn_about_unreached(mass: Doubles, eta: Doubles) -> None:
    """Prototypes whose spread is so small that every typicality underflows."""
    unreached = np.flatnonzero(mass <= np.finfo(np.float64).tiny)
    if len(unreached):
        warn(
            f"The spread eta of {len(unreached)} cluster(s) is degenerate (smallest: "
            f"{eta[unreached].min():.1e}): no row is close enough to have a typicality "
            "above zero. Increase eta or eta_scale.",
            DegenerateSpreadWarning,
        )


def warn_about_vanished_spread(eta: Doubles, smallest: float) -> None:
    """Spreads that shrank without end because each step estimated them again."""
    vanished = int(np.sum(eta <= smallest))
    if vanished:
        warn(
            f"The spread eta of {vanished} cluster(s) is degenerate: it is estimated in "
            "each step and shrank to zero, so the cluster is a single point. Use "
            "eta_update='never', or a larger eta_scale.",
            DegenerateSpreadWarning,
        )


def warn_about_prototype_labels(
    labels: PrototypeLabels,
    *,
    advice: str = "",
    about_empty: str = "Use fewer clusters, or more runs (n_init).",
) -> None:
    """Coincident and empty clusters."""
    n_prototypes = len(labels.order)
    n_groups = n_prototypes - labels.n_coincident
    if labels.n_coincident:
        warn(
            f"{labels.n_coincident} of {n_prototypes} prototypes coincide with another one and "
            f"share its label; {n_groups} distinct prototype(s) remain. {advice}",
            CoincidentClustersWarning,
        )
    n_empty = n_groups - labels.n_clusters
    if n_empty:
        warn(
            f"{n_empty} of the {n_prototypes} prototypes have no row (of positive weight); "
            f"these come last and are not counted in n_clusters_. {about_empty}",
            EmptyClustersWarning,
        )


def warn_about_far_clusters(found: Clustering) -> None:
    """Clusters that hold far rows only, while true clusters share a label."""
    space, state, labels, outcome = found
    if space.typical is space:
        return
    of_prototype = labels.prototype_labels
    everyone = np.bincount(of_prototype, outcome.tally.counted[:-1])
    typical = space.typical.tally(state.rule, state.prototypes).counted[:-1]
    far = np.flatnonzero((everyone > 0) & (np.bincount(of_prototype, typical) == 0))
    if len(far) == 0:
        return
    shown = ""
    if outcome.labels is not None:
        rows = np.flatnonzero(np.isin(np.append(of_prototype, -1)[outcome.labels], far))
        shown = f" (row {', '.join(map(str, rows[:5]))}{', ...' if len(rows) > 5 else ''})"
    warn(
        f"{len(far)} of {np.count_nonzero(everyone)} clusters contain only rows that "
        f"lie far from all others{shown}. Distinct clusters may therefore share a "
        "label. Remove these rows, or use PossibilisticCMeans or SequentialPCM.",
        ClusteringWarning,
    )


def warn_about_fragments(tally: Tally, unit: float, *, remedy: str) -> None:
    """More clusters of a single row than others."""
    size = tally.weight[:-1] / unit
    alone = int(np.sum(size < 2))
    if alone > _FRAGMENTS and alone > len(size) / 2:
        warn(
            f"{alone} of {len(size)} clusters are single rows. {remedy}", FragmentedClustersWarning
        )


def warn_about_rows_nowhere(tally: Tally, *, remedy: str) -> None:
    """Many rows belong nowhere."""
    share = float(tally.rows[-1] / tally.rows.sum())
    if share > _TOO_MANY_NOWHERE:
        warn(f"{share:.0%} of the rows belong to no cluster. {remedy}", ClusteringWarning)


def warn_about_vanished_clusters(remedy: str) -> None:
    """Every cluster was dropped on the way."""
    warn(f"There is no cluster, and all labels are -1: {remedy}", EmptyClustersWarning)


def memberships_collapsed(space: Space[Any], state: ClusterState[Any]) -> bool:
    """Whether even the clearest membership is about 1 / c."""
    n_clusters = state.prototypes.n_clusters
    largest = space.largest_membership(state.rule, state.prototypes)
    return n_clusters > 1 and bool(largest * n_clusters < 1 + _COLLAPSED_SPREAD)


def warn_about_collapse(n_clusters: int, *, advice: str, stage: str = "") -> None:
    """All memberships are 1 / c: the prototypes have met at the centre of the data."""
    warn(
        f"{stage}All memberships are about 1/{n_clusters}: the prototypes have "
        f"collapsed onto the centre of the data, and the labels mean little. {advice}",
        CollapsedMembershipsWarning,
    )


def warn_about_partition(
    found: Clustering, *, kernel: Any, if_collapsed: Callable[[], str], if_coincident: str
) -> None:
    """Warn of memberships that sum to one: the kernel, far rows, and clusters that are alike."""
    prototypes = found.state.prototypes
    if warn_about_kernel(found.space, prototypes, kernel):
        return
    warn_about_far_clusters(found)
    if memberships_collapsed(found.space, found.state):
        warn_about_collapse(prototypes.n_clusters, advice=if_collapsed())
    else:
        warn_about_prototype_labels(found.labels, advice=if_coincident)


def largest_fuzzifier(space: Space[Any]) -> float:
    r"""The m above which fuzzy c-means prototypes near the mean of the data fall onto it.

    .. math:: m^* = \frac{1}{1 - 2 \lambda_{\max}(F)}, \qquad
        F = \frac{1}{n} \sum_h \frac{(x_h - \bar x)(x_h - \bar x)^\top}
        {\lVert x_h - \bar x \rVert^2}

    Prototypes displaced by :math:`\epsilon` from the mean are at :math:`\frac{2m}{m-1} F \epsilon`
    after an iteration: above :math:`m^*` that shrinks. Infinite when the largest eigenvalue is 1/2
    or more. The same bound stands in :cite:`yu2004`; see docs/theory.
    """
    strongest = space.largest_moment(normalised=True)
    return 1 / (1 - 2 * strongest) if strongest < 0.5 else float(np.inf)


def fuzzy_collapse_advice(m: float, space: Space[Any]) -> str:
    """A better m, where that is what is wrong; in the space of a kernel, perhaps a wider one."""
    largest = largest_fuzzifier(space)
    if largest >= m:
        return "Use fewer clusters, a smaller m, or other features."
    better = 1 + (largest - 1) / 2
    if not isinstance(space, Gram):
        return (
            f"m={m:g} is too fuzzy for so many dimensions: if m is above {largest:.2f}, prototypes "
            f"near the mean of the data collapse onto it. Try m={better:.3g}."
        )
    found = f"if m is above {largest:.3g}, prototypes near the mean in its space collapse onto it"
    if largest < _NARROW_FUZZIFIER:
        return f"The kernel is too narrow for m={m:g}: {found}. Try a larger sigma."
    return f"m={m:g} is too fuzzy for this kernel: {found}. Try m={better:.3g}, or a wider sigma."


def entropic_collapse_advice(lam: float, space: Space[Any]) -> str:
    """A better lam; the bound is 1 / (2 mu), mu the largest eigenvalue of the covariance."""
    moment = space.largest_moment(normalised=False)
    if 2 * moment * lam >= 1:
        return "Use fewer clusters, init='annealing', more runs (n_init), or a larger lam."
    smallest = 1 / (2 * moment) if moment > 0 else np.inf
    return (
        f"lam={lam:.3g} is too small: if lam is below {smallest:.3g}, prototypes "
        f"near the mean of the data collapse onto it. Try lam={4 * smallest:.3g}, "
        "or lam='auto'."
    )
