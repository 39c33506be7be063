"""Suspicious data and results: a table of findings, and the functions that look for them."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from typicality._checks import differ
from typicality._typing import Doubles, Places
from typicality._words import listed
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
    place_of_caller,
    warn,
)
from typicality.kernels import Linear, LocalGaussian, Stationary
from typicality.metrics.discoveries import penalty
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import ClusterState
from typicality.spaces import Gram, Space
from typicality.spaces.base import Tally

if TYPE_CHECKING:
    from typicality.cluster._prototypes import Clustering, PrototypeLabels

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
_SHOWN_ROWS = 5  # of those that a message is about
_FRAGMENTS = 2  # clusters of a single row that are nothing to speak of
_INDEFINITE_SHARE = 1e-8  # of negative eigenvalues: more is no rounding


# What can be suspicious, by the class of the warning: what was seen and what it means, a remedy.
FINDINGS: dict[type[Warning], dict[str, tuple[str, str]]] = {
    FeatureWarning: {
        "constant features": (
            "Constant: {names}. A constant feature does not influence the clusters.",
            "Drop it, or check how it was made.",
        ),
        "different scales": (
            "The scales of the features differ by a factor of {factor} (standard deviation "
            "{largest:.3g} of {widest}, {smallest:.3g} of {narrowest}), so the feature with "
            "the largest scale dominates the distances.",
            "Scale the features, e.g. with sklearn.preprocessing.StandardScaler, unless they "
            "share a unit.",
        ),
        "large kernel values": (
            "The kernel values are so large that rounding may account for {share:.0e} of the "
            "variance in the space of the kernel.",
            "Centre the features, e.g. with sklearn.preprocessing.StandardScaler.",
        ),
    },
    ConvergenceWarning: {
        "few distinct rows": ("{found}: only {n_distinct} cluster(s) are found.", "{remedy}"),
        "not converged": (
            "{stage}Not converged after max_iter={max_iter} iterations: the prototypes still move "
            "by {move:.1e} of the spread of the data, more than tol={tol:.1e}.",
            "{advice}",
        ),
    },
    BandwidthWarning: {
        "unused sigma": (
            "sigma={sigma!r} has no effect with kernel={kernel}.",
            "Use kernel='gaussian', or leave sigma out.",
        ),
        "wide kernel": (
            "The kernel is too wide: all rows look alike to it (1 - K is {distance:.1e} on "
            "average), so the result is nearly that of the linear kernel.",
            "Use a narrower {parameter}{instead}.",
        ),
        "narrow kernel": (
            "The kernel is too narrow: half of the rows or more have practically no similar "
            "row, so typicalities mean little.",
            "Use a wider {parameter}.",
        ),
        "equal typicalities": (
            "All typicalities are nearly equal (their logarithms differ by at most "
            "{spread:.1e}). Rounding affects typicality_, but neither scores nor predictions.",
            "Use {remedy}.",
        ),
    },
    IndefiniteKernelWarning: {
        "indefinite kernel": (
            "{what} not positive semidefinite. {share:.1%} of its spectrum (on a sample of "
            "rows) is negative, and {n_clipped} squared distances to prototypes were negative "
            "and set to zero. Distances and the objective are approximate; the error grows "
            "with these numbers.",
            "To make them exact, {remedy}.",
        ),
    },
    CollapsedMembershipsWarning: {
        "collapsed memberships": (
            "{stage}All memberships are about 1/{n_clusters}: the prototypes have collapsed "
            "onto the centre of the data, and the labels mean little.",
            "{advice}",
        ),
    },
    DegenerateSpreadWarning: {
        "degenerate spread": (
            "The spread eta of {n_clusters} cluster(s) is degenerate: the preliminary "
            "partition put all their weight on identical rows. The median of the other "
            "spreads, or the variance of all data, is used instead.",
            "Use fewer clusters, or give eta as a number.",
        ),
        "constant rows": (
            "The spread eta is degenerate: all rows of positive weight are one point in the "
            "space of the kernel, and every typicality is 1.",
            "Check how the data were made, or use another kernel.",
        ),
        "lonely row": (
            "The spread eta is degenerate: row {row} alone has {weight:.0%} of the weight, "
            "and typicalities only measure how close a row is to this row.",
            "Increase eta_scale, or use a wider kernel.",
        ),
        "unreached prototypes": (
            "The spread eta of {n_clusters} cluster(s) is degenerate (smallest: "
            "{smallest:.1e}): no row is close enough to have a typicality above zero.",
            "Increase eta or eta_scale.",
        ),
    },
    ClusteringWarning: {
        "coarse promise": (
            "rtol={rtol:g} is too coarse to detect outliers: rows are flagged if the mean of "
            "kernel values is below {threshold:.1e}.",
            "Use rtol={better:.0e} or less.",
        ),
        "far clusters": (
            "{n_far} of {n_clusters} clusters contain only rows that lie far from all "
            "others{rows}. Distinct clusters may therefore share a label.",
            "Remove these rows, or use PossibilisticCMeans or SequentialPCM.",
        ),
        "search over clusters": (
            "n_clusters was set by set_params, as a search does. A search by score prefers the "
            "largest number: the score, the negative objective, grows with every cluster.",
            "Pass scoring=, or use typicality.stability.choose_by_stability.",
        ),
        "rows nowhere": ("{share:.0%} of the rows belong to no cluster.", "{remedy}"),
        "fewer clusters than asked for": (
            "{found} clusters were found, fewer than {parameter}={asked}: there are too few "
            "distinct rows.",
            "Use a smaller {parameter}.",
        ),
        "nearly several clusters": (
            "The rows look like one cluster, but the evidence for more is close to the "
            "threshold (evidence_={evidence:.2f}; 1 or more means several clusters).",
            "Use at_least=2 to see the best split.",
        ),
        "barely several clusters": (
            "{found} clusters were found, but the evidence for more than one is close to the "
            "threshold (evidence_={evidence:.2f}; below 1 means one cluster): a few in a "
            "hundred data sets with a single cluster look like this.",
            "Check the split, or fit again on other rows of the same source.",
        ),
        "no valley": (
            "The density of the typicalities has no clear valley (the deepest is {depth:.1%} "
            "of its height), so alpha='valley' is unreliable.",
            "Use alpha='auto', or give alpha.",
        ),
        "few rows above": (
            "Only {inside:.0f} of {total:.0f} rows are above the levels of the clusters.",
            "Use assign='all' to assign the others to the nearest cluster, choose another level "
            "(labels_at), or use a larger sigma if clusters were cut into pieces.",
        ),
        "low level": (
            "alpha={alpha:.4g} is below {lowest:.4g}, the typicality of a point far from all "
            "rows: all rows are one cluster.",
            "Use a larger alpha, or alpha='auto'.",
        ),
    },
    CalibrationWarning: {
        "few reference rows": (
            "No row can be called an outlier: with {n_rows:,.0f} reference rows no p-value is "
            "below {smallest:.2g}, but {n_tested:,} tested rows need a p-value of at most "
            "{level:.2g} {alike}.",
            "Use at least {enough:,} reference rows, or test fewer rows at once.",
        ),
        "local p-values": (
            "p-values of kernel='local' with fewer than {fewest} rows are too small, because "
            "its widths depend on all rows.",
            "Use kernel='gaussian', or calibration='split'.",
        ),
    },
    CoincidentClustersWarning: {
        "coincident prototypes": (
            "{n_coincident} of {n_prototypes} prototypes coincide with another one and share "
            "its label; {n_groups} distinct prototype(s) remain.",
            "{advice}",
        ),
    },
    EmptyClustersWarning: {
        "empty clusters": (
            "{n_empty} of the {n_prototypes} prototypes have no row (of positive weight); "
            "these come last and are not counted in n_clusters_.",
            "{advice}",
        ),
        "no cluster": ("There is no cluster, and all labels are -1: {reason}.", "{remedy}"),
    },
    FragmentedClustersWarning: {
        "fragments": ("{alone} of {n_clusters} clusters are single rows.", "{remedy}"),
    },
}
_CLASS_OF = {name: kind for kind, findings in FINDINGS.items() for name in findings}


def tell(finding: str, **fields: Any) -> None:
    """Warn of a finding of the table; the warning has its name and fields as attributes."""
    warn(*sentences(finding, **fields), _CLASS_OF[finding], finding, **fields)


def tell_once(finding: str) -> None:
    """Warn of a finding once for each line of the user.

    Searches of scikit-learn reset what Python remembers of warnings.
    """
    _tell_at(finding, place_of_caller())


@cache
def _tell_at(finding: str, place: tuple[str, int]) -> None:
    tell(finding)


def sentences(finding: str, **fields: Any) -> tuple[str, str]:
    """What was observed and what it means, and one thing to try."""
    seen, remedy = FINDINGS[_CLASS_OF[finding]][finding]
    return seen.format(**fields), remedy.format(**fields)


# ---- features and kernels ------------------------------------------------------------------------


def warn_about_features(opened: Any, model: Any) -> None:
    """Constant features do nothing; a feature on a much larger scale than others decides alone.

    Scales differ too much if the ratio is 1000, or if it is 100 and all other features together
    have less than a thousandth of the variance: features that share a unit are hardly ever so.
    """
    features = opened.features
    if features is None:
        return
    labels = [f"feature {j}" for j in range(model.n_features_in_)]
    if hasattr(model, "feature_names_in_"):
        labels = [f"feature {str(name)!r}" for name in model.feature_names_in_]
    varies = differ(features.low, features.high, opened.space.dtype)
    constant, varying = np.flatnonzero(~varies), np.flatnonzero(varies)
    # Constants do matter to kernels that are not of a distance.
    if len(constant) and isinstance(opened.kernel, str | Linear | LocalGaussian | Stationary):
        found = listed((labels[j] for j in constant), at_most=5)
        tell("constant features", names=found, columns=constant.tolist())
    if len(varying) < 2:
        return
    scales = features.high - features.low
    if not getattr(opened.reader, "sparse", False):  # what is rare is not small
        # Squares of tiny differences vanish.
        scales = np.where(features.variance > 0, np.sqrt(features.variance), scales)
    widest, narrowest = varying[scales[varying].argmax()], varying[scales[varying].argmin()]
    others = scales[varying[varying != widest]] / scales[widest]
    is_alone = (others**2).sum() < _LEAST_SHARE and others.min() < 1.0 / _LARGE_SCALE_RATIO
    if is_alone or scales[widest] > _LARGEST_SCALE_RATIO * scales[narrowest]:
        power = np.log10(scales[widest]) - np.log10(scales[narrowest])
        tell(
            "different scales",
            factor=f"{10**power:,.0f}" if power < 6 else f"1e{power:.0f}",
            largest=scales[widest],
            widest=labels[widest],
            smallest=scales[narrowest],
            narrowest=labels[narrowest],
            columns=[int(widest), int(narrowest)],
        )


def warn_about_unused_sigma(sigma: float | str, kernel: Any) -> None:
    """A width was given, and the kernel has none."""
    if sigma != "auto":
        name = repr(kernel) if isinstance(kernel, str) else "a kernel object or function"
        tell("unused sigma", sigma=sigma, kernel=name)


def warn_about_kernel(
    space: Any, prototypes: Any, kernel: Any, *, narrow: bool = True, instead: str = _LINEAR
) -> bool:
    """A kernel that is no scalar product, too wide, or too narrow; whether it is too narrow."""
    if not isinstance(space, Gram):
        return False
    if space.lost_share > _LOST_SHARE:
        tell("large kernel values", share=min(space.lost_share, 1.0))
    else:
        _warn_about_indefinite(space, prototypes, kernel)
    if not space.columns.on_sphere or space.total_variance == 0:
        return False
    parameter = "sigma" if isinstance(kernel, str) and kernel != "precomputed" else "kernel"
    too_narrow = narrow and space.neighbours < _TOO_FEW_NEIGHBOURS
    if space.share_of_sphere < _TOO_WIDE:
        distance = space.share_of_sphere
        tell("wide kernel", distance=distance, parameter=parameter, instead=instead)
    elif too_narrow:
        tell("narrow kernel", parameter=parameter)
    return too_narrow


def _warn_about_indefinite(space: Any, prototypes: Any, kernel: Any) -> None:
    """A kernel that is no scalar product: count what was clipped."""
    share, n_clipped = space.negative_share, space.n_clipped(prototypes)
    if share <= _INDEFINITE_SHARE and (n_clipped == 0 or space.columns.positive_semidefinite):
        return
    what = "The kernel is"
    remedy = "use a positive semidefinite kernel, or add a constant to its diagonal"
    if kernel == "dissimilarities":
        constant = f"{1.01 * space.missing_sqdist:.3g}"
        what = (
            "The dissimilarities are not distances between points: their double-centred kernel is"
        )
        remedy = (
            f"pass sqrt(X**2 + {constant} * (1 - eye(n))), which adds a constant off the diagonal"
        )
    tell("indefinite kernel", what=what, share=share, n_clipped=n_clipped, remedy=remedy)


# ---- the iteration -------------------------------------------------------------------------------


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
    advice: str = "Increase max_iter, or tol if that is precise enough.",
) -> None:
    """An iteration that ran out of steps, unless that was asked for by tol = 0."""
    if result.status is Status.MAX_ITER and tol > 0:
        move = result.residuals[-1]
        tell("not converged", stage=stage, max_iter=max_iter, move=move, tol=tol, advice=advice)


# ---- clusters ------------------------------------------------------------------------------------


def warn_about_prototype_labels(
    labels: "PrototypeLabels",
    *,
    advice: str = "",
    about_empty: str = "Use fewer clusters, or more runs (n_init).",
) -> None:
    """Coincident and empty clusters."""
    n_prototypes = len(labels.order)
    n_groups = n_prototypes - labels.n_coincident
    if labels.n_coincident:
        tell(
            "coincident prototypes",
            n_coincident=labels.n_coincident,
            n_prototypes=n_prototypes,
            n_groups=n_groups,
            advice=advice,
        )
    n_empty = n_groups - labels.n_clusters
    if n_empty:
        tell("empty clusters", n_empty=n_empty, n_prototypes=n_prototypes, advice=about_empty)


def warn_about_far_clusters(found: "Clustering") -> None:
    """Clusters that hold far rows only, while true clusters share a label."""
    space, state, labels, outcome = found
    if space.typical is space:
        return
    of_prototype = labels.prototype_labels
    everyone = np.bincount(of_prototype, outcome.tally.counted[:-1])
    of_typical = space.typical.outcome(state.rule, state.prototypes, memberships=False)
    typical = of_typical.tally.counted[:-1]
    far = np.flatnonzero((everyone > 0) & (np.bincount(of_prototype, typical) == 0))
    if len(far) == 0:
        return
    places: list[int] = []
    if outcome.labels is not None:
        rows = np.flatnonzero(np.isin(np.append(of_prototype, -1)[outcome.labels], far))
        places = rows[: _SHOWN_ROWS + 1].tolist()
    n_clusters = np.count_nonzero(everyone)
    shown = some_rows("row", places)
    tell("far clusters", n_far=len(far), n_clusters=n_clusters, rows=shown, places=places)


def some_rows(word: str, numbers: Sequence[int]) -> str:
    """The numbers of a few rows in brackets, after a word; an empty text without rows."""
    if not numbers:
        return ""
    more = ", ..." if len(numbers) > _SHOWN_ROWS else ""
    return f" ({word} {', '.join(map(str, numbers[:_SHOWN_ROWS]))}{more})"


def warn_about_fragments(tally: Tally, unit: float, *, remedy: str) -> None:
    """More clusters of a single row than others."""
    size = tally.weight[:-1] / unit
    alone = int(np.sum(size < 2))
    if alone > _FRAGMENTS and alone > len(size) / 2:
        tell("fragments", alone=alone, n_clusters=len(size), remedy=remedy)


def warn_about_collapse(
    space: Space[Any],
    state: ClusterState[Any],
    advice: Callable[[Space[Any]], str],
    *,
    stage: str = "",
) -> bool:
    """Warn if even the clearest membership is about 1 / c; whether it is."""
    n_clusters = state.prototypes.n_clusters
    some = space.sqdist_of(state.prototypes, space.sample())
    largest = float(state.rule.memberships(some).max())
    if n_clusters == 1 or largest * n_clusters >= 1 + _COLLAPSED_SPREAD:
        return False
    tell("collapsed memberships", stage=stage, n_clusters=n_clusters, advice=advice(space))
    return True


def warn_about_partition(
    found: "Clustering", *, kernel: Any, if_collapsed: Callable[[Any], str], if_coincident: str
) -> None:
    """Warn of memberships that sum to one: the kernel, far rows, and clusters that are alike."""
    if warn_about_kernel(found.space, found.state.prototypes, kernel):
        return
    warn_about_far_clusters(found)
    if not warn_about_collapse(found.space, found.state, if_collapsed):
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


# ---- densities -----------------------------------------------------------------------------------


def warn_about_equal_typicalities(
    log_typicality: Doubles, eta_scale: float, neighbours: float
) -> None:
    """Typicalities that differ by little more than rounding, and not because the rows are alike."""
    spread = float(np.ptp(log_typicality))
    smooth = eta_scale >= _LARGE_SCALE
    if spread >= _EQUAL_TYPICALITIES or not (smooth or neighbours < 1):
        return
    remedy = "a smaller eta_scale" if smooth else "a wider sigma"
    tell("equal typicalities", spread=spread, remedy=remedy)


def warn_about_lonely_row(
    weights: Doubles,
    uniform: Doubles,
    row_of: Places | None = None,
) -> None:
    """One row has most of the weight, and not because it was given it."""
    heaviest = int(weights.argmax())
    weight = weights[heaviest]
    if weight > _LONELY_WEIGHT and uniform[heaviest] < weight / 10:
        tell("lonely row", row=heaviest if row_of is None else row_of[heaviest], weight=weight)


def warn_about_coarse_promise(rtol: float, offset: float) -> None:
    """A model is made so small that what it can tell is above its threshold."""
    threshold = float(np.exp(offset))
    if rtol > _COARSE * threshold:
        tell("coarse promise", rtol=rtol, threshold=threshold, better=0.1 * threshold)


def few_reference_rows(
    p_values: Doubles, n_rows: float, *, fdr: float, method: str = "bh"
) -> dict[str, Any]:
    """Why the smallest possible p-value is too large for any row to be an outlier, in numbers.

    Empty if there are enough reference rows.
    """
    smallest, m = 1.0 / (n_rows + 1.0), len(p_values)
    n_smallest = max(1, int(np.sum(p_values <= smallest * (1 + 1e-12))))
    level = fdr * n_smallest / (m * penalty(p_values, method))
    if smallest <= level:
        return {}
    alike = f"for {n_smallest} rows with the smallest p-value" if n_smallest > 1 else "for one row"
    return {
        "n_rows": n_rows,
        "smallest": smallest,
        "n_tested": m,
        "level": level,
        "alike": alike,
        "enough": int(np.ceil(1.0 / level)) - 1,
    }
