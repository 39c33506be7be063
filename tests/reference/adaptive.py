"""APCM, SAPCM and SeqSAPCM of xenaki2014, written as the paper states them.

Rows come in a box (`boxed`); a `Fit` comes out; `memberships` and `labels` are of all rows, as the
paper evaluates them. Where the paper leaves a choice open, the choice here is one with which the
tables come out, and the docstring says whether it matters to them. What is called `sqdist` is
squared, every other distance is not.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import lambertw

TOL = 1e-4
MAX_ITER = 1000
N_NEIGHBOURS = 10  # the q of the paper
HALF_INTERVAL = 1e-4
SMALLEST_ETA = 1e-12
NOWHERE = -1


class Fit(NamedTuple):
    """Representatives, their spreads, and the steps taken, those of the last round."""

    theta: np.ndarray
    eta: np.ndarray
    n_iter: int


# ---- starts -------------------------------------------------------------------------------------


def boxed(X, side=10.0):
    """Each feature stretched to [0, side]; a constant one becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return side * (X - low) / np.where(high > low, high - low, 1.0)


def farthest_row(X, points):
    """The row whose nearest point is farthest, the first of them in a tie: step (A)."""
    return int(np.argmax(cdist(X, points).min(axis=1)))


def max_min_start(X, m, first_row=0):
    """Indices of m rows: the one farthest from `first_row`, then max-min.

    The paper asks for the two most distant rows, by an approximate method: this is its first pass.
    From the row farthest from the mean, all rows of the tables of Iris and S2 stay as they are, and
    the sequential one of Wine; the others of Wine change.
    """
    chosen = [farthest_row(X, X[[first_row]])]
    while len(chosen) < m:
        chosen.append(farthest_row(X, X[chosen]))
    return chosen


def eta_from_beta(theta, beta):
    """(min_s |theta_j - theta_s|^2 / 2) / (-ln beta)."""
    sqdist = cdist(theta, theta, "sqeuclidean")
    np.fill_diagonal(sqdist, np.inf)
    return sqdist.min(axis=1) / 2 / -np.log(beta)


def distances_to_others(X, row):
    """Distances of a row to all others, ascending; a copy of the row is another row.

    Copies do not matter to the tables: Iris has one, Wine and S2 have none.
    """
    return np.sort(np.delete(cdist(X[[row]], X)[0], row))


def largest_gap(X):
    """d_max: the largest distance of a row to its nearest neighbour."""
    return max(distances_to_others(X, row)[0] for row in range(len(X)))


def slope_distance(X, row, q=N_NEIGHBOURS):
    """d_slope: the distance of the neighbour after the largest jump, among the q nearest.

    Jumps are between neighbours; counting the jump from the row itself to the first neighbour
    changes no row of the tables.
    """
    nearest = distances_to_others(X, row)[:q]
    return nearest[1 + np.argmax(np.diff(nearest))]


def eta_ini(X, row, d_max):
    """max(d_max^2, d_slope^2): squared, though the paper prints no squares."""
    return max(d_max, slope_distance(X, row)) ** 2


# ---- memberships of one cluster -----------------------------------------------------------------


def f(u, sqdist, eta, lam, p):
    """Eq. (3) without the factor eta."""
    return sqdist / eta + np.log(u) + lam / eta * p * u ** (p - 1)


def lowest_point(eta, lam, p):
    """Proposition 2: where f is smallest."""
    return (lam / eta * p * (1 - p)) ** (1 / (1 - p))


def zero_radius(eta, lam, p):
    """R^2, the squared distance from which on f is nowhere negative; if R^2 < 0, all are zero."""
    return eta / (1 - p) * (-np.log(lam * p * (1 - p) / eta) - 1)


def larger_root(sqdist, eta, lam, p):
    """The larger root of f, by the principal branch of Lambert's W.

    With a = sqdist / eta, c = lam p / eta and u = exp(-a + w / (1-p)), f(u) = 0 reads
    w exp(w) = -(1-p) c exp((1-p) a). The smaller root is on the other branch; they meet at R^2.
    """
    a, c = sqdist / eta, lam * p / eta
    w = lambertw(-(1 - p) * c * np.exp((1 - p) * a)).real
    return np.exp(-a + w / (1 - p))


def larger_root_by_bisection(sqdist, eta, lam, p):
    """The paper's way: halve [lowest point, 1] until half of the interval is below 1e-4.

    What is returned is the midpoint of the last interval. Two rows of the table of Wine,
    SAPCM (.1, 5) and (.05, 8), depend on its errors; it makes no difference to the others.
    """
    low, high = np.full_like(sqdist, lowest_point(eta, lam, p)), np.ones_like(sqdist)
    half = (1 - lowest_point(eta, lam, p)) / 2
    while half >= HALF_INTERVAL:
        middle = (low + high) / 2
        left_of_root = f(middle, sqdist, eta, lam, p) < 0
        low, high = np.where(left_of_root, middle, low), np.where(left_of_root, high, middle)
        half /= 2
    return (low + high) / 2


