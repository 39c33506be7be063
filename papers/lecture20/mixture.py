"""Section 20.2: a Gaussian mixture by EM (Fig. 20.3), its responsibilities and its updates."""

import warnings
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.cluster import contingency_matrix
from sklearn.mixture import GaussianMixture

from lecture20.sample import N_CLUSTERS, Doubles, fitted, rows
from regenerating import Claim, Page, Setting, Verdict, markdown_table
from typicality import JoinedMixture

__all__ = ["after_passes", "converged", "report", "responsibilities", "updated"]

_COLOURS = ("tab:blue", "tab:orange", "tab:green")
_SHOWN = (1, 2, 3)
_SEED = 14  # one of those that end at the highest likelihood

_TEXT = """## Mixtures by EM (section 20.2)

Three Gaussians by scikit-learn's `GaussianMixture`, from three random rows as means and the
covariance of all rows, after one, two and three passes (Fig. 20.3 of the notes), and at the end.
Ellipses are one and two standard deviations; rows have the mixed colours of their
responsibilities."""

_STARTS = """
The end depends on the start: of {n_starts} random ones {n_best} come to the highest likelihood
among them, the others to lower maxima. `JoinedMixture({n_clusters})` of typicality starts from
Ward's clusters and chooses the kind of covariance matrices by BIC; it puts {same:.1%} of the rows
into the same cluster as the mixture at the end."""

_SOFT = """
Memberships of fuzzy c-means and responsibilities of the mixture on the same rows. Both sum to 1
for a row; a responsibility knows how wide and how heavy a cluster is, and is nearly 0 or 1 far
away, where memberships tend to one third."""


