"""Run the peers of docs/coming_from, in an environment of its own.

`coming_from_worker.py results FOLDER` reads `FOLDER/problem.npz` and writes `FOLDER/peers.npz`, an
array for each name of `CASES` and of its result. `coming_from_worker.py versions` prints the
versions of the peers as JSON.
"""

import json
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import skfuzzy
from fcmeans import FCM, PCM, fuzzy_silhouette, xie_beni
from fcmeans.gk import GK
from pyod.models.kde import KDE
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

_PACKAGES = ("scikit-fuzzy", "fuzzy-c-means", "hdbscan", "pyod", "scikit-learn", "numpy")
_TIGHTEST = 1e-9  # the smallest tolerance that fuzzy-c-means takes
_MOST = 1000  # and the largest number of iterations
_NEARLY_ONE = 1 - 1e-9  # all rows are support vectors of equal weight; 1 itself is refused


def cmeans(problem, rows, m):
    """scikit-fuzzy: rows are columns there."""
    X, start, new = problem[rows], problem[f"{rows}_start"], problem[f"{rows}_new"]
    centers, u, *_, fpc = skfuzzy.cmeans(X.T, 3, m, error=1e-12, maxiter=_MOST, init=start.T)
    u_new = skfuzzy.cmeans_predict(new.T, centers, m, error=1e-12, maxiter=_MOST)[0]
    return {"centers": centers, "memberships": u.T, "new": u_new.T, "indices": [fpc]}


def fcm(problem, rows, m):
    """fuzzy-c-means: its own random start, which the problem repeats."""
    model, found = _fcm(FCM, problem, rows, m)
    indices = [model.partition_coefficient, model.partition_entropy_coefficient]
    indices += [xie_beni(problem[rows], model.u, model.centers, m)]
    indices += [fuzzy_silhouette(problem[rows], model.u, model.centers)]
    return {**found, "indices": indices}


def pcm(problem, rows, m):
    """Possibilistic c-means of fuzzy-c-means."""
    return _fcm(PCM, problem, rows, m)[1]


def gk(problem, rows, m):
    """Gustafson-Kessel of fuzzy-c-means, without its regularisation."""
    return _fcm(partial(GK, reg=0.0), problem, rows, m)[1]


def _fcm(kind, problem, rows, m):
    model = kind(
        n_clusters=3, m=m, max_iter=_MOST, error=_TIGHTEST, random_state=int(problem["seed"])
    )
    model.fit(problem[rows])
    new = model.soft_predict(problem[f"{rows}_new"])
    return model, {"centers": model.centers, "memberships": model.u, "new": new}


def kmeans(problem, rows):
    """Lloyd's algorithm until nothing changes."""
    X = problem[rows]
    model = KMeans(3, init=X[problem["chosen"]], n_init=1, tol=0, algorithm="lloyd").fit(X)
    return {"centers": model.cluster_centers_, "labels": model.labels_}


def mixture(problem, rows):
    """Posterior probabilities of equal spherical parts at given means."""
    means, variance = problem[f"{rows}_means"], float(problem["variance"])
    model = GaussianMixture(len(means), covariance_type="spherical")
    model.means_, model.weights_ = means, np.full(len(means), 1 / len(means))
    model.precisions_cholesky_ = np.full(len(means), variance**-0.5)
    return {"memberships": model.predict_proba(problem[rows])}


def density(problem, rows):
    """Logarithms of densities of new rows, by three packages."""
    X, new, h = problem[rows], problem[f"{rows}_new"], float(problem["bandwidth"])
    svm = OneClassSVM(nu=_NEARLY_ONE, gamma=1 / (2 * h**2), tol=1e-12).fit(X)
    return {
        "KernelDensity": KernelDensity(bandwidth=h).fit(X).score_samples(new),
        "OneClassSVM": np.log(svm.score_samples(new) / len(X)),
        "PyOD KDE": -KDE(bandwidth=h).fit(X).decision_function(new),
    }


CASES = {
    "scikit-fuzzy cmeans, m=2": lambda problem: cmeans(problem, "iris", 2.0),
    "scikit-fuzzy cmeans, m=1.3": lambda problem: cmeans(problem, "wine", 1.3),
    "fuzzy-c-means FCM, m=2": lambda problem: fcm(problem, "iris", 2.0),
    "fuzzy-c-means FCM, m=1.3": lambda problem: fcm(problem, "wine", 1.3),
    "fuzzy-c-means PCM, m=2": lambda problem: pcm(problem, "iris", 2.0),
    "fuzzy-c-means GK, m=2": lambda problem: gk(problem, "iris", 2.0),
    "KMeans": lambda problem: kmeans(problem, "iris"),
    "GaussianMixture": lambda problem: mixture(problem, "iris"),
    "density": lambda problem: density(problem, "iris"),
}


def results(folder):
    """Run every case and keep what it gives."""
    problem = dict(np.load(Path(folder, "problem.npz")))
    found = {
        f"{case}/{name}": np.asarray(array)
        for case, run in CASES.items()
        for name, array in run(problem).items()
    }
    np.savez(Path(folder, "peers.npz"), **found)


def versions():
    print(json.dumps({name: version(name) for name in _PACKAGES}))


if __name__ == "__main__":
    {"results": results, "versions": versions}[sys.argv[1]](*sys.argv[2:])
