"""The rows of APCM, SAPCM and SeqSAPCM: how each one comes out."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xenaki2014.estimators import BisectedSAPCM, PaperAPCM, PaperSAPCM, PaperSeqSAPCM
from xenaki2014.printed import Row

MAX_ITER = 1000

# Wine: these depend on the errors of the paper's bisection.
BY_BISECTION = {("Wine", "SAPCM", 0.1, 5), ("Wine", "SAPCM", 0.05, 8)}

# What is printed stands after so many steps, found by looking; the iteration goes on.
AFTER_STEPS = {
    ("Iris", "APCM", 0.3, 5): 36,
    ("Iris", "APCM", 0.3, 10): 29,
    ("Iris", "SAPCM", 0.2, 10): 86,
    ("Wine", "SAPCM", 0.05, 5): 50,
    ("S2", "APCM", 0.1, 10): 30,
    ("S2", "SAPCM", 0.1, 10): 61,
}

# Four are printed; the measures are those of six, of which two have two and three rows.
OTHER_COUNT = {("Wine", "SAPCM", 0.05, 8): 6}


class Outcome(NamedTuple):
    """What a method found; k-means has no memberships.

    Prototypes have the units of the rows; radii, of PCM only, are eta in these units by feature.
    """

    n_clusters: int
    labels: NDArray[np.int_]
    memberships: NDArray[np.float64] | None
    prototypes: NDArray[np.float64]
    radii: NDArray[np.float64] | None = None


def key(row: Row) -> tuple[str, str, float | None, int | None]:
    """What tells the rows apart."""
    return row.data, row.method, row.beta, row.m_ini


def fitted(row: Row, X: NDArray[np.float64], *, max_iter: int = MAX_ITER) -> Outcome:
    """Fit by the method of the row."""
    # The paper stops when no coordinate moves by 1e-4 in the box: about this much of its extent.
    how: dict[str, Any] = {"max_iter": max_iter, "tol": 2e-5}
    sparse: dict[str, Any] = {"lam": row.lam, "assign": "all"}
    if row.method == "SeqSAPCM":
        model: Any = PaperSeqSAPCM(**sparse, **how)
    elif row.method == "SAPCM":
        sapcm = BisectedSAPCM if key(row) in BY_BISECTION else PaperSAPCM
        model = sapcm(row.m_ini, beta=row.beta, **sparse, **how)
    else:
        model = PaperAPCM(row.m_ini, beta=row.beta, **how)
    model.fit(X)
    centers = model.cluster_centers_  # in the box
    prototypes = X.min(axis=0) + centers * np.ptp(X, axis=0) / model._side
    return Outcome(len(centers), model.labels_, model.memberships_, prototypes)