def after_passes(X: Doubles, n_passes: int) -> GaussianMixture:
    """The mixture after a number of passes of EM."""
    mixture = _at_start(X, _SEED).set_params(max_iter=1, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one pass is not meant to converge
        for _ in range(n_passes):
            mixture.fit(X)
    return mixture


def converged(X: Doubles, seed: int = _SEED) -> GaussianMixture:
    """The mixture where passes change nothing any more."""
    return _at_start(X, seed).set_params(max_iter=5000, tol=1e-14).fit(X)


def _at_start(X: Doubles, seed: int) -> GaussianMixture:
    """Equal weights, three rows as means, the covariance of all rows for each."""
    precision = np.linalg.inv(np.cov(X.T, bias=True))
    return GaussianMixture(
        N_CLUSTERS,
        weights_init=np.full(N_CLUSTERS, 1 / N_CLUSTERS),
        means_init=X[np.random.RandomState(seed).choice(len(X), N_CLUSTERS, replace=False)],
        precisions_init=np.stack([precision] * N_CLUSTERS),
        reg_covar=0.0,
        random_state=0,
    )


def responsibilities(mixture: GaussianMixture, X: Doubles) -> Doubles:
    """Eq. (20.1), term by term."""
    parts = zip(mixture.weights_, mixture.means_, mixture.covariances_, strict=True)
    joint = np.column_stack([w * multivariate_normal(mu, cov).pdf(X) for w, mu, cov in parts])
    shares: Doubles = joint / joint.sum(axis=1, keepdims=True)
    return shares


def updated(gamma: Doubles, X: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Weights, means and covariances by the notes' formulas."""
    counts = gamma.sum(axis=0)
    means: Doubles = gamma.T @ X / counts[:, None]
    covariances = []
    for k, mean in enumerate(means):
        centred = X - mean
        covariances.append((gamma[:, k, None] * centred).T @ centred / counts[k])
    return counts / len(X), means, np.array(covariances)


def report(page: Page, setting: Setting) -> None:
    """The figure, memberships beside responsibilities, and the claims."""
    X, _ = rows()
    passes = {f"after pass {n}": after_passes(X, n) for n in _SHOWN}
    end = converged(X)
    shown = passes | {f"at the end, {end.n_iter_} passes": end}
    page.say(_TEXT)
    picture = _picture(X, shown)
    page.show(setting.save(picture, "figure_20_3"), "Fig. 20.3: passes of EM")
    scores = [mixture.score(X) for mixture in shown.values()]
    page.say(markdown_table(("", *shown), [("mean log-likelihood per row", *map(_short, scores))]))
    n_starts = setting.pick(20, 4)
    ends = [converged(X, seed).score(X) for seed in range(n_starts)]
    same = _same_cluster(JoinedMixture(N_CLUSTERS).fit_predict(X), end.predict(X))
    page.say(
        _STARTS.format(n_best=_n_best(ends), n_starts=n_starts, n_clusters=N_CLUSTERS, same=same)
    )
    page.say(_SOFT)
    page.say(_beside_memberships(X, end))
    page.judge(_improves(scores))
    page.judge(_bayes(end, X))
    page.judge(_fixed_point(end, X))
    page.judge(_derivative(passes["after pass 2"], X))


def _n_best(scores: list[float]) -> int:
    return int(np.sum(np.array(scores) > max(scores) - 1e-4))


def _same_cluster(labels: Doubles, others: Doubles) -> float:
    table = contingency_matrix(labels, others)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())


def _short(value: float) -> str:
    return f"{value:.3f}"


# ---- memberships and responsibilities -----------------------------------------------------------


def _beside_memberships(X: Doubles, mixture: GaussianMixture) -> str:
    """At the centres of the mixture, between two of them, and far away."""
    model = fitted(X)
    near = [mixture.means_[k] for k in range(N_CLUSTERS)]
    order = linear_sum_assignment(model.predict_memberships(near), maximize=True)[1]
    close = min(
        ((j, k) for j in range(N_CLUSTERS) for k in range(j)),
        key=lambda pair: float(np.linalg.norm(near[pair[0]] - near[pair[1]])),
    )
    points = {f"mean {k}": near[k] for k in range(N_CLUSTERS)}
    points["between the two closest means"] = (near[close[0]] + near[close[1]]) / 2
    points["far away, at (30, 30)"] = np.array([30.0, 30.0])
    places = np.array(list(points.values()))
    u = model.predict_memberships(places)[:, order]
    gamma = mixture.predict_proba(places)
    lines = [(name, _shares(u[i]), _shares(gamma[i])) for i, name in enumerate(points)]
    return markdown_table(("point", "memberships, m = 2", "responsibilities"), lines)


def _shares(values: Doubles) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


# ---- claims -------------------------------------------------------------------------------------


def _improves(scores: list[float]) -> Claim:
    rising = bool(np.all(np.diff(scores) > 0))
    evidence = "mean log-likelihood per row: " + ", ".join(map(_short, scores))
    words = "iterations of EM approach the solution: after one, two, three, and at the end"
    return Claim("Fig. 20.3", words, Verdict.HOLDS if rising else Verdict.FAILS, evidence)


def _bayes(mixture: GaussianMixture, X: Doubles) -> Claim:
    off = float(np.abs(responsibilities(mixture, X) - mixture.predict_proba(X)).max())
    evidence = f"the formula agrees with scikit-learn's predict_proba to {off:.0e}"
    words = "a responsibility is weight times density, divided by the sum over all components"
    verdict = Verdict.HOLDS if off < 1e-9 else Verdict.FAILS
    return Claim("eq. 20.1", words, verdict, evidence)


def _fixed_point(mixture: GaussianMixture, X: Doubles) -> Claim:
    new = updated(responsibilities(mixture, X), X)
    old = mixture.weights_, mixture.means_, mixture.covariances_
    moved = [float(np.abs(a - b).max()) for a, b in zip(new, old, strict=True)]
    evidence = (
        f"at convergence the updates move weights by at most {moved[0]:.0e}, means by "
        f"{moved[1]:.0e}, covariances by {moved[2]:.0e}"
    )
    words = "the derivative of the log-likelihood is zero at the updates of weights, means, Sigma"
    verdict = Verdict.HOLDS if max(moved) < 1e-5 else Verdict.FAILS
    return Claim("section 20.2, updates", words, verdict, evidence)


def _derivative(mixture: GaussianMixture, X: Doubles) -> Claim:
    """Of the log-likelihood with respect to the first mean: Sigma is printed for its inverse."""
    gamma = responsibilities(mixture, X)[:, 0]
    pull = gamma @ (X - mixture.means_[0])
    covariance = mixture.covariances_[0]
    measured = _difference_quotient(mixture, X)
    inverse, printed = np.linalg.solve(covariance, pull), covariance @ pull
    off = [
        float(np.linalg.norm(v - measured) / np.linalg.norm(measured)) for v in (inverse, printed)
    ]
    evidence = (
        f"Sigma is printed instead of its inverse. The printed formula differs by {off[1]:.0%} "
        f"from difference quotients (with the inverse, by {off[0]:.0e}), but is zero at the same "
        "means"
    )
    words = "the derivative of the log-likelihood with respect to a mean"
    verdict = Verdict.HOLDS if off[1] < 1e-3 else Verdict.IN_PART
    return Claim("section 20.2, derivative", words, verdict, evidence)


def _difference_quotient(mixture: GaussianMixture, X: Doubles, step: float = 1e-5) -> Doubles:
    def total(shift: Doubles) -> float:
        means = mixture.means_.copy()
        means[0] += shift
        parts = zip(mixture.weights_, means, mixture.covariances_, strict=True)
        return float(np.log(sum(w * multivariate_normal(mu, c).pdf(X) for w, mu, c in parts)).sum())

    return np.array([(total(e) - total(-e)) / (2 * step) for e in step * np.eye(2)])


# ---- picture ------------------------------------------------------------------------------------


def _picture(X: Doubles, shown: dict[str, GaussianMixture]) -> Figure:
    figure = Figure(figsize=(9.2, 4.4), layout="constrained")
    axes = figure.subplots(1, len(shown), sharex=True, sharey=True)
    colours = np.array([to_rgb(name) for name in _COLOURS])
    for ax, (title, mixture) in zip(axes, shown.items(), strict=True):
        ax.scatter(*X.T, s=9, c=np.clip(mixture.predict_proba(X) @ colours, 0, 1), linewidths=0)
        for k, colour in enumerate(_COLOURS):
            _draw_gaussian(ax, mixture.means_[k], mixture.covariances_[k], colour)
        ax.set(title=title, aspect="equal")
    return figure


def _draw_gaussian(ax: Any, mean: Doubles, covariance: Doubles, colour: str) -> None:
    variances, directions = np.linalg.eigh(covariance)
    angle = float(np.degrees(np.arctan2(*directions[::-1, 1])))
    for n_deviations in (1, 2):
        height, width = 2 * n_deviations * np.sqrt(variances)
        edge = Ellipse(mean, width, height, angle=angle, fill=False, color=colour, lw=1.6)
        ax.add_patch(edge)
    ax.plot(*mean, "+", color=colour, markersize=10)
