"""The table of estimators: the one place that lists them.

The package, the command line, comparisons, reports, model files and the tests read it.
"""

from typing import NamedTuple


class EstimatorInfo(NamedTuple):
    """A row of the table.

    Parameters
    ----------
    name : str
        The name of the class.
    module : str
        Where it is defined.
    method : str
        Its name on the command line.
    meaning : str
        What it finds, in one line.
    number : {"found", "either", "start", "given", "one"}
        Where the number of clusters comes from: it is found; it is found unless the user gives it;
        the user says how many to start with; the user says how many there are; there is one.
    """

    name: str
    module: str
    method: str
    meaning: str
    number: str


ESTIMATORS = {
    name: EstimatorInfo(name, f"typicality.cluster.{module}", method, meaning, number)
    for name, module, method, number, meaning in [
        ("AutoClustering", "auto", "auto", "found", "chooses the method, and explains the choice"),
        ("AlphaCutClustering", "alpha_cut", "alpha-cut", "either",
         "dense regions of any shape, separated by sparser regions"),
        ("SequentialPCM", "adaptive", "sequential", "found",
         "round clusters, even if they touch; adds one at a time"),
        ("AdaptivePCM", "adaptive", "adaptive", "start",
         "round clusters; starts with too many and drops some"),
        ("SparseAdaptivePCM", "adaptive", "sparse-adaptive", "start",
         "like adaptive; rows far from all clusters are unassigned"),
        ("JoinedMixture", "mixture", "mixture", "either",
         "a Gaussian mixture; components with no valley between them are one cluster, if no number "
         "is given"),
        ("FuzzyCMeans", "fuzzy", "fcm", "given",
         "overlapping clusters; the memberships of a row sum to one"),
        ("EntropyCMeans", "fuzzy", "entropy", "given",
         "overlapping clusters, like a mixture of equal round Gaussians"),
        ("PossibilisticCMeans", "possibilistic", "pcm", "given",
         "clusters with outliers; memberships need not sum to one"),
        ("OneClusterPCM", "one_cluster", "one-cluster", "one",
         "how typical each row is of the data as a whole"),
    ]
}  # fmt: skip
# Those of `typicality cluster`, by their names there.
CLUSTERING_METHODS = {info.method: info for info in ESTIMATORS.values() if info.number != "one"}
