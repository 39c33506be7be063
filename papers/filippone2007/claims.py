"""The claims of the text, each with a verdict and the numbers it rests on."""

from typing import NamedTuple

import numpy as np

from filippone2007.conditions import Conditions, share_of_noise
from filippone2007.figure_1 import ALPHA, SIGMA, TOL, Draws
from filippone2007.prototypes import Prototypes
from filippone2007.spheres import Spheres
from regenerating import Claim, Verdict

FEW, TENS = 10, 30  # iterations: "less than a tenth" read as fewer than ten, or as a few tens
NEAR = 0.001  # of the level in the paper
SAME_VALLEY = 1e-4
FACTOR = 4  # within it two lengths are of the same order of magnitude
NEARLY_ALL, MOST = 0.9, 0.7  # of draws, or of rows
ROUNDING = 1e-10


class Found(NamedTuple):
    """All that was measured."""

    draws: Draws
    conditions: Conditions
    spheres: Spheres
    prototypes: Prototypes


def all_claims(found: Found) -> list[Claim]:
    """Every claim, in the order of the text."""
    return [
        _independent(found.prototypes),
        _other_rule(found.draws),
        _renewed_eta(found.conditions),
        _linear_kernel(found.prototypes),
        _inside_the_sphere(found.spheres),
        _collapse(found.prototypes),
        _levels_without_new_runs(found.spheres),
        _valley(found.draws),
        _three_clusters(found.draws),
        _width(found.conditions),
        _robustness(found.conditions),
        _natural_number(found.conditions),
        _only_globular(found.prototypes),
        _svm(found.spheres),
        _iterations(found.draws, found.conditions),
        _density(found.spheres),
        _family_of_spheres(found.spheres),
    ]


def _independent(found: Prototypes) -> Claim:
    return Claim(
        "section 2",
        "PCM with c clusters is c independent problems",
        Verdict.of(found.joint_difference < 1e-6),
        f"prototypes fitted together and one by one differ by {found.joint_difference:.0e}",
    )


def _other_rule(draws: Draws) -> Claim:
    by_objective = [found.model.n_iter_ for found in draws.by_objective]
    valleys = np.array([float(found.model.alpha_) for found in draws.by_objective])
    differences = abs(valleys - draws.valleys)
    same = [
        bool((one.model.labels_ == other.model.labels_).all())
        for one, other in zip(draws.by_objective, draws.all, strict=True)
    ]
    return Claim(
        "section 2",
        "stop if memberships change less than a threshold, or if J does not improve significantly",
        Verdict.of(float(differences.max()) < SAME_VALLEY),
        f"on Fig. 1's set by the memberships after {span(draws.iterations)} iterations; by J "
        f"(change below {TOL:g}) after {span(by_objective)}. The valleys differ by at most "
        f"{differences.max():.0e}, and {sum(same)} of {len(same)} draws have the same labels",
    )


def _renewed_eta(found: Conditions) -> Claim:
    ratios = found.eta_each_step
    narrow, wide = min(ratios), max(ratios)
    return Claim(
        "section 2",
        "updating eta at each step can lead to instabilities",
        Verdict.of(ratios[wide] < ROUNDING),
        f"on Fig. 1's set eta ends at {ratios[narrow]:.2f} of its first value at sigma {narrow:g}, "
        f"and falls to zero at sigma {wide:g} ({ratios[wide]:.0e}); the fits here keep it",
    )


def _linear_kernel(found: Prototypes) -> Claim:
    return Claim(
        "section 3",
        "with a linear kernel PCM-FS is PCM",
        Verdict.of(found.linear_difference < ROUNDING),
        f"memberships differ by {found.linear_difference:.0e}",
    )


def _inside_the_sphere(found: Spheres) -> Claim:
    return Claim(
        "section 3",
        "rows lie on the unit sphere of feature space, centroids inside it",
        Verdict.of(found.centre_norm < 1),
        f"the centroid's norm is {found.centre_norm:.2f} on Fig. 1's set",
    )


