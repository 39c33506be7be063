"""Section 20.1: fuzzy c-means, its membership functions (Fig. 20.2), defuzzification."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from lecture20.sample import N_CLUSTERS, Doubles, fitted, rows, squared_distances
from regenerating import Claim, Page, Setting, Verdict, draw_classification_function
from typicality import FuzzyCMeans
from typicality.plot import MembershipContourDisplay

__all__ = ["n_defuzzified_elsewhere", "report"]

_FUZZIFIERS = (1.2, 2.0, 3.0)

_SETS = """## Fuzzy sets (section 20.1)

Three fuzzy sets of temperatures, drawn after Fig. 20.1 of the notes. At the vertical line the
memberships are {memberships}."""

# Where the sets begin, and where their memberships are 1, in degrees; the notes have no scale.
_TEMPERATURES = np.linspace(0.0, 40.0, 401)
_FUZZY_SETS = {
    "cold": ((8.0, 18.0), (1.0, 0.0)),
    "warm": ((8.0, 18.0, 22.0, 32.0), (0.0, 1.0, 1.0, 0.0)),
    "hot": ((22.0, 32.0), (0.0, 1.0)),
}
_MARKED = 10.0

_TEXT = """## Fuzzy c-means (section 20.1)

The membership functions of the three clusters, m = 2, over the plane (Fig. 20.2 of the notes): each
is 1 at its own centre, 0 at the other two, and tends to one third far away."""


def report(page: Page, setting: Setting) -> None:
    """The figure, and the claims of the section but for the exponent."""
    X, _ = rows()
    model = fitted(X)
    memberships = {name: np.interp(_MARKED, *of) for name, of in _FUZZY_SETS.items()}
    words = ", ".join(f"{u:.1f} ({name})" for name, u in memberships.items())
    page.say(_SETS.format(memberships=words))
    page.show(setting.save(_fuzzy_sets(), "figure_20_1"), "Fig. 20.1: cold, warm and hot")
    page.say(_TEXT)
    picture = _picture(model, X, setting)
    page.show(setting.save(picture, "figure_20_2"), "Fig. 20.2: three membership functions")
    page.judge(_partition(model))
    page.judge(_centroids(model, X))
    page.judge(_defuzzified(X, setting.pick(200, 50)))
    page.judge(_similar_to_kmeans(model, X))


def _partition(model: FuzzyCMeans) -> Claim:
    u = model.memberships_
    off = float(np.abs(u.sum(axis=1) - 1).max())
    totals = u.sum(axis=0)
    holds = u.min() >= 0 and u.max() <= 1 and off < 1e-12 and 0 < totals.min() < len(u)
    shares = ", ".join(f"{total:.1f}" for total in totals)
    evidence = f"the memberships of a row sum to 1 within {off:.0e}; those of each cluster sum to "
    evidence += f"{shares} over {len(u)} rows"
    words = "memberships are a fuzzy partition: they lie in [0, 1], and those of a row sum to 1"
    return Claim("section 20.1, partition", words, _verdict(holds), evidence)


def _centroids(model: FuzzyCMeans, X: Doubles) -> Claim:
    """At the weighted means the objective does not change to first order."""
    weights = model.memberships_**2
    centers: Doubles = weights.T @ X / weights.sum(axis=0)[:, None]
    moved = float(np.abs(centers - model.cluster_centers_).max())
    gradient = 2 * (weights.sum(axis=0)[:, None] * model.cluster_centers_ - weights.T @ X)
    evidence = f"at convergence the update moves no coordinate by more than {moved:.0e}, and the "
    evidence += f"gradient is at most {np.abs(gradient).max():.0e}"
    words = "the derivative with respect to the centroids is zero at the weighted means"
    return Claim("section 20.1, centroids", words, _verdict(moved < 1e-6), evidence)


def n_defuzzified_elsewhere(model: FuzzyCMeans, points: Doubles) -> int:
    """Points whose largest membership is not that of the nearest centre."""
    largest = model.predict_memberships(points).argmax(axis=1)
    nearest = squared_distances(points, model.cluster_centers_).argmin(axis=1)
    return int(np.sum(largest != nearest))


def _defuzzified(X: Doubles, resolution: int) -> Claim:
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
    sides = [np.linspace(low[j], high[j], resolution) for j in range(2)]
    points = np.vstack([X, np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)])
    other = sum(n_defuzzified_elsewhere(fitted(X, m), points) for m in _FUZZIFIERS)
    evidence = (
        f"{other} of {len(points):,} points go to another centroid, with m = 1.2, 2 and 3 together"
    )
    words = "by its largest membership, each point is assigned to the nearest centroid"
    return Claim("section 20.1, defuzzification", words, _verdict(other == 0), evidence)


def _similar_to_kmeans(model: FuzzyCMeans, X: Doubles) -> Claim:
    kmeans = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(X)
    ari = adjusted_rand_score(kmeans.labels_, model.labels_)
    between = np.sqrt(squared_distances(model.cluster_centers_, kmeans.cluster_centers_))
    farthest = float(between.min(axis=1).max())
    evidence = f"the labels agree with ARI {ari:.2f}, and the centres to within {farthest:.2f}"
    words = "the result is similar to k-means"
    return Claim("section 20.1, k-means", words, _verdict(ari > 0.9), evidence)


def _verdict(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.FAILS


def _fuzzy_sets() -> Figure:
    figure = Figure(figsize=(6.0, 2.6), layout="constrained")
    ax = figure.subplots()
    colours = ("#0072B2", "#E69F00", "#D55E00")
    for colour, (name, of) in zip(colours, _FUZZY_SETS.items(), strict=True):
        ax.plot(_TEMPERATURES, np.interp(_TEMPERATURES, *of), color=colour, label=name)
    ax.axvline(_MARKED, color="0.5", lw=1, ls="--")
    ax.set(xlabel="temperature", ylabel="membership", ylim=(-0.03, 1.05))
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _picture(model: FuzzyCMeans, X: Doubles, setting: Setting) -> Figure:
    figure = Figure(figsize=(8.4, 7.0), layout="constrained")
    above = figure.add_subplot(2, 2, 1, aspect="equal")
    MembershipContourDisplay.from_estimator(
        model, X, grid_resolution=setting.pick(150, 30), ax=above
    )
    above.set(xlabel="", ylabel="", title="the clusters, and the largest membership")
    for k in range(N_CLUSTERS):
        ax: Any = figure.add_subplot(2, 2, 2 + k, projection="3d")
        draw_classification_function(ax, model, X, cluster=k, resolution=setting.pick(50, 12))
        ax.set(xlabel="", ylabel="", zlabel="", title=f"membership of cluster {k}")
    return figure
