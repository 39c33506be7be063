"""The medoid of each cluster: the row with the least sum of distances to the others."""

import numpy as np
from scipy.spatial.distance import cdist

from typicality._typing import Labels, Places
from typicality.rows import DistinctRows, content_hash

_MEDOID_ROWS = 2000  # of a cluster, whose distances are computed


def medoids_of(nodes: DistinctRows, labels: Labels, n_clusters: int, *, given: bool) -> Places:
    """The row of each cluster with the least sum of distances to its rows, or to 2000 of them.

    `given` says that the rows are squared distances to all rows instead of coordinates.
    """
    label = labels[nodes.index]
    order = np.argsort(content_hash(nodes.rows), kind="stable")
    medoids = []
    for number in range(n_clusters):
        own = order[label[order] == number][:_MEDOID_ROWS]
        if given:
            distances = np.sqrt(nodes.rows[np.ix_(own, nodes.index[own])])
        else:
            distances = cdist(nodes.rows[own], nodes.rows[own])
        medoids.append(nodes.index[own[int((distances @ nodes.weight[own]).argmin())]])
    return np.array(medoids, dtype=np.intp)