def _collapse(found: Prototypes) -> Claim:
    collapsed = {s: counts.count(1) for s, counts in found.of_sigma.items()}
    by_gamma = [counts.count(1) for counts in found.of_gamma.values()]
    narrow, wide = min(collapsed), max(collapsed)
    spreads = f"{min(found.of_gamma):g} to {max(found.of_gamma):g}"
    cells = ", ".join(f"{count} at sigma {s:g}" for s, count in collapsed.items())
    return Claim(
        "section 3",
        "centroids of PCM-FS often collapse into one, with slight dependency on eta",
        Verdict.of(
            collapsed[narrow] == found.n_draws,
            min(by_gamma) == found.n_draws,
            collapsed[wide] == found.n_draws,
            found.linear.count(1) == found.n_draws,
        ),
        f"three blobs, all in one in so many of {found.n_draws} draws: {cells}, "
        f"{found.linear.count(1)} with a linear kernel: narrow kernels collapse, wide ones do not; "
        f"at sigma {SIGMA:g} the multiplier of eta, {spreads}, changes nothing "
        f"({min(by_gamma)} to {max(by_gamma)})",
    )


def _levels_without_new_runs(found: Spheres) -> Claim:
    return Claim(
        "section 4",
        "other values of alpha need no new run of the core step",
        Verdict.of(found.n_levels_equal == found.n_levels),
        f"labels at {found.n_levels_equal} of {found.n_levels} levels are those of a fit at that "
        f"level; 1 run instead of {found.n_levels}",
    )


def _valley(found: Draws) -> Claim:
    valleys = found.valleys
    return Claim(
        "Fig. 1 (a)",
        f"the histogram has two modes, which {ALPHA:.4f} separates",
        Verdict.of(abs(valleys.mean() - ALPHA) < NEAR),
        f"valley {valleys.mean():.4f} on average over {len(valleys)} draws, standard deviation "
        f"{valleys.std(ddof=1):.4f} ({valleys.min():.4f} to {valleys.max():.4f})",
    )


def _three_clusters(found: Draws) -> Claim:
    n = len(found.all)
    dense = [draw.dense_inside for draw in found.all]
    noise = [draw.noise_inside for draw in found.all]
    return Claim(
        "Fig. 1 (b)",
        "the contour at the valley separates the regions: three clusters, no model selection",
        Verdict.of(found.n_right >= NEARLY_ALL * n, float(np.mean(dense)) > NEARLY_ALL),
        f"3 clusters in {found.n_right} of {n} draws (at {ALPHA:.4f} itself in "
        f"{found.n_right_at_printed_level}, a few rows of noise aside); in them are "
        f"{min(dense):.0%} to {max(dense):.0%} of the dense rows and {min(noise):.0%} to "
        f"{max(noise):.0%} of the noise",
    )


def _width(found: Conditions) -> Claim:
    return Claim(
        "section 5",
        "sigma 0.5 is of the order of magnitude of the average distance between data points",
        Verdict.of(
            SIGMA / FACTOR < found.mean_distance < FACTOR * SIGMA,
            SIGMA / FACTOR < found.spacing < FACTOR * SIGMA,
        ),
        f"not of all pairs, which are {found.mean_distance:.1f} apart on average; but the spacing "
        f"of rows, sqrt(area / n) = {found.spacing:.2f}, and the distance to the tenth neighbour "
        f"({found.tenth_distance:.2f}) are of this order; nearest neighbours are "
        f"{found.nearest_distance:.2f} apart",
    )


def _robustness(found: Conditions) -> Claim:
    some = [c for c in found.noise if 250 <= c.value <= 2000]
    printed, without = found.at_noise(1000), found.at_noise(0)
    share = share_of_noise(printed.value)
    return Claim(
        "section 5",
        "high robustness to outliers",
        Verdict.of(
            float(np.mean([c.share_right for c in some])) >= MOST,
            printed.weight_of_noise < NEARLY_ALL * share,
        ),
        f"with 250 to 2000 rows of noise three clusters in "
        f"{np.mean([c.share_right for c in some]):.0%} of draws, and "
        f"{min(c.dense_inside for c in some):.0%} or more of the dense rows in them; but the noise "
        f"keeps its pull, {printed.weight_of_noise:.1%} of the weight with {share:.1%} of the "
        f"rows: it is the cut that leaves it out. Without noise the valley lies between ring and "
        f"rectangles: three clusters {without.right}, {without.dense_inside:.0%} of the rows in "
        f"them",
    )


