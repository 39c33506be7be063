"""The translation tables of docs/coming_from.md against the real packages.

`python benchmarks/coming_from.py` runs the peers in `.venv-peers`, which it makes, and compares
what they give with what the translation on the page gives, from the same start and to a tight
tolerance. It prints the largest differences and writes them to `benchmarks/results/coming_from.md`.
"""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from _report import Report, Verdict, machine
from typicality import EntropyCMeans, FuzzyCMeans, OneClusterPCM, PossibilisticCMeans
from typicality.exceptions import ClusteringWarning
from typicality.metrics import (
    fuzzy_silhouette_score,
    partition_coefficient,
    partition_entropy,
    xie_beni_index,
)

_HERE = Path(__file__).resolve().parent
_WORKER = str(_HERE / "peers" / "coming_from_worker.py")
_VENV = _HERE.parent / ".venv-peers"
_PEER_IMPORTS = "import fcmeans, hdbscan, pandas, pyod, skfuzzy"
_RESULTS = _HERE / "results" / "coming_from.md"
_LARGEST = 1e-6
_HARD = 1e8  # the lam of EntropyCMeans at which it is k-means
_TIGHT = {"tol": 1e-11, "max_iter": 10_000}
_SEED, _VARIANCE, _BANDWIDTH = 0, 0.4, 0.5

Arrays = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Compared:
    """A line of the table: two calls, and the largest difference of each result."""

    theirs: str
    ours: str
    differences: dict[str, float]


# ---- the environment of the peers ---------------------------------------------------------------


