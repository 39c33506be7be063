"""The three detectors that the paper compares, with Gaussian kernels of the same width."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.svm import OneClassSVM

from typicality import OneClusterPCM

SVM, PCM, KDE = "1-SVM", "1-PCM", "KDE"
TOL = 0.01  # of its rule to stop

__all__ = ["KDE", "PCM", "SVM", "TOL", "PlainScores", "kde", "pcm", "svm", "svm_gamma", "three"]


class PlainScores(OneClusterPCM):
    r"""1-PCM, or KDE, with the scores of the paper: a training row takes part in its own.

    The library's own leave a training row out of its score. Here it is the logarithm of
    :math:`s(x) = \sum_r w_r K(x, x_r)`, of which the typicality of eq. (28) is an increasing
    function, and which does not underflow when gamma is small.
    """

    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit, and keep the rows."""
        self.rows_ = np.asarray(X, dtype=np.float64)
        return super().fit(X, y, sample_weight)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of s, by its definition."""
        sqdist = cdist(np.asarray(X, dtype=np.float64), self.rows_, "sqeuclidean")
        w = self.weights_
        log_w = np.log(w, where=w > 0, out=np.full(len(w), -np.inf))
        log_s: NDArray[np.float64] = logsumexp(log_w - sqdist / (2.0 * self.sigma_**2), axis=1)
        return log_s


def pcm(sigma: float, gamma: float = 1.0) -> PlainScores:
    """1-PCM."""
    return PlainScores(sigma=sigma, eta_scale=gamma, max_iter=10_000)


def kde(sigma: float) -> PlainScores:
    """The kernel density estimate: all weights are equal."""
    return PlainScores(sigma=sigma, weights="uniform")


def svm(sigma: float, nu: float = 0.1) -> OneClassSVM:
    """The one-class SVM."""
    return OneClassSVM(gamma=svm_gamma(sigma), nu=nu)


def svm_gamma(sigma: float) -> float:
    """The width of the kernel as scikit-learn has it."""
    return 1.0 / (2.0 * sigma**2)


def three(sigma: float) -> dict[str, tuple[Any, str | None]]:
    """The three detectors, each with the parameter that is set to the rate of rejection."""
    return {SVM: (svm(sigma), "nu"), PCM: (pcm(sigma), None), KDE: (kde(sigma), None)}
