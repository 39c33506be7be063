"""Clusters that are normal distributions: close to each other, or among outliers."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from typicality._typing import Doubles
from typicality.datasets.shapes import Labelled, Seed, check_counts, labelled

THREE_MEANS, THREE_VARIANCE = ((4.1, 3.7), (2.8, 0.8), (3.5, 5.7)), 0.4

NEAR, FAR = 3.0, 10.0  # from where to where outliers lie on either side, in standard deviations

# S2 in units of 100,000: 15 clusters, of which three are elongated.
S2_SMALLEST_SHARE = 300 / 350  # of rows, next to the largest
S2_MEANS = (1.5, 8.5)  # the range of either coordinate of the means
S2_SEPARATION = 1.45  # the smallest distance of two means
S2_LONG_AXIS = (0.32, 0.48)  # standard deviations along the longer axis
S2_ROUND, S2_ELONGATED = (1.0, 1.3), (2.0, 4.5)  # how many times as long as the shorter axis
N_ROUND, N_ELONGATED = 12, 3
N_S2 = N_ROUND + N_ELONGATED


def make_three_gaussians(
    n_dense: int = 500, n_sparse: int = 300, *, random_state: Seed = None
) -> Labelled:
    r"""Three round clusters with two features; two are close together, with unequal densities.

    The clusters are normal distributions with the covariance 0.4 :math:`I`. The dense cluster is at
    (4.1, 3.7), and the sparse clusters are at (2.8, 0.8) and (3.5, 5.7). The latter is 2.1 away
    from the dense one.

    Implements :cite:`xenaki2014`, Experiment 1.

    Parameters
    ----------
    n_dense : int, default=500
        Rows in the dense cluster.
    n_sparse : int, default=300
        Rows in each of the two others.
    random_state : int, RandomState instance or None, default=None
        The seed or generator. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (n_dense + 2 * n_sparse, 2)
        The rows.
    y : array of shape (n_dense + 2 * n_sparse,)
        0 for the dense cluster, 1 for the distant sparse cluster, 2 for the close one.
    """
    check_counts(n_dense=n_dense, n_sparse=n_sparse)
    rng = check_random_state(random_state)
    counts = (n_dense, n_sparse, n_sparse)
    clusters = [
        mean + np.sqrt(THREE_VARIANCE) * rng.normal(size=(n_rows, 2))
        for mean, n_rows in zip(THREE_MEANS, counts, strict=True)
    ]
    return labelled(clusters, [0, 1, 2])


def make_gaussian_and_outliers(
    n_inner: int = 400, n_right: int = 20, n_left: int = 10, *, random_state: Seed = None
) -> Labelled:
    r"""One round cluster with two features, and outliers to its right and left.

    The cluster is normal, with mean zero and covariance :math:`I`. Outliers are uniform on [3, 10]
    x [-10, 10] and on [-10, -3] x [-10, 10].

    Implements :cite:`filippone2010`, Fig. 2; these data are also used for stability in Fig. 3.

    Parameters
    ----------
    n_inner : int, default=400
        Rows in the cluster.
    n_right, n_left : int, default=20, 10
        Outliers to the right and to the left of the cluster.
    random_state : int, RandomState instance or None, default=None
        The seed or generator. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (n_inner + n_right + n_left, 2)
        The rows: the cluster, outliers to the right, outliers to the left.
    y : array of shape (n_inner + n_right + n_left,)
        0 for the cluster, -1 for outliers.
    """
    check_counts(n_inner=n_inner, n_right=n_right, n_left=n_left)
    rng = check_random_state(random_state)
    inner = rng.normal(size=(n_inner, 2))
    right = rng.uniform((NEAR, -FAR), (FAR, FAR), size=(n_right, 2))
    left = rng.uniform((-FAR, -FAR), (-NEAR, FAR), size=(n_left, 2))
    return labelled([inner, right, left], [0, -1, -1])


def make_s2_like(n_samples: int = 5000, *, random_state: Seed = None) -> Labelled:
    """Fifteen normal clusters that hardly overlap, similar to the data set S2.

    The clusters are random, too. Their means are in the square from 1.5 to 8.5, at least 1.45
    apart. Twelve clusters are nearly round (ratio of axes up to 1.3), and three are elongated (2 to
    4.5), in random directions. The standard deviations along the longer axis are 0.32 to 0.48. The
    sizes differ by at most a seventh.

    These ranges are those of the data set S2 of :cite:`franti2006`, in units of 100,000. Original
    to typicality: the values are uniform within the ranges. In S2, the distance of a mean to the
    nearest other mean is 1.82 on average, and quadratic discriminant analysis classifies 97.6 % of
    the rows correctly. In twenty draws, these numbers are 1.67 (1.53 to 1.76) and 98.1 % (97.2 to
    99.2). :func:`load_s2` reads S2 itself.

    Parameters
    ----------
    n_samples : int, default=5000
        The number of rows.
    random_state : int, RandomState instance or None, default=None
        The seed or generator, for clusters and rows. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        0 to 14.
    """
    check_counts(n_samples=n_samples)
    rng = check_random_state(random_state)
    means, axes = _separate_means(rng), _axes(rng)
    clusters = [
        mean + rng.normal(size=(n_rows, 2)) @ axis
        for mean, axis, n_rows in zip(means, axes, _sizes(n_samples, rng), strict=True)
    ]
    return labelled(clusters, list(range(N_S2)))


def _separate_means(rng: np.random.RandomState) -> Doubles:
    """Means one by one, each anywhere that is not too close to an earlier one."""
    means = np.empty((0, 2))
    while len(means) < N_S2:
        mean = rng.uniform(*S2_MEANS, size=2)
        if np.all(np.linalg.norm(means - mean, axis=1) >= S2_SEPARATION):
            means = np.vstack([means, mean])
    return means


def _axes(rng: np.random.RandomState) -> Doubles:
    """Matrices that turn standard normal rows into rows of a cluster, in random order."""
    ratio = np.append(rng.uniform(*S2_ROUND, N_ROUND), rng.uniform(*S2_ELONGATED, N_ELONGATED))
    long = rng.uniform(*S2_LONG_AXIS, N_S2)
    angle = rng.uniform(0, np.pi, N_S2)
    along = np.column_stack([np.cos(angle), np.sin(angle)])
    across = np.column_stack([-np.sin(angle), np.cos(angle)])
    axes = np.stack([long[:, None] * along, (long / ratio)[:, None] * across], axis=1)
    return axes[rng.permutation(N_S2)]


def _sizes(n_samples: int, rng: np.random.RandomState) -> NDArray[np.int_]:
    """Rows of each cluster: nearly equal shares that sum to all."""
    upto = np.cumsum(rng.uniform(S2_SMALLEST_SHARE, 1.0, N_S2))
    return np.diff(np.rint(n_samples * upto / upto[-1]).astype(int), prepend=0)