def sparse_memberships(sqdist, eta, lam, p, root=larger_root):
    """Zero from R^2 on, else the larger root; exp(-d / eta) where lam = 0."""
    if lam == 0:
        return np.exp(-sqdist / eta)
    u, near = np.zeros_like(sqdist), sqdist < zero_radius(eta, lam, p)
    u[near] = root(sqdist[near], eta, lam, p)
    return u


# ---- the algorithms -----------------------------------------------------------------------------


def preferred(U):
    """The cluster of each row, the first of them in a tie, or NOWHERE."""
    return np.where(U.max(axis=1) > 0, U.argmax(axis=1), NOWHERE)


def adapted_eta(rows):
    """The mean distance of the rows of a cluster to their mean; unsquared.

    It is zero for a single row. With so small an eta all memberships are zero in the next step, and
    the cluster goes; only where lam = 0 and the representative is that very row does it stay. Any
    floor up to 1e-3 gives the same tables; with 1e-2 single rows survive.
    """
    return max(np.linalg.norm(rows - rows.mean(axis=0), axis=1).mean(), SMALLEST_ETA)


def step(X, theta, eta, lam, p, root=larger_root):
    """U, then theta by eq. (2), labels by the same U, elimination, then eta by these labels."""
    sqdist = cdist(X, theta, "sqeuclidean")
    columns = zip(sqdist.T, eta, strict=True)
    U = np.column_stack([sparse_memberships(d, e, lam, p, root) for d, e in columns])
    label = preferred(U)
    alive = [j for j in range(len(theta)) if j in label]
    new_theta = [U[:, j] @ X / U[:, j].sum() for j in alive]
    new_eta = [adapted_eta(X[label == j]) for j in alive]
    return alive, np.reshape(new_theta, (-1, X.shape[1])), np.array(new_eta)


def adapt(X, theta, eta, lam, p=0.5, *, root=larger_root, tol=TOL, max_iter=MAX_ITER):
    """The SAPCM algorithm from given representatives and spreads; APCM with lam = 0.

    It ends when no cluster went and no coordinate of theta changed by `tol`, or none is left, or
    after `max_iter` steps: limit cycles exist. The tables are of 1e-4 (at 1e-3 and at 1e-6 second
    decimals of GRM differ); any cap from 214 on, which Iris takes in the first round, will do. A
    largest *Euclidean* move below 1.5e-5 to 5e-5 times the root mean square distance of the rows to
    their mean gives the same tables; with 1e-5 one digit differs (Iris, sequential: GRM 88.72).
    """
    n_iter, change = 0, np.inf
    while len(theta) > 0 and change >= tol and n_iter < max_iter:
        alive, new_theta, eta = step(X, theta, eta, lam, p, root)
        some_went = len(alive) < len(theta)
        change = np.inf if some_went else np.abs(new_theta - theta).max()
        theta, n_iter = new_theta, n_iter + 1
    return Fit(theta, eta, n_iter)


def top_down(X, m, lam, beta, p=0.5, **how):
    """SAPCM from m representatives; APCM with lam = 0."""
    theta = X[max_min_start(X, m)]
    return adapt(X, theta, eta_from_beta(theta, beta), lam, p, **how)


def sequential(X, lam, p=0.5, **how):
    """The SeqSAPCM algorithm: rounds with one more cluster, until a round ends with no more.

    The result of the last round is kept, whatever its number of clusters.
    """
    d_max = largest_gap(X)
    first_two = max_min_start(X, 2)
    eta = np.array([eta_ini(X, row, d_max) for row in first_two])
    fit, n_before = adapt(X, X[first_two], eta, lam, p, **how), 0
    while len(fit.theta) > n_before:
        n_before = len(fit.theta)
        row = farthest_row(X, fit.theta)
        theta, eta = np.vstack([fit.theta, X[row]]), np.append(fit.eta, eta_ini(X, row, d_max))
        fit = adapt(X, theta, eta, lam, p, **how)
    return fit


# ---- as evaluated -------------------------------------------------------------------------------


def memberships(X, fit):
    """exp(-d / eta), without sparsity, shape (n, c)."""
    return np.exp(-cdist(X, fit.theta, "sqeuclidean") / fit.eta)


def labels(X, fit):
    """The cluster of the largest membership, found as the smallest d / eta."""
    return np.argmin(cdist(X, fit.theta, "sqeuclidean") / fit.eta, axis=1)
