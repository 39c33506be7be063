"""Every estimator on every engine and kind of kernel, on seven sets of rows."""

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, make_moons

import typicality as ty

KEPT_ROWS = 60  # of arrays with one entry per row, besides the labels of all rows
ATTRIBUTES = (
    "labels_", "memberships_", "typicality_", "cluster_centers_", "eta_", "sigma_", "m_", "lam_",
    "n_clusters_", "n_iter_", "objective_", "offset_", "alpha_",
)  # fmt: skip


def sets() -> dict[str, np.ndarray]:
    """The sets of rows, by name."""
    rng = np.random.default_rng(33)
    centers = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])
    return {
        "blobs": centers[np.repeat([0, 1, 2], [80, 60, 40])] + rng.normal(size=(180, 2)),
        "iris": load_iris().data + 1e-3 * rng.normal(size=(150, 4)),
        "moons": np.vstack([make_moons(200, noise=0.06, random_state=3)[0], [[9.0, 9.0]]]),
        "integers": rng.integers(0, 6, (150, 2)) + 9.0 * rng.integers(0, 2, (150, 1)),
        "columns": rng.normal(size=(120, 12)) + 4.0 * rng.integers(0, 2, (120, 1)),
        "tails": rng.standard_t(3, (3000, 3)),
        "many": rng.normal(size=(3000, 5)) + 5.0 * rng.integers(0, 3, (3000, 1)),
    }


def configurations() -> dict[str, Callable[[str], Any]]:
    """Estimators by name; each takes the name of a kernel."""
    return {
        "fuzzy": lambda kernel: ty.FuzzyCMeans(3, kernel=kernel, random_state=0),
        "entropy": lambda kernel: ty.EntropyCMeans(3, kernel=kernel, random_state=0),
        "pcm": lambda kernel: ty.PossibilisticCMeans(
            3, eta_scale=0.1, kernel=kernel, random_state=0
        ),
        "pcm93": lambda kernel: ty.PossibilisticCMeans(
            2, eta_scale=0.1, objective="1993", kernel=kernel, random_state=0
        ),
        "adaptive": lambda kernel: ty.AdaptivePCM(5, kernel=kernel),
        "sparse_adaptive": lambda kernel: ty.SparseAdaptivePCM(5, lam=0.05, kernel=kernel),
        "sequential": lambda kernel: ty.SequentialPCM(kernel=kernel),
        "sequential_lam": lambda kernel: ty.SequentialPCM(lam=0.05, kernel=kernel),
        "one_cluster": lambda kernel: ty.OneClusterPCM(kernel=kernel),
        "novelty": lambda kernel: ty.OneClusterPCM(kernel=kernel, novelty=True, contamination=0.1),
        "uniform": lambda kernel: ty.OneClusterPCM(kernel=kernel, weights="uniform"),
        "split": lambda kernel: ty.OneClusterPCM(
            kernel=kernel, calibration="split", random_state=0
        ),
        "cut_auto": lambda kernel: ty.AlphaCutClustering(kernel=kernel),
        "cut_alpha": lambda kernel: ty.AlphaCutClustering(kernel=kernel, alpha=0.3),
        "cut_valley": lambda kernel: ty.AlphaCutClustering(
            kernel=kernel, alpha="valley", assign="all"
        ),
    }


def only_by_default() -> dict[str, Any]:
    """Estimators with a kernel of their own, or none."""
    return {
        "cut_default": ty.AlphaCutClustering(),
        "cut_two": ty.AlphaCutClustering(at_least=2, assign="all"),
        "cut_local": ty.AlphaCutClustering(kernel="local", alpha=0.36),
        "auto": ty.AutoClustering(random_state=0),
        "auto_two": ty.AutoClustering(at_least=2, random_state=0),
        "density_local": ty.OneClusterPCM(kernel="local"),
        "fuzzy_connected": ty.FuzzyCMeans(3, kernel="connectivity", random_state=0),
        "fuzzy_laplacian": ty.FuzzyCMeans(3, kernel="laplacian", random_state=0),
    }