def _natural_number(found: Conditions) -> Claim:
    right = [c for c in found.sigma if c.share_right >= MOST]
    wrong = [c for c in found.sigma if c.share_right < MOST]
    return Claim(
        "section 5",
        "the natural number of clusters is found autonomously",
        Verdict.of(any(c.value == SIGMA for c in right), not wrong),
        f"three in most draws for sigma {right[0].value:g} to {right[-1].value:g}; "
        + ", ".join(f"at sigma {c.value:g} {c.right}" for c in wrong)
        + ": sigma takes the place of the number",
    )


def _only_globular(found: Prototypes) -> Claim:
    best = max(pcm for pcm, _ in found.ball_and_ring)
    ours = min(cut for _, cut in found.ball_and_ring)
    return Claim(
        "section 5",
        "clusters of any shape; the standard PCM rejects outliers of globular clusters only",
        Verdict.of(
            best < 0.1,
            ours > NEARLY_ALL,
            found.globular_auc[0] > NEARLY_ALL,
            found.dense_auc[1] > found.dense_auc[0] + 0.1,
        ),
        f"a ball in a ring, adjusted Rand index: at most {best:.2f} by PCM, at least {ours:.2f} by "
        f"the cut; rows against noise (AUC, PCM / 1-PCM): three blobs {_pair(found.globular_auc)}, "
        f"Fig. 1's set {_pair(found.dense_auc)}",
    )


def _svm(found: Spheres) -> Claim:
    right = [sphere.nu for sphere in found.of_nu if sphere.n_clusters == 3]
    small = [sphere.auc for sphere in found.of_nu if sphere.nu <= 0.2]
    return Claim(
        "section 5",
        "a one-class SVM finds the number of clusters, but needs many runs from scratch, and does "
        "not model the distribution",
        Verdict.of(bool(right), len(right) < len(found.of_nu), max(small) < found.auc - 0.1),
        f"three clusters for {len(right)} of {len(found.of_nu)} values of nu, {min(right):g} to "
        f"{max(right):g}, each a run of its own; its score tells dense rows from noise with AUC "
        f"{min(small):.2f} to {max(small):.2f} for nu up to 0.2, the typicality with "
        f"{found.auc:.2f}",
    )


def _iterations(draws: Draws, found: Conditions) -> Claim:
    narrow = max(c.most_iterations for c in [*found.noise, *found.sigma])
    wide = found.iterations_when_wide
    return Claim(
        "section 5",
        'very fast, "only less than a tenth of iterations" (fewer than ten, or, as the paper of '
        "2010 has it, a few tens)",
        Verdict.of(max(draws.iterations) < FEW, narrow < FEW, max(wide.values()) < TENS),
        f"{span(draws.iterations)} on Fig. 1's set, {span(draws.iterations_to_the_end)} by our "
        f"stricter rule; up to {narrow} for sigma up to 1; "
        + ", ".join(f"{n} at sigma {s:g}" for s, n in wide.items())
        + ": fewer than ten where the kernel is narrow, a few tens always",
    )


def _density(found: Spheres) -> Claim:
    noise, ring, rectangles = found.medians
    return Claim(
        "abstract",
        "works as a density estimator",
        Verdict.of(noise < ring < rectangles),
        f"median typicality: noise {noise:.4f}, ring (5 times as dense) {ring:.4f}, rectangles "
        f"(9 times) {rectangles:.4f}",
    )


def _family_of_spheres(found: Spheres) -> Claim:
    small = [sphere for sphere in found.of_nu if sphere.nu <= 0.1]
    cells = "; ".join(
        f"nu {s.nu:g}: {s.objective:.4f} against {s.svm_objective:.4f}" for s in small
    )
    return Claim(
        "abstract, conclusions",
        "generalises the one-class SVM: thresholds give a family of minimum enclosing spheres",
        Verdict.of(
            found.sphere_error < ROUNDING,
            all(s.objective < 1.001 * s.svm_objective for s in small),
        ),
        f"every threshold is a sphere around one centre (to {found.sphere_error:.0e}), from one "
        f"run; but not a minimum one: what the SVM minimises, R^2 plus the excess over nu n, is "
        f"{cells} of the SVM, whose centre moves with nu",
    )


def _pair(values: tuple[float, float]) -> str:
    return f"{values[0]:.2f} / {values[1]:.2f}"


def span(values: list[int]) -> str:
    """The least and the largest of them, or the one that they all are."""
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
