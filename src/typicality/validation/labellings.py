"""How far two labellings of the same rows are apart, whatever their clusters are called."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from typicality._typing import Doubles

Labels = NDArray[np.int_]

# The mean is then known to half a per cent; to two of fewer than ten rows.
_ROWS_DRAWN, _FEWEST_DRAWS = 20_000, 20
_SEED = 0


def labelling_distance(first: Labels, second: Labels) -> float:
    r"""The share of rows that differ under the best matching of clusters.

    .. math:: d(a, b) = \min_\pi \frac{1}{n} \sum_i [a_i \ne \pi(b_i)],

    over the one-to-one matchings of the clusters of one labelling with those of the other. They
    need not have equally many: what is left over matches nothing. Rows that belong nowhere (-1)
    agree with rows that belong nowhere and with no others.

    Parameters
    ----------
    first, second : array of int of shape (n,)
        Labels of the same rows.

    Returns
    -------
    float
        In [0, 1].
    """
    return 1.0 - _agreeing(_shared_rows(first, second)) / len(first)


def _shared_rows(first: Labels, second: Labels) -> NDArray[np.int_]:
    """How many rows each two clusters share; the first row and column are "nowhere"."""
    names, places = zip(
        *(np.unique(np.append(a, -1), return_inverse=True) for a in (first, second)), strict=True
    )
    table = np.zeros([len(name) for name in names], np.int_)
    np.add.at(table, (places[0][:-1], places[1][:-1]), 1)
    return table


def _agreeing(table: NDArray[np.int_]) -> int:
    clusters = table[1:, 1:]
    return int(table[0, 0] + clusters[linear_sum_assignment(clusters, maximize=True)].sum())


@lru_cache(maxsize=4096)
def random_distance(
    n_rows: int, n_first: int, n_second: int, *, nowhere: tuple[float, float] = (0.0, 0.0)
) -> float:
    """The mean distance of two labellings drawn at random, each row for itself.

    A row belongs nowhere with the shares that are given, and to each cluster with the same
    probability. Such labellings make a multinomial table, of which 20 are drawn or more, the fewer
    the rows, with a seed of their own: the same arguments always give the same number.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    n_first, n_second : int
        The numbers of clusters.
    nowhere : (float, float), default=(0.0, 0.0)
        The shares of rows that belong nowhere.

    Returns
    -------
    float
    """
    chances = np.outer(_chances(n_first, nowhere[0]), _chances(n_second, nowhere[1]))
    rng = np.random.default_rng(_SEED)
    n_draws = max(_FEWEST_DRAWS, _ROWS_DRAWN // n_rows)
    # One by one: with hundreds of clusters a table is large.
    tables = (rng.multinomial(n_rows, chances.ravel()) for _ in range(n_draws))
    agreeing = [_agreeing(table.reshape(chances.shape)) for table in tables]
    return 1.0 - float(np.mean(agreeing)) / n_rows


def _chances(n_clusters: int, nowhere: float) -> Doubles:
    placed = np.full(n_clusters, (1.0 - nowhere) / max(n_clusters, 1))
    return np.concatenate(([nowhere if n_clusters else 1.0], placed))
