"""The objectives of the one-class SVM and of one-cluster PCM, and the weights that solve them.

Sections IV-A and IV-B of filippone2010, both under the constraint that the weights sum to one. K is
the kernel matrix of the training rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.svm import OneClassSVM

from typicality import OneClusterPCM
from typicality.kernels import Gaussian

Doubles = NDArray[np.float64]


def svdd_objective(weights: Doubles, K: Doubles) -> float:
    """What SVDD minimises: a'Ka - sum a_h k_hh, for 0 <= a_h <= 1 / (n nu)."""
    return float(weights @ K @ weights - weights @ np.diag(K))


def one_cluster_objective(weights: Doubles, K: Doubles, eta: float) -> float:
    """What 1-PCM minimises: sum u_h k_hh - u'Ku + eta sum u_h ln u_h."""
    return -svdd_objective(weights, K) + eta * float(xlogy(weights, weights).sum())


def svm_weights(K: Doubles, nu: float) -> Doubles:
    """The weights of the rows in the centre of scikit-learn's one-class SVM; they sum to one."""
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(K)
    weights = np.zeros(len(K))
    weights[machine.support_] = machine.dual_coef_[0] / (nu * len(K))
    return weights


class BothSolutions(NamedTuple):
    """The weights of the two methods on the same rows.

    `alpha` are those of the one-class SVM and `u` those of one-cluster PCM, both with the sum one;
    `density` is the kernel density estimate at the rows, but for a constant; `eta` the spread.
    """

    alpha: Doubles
    u: Doubles
    density: Doubles
    eta: float
    K: Doubles

    @property
    def correlations(self) -> tuple[float, float]:
        """Correlations of alpha and of u with the density: the former below, the latter above 0."""
        alpha, u = (np.corrcoef(w, self.density)[0, 1] for w in (self.alpha, self.u))
        return float(alpha), float(u)

    @property
    def sqdist_of_centres(self) -> float:
        """The squared distance of the two centres in the space of the kernel."""
        difference = self.alpha - self.u
        return float(difference @ self.K @ difference)


def both_solutions(X: Doubles, *, sigma: float, nu: float, gamma: float = 1.0) -> BothSolutions:
    """Solve both problems with a Gaussian kernel."""
    K: Doubles = Gaussian(sigma)(X, X)
    model = OneClusterPCM(sigma=sigma, eta_scale=gamma, tol=1e-12, rtol=0).fit(X)
    return BothSolutions(svm_weights(K, nu), model.weights_, K.mean(axis=1), model.eta_, K)