def peer_python() -> str:
    """The interpreter of `.venv-peers`, which is made when it is not there or not complete."""
    python = str(_VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    if not _succeeds(python, "-c", _PEER_IMPORTS):
        requirements = str(Path(_WORKER).with_name("requirements.txt"))
        makers = [[sys.executable, "-m", m, "--clear", str(_VENV)] for m in ("venv", "virtualenv")]
        if not any(_succeeds(*maker) for maker in makers):
            raise RuntimeError("neither venv nor virtualenv could make .venv-peers")
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
    return python


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def json_from(*command: str) -> Any:
    """What a command prints, read as JSON."""
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def draw_problem() -> Arrays:
    """Rows, starts and new rows for all comparisons."""
    iris = load_iris().data
    wine = StandardScaler().fit_transform(load_wine().data)
    rng = np.random.default_rng(1)
    problem = {
        "seed": np.array(_SEED),
        "chosen": np.array([0, 50, 100]),
        "variance": np.array(_VARIANCE),
        "bandwidth": np.array(_BANDWIDTH),
        "iris_means": mixture_of(iris).cluster_centers_,
    }
    for name, X in {"iris": iris, "wine": wine}.items():
        # The start that fuzzy-c-means draws for this seed: it takes no other.
        start = np.random.default_rng(_SEED).uniform(size=(len(X), 3))
        problem[name] = X
        problem[f"{name}_start"] = start / start.sum(axis=1, keepdims=True)
        problem[f"{name}_new"] = X[::5] + rng.normal(0, 0.3, X[::5].shape)
    return problem


def run_peers(python: str, problem: Arrays) -> Arrays:
    """What the peers give, by "case/result"."""
    with TemporaryDirectory() as folder:
        np.savez(Path(folder, "problem.npz"), **problem)
        subprocess.run([python, _WORKER, "results", folder], check=True)
        return dict(np.load(Path(folder, "peers.npz")))


# ---- comparisons --------------------------------------------------------------------------------


def compare_c_means(problem: Arrays, peers: Arrays) -> list[Compared]:
    """Fuzzy and possibilistic c-means from the same memberships."""
    packages = ("scikit-fuzzy cmeans", "fuzzy-c-means FCM")
    settings = (("iris", 2.0), ("wine", 1.3))
    found = []
    for package, (rows, m) in product(packages, settings):
        case = f"{package}, m={m:g}"
        model = FuzzyCMeans(3, m=m, init=problem[f"{rows}_start"], **_TIGHT).fit(problem[rows])
        differences = _differences(model, problem[f"{rows}_new"], peers, case)
        theirs = peers[f"{case}/indices"]
        differences["indices"] = _largest(indices_of(model, problem[rows])[: len(theirs)], theirs)
        found.append(Compared(f"{case}, {rows}", f"FuzzyCMeans(m={m:g})", differences))
    possibilistic = PossibilisticCMeans(
        3, objective="1993", m=2, eta_scale=1, init=problem["iris_start"], **_TIGHT
    ).fit(problem["iris"])
    ellipsoids = FuzzyCMeans(
        3, m=2, covariance_type="full", shrinkage=0, init=problem["iris_start"], **_TIGHT
    ).fit(problem["iris"])
    for case, model, ours in [
        ("PCM", possibilistic, "PossibilisticCMeans(objective='1993', m=2, eta_scale=1)"),
        ("GK", ellipsoids, "FuzzyCMeans(covariance_type='full', shrinkage=0)"),
    ]:
        case = f"fuzzy-c-means {case}, m=2"
        differences = _differences(model, problem["iris_new"], peers, case)
        found.append(Compared(f"{case}, iris", ours, differences))
    return found


def indices_of(model: FuzzyCMeans, X: NDArray) -> NDArray:
    """Coefficient, entropy in bits, Xie-Beni index and fuzzy silhouette; some peers have one."""
    u = model.memberships_
    coefficient, entropy = partition_coefficient(u), partition_entropy(u) / np.log(2)
    width = xie_beni_index(X, model.cluster_centers_, u, m=model.m)
    return np.array([coefficient, entropy, width, fuzzy_silhouette_score(X, u)])


def _differences(model: FuzzyCMeans, new: NDArray, peers: Arrays, case: str) -> dict[str, float]:
    theirs = peers[f"{case}/centers"]
    order = linear_sum_assignment(cdist(theirs, model.cluster_centers_))[1]
    ours = {
        "centers": model.cluster_centers_[order],
        "memberships": model.memberships_[:, order],
        "new": model.predict_memberships(new)[:, order],
    }
    return {name: _largest(array, peers[f"{case}/{name}"]) for name, array in ours.items()}


def compare_entropy(problem: Arrays, peers: Arrays) -> list[Compared]:
    """The entropic rule: k-means at a large lam, posterior probabilities at the variance."""
    X = problem["iris"]
    hard = EntropyCMeans(3, lam=_HARD, init=X[problem["chosen"]], **_TIGHT).fit(X)
    theirs = peers["KMeans/centers"]
    order = linear_sum_assignment(cdist(theirs, hard.cluster_centers_))[1]
    other = np.argsort(order)[hard.labels_] != peers["KMeans/labels"]
    kmeans = {"centers": _largest(hard.cluster_centers_[order], theirs)}
    kmeans["memberships"] = float(other.sum())
    soft = mixture_of(X)
    mixture = _largest(soft.memberships_, peers["GaussianMixture/memberships"])
    return [
        Compared("KMeans, iris", f"EntropyCMeans(lam={_HARD:g})", kmeans),
        Compared(
            "GaussianMixture.predict_proba, iris",
            f"EntropyCMeans(lam={soft.lam:g})",
            {"memberships": mixture},
        ),
    ]


def mixture_of(X: NDArray) -> EntropyCMeans:
    """Equal spherical parts of a known variance; the peer gets its means."""
    return EntropyCMeans(3, lam=1 / (2 * _VARIANCE), init=X[[0, 60, 120]], **_TIGHT).fit(X)


def compare_densities(problem: Arrays, peers: Arrays) -> list[Compared]:
    """Scores of new rows, less the constant that normalises the peer's density."""
    X, new = problem["iris"], problem["iris_new"]
    model = OneClusterPCM(sigma=_BANDWIDTH, weights="uniform", rtol=0).fit(X)
    scores = model.score_samples(new)
    normalising = -X.shape[1] * np.log(_BANDWIDTH * np.sqrt(2 * np.pi))
    constants = {"KernelDensity": normalising, "OneClassSVM": 0.0, "PyOD KDE": normalising}
    ours = "OneClusterPCM(weights='uniform')"
    return [
        Compared(
            f"{name}, iris", ours, {"new": _largest(scores + constant, peers[f"density/{name}"])}
        )
        for name, constant in constants.items()
    ]


def _largest(ours: NDArray, theirs: NDArray) -> float:
    return float(np.abs(ours - theirs).max())


def main() -> None:
    warnings.simplefilter("ignore", ClusteringWarning)  # possibilistic prototypes coincide here
    report = Report()
    for line in machine():
        report.line(line)
    report.progress("an environment for the peers, made once")
    python = peer_python()
    versions = json_from(python, _WORKER, "versions")
    report.line("Peers: " + ", ".join(f"{name} {number}" for name, number in versions.items()))
    problem = draw_problem()
    peers = run_peers(python, problem)
    comparisons = (compare_c_means, compare_entropy, compare_densities)
    found = [line for compare in comparisons for line in compare(problem, peers)]
    columns = ["centers", "memberships", "new", "indices"]
    cells = [
        [one.theirs, one.ours, *[_cell(one.differences.get(name)) for name in columns]]
        for one in found
    ]
    titles = ["theirs", "ours", "centres", "memberships", "new rows", "indices"]
    report.table("Largest differences", titles, cells)
    largest = max(value for one in found for value in one.differences.values())
    met = (largest <= _LARGEST,)
    report.verdicts([Verdict(f"all differences at most {_LARGEST:g}", f"{largest:.1e}", met)])
    report.write(_RESULTS)


def _cell(difference: float | None) -> str:
    return "" if difference is None else f"{difference:.1e}"


if __name__ == "__main__":
    main()