def engines(X: np.ndarray, folder: Path) -> Iterator[tuple[str, Callable[[], Any], dict]]:
    """The same rows wherever they may be, with the arguments of `fit`."""
    weight = np.random.default_rng(7).integers(0, 4, len(X)).astype(float)
    yield "array", lambda: X, {}
    yield "weights", lambda: X, {"sample_weight": weight}
    yield "float32", lambda: X.astype(np.float32), {}
    from scipy.sparse import csr_array

    yield "sparse", lambda: csr_array(X), {}
    np.save(folder / "rows.npy", X)
    yield "file", lambda: ty.open_rows(folder / "rows.npy"), {}
    import dask.array as da

    n = len(X)
    chunks = ((n // 3, n // 2, n - n // 3 - n // 2), X.shape[1])
    yield "dask", lambda: da.from_array(X, chunks=chunks), {}
    import torch

    yield "tensor", lambda: torch.from_numpy(X.copy()), {}


def gaussian_matrix(X: np.ndarray) -> np.ndarray:
    """A matrix of kernel values with the width of the median distance."""
    from scipy.spatial.distance import cdist

    sqdist = cdist(X, X, "sqeuclidean")
    return np.exp(-sqdist / np.median(sqdist[sqdist > 0]))


def plain(value: Any) -> np.ndarray:
    """Whatever a model holds, as an array of NumPy."""
    if hasattr(value, "compute"):
        value = value.compute()
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    return np.asarray(value)


def few(values: np.ndarray) -> np.ndarray:
    """Values of some rows only, where there are many."""
    many = values.ndim > 0 and len(values) > 2 * KEPT_ROWS
    return values[:: -(-len(values) // KEPT_ROWS)] if many else values


def results(estimator: Any, rows: Any, options: dict, new: Any) -> dict[str, np.ndarray]:
    """What a fit gives, and what the model says of new rows; the error where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = estimator.fit(rows, **options)
        except Exception as error:  # the kind of error is a result too
            return {"refused": np.array(type(error).__name__)}
        found = {}
        for name in ATTRIBUTES:
            value = getattr(model, name, None)
            if value is not None and not isinstance(value, str):
                value = plain(value)
                found[name] = value.astype(np.int16) if name == "labels_" else few(value)
        if new is not None:
            for method in ("predict", "score_samples", "p_values"):
                if hasattr(model, method):
                    try:
                        found[method] = plain(getattr(model, method)(new))
                    except Exception as error:
                        found[method] = np.array(type(error).__name__)
    return found


def fits(only: str = "") -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Fits whose name has some part: set/estimator/kernel/engine, and what came out."""
    for set_name, X in sets().items():
        with tempfile.TemporaryDirectory() as folder:
            for name, fit in named_fits(X, Path(folder)):
                if only in f"{set_name}/{name}":
                    yield f"{set_name}/{name}", fit()


def named_fits(X: np.ndarray, folder: Path) -> Iterator[tuple[str, Callable[[], dict]]]:
    """The fits of a set: their names, and functions that compute them."""
    rng = np.random.default_rng(1)
    new = X[rng.integers(0, len(X), 25)] + rng.normal(size=(25, X.shape[1]))
    for engine, rows, options in engines(X, folder):
        of_kind = new.astype(np.float32 if engine == "float32" else np.float64)
        if engine == "tensor":
            import torch

            of_kind = torch.from_numpy(of_kind)
        for name, make in configurations().items():
            for kernel in ("gaussian",) if name.startswith("cut") else ("linear", "gaussian"):
                yield (
                    f"{name}/{kernel}/{engine}",
                    lambda m=make, k=kernel, r=rows, o=options, n=of_kind: results(m(k), r(), o, n),
                )
        for name, estimator in only_by_default().items():
            if engine in ("array", "weights", "file"):
                yield (
                    f"{name}/default/{engine}",
                    lambda e=estimator, r=rows, o=options, n=of_kind: results(e, r(), o, n),
                )
    if len(X) < 1000:
        K = gaussian_matrix(X)
        for name, make in configurations().items():
            yield (
                f"{name}/precomputed/array",
                lambda m=make: results(m("precomputed"), K, {}, K[:25]),
            )
