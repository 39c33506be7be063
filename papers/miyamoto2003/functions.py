"""Classification functions over the plane: near the centres, and far from the data."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from miyamoto2003.examples import CRESCENTS, Doubles
from miyamoto2003.figures import FIGURES, Figure, fitted
from regenerating import Claim, Page, Setting, Verdict, markdown_table

__all__ = ["Cluster", "clusters", "report", "squared_distances"]

_FAR = 100.0
_NEAR_UNITY = 0.95

_TEXT = """## Classification functions

*Nearest* is the least squared distance of a point of the plane to the centre, beside *rows*, the
mean of the cluster's rows. Without a kernel it is 0, at the centre; with one no point is mapped
onto a centre, and all squared distances lie between 0 and 2. *There* is the membership at that
nearest point, *largest* the largest one anywhere on the plane, *far* the one far away from all
rows."""

_FAR_TEXT = """
Far from the data all kernel values vanish, and only the norms of the centres count: the cluster
whose centre is nearer to the origin of the space (the ring, the wider cluster) has the larger
membership. In Figure 1 that is {ring:.2f}, hardly less than the {own:.2f} of its own rows on
average; in Figure 2 it is {entropic:.4f}, because the entropy form multiplies the difference by λ.
So a membership near unity does not tell a typical row from one that belongs nowhere; possibilistic
memberships (`OneClusterPCM`, `PossibilisticCMeans`) do."""


class Cluster(NamedTuple):
    """What a classification function says about its cluster."""

    name: str
    nearest: float
    rows: float
    there: float
    largest: float
    far: float


def squared_distances(model: Any, X: Doubles, points: Doubles) -> Doubles:
    """Squared distances to the centres, with a kernel by eq. (11) and (15), term by term."""
    if hasattr(model, "cluster_centers_"):
        sqdist: Doubles = np.sum((points[:, None] - model.cluster_centers_) ** 2, axis=2)
        return sqdist
    weights = model.memberships_ ** getattr(model, "m", 1.0)
    weights = weights / weights.sum(axis=0)
    kernel = model.kernel_
    norms = np.sum(weights * (kernel(X, X) @ weights), axis=0)
    distances: Doubles = 1.0 - 2.0 * kernel(points, X) @ weights + norms
    return distances


def clusters(figure: Figure, model: Any, resolution: int) -> list[Cluster]:
    """Both clusters, the one of the first row (the ball, the upper crescent) first."""
    X, _ = figure.draw()
    side = np.linspace(-0.25, 1.25, resolution)
    plane = np.vstack([np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2), X])
    if hasattr(model, "cluster_centers_"):
        plane = np.vstack([plane, model.cluster_centers_])
    sqdist, memberships = squared_distances(model, X, plane), model.predict_memberships(plane)
    far = model.predict_memberships([[_FAR, _FAR]])[0]
    of_rows = squared_distances(model, X, X)
    names = ("upper", "lower") if figure.data == CRESCENTS else ("ball", "ring")
    found = []
    for name, k in zip(names, (model.labels_[0], 1 - model.labels_[0]), strict=True):
        nearest = sqdist[:, k].argmin()
        rows = of_rows[model.labels_ == k, k].mean()
        at = memberships[nearest, k], memberships[:, k].max(), far[k]
        found.append(Cluster(name, sqdist[nearest, k], rows, *at))
    return found


def report(page: Page, setting: Setting) -> None:
    """The table, and the claims on prototypical regions and on the two forms."""
    fits = {figure: fitted(figure) for figure in FIGURES}
    found = {f: clusters(f, model, setting.pick(150, 60)) for f, model in fits.items()}
    page.say(_TEXT)
    header = ("figure", "method", "cluster", "nearest", "rows", "there", "largest", "far")
    rows = [
        (f.number, f.method, c.name, *(f"{value:.3f}" for value in c[1:]))
        for f, both in found.items()
        for c in both
    ]
    page.say(markdown_table(header, rows))
    own = fits[FIGURES[0]].memberships_
    ring = own[:, 1 - fits[FIGURES[0]].labels_[0]]
    fars = [found[figure][1].far for figure in FIGURES[:2]]
    page.say(_FAR_TEXT.format(ring=fars[0], own=ring[ring > 0.5].mean(), entropic=fars[1]))
    page.judge(_near_unity(found))
    page.judge(_different(fits, found))


def _near_unity(found: dict[Figure, list[Cluster]]) -> Claim:
    plain, kernel, ring = found[FIGURES[2]], found[FIGURES[3]], found[FIGURES[0]][1]
    highest = max(cluster.largest for f in (FIGURES[0], FIGURES[3]) for cluster in found[f])
    far = found[FIGURES[1]][1].far
    evidence = (
        f"without a kernel the membership is {min(c.there for c in plain):.2f} at the centres. "
        "With a kernel we look at the point of the plane nearest to each centre: in the standard "
        f"form the membership there is {ring.there:.2f} for the ring and "
        f"{min(c.there for c in kernel):.2f} for the crescents, and {highest:.2f} at most "
        "anywhere. In the entropy form it is near 1 there, but also far from all data "
        f"({far:.4f} for the ring)"
    )
    holds = min(ring.there, min(c.there for c in kernel)) > _NEAR_UNITY
    words = "prototypical regions close to the centres have memberships near unity"
    return Claim(
        "section 3, prototypical regions",
        words,
        Verdict.HOLDS if holds else Verdict.IN_PART,
        evidence,
    )


def _different(fits: dict[Figure, Any], found: dict[Figure, list[Cluster]]) -> Claim:
    ball = adjusted_rand_score(fits[FIGURES[0]].labels_, fits[FIGURES[1]].labels_)
    crescents = adjusted_rand_score(fits[FIGURES[3]].labels_, fits[FIGURES[4]].labels_)
    largest = [found[figure][1].largest for figure in FIGURES[:2]]
    evidence = (
        f"ball and ring: the clusters agree (ARI {ball:.2f} between the forms), but the functions "
        f"differ (largest membership of the ring {largest[0]:.2f} in the standard form, "
        f"{largest[1]:.2f} in the entropy form); crescents: the clusters differ "
        f"(ARI {crescents:.2f})"
    )
    holds = crescents < 1 and abs(largest[0] - largest[1]) > 0.1
    words = "the two forms show different clusters and classification functions"
    return Claim(
        "conclusion, two forms", words, Verdict.HOLDS if holds else Verdict.FAILS, evidence
    )
